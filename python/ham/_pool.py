"""The workers of one executor: which task goes to which of them, and what happens when one is lost."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import math
import os
import sys
import threading
import time
import weakref
from typing import Any, Optional

from . import _ham, _job, _pickles, _resident
from ._deadlines import Deadlines
from ._errors import BrokenExecutor, CallError, DeadlineExceeded, Error, NodeFailure
from ._future import Future, Task, raise_remote, settle

_WORKER = "ham.python.run"
_MAX_FAILED_STARTS = 3
#: How long the pool's thread leaves it to result() to make progress, in seconds.
_PAUSE = 0.001
#: How often the pool's thread checks for workers that are started in place of lost ones; it is told, too.
_WAIT_FOR_WORKERS = 0.1
#: How long the pool's thread waits in the library at most, in seconds: the library takes no number of any size.
_MAX_WAIT = 3600.0
#: In place of a result whose buffers have been taken over: that is done once.
_READ_BEFORE = (None, Error("the result was lost: the handler of a signal raised while it was read"))


class Pool:
    """Each worker has one task at a time, so that a lost worker loses one. Any thread.

    One thread at a time waits in the library, without the GIL, for what ends first: one that is in result(), for a while,
    else the pool's own. Tasks are sent by the thread that submits them if a worker is idle, else by that which waits.
    """

    def __init__(self, groups: list[str], initializer: Optional[bytes], arguments: tuple) -> None:
        self._lock = threading.Lock()
        self._waiting: collections.deque[Task] = collections.deque()
        self._idle: list[int] = []
        self._running: dict[int, tuple[Task, int]] = {}
        self._members: set[int] = set()
        self._restarts: dict[int, str] = {}
        self._deadlines = Deadlines()
        self._next_id = 0
        self._starting = 0
        self._failed_starts = 0
        self._broken: Optional[str] = None
        self._closed = False
        self._abandoned = False
        self._prepare = _pickles.dump((sys.path, os.getcwd(), initializer, arguments))
        self._owner = os.getpid()
        self._helper = threading.Lock()  # held by the thread that is in help()
        self._helps = 0
        self._resumed = threading.Condition(self._lock)  # the pool's thread waits for tasks
        self._parked = False
        self._inside = False  # it waits in the library, or is about to
        self._inside_until = math.inf  # on time.monotonic()
        _job.acquire()
        try:
            self._ends = _ham.Queue()
            for group in groups:
                self._add(group)
        except BaseException:
            self._remove_members()
            _job.release()
            raise
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait_for_ends, name="ham.Executor", daemon=True)
        self._thread.start()
        _pools.add(self)

    # ---- workers

    def _add(self, group: str) -> None:
        """Starts the workers of a group, and prepares each. Blocks."""
        first, count = _job.add(group)
        nodes = range(first, first + count)
        with self._lock:
            self._members.update(nodes)
        for node in nodes:
            _resident.started(node)
            answer = _ham.call(node, _WORKER, _pickles.encode(node, _pickles.INITIALISE, self._prepare))
            kind, _, value = _pickles.decode(answer)
            if kind == _pickles.FAILURE:
                error, text = value()
                raise BrokenExecutor("the initializer of a worker raised an exception") from raise_remote(error, text)
            with self._lock:
                self._idle.append(node)
                if group.startswith("exec:"):
                    self._restarts[node] = group.partition("*")[0] if "'*" not in group else group[: group.rindex("*")]

    def _lose(self, node: int) -> None:
        """A worker is lost: starts another one in its place."""
        with self._lock:
            if node not in self._members:
                return
            self._members.discard(node)
            group = self._restarts.pop(node, None)
            if node in self._idle:
                self._idle.remove(node)
            if group is None:
                if not self._members and not self._starting:
                    self._broken = "all workers are lost, and none of them was started here"
            elif not self._closed or self._waiting:
                self._starting += 1
            else:
                group = None
        if group is not None:
            threading.Thread(target=self._start_again, args=(group,), name="ham.Executor start", daemon=True).start()
        self._fail_waiting_if_broken()

    def _start_again(self, group: str) -> None:
        while True:
            try:
                self._add(group)
                self._failed_starts = 0
                break
            except Exception as error:
                self._failed_starts += 1
                if isinstance(error, BrokenExecutor) or self._failed_starts >= _MAX_FAILED_STARTS:
                    with self._lock:
                        self._broken = f"a worker that was lost could not be replaced: {error}"
                    break
        with self._lock:
            self._starting -= 1
        self._fail_waiting_if_broken()
        self._send_waiting()
        self._resume()

    def _remove_members(self) -> None:
        with self._lock:
            members, self._members = self._members, set()
            self._idle.clear()
        for node in members:
            try:
                _ham.remove_node(node)
            except Error:
                pass  # lost already

    # ---- tasks
    # A signal's handler may raise within any call of the main thread. What must be done together is therefore written
    # without calls, and what may be left half done is done again by the pool's thread.

    def submit(self, task: Task) -> None:
        """Raises RuntimeError if the pool is closed, BrokenExecutor if it is broken."""
        number = 0
        if task.end is not None:
            self._note_deadline(task)
        try:
            with self._lock:
                if self._broken is not None:
                    raise BrokenExecutor(self._broken)
                if self._closed or _exiting:
                    raise RuntimeError("cannot schedule new futures after shutdown")
                if self._waiting or not self._idle:
                    self._waiting.append(task)
                    return
                number = self._reserve(task)
            self._send(number, task)
        except BaseException:
            if number in self._running:
                self._forget(number)
            raise

    def _reserve(self, task: Task) -> int:
        """With the lock: an idle worker is this task's."""
        number = self._next_id + 1
        at = self._best_idle(task) if task.residents else -1
        if self._parked:
            self._resumed.notify()
        self._next_id = number
        self._running[number] = (task, self._idle[at])
        del self._idle[at]
        return number

    def _best_idle(self, task: Task) -> int:
        """Where the values are already that the task needs, if there is such a worker."""
        for at, node in enumerate(self._idle):
            if _resident.are_on(node, task.residents):
                return at
        return -1

    def _forget(self, number: int) -> None:
        """The worker of a task is idle again."""
        with self._lock:
            if number in self._running:
                node = self._running[number][1]
                if node in self._members:
                    self._idle += [node]
                del self._running[number]

    def _send(self, number: int, task: Task) -> None:
        """Sends a task to its worker. What is wrong with the task is the future's error."""
        node = self._running[number][1]
        future = task.future
        if future._state == "FINISHED" or (future._state != "RUNNING" and not future.set_running_or_notify_cancel()):
            self._forget(number)
            return
        extra = message = b""
        try:
            seconds = None if task.end is None else task.end - time.monotonic()
            extra = _resident.extras(node, task.residents, seconds)
            message = _pickles.encode(node, task.kind, task.body, task.function, extra)
            task.sent = message if extra or _pickles.has_buffers(message) else b""
            self._ends.call(node, _WORKER, message, number, _ham.STOPPABLE)
            if future._stop_asked:
                self._ends.stop(number)
        except (NodeFailure, CallError) as error:  # the worker was lost while it was idle
            self._again(number, error)
        except (Error, MemoryError) as error:
            task.sent = b""
            if message:
                _pickles.discard(message)
            _resident.not_sent(node, task.residents, extra)
            self._forget(number)
            settle(future, error=error)
        except BaseException:  # of a signal's handler: the worker has it, or not
            _resident.perhaps_not_sent(node, task.residents)
            raise

    def _send_waiting(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or not self._idle:
                    return
                task = self._waiting.popleft()
                number = self._reserve(task)
            self._send(number, task)

    def _again(self, number: int, error: Exception) -> None:
        """A task that has not run goes to another worker."""
        with self._lock:
            task, node = self._running[number]
            again = not self._abandoned
            if again:
                self._waiting.appendleft(task)
            del self._running[number]
        if not again:
            settle(task.future, error=error)
        self._lose(node)
        self._send_waiting()

    @staticmethod
    def _take_back(task: Task, node: int, error: Exception) -> None:
        """The worker has not answered itself: perhaps it does not have what was sent with the task."""
        _resident.perhaps_not_sent(node, task.residents)
        message, task.sent = task.sent, b""  # once: a signal's handler may raise below
        if message and getattr(error, "outcome", "") == "not_run":  # its call was stopped before it began
            _resident.not_sent(node, task.residents, _pickles.extra_of(message))
            _pickles.discard(message)

    # ---- stops

    def request_stop(self, future: Future) -> bool:
        """False: no worker has the task."""
        if os.getpid() != self._owner:
            return False
        future._stop_asked = True  # for who sends it just now
        with self._lock:
            numbers = [number for number, (task, _) in self._running.items() if task.future is future]
        for number in numbers:
            self._ends.stop(number)
        return bool(numbers)

    def _note_deadline(self, task: Task) -> None:
        with self._lock:
            self._deadlines.add(task, task.end)
            sooner = self._inside and task.end < self._inside_until
        if sooner:
            self._ends.wake()

    def _end_tasks_in_time(self) -> None:
        """Tasks whose time is over fail; their functions are asked to stop. On the pool's thread."""
        late: list[tuple[Task, Optional[int]]] = []
        with self._lock:
            for task in self._deadlines.due():
                number = self._number_of(task)
                if number is None and task in self._waiting:
                    self._waiting.remove(task)
                    late.append((task, None))
                elif number is not None and task.future._state == "RUNNING":
                    late.append((task, number))
                elif not task.future.done():  # on its way to a worker
                    self._deadlines.add(task, time.monotonic() + _PAUSE)
        for task, number in late:
            future = task.future
            if number is not None:
                settle(future, error=DeadlineExceeded("the time of the task is over", "may_have_run"))
                self._ends.stop(number)
            elif future._state == "RUNNING" or future.set_running_or_notify_cancel():
                settle(future, error=DeadlineExceeded("the time of the task was over before a worker had it", "not_run"))

    def _number_of(self, task: Task) -> Optional[int]:
        return next((number for number, (one, _) in self._running.items() if one is task), None)

    # ---- ends

    def help(self, future: Future, until: float) -> None:
        """Waits for `future` in the library until then, unless another thread does."""
        if self._waiting or os.getpid() != self._owner or self._helper.locked():
            return
        with self._helper:
            try:
                self._helps += 1
                if self._inside:
                    self._ends.wake()
                while future._state in ("PENDING", "RUNNING") and not self._waiting and time.monotonic() < until:
                    number = self._ends.next(1)
                    if number is not None and not self._finish(number):
                        break
            finally:
                if self._ends.ends:  # for the pool's thread, as is what an exception has left half done
                    self._ends.wake()

    def _finish(self, number: int) -> bool:
        """Settles a task that has ended. False if its worker is lost: that is left to the pool's thread."""
        result, error = self._ends.ends[number]
        if isinstance(error, NodeFailure):
            return False
        if result is not None and _pickles.has_buffers(result):
            self._ends.ends[number] = _READ_BEFORE
        if number in self._running:
            task, node = self._running[number]
            future = task.future
            if error is not None:
                self._take_back(task, node, error)
            if not future.done():
                self._settle(future, result, error)
            else:  # its time is over, or perhaps nobody has been told
                if result is not None:
                    _pickles.discard(result)
                with future._condition:
                    future._condition.notify_all()
            self._forget(number)
        elif result is not None:
            _pickles.discard(result)
        self._ends.ends.pop(number, None)
        return True

    def _finish_all(self) -> None:
        """On the pool's thread."""
        for number in list(self._ends.ends):
            if self._finish(number):
                continue
            error = self._ends.ends.pop(number)[1]
            if number not in self._running:
                continue
            if isinstance(error, NodeFailure) and error.outcome == "not_run":
                self._again(number, error)
                continue
            with self._lock:
                task, node = self._running.pop(number)
            self._lose(node)
            settle(task.future, error=error)
        self._send_waiting()

    @staticmethod
    def _settle(
        future: concurrent.futures.Future, result: Optional[bytes], error: Optional[BaseException]
    ) -> None:
        if error is None and result is not None:
            try:
                kind, _, make = _pickles.decode(result)
                value = make()
            except Exception as unreadable:  # the result's own unpickling
                settle(future, error=unreadable)
                return
            if kind == _pickles.RESULT:
                settle(future, value)
                return
            error = raise_remote(*value)
        settle(future, error=error)

    def _fail_waiting_if_broken(self) -> None:
        with self._lock:
            if self._broken is None:
                return
            failed, self._waiting = self._waiting, collections.deque()
            why = self._broken
        for task in failed:
            if task.future._state == "RUNNING" or task.future.set_running_or_notify_cancel():
                settle(task.future, error=BrokenExecutor(why))

    # ---- the pool's thread, and its end

    def _wait_for_ends(self) -> None:
        try:
            helps = 0
            while not self._has_ended():
                self._end_tasks_in_time()
                if self._helps != helps or self._helper.locked():
                    helps = self._helps
                    self._pause(_PAUSE)
                    continue
                with self._helper:
                    self._finish_all()
                if not self._running:
                    self._pause(_WAIT_FOR_WORKERS, until_sent=True)
                elif self._helps == helps:
                    self._inside = True
                    self._ends.next(self._time_for_ends())
                    self._inside = False
        except BaseException as error:
            self._fail(f"its thread has failed: {error!r}")
            raise
        finally:
            try:
                self._remove_members()
                _job.release()
            finally:
                self._ended.set()

    def _time_for_ends(self) -> int:
        """Milliseconds until the next task's time is over; -1: there is none. After that it is told of sooner ones."""
        with self._lock:
            self._inside_until = self._deadlines.next()
        if self._inside_until == math.inf:
            return -1
        return max(0, int(min(_MAX_WAIT, self._inside_until - time.monotonic()) * 1000) + 1)

    def _pause(self, seconds: float, until_sent: bool = False) -> None:
        """`until_sent`: for workers that are being started, to which the next task is sent."""
        with self._lock:
            if not (until_sent and self._running):
                self._parked = until_sent
                self._resumed.wait(seconds)
                self._parked = False

    def _resume(self) -> None:
        with self._lock:
            self._resumed.notify()
        self._ends.wake()

    def _fail(self, why: str) -> None:
        with self._lock:
            self._broken = why
            running = [task for task, _ in self._running.values()]
            self._running.clear()
        for task in running:
            if not task.future.done():
                task.future.set_exception(BrokenExecutor(why))
        self._fail_waiting_if_broken()

    def _has_ended(self) -> bool:
        """Waits until there is a task, or there will be none."""
        with self._lock:
            while not self._running and not self._waiting:
                if self._closed and not self._starting:
                    return True
                self._parked = True
                self._resumed.wait()
                self._parked = False
            return False

    def close(self, cancel: bool = False) -> None:
        """No more tasks. The workers end with the last one. Does not block."""
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._closed = True
            cancelled = list(self._waiting) if cancel else []
            if cancel:
                self._waiting.clear()
        for task in cancelled:
            if task.future.cancel():
                task.future.set_running_or_notify_cancel()
            else:  # a worker that was lost had it
                settle(task.future, error=NodeFailure("its worker was lost, and no other one takes it", "not_run"))
        if self._thread.is_alive():
            self._resume()

    def join(self) -> None:
        if os.getpid() == self._owner:
            self._ended.wait()  # a join of Python 3.11 that Ctrl-C interrupts is over for ever
            self._thread.join()

    def abandon(self) -> None:
        """Ends the workers with what they execute."""
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._abandoned = True
        self.close(cancel=True)
        self._remove_members()


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_exiting = False


def _end_all() -> None:
    """At the end of the interpreter: what was submitted is executed, as with other executors."""
    global _exiting
    try:
        _exiting = True
        pools = list(_pools)
        for pool in pools:
            pool.close()
        for pool in pools:
            pool.join()
    except BaseException:  # Ctrl-C once more
        pools = list(_pools)
        for pool in pools:
            pool.abandon()
        for pool in pools:
            pool.join()
        raise


# Before the threads of the interpreter are joined, as concurrent.futures does it; and afterwards, if Ctrl-C came just before
# that: a thread that is in the library when the interpreter ends would end the process by std::terminate.
getattr(threading, "_register_atexit", atexit.register)(_end_all)
atexit.register(_end_all)
