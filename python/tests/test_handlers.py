"""Functions in Python that other nodes call, also from C++. HAM_TEST_KERNELS: the library made of tests/python/kernels.cpp."""

import os
import sys

import numpy as np
import pytest

import ham

KERNELS = os.environ.get("HAM_TEST_KERNELS", "")

SCRIPT = """
import time
import ham

@ham.offer("py_test.total", "vec<f8>,f8->f8")
def total(values, factor):
    return values.sum() * factor

@ham.offer("py_test.words", "map<str,i4>,opt<i4>->vec<str>")
def words(numbers, more):
    return sorted(numbers) + ([] if more is None else [str(more)])

@ham.offer("py_test.fails", "->void")
def fails():
    raise KeyError("of the function")

@ham.offer("py_test.returns_text", "->f8")
def returns_text():
    return "text"

@ham.offer("py_test.waits", "->f8")
def waits():
    left = ham.this_call.time_left()
    while not ham.this_call.stop_requested():
        time.sleep(0.001)
    return left
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("it's") / "handlers.py"  # a quote, as in any path
    path.write_text(SCRIPT)
    return str(path)


@pytest.fixture(scope="module")
def node(script):
    with ham.Targets("shm:1", scripts=[script]) as targets:
        yield targets[0]


def test_values(node):
    assert node.layout("py_test.total") == "vec<f8>,f8->f8"
    assert node.call("py_test.total", [1, 2, 3.5], 2) == 13
    assert node.call("py_test.total", np.ones(1 << 18), 1) == 1 << 18
    assert node.call("py_test.words", {"b": 1, "a": 2}, None) == ["a", "b"]
    assert node.call("py_test.words", {}, 7) == ["7"]


def test_errors(node):
    with pytest.raises(ham.RemoteError, match="of the function"):
        node.call("py_test.fails")
    with pytest.raises(ham.RemoteError, match="not of the type that was offered"):
        node.call("py_test.returns_text")
    with pytest.raises(TypeError):
        node.call("py_test.total", 3)
    with pytest.raises(ham.CallError):
        node.call("py_test.nowhere")


def test_bad_offers():
    with pytest.raises(TypeError):
        ham.offer("py_test.bad", "no_such_type->f8", len)
    ham.offer("py_test.once", "->void", lambda: None)
    with pytest.raises(ValueError, match="registered already"):
        ham.offer("py_test.once", "->void", lambda: None)


def test_times(node):
    try:
        # On a busy machine the function has seen the deadline, and answered, before this node has.
        assert node.call("py_test.waits", timeout=0.1) <= 0.1
    except ham.DeadlineExceeded:
        pass
    assert node.call("py_test.total", [1], 1) == 1  # so the function has ended


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no such setting")
def test_paths_are_kept_where_python_puts_no_folder_before_them(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("value = 3")
    (tmp_path / "scripts").mkdir()
    path = tmp_path / "scripts" / "offers.py"
    path.write_text("import ham, only_here\nham.offer('py_test.only_here', '->i4', lambda: only_here.value)\n")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
    with ham.Targets("shm:1", scripts=[str(path)]) as targets:
        assert targets[0].call("py_test.only_here") == 3


def test_the_host_has_handlers_too():
    with ham.Targets("shm:1"):
        ham.offer("py_test.here", "str->str", str.upper)
        assert ham.Node(0).call("py_test.here", "abc") == "ABC"


@pytest.mark.skipif(not KERNELS, reason="HAM_TEST_KERNELS is not set")
def test_called_from_cpp(script):
    with ham.Targets("shm:1", libraries=[KERNELS]) as kernels, ham.Targets("shm:1", scripts=[script]) as scripts:
        assert kernels[0].call("py_test.total_there", scripts[0].number, np.arange(5.0)) == 20
        assert kernels[0].call("py_test.ends_in_time", scripts[0].number) is True
        with pytest.raises(ham.CallError, match="py_test.total"):
            kernels[0].call("py_test.total_there", kernels[0].number, [1.0])
