"""The pool of one executor: who waits for the ends of its tasks, what becomes of them, and how it ends."""

from __future__ import annotations

import concurrent.futures
import math
import os
import threading
import time
from typing import Optional

from . import _at_exit, _ham, _job, _pickles
from ._errors import BrokenExecutor, Error, NodeFailure
from ._future import Future, raise_remote, settle
from ._tasks import Tasks

#: How long the pool's thread leaves it to result() to make progress, in seconds.
_PAUSE = 0.001
#: How often the pool's thread checks for workers that are started in place of lost ones; it is told, too.
_WAIT_FOR_WORKERS = 0.1
#: How long the pool's thread waits in the library at most, in seconds: the library takes no number of any size.
_MAX_WAIT = 3600.0
#: In place of a result whose buffers have been taken over: that is done once.
_READ_BEFORE = (None, Error("the result was lost: the handler of a signal raised while it was read"))


class Pool(Tasks):
    """Each worker has one task at a time, so that a lost worker loses one. Any thread.

    One thread at a time waits in the library, without the GIL, for what ends first: one that is in result(), for a while,
    else the pool's own. Tasks are sent by the thread that submits them if a worker is idle, else by that which waits.
    """

    def __init__(self, groups: list[str], initializer: Optional[bytes], arguments: tuple) -> None:
        super().__init__(initializer, arguments)
        self._helper = threading.Lock()  # held by the thread that is in help()
        self._helps = 0
        _job.acquire()
        try:
            self._ends = _ham.Queue()
            for group in groups:
                self._add_first(group, initializer)
        except BaseException:
            self._remove_members()
            _job.release()
            raise
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait_for_ends, name="ham.Executor", daemon=True)
        self._thread.start()
        _at_exit.pools.add(self)

    def _add_first(self, group: str, initializer: Optional[bytes]) -> None:
        try:
            self._add(group)
        except NodeFailure as error:
            if initializer is None:
                raise
            raise BrokenExecutor("a worker ended while it was prepared, and its initializer executed") from error

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
            if future._state == "RUNNING":
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
                kind, value = _pickles.decode_result(result)
            except Exception as unreadable:  # the result's own unpickling
                settle(future, error=unreadable)
                return
            if kind == _pickles.RESULT:
                settle(future, value)
                return
            error = raise_remote(*value)
        settle(future, error=error)

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
