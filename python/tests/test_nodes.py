"""C++ functions and memory of nodes. HAM_TEST_KERNELS: the library made of tests/python/kernels.cpp."""

import os
import pathlib
import struct
import sys
import threading
import time

import numpy as np
import pytest

import ham
from ham import _nodes, _types

KERNELS = os.environ.get("HAM_TEST_KERNELS", "")


@pytest.fixture(scope="module")
def node():
    assert KERNELS, "HAM_TEST_KERNELS is not set"
    with ham.Targets("shm:1", libraries=[KERNELS]) as targets:
        assert len(targets) == 1
        yield targets[0]


def test_numbers(node):
    assert node.layout("py_test.add") == "f8,f8->f8"
    assert node.call("py_test.add", 1.5, 2) == 3.5
    assert node.call("py_test.nothing") is None


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], (), np.arange(5), np.arange(10.0)[::2], np.float32([1, 2])])
def test_vectors(node, values):
    scaled = node.call("py_test.scale", values, 2.0)
    assert scaled.dtype == np.float64 and scaled.flags.writeable
    np.testing.assert_array_equal(scaled, np.asarray(values) * 2.0)


def test_large_vectors(node):
    values = np.arange(1 << 20, dtype=float)
    np.testing.assert_array_equal(node.call("py_test.scale", values, 3.0), values * 3)


def test_texts_and_bytes(node):
    assert node.call("py_test.greet", "wörld", True) == "HELLO wörld"
    assert node.call("py_test.greet", "", False) == "hello "
    assert node.call("py_test.backwards", b"abc\0") == b"\0cba"


def test_containers(node):
    assert node.call("py_test.count", ["a", "b", "a"]) == {"a": 2, "b": 1}
    assert node.call("py_test.mixed", 4, (7, 9)) == (5, {7, 9}, 1.5 - 2j)
    assert node.call("py_test.mixed", None, (7, 7)) == (None, {7}, 1.5 - 2j)


def test_wrong_arguments(node):
    with pytest.raises(TypeError, match="takes 2 arguments, not 1"):
        node.call("py_test.add", 1.0)
    with pytest.raises(TypeError, match="types"):
        node.call("py_test.add", 1.0, "x")
    with pytest.raises(TypeError, match="argument 1: .*no vector"):
        node.call("py_test.scale", np.array([1j]), 1.0)
    with pytest.raises(TypeError, match="one dimension"):
        node.call("py_test.scale", np.ones((2, 2)), 1.0)
    with pytest.raises(TypeError):
        node.call("py_test.mixed", 1 << 40, (1, 2))
    with pytest.raises(TypeError, match="a str is needed, not int"):
        node.call("py_test.greet", 5, True)
    with pytest.raises(TypeError, match="a bool is needed"):
        node.call("py_test.greet", "you", "no")
    with pytest.raises(TypeError, match="a sequence is needed"):
        node.call("py_test.count", "text")
    assert node.call("py_test.add", 1, 1) == 2


@pytest.mark.parametrize("values", [[1, 1 << 40], np.array([-(1 << 31) - 1]), np.array([1 << 63], "u8")])
def test_numbers_that_do_not_fit(values):
    signature = _types.signature("vec<i4>->void")
    with pytest.raises(TypeError, match="are no vector of int32"):
        _types.encode(signature, (values,))
    assert _types.encode(signature, ([1, -2],)) == struct.pack("<Qii", 2, 1, -2)


def test_texts_that_are_no_utf8():
    signature = _types.signature("str->str")
    assert _types.decode(signature, _types.encode(signature, (_types.decode(signature, struct.pack("<Q", 1) + b"\xff"),)))


@pytest.mark.parametrize("timeout, milliseconds", [(None, -1), (float("inf"), -1), (1e300, -1), (-1, 0), (0.5, 500)])
def test_timeouts(timeout, milliseconds):
    assert _nodes._milliseconds(timeout) == milliseconds
    with pytest.raises(ValueError, match="nan"):
        _nodes._milliseconds(float("nan"))


