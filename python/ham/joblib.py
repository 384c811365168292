"""A backend for joblib, and so for scikit-learn: ``import ham.joblib``, then ``with joblib.parallel_config("ham", n_jobs=2):``.

Arrays of 1 MiB and more that are arguments of calls cannot be written to there, as with joblib's own backends. One that is an
argument of several calls of a ``joblib.Parallel`` stays in the workers until that ends. The workers stay for the next one. Each
has its share of the cores for threads of OpenMP and BLAS, unless ``OMP_NUM_THREADS`` and the like say otherwise.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from typing import Any, Callable, Optional

import joblib
from joblib._parallel_backends import AutoBatchingMixin, FallbackToBackend, ParallelBackendBase, SequentialBackend

from . import _ham
from ._executor import Executor
from ._resident import Resident

#: Arrays of so many bytes are sent once, as joblib's own backends map them into memory.
RESIDENT_BYTES = 1 << 20

_lock = threading.Lock()
_shared: dict[tuple, Executor] = {}  # (count, nodes, environment) of the one that stays
_users: dict[Executor, int] = {}  # how many backends have an executor of this module


@contextlib.contextmanager
def _environment(more: dict[str, str]) -> Iterator[None]:
    """What processes that are started inherit."""
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _shared_executor(count: int, nodes: Optional[str], environment: dict[str, str]) -> Executor:
    """The executor of the last call if it is such a one, else a new one in its place. To be given to _leave."""
    key = (count, nodes, tuple(sorted(environment.items())))
    with _lock:
        known = _shared.pop(key, None)
        for old in _shared.values():
            if old not in _users:
                old.shutdown(wait=False)
        _shared.clear()
        if known is None or known._pool._broken is not None or known._pool._closed or os.getpid() != known._pool._owner:
            with _environment(environment):
                known = Executor(count) if nodes is None else Executor(nodes=nodes)
        _shared[key] = known
        _users[known] = _users.get(known, 0) + 1
        return known


def _leave(pool: Executor, kill: bool = False) -> None:
    """A backend needs it no more. `kill`: nor what it executes, unless that is another backend's, too."""
    with _lock:
        _users[pool] -= 1
        if _users[pool] != 0:
            return
        del _users[pool]
        stays = pool in _shared.values() and not kill
        for key in [key for key, one in _shared.items() if one is pool and not stays]:
            del _shared[key]
    if kill:
        pool.kill_workers()
    elif not stays:
        pool.shutdown(wait=False)


def shutdown() -> None:
    """Ends the workers that stay for the next call. They end with the program, too."""
    with _lock:
        for old in _shared.values():
            old.shutdown()
        _shared.clear()


class HamBackend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
    """``joblib.parallel_config("ham", n_jobs=2)``; ``nodes="shm:2,tcp://..."`` or ``executor=pool`` instead of a number.

    ``executor``: a :class:`ham.Executor` of the program, which stays open.
    """

    supports_retrieve_callback = True
    supports_inner_max_num_threads = True

    def __init__(self, nodes: Optional[str] = None, executor: Optional[Executor] = None, **options: Any) -> None:
        super().__init__(**options)
        if nodes is not None and executor is not None:
            raise ValueError("give nodes or executor, not both")
        self._nodes = nodes
        self._given = executor
        self._pool: Optional[Executor] = None
        self._seen: dict[int, weakref.ref] = {}  # arrays that were an argument once, by their id
        self._residents: dict[int, Resident] = {}

    def effective_n_jobs(self, n_jobs: Optional[int]) -> int:
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if _ham.num_nodes() != 0 and _ham.this_node() != 0:
            return 1  # a worker has none of its own
        if self._given is not None:
            return self._given._max_workers
        if n_jobs is None:
            n_jobs = 1 if self._nodes is None else -1
        return n_jobs if n_jobs > 0 else max(1, len(os.sched_getaffinity(0)) + 1 + n_jobs)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        count = self.effective_n_jobs(n_jobs)
        if self._given is None and self._nodes is None and count == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self._leave()
        self._pool = self._given or _shared_executor(
            count if self._nodes is None else 0, self._nodes, self._prepare_worker_env(n_jobs=count)
        )
        self.parallel = parallel
        return self._pool._max_workers

    def submit(self, func: Callable, callback: Optional[Callable] = None) -> Any:
        assert self._pool is not None
        future = self._pool.submit(_run, self._with_residents(func))
        if callback is not None:
            future.add_done_callback(callback)
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        return out.result()

    def _leave(self, kill: bool = False) -> None:
        pool, self._pool = self._pool, None
        if pool is not None and pool is not self._given:
            _leave(pool, kill)

    def terminate(self) -> None:
        self._leave()
        self._seen.clear()
        self._residents.clear()  # workers free them with their next tasks
        self.reset_batch_stats()

    def abort_everything(self, ensure_ready: bool = True) -> None:
        parallel = self.parallel
        self._leave(kill=True)
        self.terminate()
        if ensure_ready:
            self.configure(n_jobs=parallel.n_jobs, parallel=parallel)

    def get_nested_backend(self) -> tuple:
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

    def _with_residents(self, batch: Any) -> Any:
        """A joblib batch whose large arrays are Residents."""
        items = getattr(batch, "items", None)
        if not isinstance(items, list):
            return batch
        batch.items = [
            (function, tuple(map(self._kept, arguments)), {name: self._kept(value) for name, value in named.items()})
            for function, arguments, named in items
        ]
        return batch

    def _kept(self, value: Any) -> Any:
        if getattr(value, "nbytes", 0) < RESIDENT_BYTES or type(value).__module__ != "numpy" or value.dtype.hasobject:
            return value
        known = self._residents.get(id(value))
        if known is not None:
            return known
        before = self._seen.get(id(value))
        if before is not None and before() is value:
            known = self._residents[id(value)] = Resident(value)  # keeps the value, so that the id stays its own
            return known
        self._seen[id(value)] = weakref.ref(value)
        once = value.view()
        once.flags.writeable = False
        return once


def _run(batch: Callable) -> Any:
    return batch()


joblib.register_parallel_backend("ham", HamBackend)

__all__ = ["RESIDENT_BYTES", "HamBackend", "shutdown"]
