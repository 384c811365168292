"""Which tasks of a pool have a time, and whose is over."""

from __future__ import annotations

import heapq
import itertools
import time
from typing import Optional

from ._future import Task


class Deadlines:
    """With the pool's lock."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Task]] = []
        self._numbers = itertools.count()

    def add(self, task: Task, at: float) -> None:
        heapq.heappush(self._heap, (at, next(self._numbers), task))

    def due(self) -> list[Task]:
        """Those whose time is over; each once."""
        now, found = time.monotonic(), []
        while self._heap and (self._heap[0][0] <= now or self._heap[0][2].future.done()):
            task = heapq.heappop(self._heap)[2]
            if not task.future.done():
                found.append(task)
        return found

    def wait_ms(self) -> Optional[int]:
        """Milliseconds until the next one, rounded up; None: there is none."""
        if not self._heap:
            return None
        return max(0, int((self._heap[0][0] - time.monotonic()) * 1000) + 1)
