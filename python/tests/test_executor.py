"""ham.Executor as programs see it. Run by run.sh, with the package installed."""

import asyncio
import concurrent.futures
import operator
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import ham

WAIT = 60  # seconds; generous, for machines under load


@pytest.fixture(scope="module")
def pool():
    with ham.Executor(workers=2) as executor:
        yield executor


def run_program(text, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text), *arguments], capture_output=True, text=True, timeout=WAIT, **options
    )


def exists(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def eventually(condition):
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


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


# ---- workers


def test_initializer():
    def prepare(value):
        os.environ["PREPARED"] = value

    with ham.Executor(2, initializer=prepare, initargs=("yes",)) as executor:
        assert set(executor.map(lambda _: os.environ["PREPARED"], range(8))) == {"yes"}


def test_initializer_that_raises():
    def fails():
        raise ValueError("of the initializer")

    with pytest.raises(ham.BrokenExecutor) as caught:
        ham.Executor(1, initializer=fails)
    assert "of the initializer" in str(caught.value.__cause__)
    assert isinstance(caught.value, concurrent.futures.process.BrokenProcessPool)


def test_initializer_that_ends_its_process():
    with pytest.raises(ham.BrokenExecutor, match="its initializer executed") as caught:
        ham.Executor(1, initializer=os._exit, initargs=(3,))
    assert isinstance(caught.value.__cause__, ham.NodeFailure)
    assert isinstance(caught.value, concurrent.futures.process.BrokenProcessPool)


def test_bad_arguments():
    with pytest.raises(ValueError):
        ham.Executor(workers=0)
    with pytest.raises(ham.ConfigError, match="veo"):
        ham.Executor(nodes="veo:1")
    for count in ("x", "0"):
        with pytest.raises(ham.ConfigError, match="number"):
            ham.Executor(nodes=f"shm:{count}")
    for wrong in ({"nodes": 2}, {"workers": 1.5}, {"workers": "2"}):
        with pytest.raises(TypeError):
            ham.Executor(**wrong)
    with pytest.raises(TypeError):
        ham.Executor(1, initializer=3)


def test_nodes():
    with ham.Executor(nodes="shm:1,shm:2") as executor:
        assert len({executor.submit(os.getpid).result(WAIT) for _ in range(30)}) <= 3
        assert executor._max_workers == 3


def test_a_worker_that_dies_fails_its_own_task_only():
    with ham.Executor(workers=2) as executor:
        for _ in range(10):
            others = [executor.submit(time.sleep, 0.01) for _ in range(3)]
            dies = executor.submit(lambda: os.kill(os.getpid(), 9))
            others += [executor.submit(operator.add, n, 1) for n in range(10)]
            with pytest.raises(ham.NodeFailure) as caught:
                dies.result(WAIT)
            assert caught.value.outcome in ("may_have_run", "ran")
            assert "it was executing test_a_worker_that_dies" in str(caught.value)
            assert pickle.loads(pickle.dumps(caught.value)).outcome == caught.value.outcome
            assert [future.result(WAIT) for future in others] == [None] * 3 + list(range(1, 11))


def test_workers_that_are_killed_under_load():
    """One failed task for each kill at most, and the pool goes on. HAM_TEST_KILLS: how often."""
    kills = int(os.environ.get("HAM_TEST_KILLS", "15"))
    parent = os.getpid()

    def where(seconds):
        time.sleep(seconds)
        return os.getpid()

    with ham.Executor(workers=2) as executor:
        failed = 0
        for _ in range(kills):
            victim = executor.submit(where, 0).result(WAIT)
            futures = [executor.submit(where, 0.001) for _ in range(40)]
            os.kill(victim, signal.SIGKILL)
            for future in futures:
                try:
                    assert future.result(WAIT) != parent
                except ham.NodeFailure:
                    failed += 1
        assert failed <= kills
        last = {executor.submit(where, 0.01).result(WAIT) for _ in range(10)}
    eventually(lambda: not any(map(exists, last)))


def test_workers_that_are_killed_while_they_start(monkeypatch):
    """The pool survives more of them in a row than fail without a reason, and ends when it is told to."""
    from ham import _job

    starts = []

    def killed_start(group):
        starts.append(group)
        if len(starts) in range(2, 7):
            raise ham.ConfigError("it was killed")
        return add(group)

    add = _job.add
    monkeypatch.setattr(_job, "add", killed_start)
    with ham.Executor(workers=1) as executor:
        with pytest.raises(ham.NodeFailure):
            executor.submit(lambda: os.kill(os.getpid(), 9)).result(WAIT)
        assert executor.submit(pow, 2, 3).result(WAIT) == 8
        assert len(starts) == 7


def test_workers_that_cannot_be_started_again(monkeypatch):
    from ham import _job, _members

    with ham.Executor(workers=1) as executor:
        monkeypatch.setattr(_members, "_START_PAUSE", 0.001)
        monkeypatch.setattr(_job, "worker_command", lambda *_: "exec:/nowhere")
        executor._pool._restarts = dict.fromkeys(executor._pool._restarts, "exec:/nowhere")
        fails = executor.submit(lambda: os.kill(os.getpid(), 9))
        waits = executor.submit(pow, 2, 3)
        with pytest.raises(ham.NodeFailure):
            fails.result(WAIT)
        with pytest.raises(ham.BrokenExecutor, match="could not be replaced"):
            waits.result(WAIT)


def test_an_idle_worker_that_dies_fails_nothing():
    with ham.Executor(workers=1) as executor:
        for _ in range(3):
            pid = executor.submit(os.getpid).result(WAIT)
            os.kill(pid, signal.SIGKILL)
            eventually(lambda: not exists(pid))
            assert executor.submit(os.getpid).result(WAIT) != pid


def test_idle_takes_no_time():
    with ham.Executor(workers=2) as executor:
        pids = {executor.submit(os.getpid).result(WAIT) for _ in range(10)} | {os.getpid()}

        def used():
            total = 0
            for pid in pids:
                with open(f"/proc/{pid}/stat") as stat:
                    fields = stat.read().rsplit(")", 1)[1].split()
                total += int(fields[11]) + int(fields[12])
            return total / os.sysconf("SC_CLK_TCK")

        time.sleep(0.3)
        before = used()
        time.sleep(1)
        assert used() - before <= 0.1
        slow = executor.submit(time.sleep, 1)
        time.sleep(0.3)
        before = used()
        slow.result(WAIT)
        assert used() - before <= 0.15


# ---- the end of programs

PROGRAM = """
    import os, sys, time, ham
    def stays():
        os.write(1, b'%d\\n' % os.getpid())
        while True: pass
    executor = ham.Executor(workers=2)
    futures = [executor.submit(stays) for _ in range(2)]
"""


def start_program(rest):
    text = textwrap.dedent(PROGRAM) + textwrap.dedent(rest)
    process = subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    return process, [int(process.stdout.readline()) for _ in range(2)]


def test_killed_host_leaves_nothing():
    process, workers = start_program("time.sleep(1000)")
    process.kill()
    process.communicate(timeout=WAIT)
    eventually(lambda: not any(map(exists, workers)))


@pytest.mark.parametrize("again", [False, True])
def test_interrupted_program_leaves_nothing(again):
    process, workers = start_program("futures[0].result()")
    os.killpg(process.pid, signal.SIGINT)
    if again:
        time.sleep(0.05)
        try:
            os.killpg(process.pid, signal.SIGINT)
        except ProcessLookupError:
            pass
    _, errors = process.communicate(timeout=WAIT)
    assert "KeyboardInterrupt" in errors and "terminate" not in errors
    eventually(lambda: not any(map(exists, workers)))


def test_program_without_shutdown_executes_what_was_submitted():
    ended = run_program(
        """
        import ham
        executor = ham.Executor(1)
        executor.submit(print, "printed by a worker")
        """
    )
    assert ended.returncode == 0, ended.stderr
    assert "printed by a worker" in ended.stdout


def test_interrupts_lose_no_task():
    """A handler that raises at any moment of submit and result leaves the pool usable."""
    ended = run_program(
        """
        import operator, signal, time, ham
        def interrupt(*_): raise InterruptedError
        signal.signal(signal.SIGALRM, interrupt)
        with ham.Executor(1) as pool:
            interrupts = 0
            for n in range(300):
                try:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 0.00002 + 0.000001 * (n % 50))
                        for k in range(20): pool.submit(operator.add, n, k).result()
                        time.sleep(0.01)
                    finally:
                        signal.setitimer(signal.ITIMER_REAL, 0)
                except InterruptedError:
                    interrupts += 1
                assert pool.submit(operator.add, n, 1).result(30) == n + 1
            print("interrupts:", interrupts > 100)
        """
    )
    assert ended.returncode == 0, ended.stderr
    assert "interrupts: True" in ended.stdout


def test_works_without_cloudpickle():
    ended = run_program(
        """
        import sys
        sys.modules["cloudpickle"] = None
        import ham, operator
        def mine(): pass
        with ham.Executor(1) as pool:
            print(pool.submit(operator.add, 1, 2).result())
            try: pool.submit(mine)
            except Exception as error: print(error)
        """
    )
    assert ended.stdout.splitlines()[0] == "3", ended.stderr
    assert "install cloudpickle" in ended.stdout


def test_workers_that_wait_for_the_host():
    command = [sys.executable, "-m", "ham.worker", "--ham-serve=127.0.0.1:0", "--ham-tcp-security=off"]
    waits = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = waits.stderr.readline().split()[-1]
        ended = run_program(
            """
            import sys, numpy, ham
            with ham.Executor(nodes=f"tcp://{sys.argv[1]}") as pool:
                print(pool.submit(numpy.add, numpy.ones(1 << 20), 1).result().sum())
            """,
            address,
            env={**os.environ, "HAM_TCP_SECURITY": "off"},
        )
        assert ended.stdout.split() == [str(float(2 << 20))], ended.stderr
    finally:
        waits.kill()
        waits.communicate()
