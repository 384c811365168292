"""Values that stay in workers. Run by run.sh, with the package installed."""

import os
import pickle
import signal
import time

import numpy as np
import pytest

import ham
from ham import _ham, _pickles

WAIT = 60  # seconds; generous, for machines under load


@pytest.fixture
def pool():
    with ham.Executor(workers=1) as executor:
        yield executor


@pytest.fixture
def allocated(monkeypatch):
    """The sizes of what is allocated on workers from here on."""
    sizes, allocate = [], _ham.allocate
    monkeypatch.setattr(_ham, "allocate", lambda node, nbytes: sizes.append(nbytes) or allocate(node, nbytes))
    return sizes


def where(array):
    return array.ctypes.data, float(array.sum()), array.flags.writeable


def test_an_array_is_sent_once(pool, allocated):
    array = ham.Resident(np.ones(8 << 20))  # 64 MiB
    first = pool.submit(where, array).result(WAIT)
    assert allocated == [64 << 20]
    assert pool.submit(where, array).result(WAIT) == first == (first[0], float(8 << 20), False)
    assert list(pool.map(where, [array] * 10)) == [first] * 10
    assert allocated == [64 << 20]


def test_each_worker_gets_it_once(allocated):
    with ham.Executor(workers=2) as executor:
        array = ham.Resident(np.ones(1 << 16))

        def slow(values):
            time.sleep(0.05)
            return float(values.sum())

        assert {future.result(WAIT) for future in [executor.submit(slow, array) for _ in range(8)]} == {float(1 << 16)}
        assert allocated == [512 << 10] * 2


def test_a_worker_that_has_it_gets_the_task(allocated):
    with ham.Executor(workers=2) as executor:
        array, other = ham.Resident(np.ones(1 << 16)), ham.Resident(np.zeros(1 << 16))
        for _ in range(5):
            executor.submit(where, array).result(WAIT)
            executor.submit(where, other).result(WAIT)
            executor.submit(len, "abc").result(WAIT)
        assert len(allocated) == 2


def test_the_copy_is_the_workers_own(pool):
    original = np.ones(1 << 16)
    array = ham.Resident(original)
    with pytest.raises(ValueError, match="read-only"):
        pool.submit(np.ndarray.fill, array, 2).result(WAIT)
    assert original[0] == 1 and original.flags.writeable and array.value is original


def test_within_other_values_and_functions(pool, allocated):
    array = ham.Resident(np.ones(1 << 16))
    assert pool.submit(lambda a, b: a["x"][1].sum() + b, {"x": [0, array]}, b=1).result(WAIT) == (1 << 16) + 1
    assert pool.submit(lambda: array.sum()).result(WAIT) == 1 << 16
    outer = ham.Resident({"array": array, "more": np.zeros(1 << 15)})
    assert pool.submit(lambda d: d["array"].size + d["more"].size, outer).result(WAIT) == (1 << 16) + (1 << 15)
    assert sorted(allocated) == [256 << 10, 512 << 10]


def test_values_without_arrays(pool):
    table = ham.Resident({n: str(n) for n in range(1000)})
    assert list(pool.map(lambda t, n: t[n], [table] * 5, range(5))) == ["0", "1", "2", "3", "4"]
    first, second = (pool.submit(id, table).result(WAIT) for _ in range(2))
    assert first == second


def test_it_is_freed_in_the_workers(pool):
    def resident_bytes():
        with open("/proc/self/status") as status:
            return int(status.read().split("VmRSS:")[1].split()[0]) << 10

    def kept():
        from ham import _resident

        return len(_resident._values)

    before = pool.submit(resident_bytes).result(WAIT)
    for _ in range(12):
        array = ham.Resident(np.ones(4 << 20))  # 32 MiB
        pool.submit(where, array).result(WAIT)
    assert pool.submit(kept).result(WAIT) == 1
    array.free()
    assert pool.submit(kept).result(WAIT) == 0
    assert pool.submit(resident_bytes).result(WAIT) < before + (160 << 20)
    with pytest.raises(ValueError, match="freed"):
        pool.submit(where, array)


def test_tasks_that_were_submitted_before_it_was_freed_have_it(pool):
    array = ham.Resident(np.ones(1 << 16))
    futures = [pool.submit(time.sleep, 0.2)] + [pool.submit(where, array) for _ in range(4)]
    array.free()
    assert [future.result(WAIT)[1] for future in futures[1:]] == [float(1 << 16)] * 4

    def kept():
        from ham import _resident

        return len(_resident._values)

    assert pool.submit(kept).result(WAIT) == 0


