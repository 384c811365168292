"""Nodes, and the functions in C++ that they offer by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Callable, Iterable, Optional

from . import _ham, _job, _types
from ._errors import CallError, Error

#: Longer timeouts than a year are none.
_MAX_SECONDS = 365 * 86400.0


class Node:
    """A node of the job: 0 is this process, the others are targets. A number with verbs; any thread."""

    __slots__ = ("number", "_layouts")

    def __init__(self, number: int) -> None:
        self.number = number
        self._layouts: dict[str, tuple] = {}

    def __repr__(self) -> str:
        return f"ham.Node({self.number})"

    @property
    def name(self) -> str:
        """The name of its machine."""
        return _ham.node_name(self.number)

    @property
    def alive(self) -> bool:
        """Whether it can be called, as far as is known here. May block."""
        return _ham.alive(self.number)

    def layout(self, function: str) -> str:
        """Types of the parameters and the result of a function in C++ with a name, ``"f8,vec<f8>->f8"``.

        docs/wire-format.md lists the texts. Raises :class:`ham.CallError` if the node offers no such function.
        """
        if "\0" in function:  # ends a name in C
            raise CallError(f"no function is called {function!r}")
        return _ham.layout(self.number, function)

    def load_library(self, path: Any) -> None:
        """Makes the node load a shared library, linked with libham, whose functions it then offers. Waits for it.

        ``path``: on that node, or a name that its linker searches for. Raises :class:`ham.CallError` with the linker's
        reason. Loaded already: nothing.
        """
        _ham.load_library(self.number, os.fspath(path))

    def call(self, function: str, /, *arguments: Any, timeout: Optional[float] = None) -> Any:
        """Calls a function in C++ that the node offers as ``named<"function">``, and waits for its result.

        Numbers, ``str``, ``bytes``, sequences, arrays of NumPy (for vectors of numbers; results of that type are arrays),
        dictionaries, sets, tuples, ``None`` for an empty optional, :class:`ham.Buffer` for a ``buffer_ptr``. They are
        checked against what the function takes: ``TypeError``. ``timeout``: in seconds, else
        :class:`ham.DeadlineExceeded`. What the function throws is a :class:`ham.RemoteError`. Without the GIL while it
        waits.
        """
        known = self._layouts.get(function)
        if known is None:
            layout = self.layout(function)
            known = self._layouts[function] = (layout, _types.signature(layout))
        layout, signature = known
        data = _types.encode(signature, arguments)
        return _types.decode(signature, _ham.call_encoded(self.number, function, layout, data, _milliseconds(timeout)))


def _paths(files: Any) -> list[str]:
    """One or several."""
    return [os.fspath(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)]


def _milliseconds(timeout: Optional[float]) -> int:
    """As the library takes it; -1: without limit."""
    if timeout is None or timeout > _MAX_SECONDS:
        return -1
    if not timeout == timeout:
        raise ValueError("a timeout is a number of seconds, not nan")
    return max(0, round(timeout * 1000))


def offer(name: str, layout: str, function: Optional[Callable] = None) -> Callable:
    """Lets other nodes call a function in Python by a name: ``@ham.offer("my.total", "vec<f8>,f8->f8")``, or with the function.

    ``layout``: the types of its parameters and its result (docs/wire-format.md, Types). Vectors of numbers arrive as
    arrays of NumPy. Programs in C++ call it by ``offload::function_by_name<double(std::vector<double>, double)>``, in
    Python by ``node.call``. In a file that targets run, ``Targets(scripts=[...])``, and in the host. What it raises is
    its caller's :class:`ham.RemoteError`, in C++ a ``std::exception``; it learns of its caller's time by
    :mod:`ham.this_call`. It runs on the thread that receives calls, with the GIL. Raises TypeError for a layout that
    has no counterpart in Python, ValueError for a name that is taken.
    """
    if function is None:
        return lambda decorated: offer(name, layout, decorated)
    of, offered = _types.signature(layout), function

    def run(data: bytes) -> bytes:
        return _types.encode_result(of, offered(*_types.decode_arguments(of, data)))

    _ham.register(name, run, layout)
    return function


class Targets(Sequence):
    """Targets that are started for calls of C++: a sequence of :class:`Node`, to be closed, or used in a ``with`` statement.

    ``nodes``: as in HAM_NODES. Those of ``"shm:COUNT"`` are interpreters that load ``libraries`` first, shared libraries
    that offer functions, linked with libham, and run ``scripts``, files of Python that offer functions by
    :func:`ham.offer`. Others, ``"exec:./program"``, ``"tcp://host:port"``, offer their own. Raises
    :class:`ham.ConfigError` if they cannot be started.
    """

    def __init__(self, nodes: str = "shm:1", libraries: Iterable[str] = (), scripts: Iterable[str] = ()) -> None:
        self._nodes: list[Node] = []
        files = [os.path.abspath(library) if os.sep in library else library for library in _paths(libraries)]
        files += [os.path.abspath(script) for script in _paths(scripts)]
        _job.acquire()
        self._open = True
        try:
            for group in _job.groups(nodes, files, others=True):
                first, count = _job.add(group)
                self._nodes.extend(Node(number) for number in range(first, first + count))
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, index: Any) -> Any:
        return self._nodes[index]

    def close(self) -> None:
        """Ends the targets."""
        if not self._open:
            return
        self._open = False
        for node in self._nodes:
            try:
                _ham.remove_node(node.number)
            except Error:
                pass  # lost already
        _job.release()

    def __enter__(self) -> "Targets":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
