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
_sending = threading.Lock()
_collected = threading.local()
#: (key, nodes that have it) of values that nobody holds any more. Finalizers append, at any moment.
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
        self._nodes: set[int] = set()
        self._end = weakref.finalize(self, _dropped.append, (self._key, self._nodes))
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


def _missing(node: int, residents: Sequence[Resident], found: dict[int, Resident]) -> None:
    for one in residents:
        if node not in one._nodes and one._key not in found:
            found[one._key] = one
            _missing(node, one._within, found)


def _forgotten(node: int) -> list[int]:
    while _dropped:
        key, nodes = _dropped.popleft()
        for number in nodes:
            _dropped_on.setdefault(number, []).append(key)
        nodes.clear()  # a task that was submitted before has it sent again
    return _dropped_on.pop(node, [])


def extras(node: int, residents: Sequence[Resident], seconds: Optional[float]) -> bytes:
    """What goes to a node with a task that has these, and so much time; puts their memory there. Raises as ham.allocate."""
    if not residents and not _dropped and node not in _dropped_on:
        return b"" if seconds is None else pickle.dumps((seconds, (), ()), 5)
    new: dict[int, Resident] = {}
    sent: list[tuple[int, bytes]] = []
    with _sending:  # one at a time: nothing is sent twice
        forgotten = _forgotten(node)
        _missing(node, residents, new)
        try:
            for key, one in new.items():
                sent.append((key, _pickles.encode(node, _pickles.RESIDENT, one._body)))
            for key, one in new.items():
                if one._end.alive:
                    one._nodes.add(node)
                else:  # freed after the task was submitted
                    _dropped_on.setdefault(node, []).append(key)
        except BaseException:
            for _, message in sent:
                _pickles.decode(message)  # frees its memory
            for one in new.values():
                one._nodes.discard(node)
            _dropped_on.setdefault(node, []).extend(forgotten)
            raise
    return pickle.dumps((seconds, sent, forgotten), 5)


def not_sent(node: int, residents: Sequence[Resident], extra: bytes) -> None:
    """They have not reached the node."""
    if not extra:
        return
    _, sent, forgotten = pickle.loads(extra)
    with _sending:
        _dropped_on.setdefault(node, []).extend(forgotten)
        for _, message in sent:
            _pickles.decode(message)  # frees its memory
        _unmark(node, residents, {key for key, _ in sent})


def _unmark(node: int, residents: Sequence[Resident], keys: set[int]) -> None:
    for one in residents:
        if one._key in keys:
            one._nodes.discard(node)
        _unmark(node, one._within, keys)


def are_on(node: int, residents: Sequence[Resident]) -> bool:
    """Whether a node has them all."""
    return all(node in one._nodes for one in residents)


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
        make: Callable[[], Any] = _pickles.decode(message)[2]
        _values[key] = [make]
    return seconds


def value_of(key: int) -> Any:
    """The value that a Resident stands for; made when it is first asked for."""
    entry = _values[key]
    if len(entry) == 1:
        entry.append(entry[0]())
    return entry[1]
