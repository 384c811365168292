"""The workers of one executor: which task goes to which of them, and what happens when one is lost."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import os
import sys
import threading
import weakref
from typing import Any, Optional

from . import _ham, _job, _pickles
from ._errors import BrokenExecutor, CallError, Error, NodeFailure, RemoteTraceback

_WORKER = "ham.python.run"
_MAX_FAILED_STARTS = 3


class Task:
    """A task that waits or is executed."""

    __slots__ = ("future", "kind", "function", "body")

    def __init__(self, future: concurrent.futures.Future, kind: int, function: bytes, body: _pickles.Pickled) -> None:
        self.future = future
        self.kind = kind
        self.function = function
        self.body = body


def raise_remote(error: BaseException, text: str) -> BaseException:
    """An exception of a worker, with where it was raised as its cause."""
    error.__cause__ = RemoteTraceback(text)
    return error


class Pool:
    """Each worker has one task at a time, so that a lost worker loses one. Any thread.

    One thread of the pool waits in the library, without the GIL, for what ends first. Tasks are sent by the thread that
    submits them if a worker is idle, else by that thread.
    """

    def __init__(self, groups: list[str], initializer: Optional[bytes], arguments: tuple) -> None:
        self._lock = threading.Lock()
        self._waiting: collections.deque[Task] = collections.deque()
        self._idle: list[int] = []
        self._running: dict[int, tuple[Task, int]] = {}
        self._members: set[int] = set()
        self._restarts: dict[int, str] = {}
        self._next_id = 0
        self._starting = 0
        self._failed_starts = 0
        self._broken: Optional[str] = None
        self._closed = False
        self._prepare = _pickles.dump((sys.path, os.getcwd(), initializer, arguments))
        self._owner = os.getpid()
        _job.acquire()
        try:
            self._ends = _ham.Queue()
            for group in groups:
                self._add(group)
        except BaseException:
            self._remove_members()
            _job.release()
            raise
        self._thread = threading.Thread(target=self._wait_for_ends, name="ham.Executor", daemon=True)
        self._thread.start()
        _pools.add(self)

    # ---- workers

    def _add(self, group: str) -> None:
        """Starts the workers of a group, and prepares each. Blocks."""
        before = _ham.num_nodes()
        with _job._lock:  # so that the nodes from `first` on are this group's
            before = _ham.num_nodes()
            first = _ham.add_node(group)
            count = _ham.num_nodes() - before
        for node in range(first, first + max(count, 1)):
            self._members.add(node)
        for node in range(first, first + max(count, 1)):
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
        self._ends.wake()

    def _remove_members(self) -> None:
        for node in list(self._members):
            try:
                _ham.remove_node(node)
            except Error:
                pass  # lost already
        self._members.clear()

    # ---- tasks

    def submit(self, task: Task) -> None:
        """Raises RuntimeError if the pool is closed, BrokenExecutor if it is broken."""
        with self._lock:
            if self._broken is not None:
                raise BrokenExecutor(self._broken)
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if _exiting:
                raise RuntimeError("cannot schedule new futures after interpreter shutdown")
            if self._waiting or not self._idle:
                self._waiting.append(task)
                return
            node = self._idle.pop()
        self._send(task, node)

    def _send_waiting(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or not self._idle:
                    return
                task, node = self._waiting.popleft(), self._idle.pop()
            self._send(task, node)

    def _send(self, task: Task, node: int) -> None:
        """Sends a task to a worker that is nobody else's. Does not raise: errors are the future's."""
        future = task.future
        if future._state == "PENDING" or future._state == "CANCELLED":
            if not future.set_running_or_notify_cancel():
                self._release(node)
                return
        with self._lock:
            self._next_id = number = self._next_id + 1
            self._running[number] = (task, node)
        try:
            message = _pickles.encode(node, task.kind, task.body, task.function)
            self._ends.call(node, _WORKER, message, number)
        except (NodeFailure, CallError):  # the worker was lost while it was idle
            self._again(number, task, node)
        except BaseException as error:
            with self._lock:
                del self._running[number]
            self._release(node)
            future.set_exception(error)

    def _again(self, number: int, task: Task, node: int) -> None:
        """A task that has not run goes to another worker."""
        with self._lock:
            del self._running[number]
            self._waiting.appendleft(task)
        self._lose(node)
        self._send_waiting()

    def _release(self, node: int) -> None:
        with self._lock:
            if node in self._members:
                self._idle.append(node)
        self._send_waiting()

    def _ended(self, number: int, result: Optional[bytes], error: Optional[Exception]) -> None:
        with self._lock:
            task, node = self._running[number]
        if isinstance(error, NodeFailure):
            if error.outcome == "not_run":
                self._again(number, task, node)
                return
            with self._lock:
                del self._running[number]
            self._lose(node)
        else:
            with self._lock:
                del self._running[number]
                following = self._waiting.popleft() if self._waiting else None
                if following is None:
                    self._idle.append(node)
            if following is not None:
                self._send(following, node)
        self._settle(task.future, result, error)

    @staticmethod
    def _settle(future: concurrent.futures.Future, result: Optional[bytes], error: Optional[Exception]) -> None:
        try:
            if error is None and result is not None:
                kind, _, value = _pickles.decode(result)
                if kind == _pickles.RESULT:
                    future.set_result(value())
                    return
                error = raise_remote(*value())
        except Exception as unreadable:  # the result's own unpickling
            error = unreadable
        future.set_exception(error)

    def _fail_waiting_if_broken(self) -> None:
        with self._lock:
            if self._broken is None:
                return
            failed, self._waiting = self._waiting, collections.deque()
            why = self._broken
        for task in failed:
            if task.future._state == "RUNNING" or task.future.set_running_or_notify_cancel():
                task.future.set_exception(BrokenExecutor(why))

    # ---- the pool's thread, and its end

    def _wait_for_ends(self) -> None:
        try:
            while True:
                with self._lock:
                    if self._closed and not self._running and not self._waiting and not self._starting:
                        break
                end = self._ends.next()
                if end is not None:
                    self._ended(*end)
                    del end
        finally:
            self._remove_members()
            _job.release()

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
            task.future.cancel()
            task.future.set_running_or_notify_cancel()
        if self._thread.is_alive():
            self._ends.wake()

    def join(self) -> None:
        if os.getpid() == self._owner:
            self._thread.join()


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
_exiting = False


def _end_all() -> None:
    """At the end of the interpreter: what was submitted is executed, as with other executors."""
    global _exiting
    _exiting = True
    pools = list(_pools)
    for pool in pools:
        pool.close()
    for pool in pools:
        pool.join()


# Before the threads of the interpreter are joined, as concurrent.futures does it.
getattr(threading, "_register_atexit", atexit.register)(_end_all)
