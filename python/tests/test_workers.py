"""Workers of ham.Executor: how they begin, die and are replaced. Run by run.sh, with the package installed."""

import concurrent.futures
import operator
import os
import pickle
import signal
import time

import pytest

import ham
from executor_programs import WAIT, eventually, exists


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


def test_a_worker_that_is_replaced_has_the_core_of_the_one_that_died(monkeypatch):
    from ham import _job

    starts = []
    add = _job.add
    monkeypatch.setattr(_job, "add", lambda group: starts.append(group) or add(group))
    core = min(os.sched_getaffinity(0))
    with ham.Executor(nodes=f"shm:1@{core}") as executor:
        with pytest.raises(ham.NodeFailure):
            executor.submit(lambda: os.kill(os.getpid(), 9)).result(WAIT)
        assert executor.submit(pow, 2, 3).result(WAIT) == 8
    assert starts[0].endswith(f"'*1@{core}") and starts[1].endswith(f"'@{core}")
    for group, index, one in (
        ("exec:'a*@b' 'c'*4@2+5-6", 2, "exec:'a*@b' 'c'@6"),
        ("exec:'a'*4@2+5-6", 3, "exec:'a'@2"),
        ("exec:'a'*2", 1, "exec:'a'"),
        ("exec:'a'", 0, "exec:'a'"),
    ):
        assert _job.group_of_one(group, index) == one


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
