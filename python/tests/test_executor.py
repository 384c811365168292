"""ham.Executor as programs see it. Run by run.sh, with the package installed."""

import asyncio
import concurrent.futures
import operator
import os
import sys
import threading
import time

import numpy as np
import pytest

import ham
from executor_programs import WAIT, eventually


@pytest.fixture(scope="module")
def pool():
    with ham.Executor(workers=2) as executor:
        yield executor


# ---- results and errors


def test_results(pool):
    assert pool.submit(pow, 2, 10).result(WAIT) == 1024
    assert pool.submit(int, "ff", base=16).result(WAIT) == 255
    assert pool.submit(operator.itemgetter(1), [1, 2]).result(WAIT) == 2


def test_runs_in_other_processes(pool):
    assert pool.submit(os.getpid).result(WAIT) != os.getpid()


def test_functions_by_value(pool):
    factor = 3
    assert pool.submit(lambda x: x * factor, 5).result(WAIT) == 15
    factor = 4
    assert pool.submit(lambda x: x * factor, 5).result(WAIT) == 20


def test_methods_of_built_in_types(pool):
    assert pool.submit({"f": lambda: 3}.get, "f").result(WAIT)() == 3
    assert pool.submit([1, Here(2)].index, 1).result(WAIT) == 0
    assert pool.submit("a,b".split, ",").result(WAIT) == ["a", "b"]
    assert pool.submit(operator.neg, 3).result(WAIT) == -3


class Here:
    def __init__(self, value):
        self.value = value


def test_functions_that_change_between_submits(pool):
    def changes(x=1):
        return x + 1

    def other(x=1):
        return x + 2

    assert [pool.submit(changes).result(WAIT) for _ in range(3)] == [2, 2, 2]
    changes.__defaults__ = (5,)
    assert pool.submit(changes).result(WAIT) == 6
    changes.__code__ = other.__code__
    assert pool.submit(changes).result(WAIT) == 7
    changes.__kwdefaults__ = {"unused": 1}
    assert pool.submit(changes).result(WAIT) == 7


def test_functions_whose_global_names_come_later(pool):
    by_value = {"__builtins__": __builtins__, "__name__": "__main__"}
    exec("def uses():\n    return abs(-3)", by_value)
    assert [pool.submit(by_value["uses"]).result(WAIT) for _ in range(2)] == [3, 3]
    exec("def abs(x):\n    return 'shadowed'", by_value)
    assert pool.submit(by_value["uses"]).result(WAIT) == "shadowed"


def test_futures_begin_as_those_of_the_standard_library(pool):
    from ham._executor import Future

    expected = vars(concurrent.futures.Future())
    made = vars(Future(pool._pool))
    assert {name: made[name] for name in expected if name != "_condition"} == {
        name: value for name, value in expected.items() if name != "_condition"
    }


def test_exceptions_have_their_remote_traceback(pool):
    def deep():
        raise KeyError("of the worker")

    with pytest.raises(KeyError, match="of the worker") as caught:
        pool.submit(deep).result(WAIT)
    assert isinstance(caught.value.__cause__, ham.RemoteTraceback)
    assert "in deep" in str(caught.value.__cause__)


class Unpicklable(Exception):
    def __init__(self, one, two):
        super().__init__("text of it")
        self.lock = threading.Lock()


def test_exceptions_that_cannot_be_pickled_come_as_text(pool):
    def fails():
        raise Unpicklable(1, 2)

    with pytest.raises(ham.RemoteError, match="Unpicklable: text of it"):
        pool.submit(fails).result(WAIT)


class Mute(Exception):
    def __init__(self):
        self.lock = threading.Lock()

    def __str__(self):
        raise ValueError("it has no text")


def test_exceptions_without_a_text(pool):
    def fails(_):
        raise Mute

    with pytest.raises(ham.RemoteError, match="Mute, whose text"):
        pool.submit(fails, 1).result(WAIT)
    with pytest.raises(ham.RemoteError, match="Mute, whose text"):
        list(pool.map(fails, [1]))


def test_arguments_and_results_that_cannot_be_pickled(pool):
    with pytest.raises(TypeError):
        pool.submit(len, threading.Lock())
    with pytest.raises(TypeError, match="pickle"):
        pool.submit(lambda: threading.Lock()).result(WAIT)
    assert pool.submit(len, "abc").result(WAIT) == 3


def test_sys_exit_is_an_exception_of_the_task(pool):
    with pytest.raises(SystemExit):
        pool.submit(sys.exit, 3).result(WAIT)
    assert pool.submit(len, "abc").result(WAIT) == 3


def test_long_pickles(pool):
    text = "x" * (70 << 20)  # more than a message may have
    assert pool.submit(len, text).result(WAIT) == len(text)
    assert pool.submit(operator.mul, "y", len(text)).result(WAIT) == "y" * len(text)


# ---- arrays


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("count", [3, 300])
def test_arrays(pool, count, order):
    array = np.arange(count * count, dtype=np.float32).reshape((count, count), order=order)
    result = pool.submit(np.add, array, 1).result(WAIT)
    np.testing.assert_array_equal(result, array + 1)
    assert result.flags.writeable


def test_large_arguments_are_writable_and_aligned(pool):
    def look(array):
        array[0] = 7
        return array.flags.writeable, array.ctypes.data % 64, array.sum()

    array = np.ones(1 << 20)
    assert pool.submit(look, array).result(WAIT) == (True, 0, (1 << 20) + 6)
    assert array[0] == 1
    array.flags.writeable = False
    assert pool.submit(lambda a: a.flags.writeable, array).result(WAIT) is False


