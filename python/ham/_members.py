"""The workers of one pool: how they are started, prepared, replaced and ended."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Optional

from . import _ham, _job, _pickles, _resident
from ._errors import BrokenExecutor, Error
from ._future import raise_remote

#: What workers execute: a task, or how they are prepared.
WORKER = "ham.python.run"
#: Starts in a row in place of one worker that may fail. Some may be due to who kills workers, and reaches those that start.
_MAX_FAILED_STARTS = 10
#: Seconds before the next one, for each that has failed.
_START_PAUSE = 0.05


class Members:
    """Which nodes are workers, and which of them are idle. One that is lost is replaced if it was started here. Any thread."""

    def __init__(self, initializer: Optional[bytes], arguments: tuple) -> None:
        self._lock = threading.Lock()  # of all that a pool has
        self._idle: list[int] = []
        self._members: set[int] = set()
        self._restarts: dict[int, str] = {}
        self._starting = 0
        self._broken: Optional[str] = None
        self._prepare = _pickles.dump((sys.path, os.getcwd(), initializer, arguments))

    # ---- what the pool does with them

    def _is_wanted(self) -> bool:
        """With the lock: whether there are tasks, or will be, for a worker in place of one that is lost."""
        raise NotImplementedError

    def _on_lost(self) -> None:
        """A worker was lost; perhaps the pool is broken now."""
        raise NotImplementedError

    def _on_started(self) -> None:
        """Another one is there in its place, or will never be."""
        raise NotImplementedError

    # ---- they come and go

    def _add(self, group: str) -> None:
        """Starts the workers of a group, and prepares each. Blocks."""
        first, count = _job.add(group)
        nodes = range(first, first + count)
        with self._lock:
            self._members.update(nodes)
        for node in nodes:
            _resident.started(node)
            answer = _ham.call(node, WORKER, _pickles.encode(node, _pickles.INITIALISE, self._prepare))
            kind, value = _pickles.decode_result(answer)
            if kind == _pickles.FAILURE:
                error, text = value
                raise BrokenExecutor("the initializer of a worker raised an exception") from raise_remote(error, text)
            with self._lock:
                self._idle.append(node)
                if group.startswith("exec:"):
                    self._restarts[node] = _job.group_of_one(group, node - first)

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
            elif self._is_wanted():
                self._starting += 1
            else:
                group = None
        if group is not None:
            threading.Thread(target=self._start_again, args=(group,), name="ham.Executor start", daemon=True).start()
        self._on_lost()

    def _start_again(self, group: str) -> None:
        for failed in range(1, _MAX_FAILED_STARTS + 1):
            try:
                self._add(group)
                break
            except Exception as error:
                if isinstance(error, BrokenExecutor) or failed == _MAX_FAILED_STARTS:
                    with self._lock:
                        self._broken = f"a worker that was lost could not be replaced: {error}"
                    break
                time.sleep(_START_PAUSE * failed)
                with self._lock:
                    if not self._is_wanted():
                        break
        with self._lock:
            self._starting -= 1
        self._on_started()

    def _remove_members(self) -> None:
        with self._lock:
            members, self._members = self._members, set()
            self._idle.clear()
        for node in members:
            try:
                _ham.remove_node(node)
            except Error:
                pass  # lost already
