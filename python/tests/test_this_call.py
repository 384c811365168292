"""Times and stops that reach the functions of tasks. Run by run.sh, with the package installed."""

import asyncio
import concurrent.futures
import os
import pickle
import threading
import time

import pytest

import ham

WAIT = 60  # seconds; generous, for machines under load


@pytest.fixture(scope="module")
def pool():
    with ham.Executor(workers=1) as executor:
        yield executor


def until_stopped(started=None):
    """What it knew at first; it runs until it is stopped."""
    left = ham.this_call.time_left()
    if started is not None:
        open(started, "w").close()
    while not ham.this_call.stop_requested():
        time.sleep(0.001)
    return left


def wait_for(path):
    end = time.monotonic() + WAIT
    while not os.path.exists(path):
        assert time.monotonic() < end, "it did not begin"
        time.sleep(0.005)


def test_a_time_ends_the_task_and_its_function(pool):
    with pytest.raises(ham.DeadlineExceeded) as caught:
        pool.within(0.1).submit(until_stopped).result(WAIT)
    assert caught.value.outcome == "may_have_run" and isinstance(caught.value, TimeoutError)
    assert pool.submit(len, "abc").result(WAIT) == 3  # so the function has ended


def test_functions_see_the_time_that_is_left(pool):
    def look():
        return ham.this_call.time_left(), ham.this_call.deadline() - time.monotonic(), ham.this_call.stop_requested()

    left, until, stop = pool.within(500).submit(look).result(WAIT)
    assert 500 - WAIT < left <= 500 and 500 - WAIT < until <= 500 and stop is False


def test_functions_without_a_time(pool):
    def look():
        return ham.this_call.time_left(), ham.this_call.deadline(), ham.this_call.stop_requested()

    assert pool.submit(look).result(WAIT) == (None, None, False)
    assert look() == (None, None, False)  # outside of calls


def test_a_task_that_no_worker_has_in_its_time_does_not_run(pool, tmp_path):
    runs = pool.submit(until_stopped, str(tmp_path / "started"))
    waits = pool.within(0.05).submit((tmp_path / "ran").touch)
    with pytest.raises(ham.DeadlineExceeded) as caught:
        waits.result(WAIT)
    assert caught.value.outcome == "not_run"
    wait_for(tmp_path / "started")
    assert pickle.loads(pickle.dumps(caught.value)).outcome == "not_run"
    assert runs.request_stop() and runs.result(WAIT) is None
    assert pool.submit(len, "abc").result(WAIT) == 3
    assert not (tmp_path / "ran").exists()


def test_times_of_tasks_that_are_done_in_time_do_nothing(pool):
    limited = pool.within(2)
    assert [limited.submit(pow, 2, n).result(WAIT) for n in range(20)] == [2**n for n in range(20)]
    time.sleep(2.1)
    assert pool.submit(len, "abc").result(WAIT) == 3


def test_map_within_a_time(pool):
    assert list(pool.within(WAIT).map(abs, range(-5, 0))) == [5, 4, 3, 2, 1]
    with pytest.raises(ham.DeadlineExceeded):
        list(pool.within(0.1).map(lambda _: until_stopped(), range(3)))
    with pytest.raises(ValueError):
        pool.within(-1)


@pytest.mark.parametrize("seconds", [1e18, 1e300, float("inf")])
def test_times_that_are_never_over(pool, seconds):
    future = pool.within(seconds).submit(time.sleep, 0.05)
    concurrent.futures.wait([future])  # which leaves it to the pool's thread
    assert future.result(WAIT) is None and pool.submit(len, "abc").result(WAIT) == 3


@pytest.mark.parametrize("how", ["request_stop", "cancel"])
def test_a_running_function_is_asked_to_stop(pool, tmp_path, how):
    future = pool.submit(until_stopped, str(tmp_path / "started"))
    wait_for(tmp_path / "started")
    assert getattr(future, how)() is (how == "request_stop")
    assert future.result(WAIT) is None and not future.cancelled()
    assert future.request_stop() is False


def test_a_stop_is_of_one_task_only(pool, tmp_path):
    future = pool.submit(until_stopped, str(tmp_path / "started"))
    wait_for(tmp_path / "started")
    future.request_stop()
    future.result(WAIT)
    assert pool.submit(ham.this_call.stop_requested).result(WAIT) is False


def test_request_stop_cancels_what_waits(pool, tmp_path):
    runs = pool.submit(until_stopped, str(tmp_path / "started"))
    waits = pool.submit(len, "abc")
    assert waits.request_stop() and waits.cancelled()
    wait_for(tmp_path / "started")
    runs.request_stop()
    assert runs.result(WAIT) is None


def test_asyncio_cancels_the_function(pool, tmp_path):
    async def program():
        loop = asyncio.get_running_loop()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(loop.run_in_executor(pool, until_stopped, str(tmp_path / "started")), 0.2)

    asyncio.run(program())
    assert pool.submit(len, "abc").result(WAIT) == 3  # so the function has ended


def test_many_times_at_once(tmp_path):
    with ham.Executor(workers=2) as executor:
        busy = [executor.submit(until_stopped, str(tmp_path / name)) for name in "ab"]
        futures = [executor.within(0.1 + n / 1000).submit(until_stopped) for n in range(20)]
        outcomes = []
        for future in futures:
            with pytest.raises(ham.DeadlineExceeded) as caught:
                future.result(WAIT)
            outcomes.append(caught.value.outcome)
        assert outcomes == ["not_run"] * 20
        for future, name in zip(busy, "ab"):
            wait_for(tmp_path / name)
            future.request_stop()
        assert executor.submit(len, "abc").result(WAIT) == 3


def test_callbacks_of_tasks_whose_time_is_over_may_submit(pool):
    done, futures = threading.Event(), []

    def again(_):
        futures.append(pool.submit(len, "abc"))
        done.set()

    pool.within(0.1).submit(until_stopped).add_done_callback(again)
    assert done.wait(WAIT) and futures[0].result(WAIT) == 3


def test_a_time_keeps_nothing_of_tasks_that_are_done(pool):
    limited = pool.within(10 * WAIT)
    assert sum(limited.map(abs, range(500), chunksize=1)) == 124750
    assert len(pool._pool._deadlines._heap) <= 200


def test_shutdown_waits_for_functions_whose_time_is_over(tmp_path):
    def goes_on():
        (tmp_path / "started").touch()
        time.sleep(0.4)
        (tmp_path / "ended").touch()

    executor = ham.Executor(workers=1)
    executor.submit(len, "").result(WAIT)
    future = executor.within(0.2).submit(goes_on)
    wait_for(tmp_path / "started")
    with pytest.raises(ham.DeadlineExceeded):
        future.result(WAIT)
    executor.shutdown()
    assert (tmp_path / "ended").exists()


def test_kill_workers():
    executor = ham.Executor(workers=1)
    future = executor.submit(time.sleep, 1000)
    waits = executor.submit(len, "abc")
    while not future.running():
        time.sleep(0.001)
    executor.kill_workers()
    with pytest.raises(ham.NodeFailure):
        future.result(WAIT)
    with pytest.raises(concurrent.futures.CancelledError):
        waits.result(WAIT)
    with pytest.raises(RuntimeError):
        executor.submit(len, "")
