"""Which tasks of a pool have a time, and whose is over."""

from __future__ import annotations

import heapq
import itertools
import math
import time
import weakref

from ._future import Task

_MIN_ENTRIES = 64


class Deadlines:
    """With the pool's lock. Keeps no task alive."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, weakref.ref[Task]]] = []
        self._numbers = itertools.count()
        self._max_entries = _MIN_ENTRIES

    def add(self, task: Task, at: float) -> None:
        heapq.heappush(self._heap, (at, next(self._numbers), weakref.ref(task)))
        if len(self._heap) > self._max_entries:  # drop those that are done
            self._heap = [entry for entry in self._heap if self._of(entry) is not None]
            heapq.heapify(self._heap)
            self._max_entries = max(_MIN_ENTRIES, 2 * len(self._heap))

    @staticmethod
    def _of(entry: tuple) -> Task | None:
        task = entry[2]()
        return None if task is None or task.future.done() else task

    def due(self) -> list[Task]:
        """Those whose time is over; each once."""
        now, found = time.monotonic(), []
        while self._heap and (self._heap[0][0] <= now or self._of(self._heap[0]) is None):
            task = self._of(heapq.heappop(self._heap))
            if task is not None:
                found.append(task)
        return found

    def next(self) -> float:
        """When the next one is over, on time.monotonic(); infinity: there is none."""
        return self._heap[0][0] if self._heap else math.inf
