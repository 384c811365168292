"""The exceptions of the package, and how statuses of the C API become them."""

from __future__ import annotations

import builtins
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool

#: What is known of a call whose result was lost.
OUTCOMES = ("not_run", "may_have_run", "ran")


class Error(RuntimeError):
    """What HAM itself reports. A function's own exceptions arrive as they were raised."""


class ConfigError(Error):
    """The nodes or a setting cannot be used, or no job is up."""


class CallError(Error):
    """A call that cannot be made: no such node or function. Nothing was called."""


class BufferError(Error, builtins.BufferError):  # noqa: A001 - as in ham::buffer_error
    """Memory that was freed, is another node's, or too short. Nothing was moved."""


class _LostCall(Error):
    """An error that says what is known of the call whose result was lost."""

    outcome: str

    def __init__(self, text: str, outcome: str = "may_have_run") -> None:
        super().__init__(text)
        self.outcome = outcome

    def __reduce__(self):
        return type(self), (str(self), self.outcome)


class NodeFailure(_LostCall):
    """The process that had the task is lost. Only this task is: the pool goes on with a new worker.

    ``outcome`` is ``"not_run"``, ``"may_have_run"`` or ``"ran"``.
    """


class DeadlineExceeded(_LostCall, TimeoutError):
    """The time given to a call has passed. ``outcome`` as in :class:`NodeFailure`."""


class OperationCancelled(_LostCall, CancelledError):
    """The call was stopped before it was done. ``outcome`` as in :class:`NodeFailure`."""


class RemoteError(Error):
    """An exception of C++, or one of Python that cannot be pickled: its text."""


class StageError(Error):
    """A stage of a recorded graph has failed; its exception is the ``__cause__``.

    ``stage`` is its number in the order of recording, inputs included, ``name`` its function, or what it was called,
    ``node`` where it ran.
    """

    def __init__(self, text: str, stage: int, name: str = "", node: int = -1) -> None:
        super().__init__(text)
        self.stage = stage
        self.name = name
        self.node = node

    def __reduce__(self):
        return type(self), (str(self), self.stage, self.name, self.node)


class BrokenExecutor(BrokenProcessPool, Error):
    """The workers cannot be started, or their initializer raised: no task of this executor runs any more."""


class RemoteTraceback(Exception):
    """The cause of an exception that a task raised: where that was, as text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


_SIMPLE = {1: Error, 2: ValueError, 3: ConfigError, 4: CallError, 5: BufferError, 8: RemoteError, 9: RemoteError, 10: MemoryError}


def from_status(status: int, text: str, outcome: int, code: int) -> Exception:
    """The exception for a status of ham/ham.h."""
    if status == 6:
        return NodeFailure(text, OUTCOMES[outcome])
    if status == 7:
        return DeadlineExceeded(text, OUTCOMES[outcome])
    if status == 13:
        return OperationCancelled(text, OUTCOMES[outcome])
    return _SIMPLE.get(status, Error)(text)
