"""Runs one command: its output, its status, and an end to it and all that it has started when its time is over."""
import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers"))

import processes  # noqa: E402

END_S = 5.0  # from the request to end until it is enforced
OUTPUT_TAIL_BYTES = 4000
# Without these Open MPI starts nothing for root, nor more ranks than cores.
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


@dataclasses.dataclass
class Outcome:
    """What became of a command. status is None when it was ended because of its time."""

    status: int | None
    seconds: float
    output: str
    errors: str
    problem: str = ""  # why it did not end by itself with status 0; empty if it did


class Interrupted(KeyboardInterrupt):
    """The interrupt that has ended a command; outcome has what it has printed until then."""

    def __init__(self, outcome):
        super().__init__()
        self.outcome = outcome


def _group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end(process, end_s):
    """Asks the processes of its group to end, then makes them."""
    # A group lives as long as one of it is not reaped: its leader, or what the leader has left to us.
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            return
        deadline = time.monotonic() + end_s
        while time.monotonic() < deadline:
            if process.poll() is not None:
                processes.reap(process.pid)
                if not _group_lives(process.pid):
                    return
            time.sleep(0.02)


@contextlib.contextmanager
def _undisturbed():
    """Requests to end wait until what was started has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, processes.REQUESTS_TO_END)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _tail(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - OUTPUT_TAIL_BYTES))
    return file.read().decode("utf-8", "replace")


def _described(status):
    if status < 0:
        try:
            return f"ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"ended by signal {-status}"
    return f"ended with status {status}"


def _wait(process, timeout_s, tick):
    """Its status, or None when the time is over. tick: called about once a second with the seconds so far."""
    begin = time.monotonic()
    while True:
        left_s = begin + timeout_s - time.monotonic()
        try:
            return process.wait(timeout=max(0, left_s if tick is None else min(1, left_s)))
        except subprocess.TimeoutExpired:
            if time.monotonic() - begin >= timeout_s:
                return None
        if tick:
            tick(time.monotonic() - begin)


def run(argv, timeout_s, environment=None, folder=None, end_s=END_S, tick=None):
    """Runs argv in a session of its own. Nothing that it has started is left when this returns, in whatever session: also who does
    not end what it has started when it is asked to leaves nothing."""
    environment = {**os.environ, **MPI_ENVIRONMENT, **(environment or {})}
    processes.adopt_orphans()
    before = set(processes.descendants(os.getpid()))
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = status = None
        interrupted = False
        try:
            try:
                process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment, cwd=folder,
                                           start_new_session=True)
            except OSError as problem:
                return Outcome(127, 0.0, "", "", f"could not be started: {problem.strerror}")
            status = _wait(process, timeout_s, tick)
        except KeyboardInterrupt:
            interrupted = True
        finally:  # also what a program that has ended has left behind
            seconds = time.monotonic() - begin
            with _undisturbed():
                if process is not None and (process.returncode is None or _group_lives(process.pid)):
                    _end(process, end_s)
                processes.end_all(before)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
        tail = _tail(errors)
    if interrupted:
        raise Interrupted(Outcome(None, seconds, text, tail, "was interrupted"))
    if status is None:
        return Outcome(None, seconds, text, tail, f"did not end within {timeout_s:g} s and was ended")
    return Outcome(status, seconds, text, tail, "" if status == 0 else _described(status))
