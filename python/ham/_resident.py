"""Values that stay in workers, and what goes with tasks besides their arguments: those values, and the time that is left."""

from __future__ import annotations

import collections
import itertools
import pickle
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Callable, Generic, Optional, TypeVar

from . import _pickles

Value = TypeVar("Value")

_keys = itertools.count(1)
#: Each worker's number among those of all jobs of this process, by its node: in the next job nodes are numbered anew.
_workers: dict[int, int] = {}
_worker_numbers = itertools.count(1)
_sending = threading.Lock()
_collected = threading.local()
#: (key, workers that have it) of values that nobody holds any more. Finalizers append, at any moment.
_dropped: "collections.deque[tuple[int, set[int]]]" = collections.deque()
_dropped_on: dict[int, list[int]] = {}


class Resident(Generic[Value]):
    """A value, such as an array, that workers keep: it is sent to each worker with the first task that has it, then no more.

    Passed to ``submit`` or ``map``, alone or within other arguments, it is for the function what it was made of; its
    arrays of 32 KiB and more are copied once for each worker, and cannot be written to there. Do not change the value
    while this lives. Workers free it with the next task that they get once this is freed or gone. Any executor of this
    process, any thread.
    """

    def __init__(self, value: Value) -> None:
        with collect() as within:
            body = _pickles.dump(value)
        self.value = value
        self._body = _pickles.Pickled(body.data, [memoryview(view).toreadonly() for view in body.buffers])
        self._within: Sequence[Resident] = within
        self._key = next(_keys)
        self._workers: set[int] = set()
        self._end = weakref.finalize(self, _dropped.append, (self._key, self._workers))
        self._end.atexit = False

    def free(self) -> None:
        """Has workers free it now, with their next tasks. It cannot be sent any more."""
        self._end()

    def __reduce__(self) -> tuple:
        found = getattr(_collected, "residents", None)
        if found is None:
            raise pickle.PicklingError("a ham.Resident can only be sent to workers, as an argument of a task")
        if not self._end.alive:
            raise ValueError("the ham.Resident has been freed")
        found.append(self)
        return value_of, (self._key,)


class collect:
    """While it is entered, pickles of this thread may have Residents, which are in the list that it gives."""

    def __enter__(self) -> list[Resident]:
        self._before = getattr(_collected, "residents", None)
        found: list[Resident] = []
        _collected.residents = found
        return found

    def __exit__(self, *_: Any) -> None:
        _collected.residents = self._before


# ---- in the host


def started(node: int) -> None:
    """A node is a worker from now on, which has nothing."""
    _workers[node] = next(_worker_numbers)


def _missing(worker: int, residents: Sequence[Resident], found: dict[int, Resident]) -> None:
    for one in residents:
        if worker not in one._workers and one._key not in found:
            found[one._key] = one
            _missing(worker, one._within, found)


def _forgotten(worker: int) -> list[int]:
    while _dropped:
        key, workers = _dropped.popleft()
        for number in workers:
            _dropped_on.setdefault(number, []).append(key)
        workers.clear()  # a task that was submitted before has it sent again
    return _dropped_on.pop(worker, [])


def extras(node: int, residents: Sequence[Resident], seconds: Optional[float]) -> bytes:
    """What goes to a node with a task that has these, and so much time; puts their memory there. Raises as ham.allocate."""
    worker = _workers[node]
    if not residents and not _dropped and worker not in _dropped_on:
        return b"" if seconds is None else pickle.dumps((seconds, (), ()), 5)
    new: dict[int, Resident] = {}
    sent: list[tuple[int, bytes]] = []
    with _sending:  # one at a time: nothing is sent twice
        forgotten = _forgotten(worker)
        _missing(worker, residents, new)
        try:
            for key, one in new.items():
                sent.append((key, _pickles.encode(node, _pickles.RESIDENT, one._body)))
            for key, one in new.items():
                if one._end.alive:
                    one._workers.add(worker)
                else:  # freed after the task was submitted
                    _dropped_on.setdefault(worker, []).append(key)
        except BaseException:
            for _, message in sent:
                _pickles.discard(message)
            for one in new.values():
                one._workers.discard(worker)
            _dropped_on.setdefault(worker, []).extend(forgotten)
            raise
    return pickle.dumps((seconds, sent, forgotten), 5)


def not_sent(node: int, residents: Sequence[Resident], extra: bytes) -> None:
    """They have not reached the node."""
    if not extra:
        return
    _, sent, forgotten = pickle.loads(extra)
    with _sending:
        if forgotten:
            _dropped_on.setdefault(_workers[node], []).extend(forgotten)
        for _, message in sent:
            _pickles.discard(message)
    perhaps_not_sent(node, residents)


def perhaps_not_sent(node: int, residents: Sequence[Resident]) -> None:
    """Whether they have reached the node is not known: they are sent again with the next task."""
    for one in residents:
        one._workers.discard(_workers[node])
        perhaps_not_sent(node, one._within)


def are_on(node: int, residents: Sequence[Resident]) -> bool:
    """Whether a node has them all."""
    return all(_workers[node] in one._workers for one in residents)


# ---- in workers

_values: dict[int, list] = {}  # what makes the value, and the value


def take(extra: bytes) -> Optional[float]:
    """Keeps the values, frees others; the time that is left."""
    if not extra:
        return None
    seconds, sent, forgotten = pickle.loads(extra)
    for key in forgotten:
        _values.pop(key, None)
    for key, message in sent:
        make: Callable[[], Any] = _pickles.decode(message)[3]
        _values[key] = [make]
    return seconds


def value_of(key: int) -> Any:
    """The value that a Resident stands for; made when it is first asked for."""
    entry = _values[key]
    if len(entry) == 1:
        entry.append(entry[0]())
    return entry[1]
