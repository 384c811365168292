"""HAM for Python: an executor of worker processes, C++ functions by name, and memory of other nodes.

    import ham

    with ham.Executor(workers=2) as pool:
        print(pool.submit(pow, 2, 10).result())

docs/python.md is the tutorial.
"""

from . import this_call
from ._errors import (
    BrokenExecutor,
    BufferError,
    CallError,
    ConfigError,
    DeadlineExceeded,
    Error,
    NodeFailure,
    OperationCancelled,
    RemoteError,
    RemoteTraceback,
    StageError,
)
from ._executor import Executor
from ._future import Future
from ._graph import CompiledGraph, Graph, GraphValue, Replay
from ._memory import Buffer, allocate
from ._nodes import Node, Targets, offer
from ._resident import Resident
from ._types import RemoteObject

__all__ = [
    "BrokenExecutor",
    "Buffer",
    "BufferError",
    "CallError",
    "CompiledGraph",
    "ConfigError",
    "DeadlineExceeded",
    "Error",
    "Executor",
    "Future",
    "Graph",
    "GraphValue",
    "Node",
    "NodeFailure",
    "OperationCancelled",
    "RemoteError",
    "RemoteObject",
    "RemoteTraceback",
    "Replay",
    "Resident",
    "StageError",
    "Targets",
    "allocate",
    "offer",
    "this_call",
]
