"""Programs that use ham.Executor and end, or are ended. Run by run.sh, with the package installed."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from executor_programs import WAIT, eventually, exists, run_program

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
