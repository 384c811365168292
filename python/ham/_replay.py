"""Compiled graphs and their replays."""

from __future__ import annotations

import concurrent.futures
import functools
import threading
import time
from collections.abc import Generator
from typing import Any, Callable, Optional

from . import _graph_types, _ham, _job, _types
from ._errors import StageError
from ._future import settle
from ._graph_types import Stage

#: How long one wait in the library lasts at most, in milliseconds: signals are handled in between.
_SLICE_MS = 50


class JobHold:
    """Keeps the job of the host while something of it is under way."""

    def __init__(self) -> None:
        self._holds = _ham.this_node() == 0
        if self._holds:
            _job.acquire()

    def __del__(self) -> None:
        if getattr(self, "_holds", False):
            _job.release()


class Replay:
    """A replay of a graph that is under way. Any thread. Keeps the compiled graph. If it is dropped the replay goes on.

    Coroutines of asyncio ``await`` it.
    """

    def __init__(self, run: _ham._Replay, of: CompiledGraph) -> None:
        self._run: Optional[_ham._Replay] = run
        self._of = of
        self._waiting = threading.Lock()  # of who waits; the others wait for that
        self._taking = threading.Lock()
        self._value: Any = None
        self._error: Optional[BaseException] = None

    def done(self) -> bool:
        """Whether it has ended. Makes progress; does not wait."""
        return self._wait(0)

    def result(self, timeout: Optional[float] = None) -> Any:
        """Waits for the result, or raises what the replay has failed with.

        :class:`ham.StageError` names the stage; others are :class:`ham.NodeFailure`, :class:`ham.DeadlineExceeded`,
        :class:`ham.OperationCancelled`. TimeoutError after ``timeout`` seconds: it is still under way.
        """
        error = self.exception(timeout)
        if error is not None:
            raise error
        return self._value

    def exception(self, timeout: Optional[float] = None) -> Optional[BaseException]:
        """Waits, and gives what :meth:`result` would raise; None if there is a value."""
        if not self._wait(timeout):
            raise concurrent.futures.TimeoutError("the replay is still under way")
        return self._error

    def request_stop(self) -> bool:
        """Fails the replay at once, with :class:`ham.OperationCancelled`: what has not begun does not begin.

        Functions that run on processors go on, those on devices are told to stop. False: it has ended.
        """
        with self._taking:
            return self._run is not None and self._run.request_stop()

    def __await__(self) -> Generator[Any, None, Any]:
        """``await step(x)``: as :meth:`result`, while the event loop goes on; a thread of its own waits.

        If the task that awaits it is cancelled, as by ``asyncio.wait_for``, the replay is asked to stop, also for others that
        wait for it; ``asyncio.shield`` keeps it from that.
        """
        return self._awaited().__await__()

    async def _awaited(self) -> Any:
        import asyncio  # is long to load, and many programs have no use for it

        if self._run is not None:
            ended: concurrent.futures.Future = concurrent.futures.Future()
            threading.Thread(target=self._wait_for, args=(ended,), name="ham.Replay").start()
            try:
                await asyncio.wrap_future(ended)
            except asyncio.CancelledError:
                self.request_stop()
                raise
        return self.result()

    def _wait_for(self, ended: concurrent.futures.Future) -> None:
        """Settles `ended` with the replay, unless it was cancelled."""
        try:
            self._wait(None)
        except BaseException as error:
            settle(ended, error=error)
        else:
            settle(ended)

    def _wait(self, timeout: Optional[float]) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        if not self._waiting.acquire(timeout=-1 if timeout is None else max(0, timeout)):
            return self._run is None
        try:
            while self._run is not None:
                left = _SLICE_MS if end is None else max(0, min(_SLICE_MS, round((end - time.monotonic()) * 1000)))
                if self._run.wait(left):
                    self._take()
                elif end is not None and time.monotonic() >= end:
                    return False
            return True
        finally:
            self._waiting.release()

    def _take(self) -> None:
        with self._taking:
            run, self._run = self._run, None
            assert run is not None
            try:
                self._value = self._of._finish(run.result())
            except StageError as error:
                failed = self._of._stages[error.stage]
                error.name, error.node = failed.name, failed.node
                self._error = error
            except Exception as error:
                self._error = error


class CompiledGraph:
    """A graph that its nodes know; ``g.compile(...)`` gives it. A call starts a replay. Any thread, several at once.

    Replays in flight are independent of each other, and may overtake each other. It is closed with its last reference,
    by :meth:`close`, or by a ``with`` statement; that waits until all replays have ended.
    """

    def __init__(self, compiled: _ham._CompiledGraph, stages: list[Stage], types: _graph_types.Types, last: int, hold: JobHold) -> None:
        self._compiled: Optional[_ham._CompiledGraph] = compiled
        self._stages = stages  # with the memory of transfers
        self._inputs = [(one, types.given[one.number]) for one in stages if one.kind == "input"]
        self._finish = functools.partial(_decode, types.given[last])
        self._hold: Optional[JobHold] = hold

    def __call__(self, *inputs: Any) -> Replay:
        """Starts a replay with a value for each input.

        Blocks while as many as ``in_flight`` of ``compile`` are under way. Raises TypeError for values that are not of the
        inputs' types, :class:`ham.NodeFailure` if a node of the graph is lost for good.
        """
        return self._start(-1, *inputs)

    def within(self, seconds: float) -> Callable[..., Replay]:
        """``step.within(0.1)(x)``: a replay that fails with :class:`ham.DeadlineExceeded` after this time."""
        return functools.partial(self._start, max(0, round(seconds * 1000)))

    def close(self) -> None:
        """Waits until all replays have ended; nodes forget the graph."""
        compiled, self._compiled = self._compiled, None
        self._hold = None
        if compiled is not None:
            compiled.close()

    def __enter__(self) -> CompiledGraph:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _start(self, timeout_ms: int, *inputs: Any) -> Replay:
        compiled = self._compiled
        if compiled is None:
            raise ValueError("the graph has been closed")
        if len(inputs) != len(self._inputs):
            raise TypeError(f"the graph has {len(self._inputs)} inputs, and was given {len(inputs)}")
        data = []
        for (stage, layout), value in zip(self._inputs, inputs):
            try:
                data.append(_graph_types.encode(layout, value))
            except TypeError as error:
                raise TypeError(f"{stage.describe()}: {error}") from None
        return Replay(compiled.start(data, timeout_ms), self)


def _decode(layout: str, data: bytes) -> Any:
    return _types.decode(_types.signature("->" + layout), data)