def test_errors(node):
    with pytest.raises(ham.CallError, match="no function is called"):
        node.call("py_test.none")
    with pytest.raises(ham.CallError, match="no function is called"):
        node.call("py_test.add\0", 1, 1)
    with pytest.raises(ham.RemoteError, match="thrown there"):
        node.call("py_test.throws", "thrown there")
    with pytest.raises(ham.RemoteError, match="Gr\ufffd\ufffde"):
        node.call("py_test.throws_latin")
    with pytest.raises(ham.DeadlineExceeded):
        node.call("py_test.sleeps", 300, timeout=0.02)
    with pytest.raises(TimeoutError):
        node.call("py_test.sleeps", 300, timeout=0)
    time.sleep(0.7)
    assert node.call("py_test.add", 1, 1) == 2


def test_buffers(node):
    numbers = np.arange(1000.0)
    there = ham.allocate(node, numbers.nbytes)
    assert (there.node, there.nbytes) == (node.number, 8000)
    there.put(numbers)
    assert node.call("py_test.sum", there, len(numbers)) == numbers.sum()
    assert node.call("py_test.span_sum", there) == numbers.sum()
    with pytest.raises(TypeError, match="ham.Buffer is needed"):
        node.call("py_test.span_sum", numbers)
    back = np.zeros_like(numbers)
    there.get_into(back)
    np.testing.assert_array_equal(back, numbers)
    assert there.get(8, 8) == np.float64(1).tobytes()
    with pytest.raises(ham.BufferError):
        there.put(b"x", offset=8000)
    with pytest.raises(BufferError):
        memoryview(there)
    there.free()
    with pytest.raises(ValueError, match="freed"):
        there.put(b"x")


def test_buffers_of_this_node_show_their_memory(node):
    here = ham.allocate(0, 64)
    here.put(bytes(range(64)))
    assert bytes(memoryview(here)) == bytes(range(64))
    array = here.array("<u2", (4, 8))
    assert array[0, 1] == 0x0302 and array.ctypes.data % 64 == 0
    assert np.shares_memory(np.asarray(here), array) and np.shares_memory(np.from_dlpack(here), array)
    with pytest.raises(BufferError):
        here.free()
    del array


def test_memory_that_another_thread_frees_is_not_shown(node):
    def free(buffers, both):
        both.wait()
        for buffer in buffers:
            try:
                buffer.free()
            except BufferError:  # shown before
                pass

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(150):  # some of 65000 went wrong
            buffers, both, shown = [ham.allocate(0, 64) for _ in range(500)], threading.Barrier(2), []
            other = threading.Thread(target=free, args=(buffers, both))
            other.start()
            both.wait()
            for buffer in buffers:
                try:
                    shown.append((memoryview(buffer), buffer))
                except BufferError:  # freed before
                    pass
            other.join()
            for _, buffer in shown:
                buffer.get(0, 1)  # ValueError if it was freed
    finally:
        sys.setswitchinterval(interval)


def test_nodes(node):
    assert node.alive and node.name and "1" in repr(ham.Node(1))
    with ham.Executor(workers=1) as executor:  # shares the job
        assert executor.submit(len, "abc").result(60) == 3
        assert node.call("py_test.add", 1, 1) == 2


def test_remote_objects(node):
    counter, other = node.call("py_test.make_counter", 5), node.call("py_test.make_counter", 7)
    assert isinstance(counter, ham.RemoteObject) and counter.node == node.number and counter != other
    assert [node.call("py_test.add_to", counter, n) for n in (1, 2)] == [6, 8]
    assert node.call("py_test.add_to", other, 1) == 8
    with pytest.raises(TypeError, match="ham.RemoteObject"):
        node.call("py_test.add_to", 3, 1)
    node.call("py_test.end_counter", counter)
    with pytest.raises(ham.Error):
        node.call("py_test.add_to", counter, 1)
    node.call("py_test.end_counter", other)


def test_libraries_that_are_loaded_later():
    with ham.Targets("shm:2") as targets:
        node = targets[0]
        with pytest.raises(ham.CallError, match="no function is called"):
            node.call("py_test.add", 1, 1)
        with pytest.raises(ham.CallError, match="/nowhere/libnone.so"):
            node.load_library("/nowhere/libnone.so")
        for _ in range(2):
            node.load_library(pathlib.Path(KERNELS))
        assert node.call("py_test.add", 1, 1) == 2
        with pytest.raises(ham.CallError, match="no function is called"):
            targets[1].call("py_test.add", 1, 1)


def test_libraries_that_are_not_there():
    with pytest.raises(ham.ConfigError):
        ham.Targets("shm:1", libraries=["/nowhere/libnone.so"])
