"""The job of this process, which all its executors share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence

from . import _ham
from ._errors import ConfigError

_lock = threading.RLock()
_users = 0


def acquire() -> None:
    """Starts the job unless it is up, without targets. Raises ConfigError."""
    global _users
    with _lock:
        if _ham.num_nodes() == 0:
            _ham.start("none")
        elif _ham.this_node() != 0:
            raise ConfigError("this process is a worker: only the process that has started the job has workers of its own")
        _users += 1


def release() -> None:
    """Ends the job with its last user, unless arrays still lie in its memory."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0 and _ham._live_local() == 0:
            _ham.finish()


def _word(text: str) -> str:
    """As it is written in HAM_NODES."""
    return "'" + text.replace("'", "''") + "'"


def worker_command(libraries: Sequence[str] = ()) -> str:
    """The group of HAM_NODES that starts one worker, with the options of this interpreter."""
    words = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    words.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py"))
    words += [f"--load={library}" for library in libraries]
    return "exec:" + " ".join(map(_word, words))


def groups(nodes: str, libraries: Sequence[str] = (), others: bool = False) -> list[str]:
    """The groups of a text as in HAM_NODES; those of shm become interpreters. `others`: programs may be among them."""
    found = []
    for group in [nodes] if nodes.startswith("exec:") and others else nodes.split(","):
        kind, _, count = group.strip().partition(":")
        if kind == "shm":
            number, at, cores = count.partition("@")
            if number and not (number.isdecimal() and int(number)):
                raise ConfigError(f'nodes="{nodes}": "{number}" is no number of workers')
            found.append(f"{worker_command(libraries)}*{number or 1}{at}{cores}")
        elif kind == "tcp" or others:
            found.append(group.strip())
        else:
            raise ConfigError(f'nodes="{nodes}": workers in Python are "shm:COUNT" or "tcp://HOST:PORT", not "{kind}"')
    return found


def group_of_one(group: str, index: int) -> str:
    """The group of one worker, as number `index` of a group of them is started: on the same core."""
    end = group.rindex("'") + 1
    _, at, cores = group[end:].partition("@")
    own = [core for part in cores.split("+") if part != "restart" for core in _cores(part)]
    return group[:end] + (f"@{own[index % len(own)]}" if own else "")


def _cores(part: str) -> Sequence[int]:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1) if first else ()


def add(group: str) -> tuple[int, int]:
    """Starts a group; the number of its first node, and how many there are. Blocks."""
    with _lock:  # so that no other group's are among them
        before = _ham.num_nodes()
        first = _ham.add_node(group)
        return first, max(1, _ham.num_nodes() - before)
