"""Tasks of one pool: which goes to which worker, again if that one is lost before it has begun, and how they are stopped."""

from __future__ import annotations

import collections
import math
import os
import threading
import time
from typing import Optional

from . import _at_exit, _ham, _pickles, _resident
from ._deadlines import Deadlines
from ._errors import BrokenExecutor, CallError, DeadlineExceeded, Error, NodeFailure
from ._future import Future, Task, settle
from ._members import WORKER, Members

#: When a task whose time is over, and which is on its way to a worker, is looked at again, in seconds.
_PAUSE = 0.001


class Tasks(Members):
    """Each worker has one task at a time; the others wait in the order in which they were submitted. Any thread."""

    def __init__(self, initializer: Optional[bytes], arguments: tuple) -> None:
        super().__init__(initializer, arguments)
        self._waiting: collections.deque[Task] = collections.deque()
        self._running: dict[int, tuple[Task, int]] = {}
        self._deadlines = Deadlines()
        self._next_id = 0
        self._closed = False
        self._abandoned = False
        self._owner = os.getpid()
        self._resumed = threading.Condition(self._lock)  # the pool's thread waits for tasks
        self._parked = False
        self._inside = False  # it waits in the library, or is about to
        self._inside_until = math.inf  # on time.monotonic()
        self._ends: _ham.Queue  # once the pool is in a job

    # ---- workers

    def _is_wanted(self) -> bool:
        return not self._closed or bool(self._waiting)

    def _on_lost(self) -> None:
        self._fail_waiting_if_broken()

    def _on_started(self) -> None:
        self._fail_waiting_if_broken()
        self._send_waiting()
        self._resume()

    def _fail_waiting_if_broken(self) -> None:
        with self._lock:
            if self._broken is None:
                return
            failed, self._waiting = self._waiting, collections.deque()
            why = self._broken
        for task in failed:
            if task.future._state == "RUNNING" or task.future.set_running_or_notify_cancel():
                settle(task.future, error=BrokenExecutor(why))

    def _resume(self) -> None:
        with self._lock:
            self._resumed.notify()
        self._ends.wake()

    # ---- how they are sent
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
                if self._closed or _at_exit.exiting:
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
            self._ends.call(node, WORKER, message, number, _ham.STOPPABLE)
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