def test_it_is_sent_again_to_a_worker_in_place_of_a_lost_one(pool, allocated):
    array = ham.Resident(np.ones(1 << 16))
    pool.submit(where, array).result(WAIT)
    with pytest.raises(ham.NodeFailure):
        pool.submit(os._exit, 1).result(WAIT)
    assert pool.submit(where, array).result(WAIT)[1] == 1 << 16
    assert len(allocated) == 2


def test_no_memory_for_it(pool, monkeypatch):
    def none(node, nbytes):
        raise MemoryError

    array = ham.Resident(np.ones(1 << 16))
    with monkeypatch.context() as patch:
        patch.setattr(_ham, "allocate", none)
        with pytest.raises(MemoryError):
            pool.submit(where, array).result(WAIT)
    assert pool.submit(where, array).result(WAIT)[1] == 1 << 16


def test_no_memory_for_one_of_several(pool, monkeypatch):
    first, second = ham.Resident(np.ones(1 << 16)), ham.Resident(np.ones(1 << 15))
    allocate, adopted, adopt = _ham.allocate, [], _ham._adopt

    def some(node, nbytes):
        if nbytes == second.value.nbytes:
            raise MemoryError
        return allocate(node, nbytes)

    with monkeypatch.context() as patch:
        patch.setattr(_ham, "allocate", some)
        patch.setattr(_ham, "_adopt", lambda what: adopted.append(what[2]) or adopt(what))
        with pytest.raises(MemoryError):
            pool.submit(lambda a, b: a.sum() + b.sum(), first, second).result(WAIT)
    assert adopted == [first.value.nbytes]  # to be freed
    assert pool.submit(lambda a, b: a.sum() + b.sum(), first, second).result(WAIT) == 3 << 15


def test_workers_of_the_next_job_get_it():
    array = ham.Resident(np.ones(1 << 16))
    for _ in range(2):
        with ham.Executor(workers=1) as executor:
            assert executor.submit(where, array).result(WAIT)[1] == 1 << 16


def test_a_task_that_was_stopped_before_it_began_has_brought_nothing(pool, monkeypatch):
    adopted, adopt = [], _ham._adopt
    array, argument = ham.Resident(np.ones(1 << 16)), np.ones(1 << 15)
    worker = pool.submit(os.getpid).result(WAIT)
    ends = pool._pool._ends

    class Ends:
        """The worker sleeps when the call is sent."""

        def __getattr__(self, name):
            return getattr(ends, name)

        def call(self, *arguments):
            os.kill(worker, signal.SIGSTOP)
            end = time.monotonic() + WAIT
            while open(f"/proc/{worker}/stat").read().rpartition(")")[2].split()[0] != "T":
                assert time.monotonic() < end
            ends.call(*arguments)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(pool._pool, "_ends", Ends())
            future = pool.submit(lambda a, b: None, array, argument)
            patch.setattr(_ham, "_adopt", lambda what: adopted.append(what[2]) or adopt(what))
            assert future.request_stop()
            os.kill(worker, signal.SIGCONT)
            with pytest.raises(ham.OperationCancelled) as caught:
                future.result(WAIT)
    finally:
        os.kill(worker, signal.SIGCONT)
    assert caught.value.outcome == "not_run"
    assert sorted(adopted) == [argument.nbytes, array.value.nbytes]  # to be freed
    assert pool.submit(where, array).result(WAIT)[1] == 1 << 16


def test_results_of_tasks_whose_time_is_over_are_freed(pool, monkeypatch):
    discarded, discard = [], _pickles.discard
    monkeypatch.setattr(_pickles, "discard", lambda message: discarded.append(_pickles.has_buffers(message)) or discard(message))

    def late():
        while not ham.this_call.stop_requested():
            time.sleep(0.001)
        return np.ones(1 << 16)

    with pytest.raises(ham.DeadlineExceeded):
        pool.within(0.05).submit(late).result(WAIT)
    assert pool.submit(len, "abc").result(WAIT) == 3 and discarded == [True]


def test_only_tasks_have_it():
    with pytest.raises(pickle.PicklingError, match="argument of a task"):
        pickle.dumps(ham.Resident(1))
