"""Futures and tasks of an executor."""

from __future__ import annotations

import concurrent.futures
import operator
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from . import _pickles
from ._errors import RemoteTraceback
from ._resident import Resident

if TYPE_CHECKING:
    from ._pool import Pool

#: How long result() makes progress itself, in seconds.
_HELP = 0.002


class _Condition(threading.Condition):
    """Entered and left without a function in Python, in which a signal's handler might raise with the lock held."""

    __enter__ = property(operator.attrgetter("_lock.__enter__"))  # type: ignore[assignment]
    __exit__ = property(operator.attrgetter("_lock.__exit__"))  # type: ignore[assignment]


#: Whether a future of this Python has the members that are set here.
_IS_KNOWN = {**vars(concurrent.futures.Future()), "_condition": None} == {
    "_condition": None, "_state": "PENDING", "_result": None, "_exception": None, "_waiters": [], "_done_callbacks": [],
}


class Future(concurrent.futures.Future):
    """A future of a task; ``submit`` gives it. A :class:`concurrent.futures.Future` whose function can be asked to stop.

    ``result()`` waits for the worker itself at first: no other thread has to be woken for a short task.
    """

    def __init__(self, pool: Pool) -> None:
        if _IS_KNOWN:  # the base class's, without a condition that is not used
            self._state = "PENDING"
            self._result = None
            self._exception = None
            self._waiters: list = []
            self._done_callbacks: list = []
        else:
            super().__init__()
        self._condition = _Condition()
        self._pool = pool
        self._stop_asked = False

    def cancel(self) -> bool:
        """Cancels a task that no worker has. One that runs is asked to stop (:mod:`ham.this_call`): False, as for all that run."""
        if super().cancel():
            return True
        self.request_stop()
        return False

    def request_stop(self) -> bool:
        """Asks the function to stop: ``ham.this_call.stop_requested()`` is true there. Its result counts as ever.

        A task that no worker has is cancelled; one whose worker has not begun with it fails with
        :class:`ham.OperationCancelled`. False: it has ended. Does not wait.
        """
        if self._state == "PENDING" and super().cancel():
            return True
        return self._state == "RUNNING" and self._pool.request_stop(self)

    def result(self, timeout: Optional[float] = None) -> Any:
        if self._state in ("PENDING", "RUNNING") and (timeout is None or timeout > _HELP):
            started = time.monotonic()
            self._pool.help(self, started + _HELP)
            if timeout is not None:
                timeout -= time.monotonic() - started
        if self._state == "FINISHED" and self._exception is None:
            return self._result
        return super().result(timeout)


class Task:
    """A task that waits or is executed."""

    __slots__ = ("future", "kind", "function", "body", "residents", "end", "sent", "__weakref__")

    def __init__(
        self,
        future: Future,
        kind: int,
        function: bytes,
        body: _pickles.Pickled,
        residents: Sequence[Resident] = (),
        end: Optional[float] = None,
    ) -> None:
        self.future = future
        self.kind = kind
        self.function = function
        self.body = body
        self.residents = residents
        self.end = end  # of its time, on time.monotonic()
        self.sent = b""  # the message, if memory of its worker goes with it


def settle(future: concurrent.futures.Future, value: Any = None, error: Optional[BaseException] = None) -> None:
    """Sets a result or an exception, unless another thread has: the task's time may end just now."""
    try:
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
    except concurrent.futures.InvalidStateError:
        pass


def raise_remote(error: BaseException, text: str) -> BaseException:
    """An exception of a worker, with where it was raised as its cause."""
    error.__cause__ = RemoteTraceback(text)
    return error
