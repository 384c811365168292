"""What becomes of pools at the end of the interpreter."""

from __future__ import annotations

import atexit
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._pool import Pool

#: Those that are to be closed.
pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()
#: No pool takes tasks any more.
exiting = False


def _end_all() -> None:
    """At the end of the interpreter: what was submitted is executed, as with other executors."""
    global exiting
    try:
        exiting = True
        running = list(pools)
        for pool in running:
            pool.close()
        for pool in running:
            pool.join()
    except BaseException:  # Ctrl-C once more
        running = list(pools)
        for pool in running:
            pool.abandon()
        for pool in running:
            pool.join()
        raise


# Before the threads of the interpreter are joined, as concurrent.futures does it; and afterwards, if Ctrl-C came just before
# that: a thread that is in the library when the interpreter ends would end the process by std::terminate.
getattr(threading, "_register_atexit", atexit.register)(_end_all)
atexit.register(_end_all)
