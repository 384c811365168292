"""Recorded graphs of functions in C++ and in Python. HAM_TEST_KERNELS: the library made of tests/python/kernels.cpp."""

import asyncio
import os
import signal
import threading

import numpy as np
import pytest

import ham

KERNELS = os.environ.get("HAM_TEST_KERNELS", "")

SCRIPT = """
import os
import time
import ham

@ham.offer("py_graph.ramp", "f8,i4->vec<f8>")
def ramp(first, count):
    return [first + n for n in range(count)]

@ham.offer("py_graph.total", "vec<f8>->f8")
def total(values):
    return values.sum()

@ham.offer("py_graph.half", "f8->f8")
def half(value):
    return value / 2

@ham.offer("py_graph.below_one", "f8->bool")
def below_one(value):
    return value < 1

@ham.offer("py_graph.shout", "str->str")
def shout(text):
    return text.upper()

@ham.offer("py_graph.check", "f8->f8")
def check(value):
    if value < 0:
        raise ValueError("it is negative")
    return value

@ham.offer("py_graph.wait", "str->str")
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.001)
    return path

@ham.offer("py_graph.die", "f8->f8")
def die(value):
    os._exit(3)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "functions.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.fixture(scope="module")
def nodes(script):
    assert KERNELS, "HAM_TEST_KERNELS is not set"
    with ham.Targets("shm:2", libraries=[KERNELS], scripts=[script]) as targets:
        yield list(targets)


def test_values_go_from_node_to_node(nodes):
    one, two = nodes
    g = ham.Graph()
    x = g.input(float)
    ramp = g.call(one, "py_graph.ramp", x, 4)
    scaled = g.call(two.number, "py_test.scale", ramp, 2.0)
    total = g.call(one, "py_graph.total", scaled)
    step = g.compile(total)
    assert [step(value).result(60) for value in (0, 1.5)] == [12.0, 24.0]
    in_flight = [step(float(value)) for value in range(20)]  # more than may be: some wait for others
    assert [one.result(60) for one in in_flight] == [8.0 * value + 12 for value in range(20)]
    assert "py_graph.total" in repr(total) and total.number == 3


def test_results_that_are_arrays(nodes):
    g = ham.Graph()
    values = g.input()  # of the type of its parameter
    step = g.compile(g.call(nodes[0], "py_test.scale", values, 3))
    with step:
        np.testing.assert_array_equal(step(np.arange(1000.0)).result(60), np.arange(1000.0) * 3)
        np.testing.assert_array_equal(step([]).result(60), [])
        with pytest.raises(TypeError, match=r"stage 0 \(input\): .*no vector"):
            step(np.array([1j]))
    with pytest.raises(ValueError, match="closed"):
        step([])


def test_values_that_functions_give_to_others_of_another_language(nodes):
    g = ham.Graph()
    text = g.call(nodes[0], "py_test.greet", g.input(str), False)
    counted = g.call(nodes[1], "py_test.count", ["a", "a"])
    assert g.compile(g.call(nodes[1], "py_graph.shout", text))("wörld").result(60) == "HELLO WÖRLD"
    assert g.compile(counted)("").result(60) == {"a": 2}


def test_results_of_nothing(nodes):
    g = ham.Graph()
    assert g.compile(g.call(nodes[0], "py_test.nothing"))().result(60) is None


def test_transfers(nodes):
    numbers, back = np.arange(100.0), np.zeros(100)
    there, other = (ham.allocate(node, numbers.nbytes) for node in nodes)
    g = ham.Graph()
    put = g.put(numbers, there)
    total = g.call(nodes[0], "py_test.span_sum", there).after(put)
    copy = g.copy(there, other).after(put)
    get = g.get(other, back).after(copy)
    step = g.compile(total)
    del put, copy, get
    for factor in (1, 2):
        numbers[:] = np.arange(100.0) * factor
        assert step().result(60) == 4950.0 * factor
        np.testing.assert_array_equal(back, numbers)
    with pytest.raises(ham.BufferError):
        bad = ham.Graph()
        bad.compile(bad.put(numbers, there, offset=8))


def test_repeats(nodes):
    one, two = nodes
    g = ham.Graph()
    x = g.input(float)
    last = g.repeat(lambda value: g.call(one, "py_graph.half", value), lambda value: g.call(two, "py_graph.below_one", value), x)
    step = g.compile(g.call(two, "py_test.add", last, 1))
    assert [step(value).result(60) for value in (100, 1)] == [1.78125, 1.5]

    g = ham.Graph()
    last = g.repeat(lambda value: g.call(one, "py_graph.half", value), "py_graph.below_one", initial=48)
    assert g.compile(last)().result(60) == 0.75


def test_repeats_that_cannot_be(nodes):
    g = ham.Graph()
    x = g.input(float)
    with pytest.raises(ham.ConfigError, match="within another one"):
        g.repeat(lambda value: g.repeat(lambda: value, "py_graph.below_one"), "py_graph.below_one", x)
    with pytest.raises(ham.ConfigError, match="no call of the body"):
        g.repeat(lambda value: value, "py_graph.below_one", x)
    with pytest.raises(ham.ConfigError, match="within the body"):
        g.repeat(lambda value: g.compile(value), "py_graph.below_one", x)
    with pytest.raises(KeyError):
        g.repeat(lambda value: {}[value], "py_graph.below_one", x)
    total = g.call(nodes[0], "py_graph.half", x)
    assert total.number == 1  # nothing is left of those
    assert g.compile(total)(3).result(60) == 1.5
    end = g.repeat(lambda value: g.call(nodes[0], "py_graph.ramp", value, 3), lambda _: g.call(nodes[0], "py_graph.below_one", x), x)
    with pytest.raises(TypeError, match=r"\(repeat\): its value is f8 at first, and vec<f8> of stage"):
        g.compile(end)


def test_types_are_checked_before_anything_runs(nodes):
    g = ham.Graph()
    x = g.input("f4")
    with pytest.raises(TypeError) as error:
        g.compile(g.call(nodes[0], "py_graph.half", x))
    assert str(error.value) == (
        "stage 1 (py_graph.half): argument 1 is stage 0 (input), which gives f4, and py_graph.half takes f8 there: "
        "f8->f8 (between stages nothing is converted)"
    )
    g = ham.Graph()
    ramp = g.call(nodes[0], "py_graph.ramp", 1, 2)
    with pytest.raises(TypeError, match=r"stage 1 \(mine\): argument 2 is stage 0 \(py_graph.ramp\), which gives vec<f8>"):
        g.compile(g.call(nodes[1], "py_test.add", 1, ramp).name("mine"))
    g = ham.Graph()
    with pytest.raises(TypeError, match=r"stage 0 \(py_test.add\): the function takes 2 arguments, not 1: f8,f8->f8"):
        g.compile(g.call(nodes[0], "py_test.add", 1))
    g = ham.Graph()
    with pytest.raises(TypeError, match=r"stage 0 \(py_test.add\): argument 2: 'x' is no f8"):
        g.compile(g.call(nodes[0], "py_test.add", 1, "x"))
    for wrong in ("no_such_type", object, 7):
        with pytest.raises(TypeError):
            g.input(wrong)


def test_types_of_inputs(nodes):
    g = ham.Graph()
    count, first = g.input(int), g.input(np.float64)  # an i4, because that is what it is for
    step = g.compile(g.call(nodes[0], "py_graph.total", g.call(nodes[1], "py_graph.ramp", first, count)))
    assert step(3, 1.0).result(60) == 6
    with pytest.raises(TypeError, match="2 inputs, and was given 1"):
        step(3)
    with pytest.raises(TypeError, match="i4"):
        step(1 << 40, 1.0)
    g.input()
    with pytest.raises(ham.ConfigError, match="has no type"):
        g.compile(g.call(nodes[0], "py_test.nothing"))


def test_graphs_that_cannot_be(nodes):
    g = ham.Graph()
    first = g.call(nodes[0], "py_graph.half", 1)
    second = g.call(nodes[1], "py_graph.half", first)
    with pytest.raises(ham.ConfigError, match="another graph"):
        ham.Graph().call(nodes[0], "py_graph.half", second)
    with pytest.raises(ham.ConfigError, match="after nothing"):
        ham.Graph().input(float).after(first)
    with pytest.raises(ham.CallError, match=r"stage 0 \(py_graph.none\) of a graph: no function is called"):
        none = ham.Graph()
        none.compile(none.call(nodes[0], "py_graph.none"))
    with pytest.raises(TypeError):
        first.after(7)
    first.after(second)
    with pytest.raises(ham.ConfigError, match="cycle"):
        g.compile(second)


def test_failures_name_the_stage(nodes):
    g = ham.Graph()
    checked = g.call(nodes[0], "py_graph.check", g.input(float))
    step = g.compile(g.call(nodes[1], "py_test.add", checked, 1).name("the sum"))
    failed = step(-1)
    with pytest.raises(ham.StageError, match="it is negative") as error:
        failed.result(60)
    assert (error.value.stage, error.value.name, error.value.node) == (1, "py_graph.check", nodes[0].number)
    assert isinstance(error.value.__cause__, ham.RemoteError)
    assert failed.done() and failed.exception() is error.value and not failed.request_stop()
    assert step(1).result(60) == 2

    thrown = ham.Graph()
    with pytest.raises(ham.StageError, match="thrown there"):
        thrown.compile(thrown.call(nodes[0], "py_test.throws", "thrown there"))().result(60)


def test_times_and_stops(nodes, tmp_path):
    g = ham.Graph()
    step = g.compile(g.call(nodes[0], "py_graph.wait", g.input(str)))
    first, second, third = (tmp_path / name for name in "123")
    with pytest.raises(ham.DeadlineExceeded):
        step.within(0.05)(str(first)).result(60)
    first.touch()
    slow = step(str(second))
    with pytest.raises(TimeoutError):
        slow.result(0.01)
    assert not slow.done() and slow.request_stop()
    with pytest.raises(ham.OperationCancelled):
        slow.result(60)
    second.touch()
    third.touch()
    assert step(str(third)).result(60) == str(third)


def test_replays_are_awaited(nodes, tmp_path):
    g, waits, checks = ham.Graph(), ham.Graph(), ham.Graph()
    step = g.compile(g.call(nodes[0], "py_graph.half", g.input(float)))
    waiting = waits.compile(waits.call(nodes[0], "py_graph.wait", waits.input(str)))
    checked = checks.compile(checks.call(nodes[1], "py_graph.check", checks.input(float)))
    there = tmp_path / "there"

    async def touch():
        there.touch()

    async def program():
        assert await asyncio.gather(*(in_turn(number) for number in range(5))) == [0, 0.5, 1, 1.5, 2]
        slow = waiting(str(there))
        task = asyncio.ensure_future(result_of(slow))
        await asyncio.sleep(0)
        await touch()  # the event loop goes on meanwhile
        assert await task == str(there)
        assert await slow == str(there), "again"
        with pytest.raises(ham.StageError, match="it is negative"):
            await checked(-1)

    async def in_turn(number):
        return await step(number)

    async def result_of(replay):
        return await replay

    asyncio.run(program())


def test_cancelled_tasks_stop_their_replays(nodes, tmp_path):
    g = ham.Graph()
    step = g.compile(g.call(nodes[0], "py_graph.wait", g.input(str)))
    there = tmp_path / "there"
    replay = step(str(there))

    async def program():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(result_of(), 0.05)

    async def result_of():
        return await replay

    asyncio.run(program())
    with pytest.raises(ham.OperationCancelled):
        replay.result(60)
    there.touch()
    assert step(str(there)).result(60) == str(there)


def test_threads_share_graphs_and_replays(nodes):
    g = ham.Graph()
    step = g.compile(g.call(nodes[0], "py_graph.half", g.input(float)), in_flight=2)
    found = {}

    def replay(number):
        found[number] = [step(number).result(60) for _ in range(20)]

    threads = [threading.Thread(target=replay, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {number: [number / 2] * 20 for number in range(4)}

    shared, results = step(5), []
    threads = [threading.Thread(target=lambda: results.append(shared.result(60))) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert results == [2.5] * 4


def test_closed_while_another_thread_starts_replays(nodes):
    g = ham.Graph()
    half = g.call(nodes[0], "py_graph.half", g.input(float))
    for _ in range(20):
        step, began, results = g.compile(half, in_flight=1), threading.Event(), []

        def replay():
            try:
                while True:
                    results.append(step(3))
                    began.set()
            except ValueError:  # closed
                pass

        other = threading.Thread(target=replay)
        other.start()
        began.wait()
        step.close()
        other.join()
        assert {one.result(60) for one in results} == {1.5}


def test_interrupts_end_a_wait(nodes, tmp_path):
    g = ham.Graph()
    slow = g.compile(g.call(nodes[0], "py_graph.wait", g.input(str)))(str(tmp_path / "1"))
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        slow.result(60)
    (tmp_path / "1").touch()
    assert slow.result(60) == str(tmp_path / "1")


def test_functions_of_this_process(nodes):
    ham.offer("py_graph.here", "vec<f8>->f8", max)
    g = ham.Graph()
    largest = g.call(0, "py_graph.here", g.call(nodes[0], "py_graph.ramp", g.input(float), 5))
    step = g.compile(g.call(nodes[1], "py_graph.half", largest))
    assert step(2).result(60) == 3


def test_lost_nodes(script):
    with ham.Targets("shm:1", scripts=[script]) as targets:
        g = ham.Graph()
        step = g.compile(g.call(targets[0], "py_graph.die", g.input(float)))
        with pytest.raises(ham.NodeFailure, match="py_graph.die"):
            step(1).result(60)
        with pytest.raises(ham.NodeFailure):
            step(1).result(60)


def test_a_job_is_needed_and_stays_as_long_as_it_is():
    import subprocess
    import sys

    program = """
import ham
g = ham.Graph()
try:
    g.compile(g.call(0, "py_graph.twice", 4))
except ham.ConfigError as error:
    print(error)
ham.offer("py_graph.twice", "f8->f8", lambda x: 2 * x)
with ham.Targets("shm:1"):
    step = g.compile(g.call(0, "py_graph.twice", 4))
late = step()
step.close()
print(late.result(60))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[0].startswith("no job is up")
    assert ended.stdout.splitlines()[1] == "8.0"
