"""Runs programs that may hang, fail or leave processes behind: all of them are ended, whatever happens."""
import collections
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
REQUESTS_TO_END = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

outcome = collections.namedtuple("outcome", "status output errors timed_out seconds")


def end_on_request():
    """A request to end raises SystemExit, so that what this process has started is ended and its folders are removed; further requests
    do not disturb that."""
    def leave(number, _):
        ignore_requests()
        sys.exit(128 + number)

    for one in REQUESTS_TO_END:
        if signal.getsignal(one) != signal.SIG_IGN:  # as nohup and shells in the background ask for
            signal.signal(one, leave)


def ignore_requests():
    """What is being written is written to its end."""
    for one in REQUESTS_TO_END:
        signal.signal(one, signal.SIG_IGN)


def adopt_orphans():
    """Processes whose parent has ended become children of this one, so that they can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def descendants(of):
    """Ids of all processes below one, by /proc."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    children[int(file.read().rpartition(")")[2].split()[1])].append(int(name))
            except OSError:
                pass  # it has ended
    found, left = [], [of]
    while left:
        new = children[left.pop()]
        found += new
        left += new
    return found


def reap(group=None):
    """Forgets children that have ended: all, or those of a process group."""
    try:
        while os.waitpid(-1 if group is None else -group, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def end_all(before):
    """Kills every process below this one that was not there before, and reaps it."""
    for _ in range(100):
        reap()
        left = [process for process in descendants(os.getpid()) if process not in before]
        if not left:
            return
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)


def run(command, environment, timeout, cores=None):
    """Runs a command, on these cores or wherever this process may run; after it nothing that it has started is left. Output goes
    through files, because a process that stays behind would keep a pipe open."""
    before = set(descendants(os.getpid()))
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        timed_out = False
        try:  # also around the start: a request to end may come in the midst of it
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=environment,
                                       start_new_session=True, preexec_fn=cores and (lambda: os.sched_setaffinity(0, cores)))
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
                process.terminate()  # launchers end their processes then
                try:
                    process.wait(2)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        except OSError as failure:
            return outcome(127, "", str(failure), False, 0.0)
        finally:
            end_all(before)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
        return outcome(process.returncode, *texts, timed_out, time.monotonic() - begin)
