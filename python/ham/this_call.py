"""For functions that execute in a worker: whether their caller still waits for them, and until when.

    def solve(problem):
        while not problem.converged() and not ham.this_call.stop_requested():
            problem.step()

    future = pool.within(10).submit(solve, problem)  # at most ten seconds
    future.request_stop()                            # or less
"""

from __future__ import annotations

import time
from typing import Optional

from . import _ham

#: Of the task that is executed, on time.monotonic().
_end: Optional[float] = None


def stop_requested() -> bool:
    """Whether the function should stop: its time is over, or its future's ``request_stop`` or ``cancel`` was called.

    On the thread that executes the function. Once true it stays true. Costs less than a microsecond over shared memory.
    False outside of calls.
    """
    if _end is not None and time.monotonic() >= _end:
        return True
    return _ham.num_nodes() != 0 and _ham.stop_requested()


def time_left() -> Optional[float]:
    """For how many seconds the caller still waits, 0 if no more; None: without limit. On the thread that executes."""
    if _end is not None:
        return max(0.0, _end - time.monotonic())
    left = _ham.time_left() if _ham.num_nodes() != 0 else -1
    return None if left < 0 else left / 1000


def deadline() -> Optional[float]:
    """Until when the caller waits, on this process's ``time.monotonic()``; None: without limit."""
    if _end is not None:
        return _end
    left = time_left()
    return None if left is None else time.monotonic() + left
