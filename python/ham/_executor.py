"""ham.Executor: the interface of concurrent.futures for workers of HAM."""

from __future__ import annotations

import concurrent.futures
import itertools
import operator
import os
import time
import weakref
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

from . import _job, _pickles
from ._future import Future, Task, raise_remote
from ._pool import Pool
from ._resident import Resident, collect


def _groups(workers: Optional[int], nodes: Optional[str]) -> list[str]:
    """The groups of HAM_NODES to start; those of shm become interpreters."""
    if nodes is None:
        count = _cores() if workers is None else operator.index(workers)
        if count <= 0:
            raise ValueError(f"there must be at least one worker, not {count}")
        return [f"{_job.worker_command()}*{count}"]
    if workers is not None:
        raise ValueError("give workers or nodes, not both")
    if not isinstance(nodes, str):
        raise TypeError(f'nodes is a text such as "shm:2", not {type(nodes).__name__}')
    return _job.groups(nodes)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


class Executor(concurrent.futures.Executor):
    """Runs Python functions in worker processes; takes the place of ProcessPoolExecutor.

    ``max_workers``, or ``workers``: number of processes of this machine, one per core by default. ``nodes``: instead,
    ``"shm:2"``, ``"tcp://host:port"`` (a waiting ``python -m ham.worker``), or several, with commas. ``initializer``: called
    with ``initargs`` in each worker first. ``mp_context`` is taken for programs that pass one, and ignored.

    The constructor starts the workers and waits for them; :class:`ham.ConfigError` says why that cannot be done, and
    :class:`ham.BrokenExecutor` that the initializer raised. Workers do not import the program's ``__main__``: functions
    and classes of it are sent by value, with cloudpickle. NumPy arrays, and whatever supports buffers of pickle 5, are
    copied once. A worker that dies fails its own task only (:class:`ham.NodeFailure`) and is replaced. Any thread may use
    it.
    """

    def __init__(
        self,
        max_workers: Optional[int] = None,
        mp_context: Any = None,
        initializer: Optional[Callable[..., object]] = None,
        initargs: tuple = (),
        *,
        workers: Optional[int] = None,
        nodes: Optional[str] = None,
    ) -> None:
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        if max_workers is not None and workers is not None:
            raise ValueError("give max_workers or workers, not both")
        groups = _groups(max_workers if workers is None else workers, nodes)
        function = None if initializer is None else _pickles.dump_function(initializer)
        self._pool = Pool(groups, function, initargs)
        self._max_workers = len(self._pool._members)
        self._end = weakref.finalize(self, Pool.close, self._pool)
        self._end.atexit = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """Has ``fn(*args, **kwargs)`` executed by a worker. Pickles here, and raises what that raises.

        Does not wait for a worker. Arrays are read when the task is sent: do not change them before.
        """
        return self._start(_pickles.CALL, fn, (args, kwargs))

    def within(self, seconds: float) -> "Within":
        """This executor with a time for its tasks, as in ``pool.within(2.5).submit(fn, x)``.

        ``seconds`` from ``submit`` or ``map`` on; waiting for a worker counts. Then the future fails with
        :class:`ham.DeadlineExceeded`, whose outcome says whether the task can have run. Its function learns of it by
        :mod:`ham.this_call`; until it returns, its worker takes no other task.
        """
        if not seconds >= 0:
            raise ValueError(f"a time is at least 0, not {seconds}")
        return Within(self, seconds)

    def _start(
        self, kind: int, fn: Callable[..., Any], what: Any, end: Optional[float] = None
    ) -> Future:
        future = Future(self._pool)
        function = _pickles.known_function(fn)
        body = _pickles.dump_simple_call(*what) if kind == _pickles.CALL else None
        residents: Sequence[Resident] = ()
        if function is None or body is None:
            with collect() as residents:
                function = function or _pickles.dump_function(fn)
                body = body or _pickles.dump(what)
        self._pool.submit(Task(future, kind, function, body, residents, end))
        return future

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: Optional[int] = None,
    ) -> Iterator[Any]:
        """The results of ``fn`` for the elements, in their order.

        ``chunksize``: elements per task; by default chosen by their number and that of the workers, at most 1024. An
        exception ends the iteration at its place; a lost worker loses the chunk that it had. ``timeout``: seconds from
        now on for all results, else ``TimeoutError``.
        """
        return self._map(fn, iterables, timeout, chunksize)

    def _map(
        self,
        fn: Callable[..., Any],
        iterables: tuple,
        timeout: Optional[float],
        chunksize: Optional[int],
        task_end: Optional[float] = None,
    ) -> Iterator[Any]:
        if chunksize is not None and chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        end = None if timeout is None else time.monotonic() + timeout
        items = list(zip(*iterables))
        size = chunksize or max(1, min(1024, len(items) // (32 * max(1, self._max_workers))))
        futures = [
            self._start(_pickles.CHUNK, fn, items[at : at + size], task_end) for at in range(0, len(items), size)
        ]
        return itertools.chain.from_iterable(self._chunks(futures, end))

    @staticmethod
    def _chunks(futures: list, end: Optional[float]) -> Iterator[Iterator[Any]]:
        futures.reverse()

        def values(future: concurrent.futures.Future) -> Iterator[Any]:
            results, failed = future.result(None if end is None else end - time.monotonic())
            yield from results
            if failed is not None:
                raise raise_remote(*failed)

        try:
            while futures:
                yield from (values(futures.pop()),)
        finally:
            for future in futures:
                future.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """No more tasks. ``cancel_futures``: those that no worker has are cancelled. ``wait``: until all have ended."""
        self._pool.close(cancel_futures)
        if wait:
            self._pool.join()

    def kill_workers(self) -> None:
        """Ends the workers with what they execute, which fails with :class:`ham.NodeFailure`. No more tasks."""
        self._pool.abandon()

    terminate_workers = kill_workers


class Within(concurrent.futures.Executor):
    """An executor whose tasks have a time; see :meth:`Executor.within`. ``shutdown`` leaves the executor as it is."""

    def __init__(self, executor: Executor, seconds: float) -> None:
        self._executor = executor
        self._seconds = seconds

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """As :meth:`Executor.submit`."""
        return self._executor._start(_pickles.CALL, fn, (args, kwargs), time.monotonic() + self._seconds)

    def map(
        self,
        fn: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: Optional[int] = None,
    ) -> Iterator[Any]:
        """As :meth:`Executor.map`; all tasks have the same time."""
        return self._executor._map(fn, iterables, timeout, chunksize, time.monotonic() + self._seconds)