def test_memory_of_a_task_that_is_not_sent_is_freed(pool, monkeypatch):
    from ham import _ham, _pickles

    allocate, made = _ham.allocate, []

    def only_once(node, nbytes):
        if made:
            raise MemoryError
        made.append(allocate(node, nbytes))
        return made[0]

    monkeypatch.setattr(_ham, "allocate", only_once)
    with pytest.raises(MemoryError):
        _pickles.encode(1, _pickles.CALL, _pickles.dump([np.ones(1 << 16), np.zeros(1 << 16)]))
    made[0].free()
    with pytest.raises(ValueError):  # it was still its owner's
        made[0].get(0, 1)


def test_large_arguments_are_not_in_the_pickle():
    from ham import _pickles

    body = _pickles.dump(np.ones(1 << 20))
    assert len(body.data) < 1000 and [b.nbytes for b in body.buffers] == [8 << 20]
    assert np.shares_memory(np.asarray(body.buffers[0]), np.frombuffer(body.buffers[0]))


def test_memory_of_arguments_is_freed(pool):
    def resident():
        with open("/proc/self/status") as status:
            return int(status.read().split("VmRSS:")[1].split()[0]) << 10

    array = np.ones(4 << 20)  # 32 MiB
    for _ in range(3):
        pool.submit(np.sum, array).result(WAIT)
        pool.submit(np.sum, array).result(WAIT)
    before = max(pool.submit(resident).result(WAIT) for _ in range(4))
    for _ in range(12):
        pool.submit(np.sum, array).result(WAIT)
    after = max(pool.submit(resident).result(WAIT) for _ in range(4))
    assert after < before + 2 * array.nbytes


def test_results_outlive_the_executor():
    with ham.Executor(workers=1) as executor:
        array = executor.submit(np.arange, 1 << 20).result(WAIT)
    with ham.Executor(workers=1) as executor:
        assert executor.submit(np.sum, array).result(WAIT) == array.sum()
    assert array[-1] == (1 << 20) - 1


# ---- map


def test_map(pool):
    assert list(pool.map(pow, range(10), [2] * 10)) == [n * n for n in range(10)]
    assert list(pool.map(str, range(5000))) == [str(n) for n in range(5000)]
    assert list(pool.map(str, range(50), chunksize=7)) == [str(n) for n in range(50)]
    assert list(pool.map(str, [])) == []


@pytest.mark.parametrize("chunksize", [None, 1, 4])
def test_map_gives_results_up_to_the_exception(pool, chunksize):
    results = pool.map(lambda n: 12 // (6 - n), range(10), chunksize=chunksize)
    for expected in (2, 2, 3, 4, 6, 12):
        assert next(results) == expected
    with pytest.raises(ZeroDivisionError) as caught:
        next(results)
    assert "<lambda>" in str(caught.value.__cause__)


def test_map_timeout(pool):
    with pytest.raises(TimeoutError if sys.version_info >= (3, 11) else concurrent.futures.TimeoutError):
        list(pool.map(time.sleep, [0.5] * 4, timeout=0.05))
    with pytest.raises(ValueError):
        pool.map(str, [1], chunksize=0)


# ---- futures


def test_cancel_and_timeout():
    with ham.Executor(workers=1) as executor:
        first = executor.submit(time.sleep, 0.5)
        second = executor.submit(len, "abc")
        assert second.cancel() and second.cancelled()
        with pytest.raises(concurrent.futures.TimeoutError):
            first.result(0.01)
        assert first.result(WAIT) is None
        with pytest.raises(concurrent.futures.CancelledError):
            second.result(WAIT)


def test_shutdown_cancels_what_waits():
    executor = ham.Executor(workers=1)
    futures = [executor.submit(time.sleep, 0.2) for _ in range(5)]
    executor.shutdown(cancel_futures=True)
    assert futures[0].done() and not futures[0].cancelled()
    assert all(future.cancelled() for future in futures[1:])
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(len, "")
    executor.shutdown()


def test_shutdown_without_waiting_executes_what_was_submitted():
    executor = ham.Executor(workers=1)
    futures = [executor.submit(operator.add, n, 1) for n in range(20)]
    executor.shutdown(wait=False)
    assert [future.result(WAIT) for future in futures] == list(range(1, 21))


def test_as_completed_wait_and_callbacks(pool):
    futures = {pool.submit(operator.neg, n): n for n in range(50)}
    seen = []
    for future in futures:
        future.add_done_callback(lambda f: seen.append(f.result()))
    assert {-future.result() for future in concurrent.futures.as_completed(futures, WAIT)} == set(range(50))
    eventually(lambda: sorted(seen) == sorted(-n for n in range(50)))
    done, waits = concurrent.futures.wait([pool.submit(len, "x")], WAIT)
    assert len(done) == 1 and not waits


def test_asyncio(pool):
    async def program():
        loop = asyncio.get_running_loop()
        first = loop.run_in_executor(pool, operator.add, 1, 2)
        second = asyncio.wrap_future(pool.submit(operator.add, 3, 4))
        return await asyncio.gather(first, second)

    assert asyncio.run(program()) == [3, 7]


def test_many_threads(pool):
    results = []

    def client(base):
        results.extend(pool.submit(operator.add, base, n).result(WAIT) - base == n for n in range(100))

    threads = [threading.Thread(target=client, args=(base,)) for base in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
    assert len(results) == 600 and all(results)
