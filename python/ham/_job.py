"""The job of this process, which all its executors share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

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
    if "'" in text:
        raise ConfigError(f"workers cannot be started: there is a quotation mark in {text}")
    return f"'{text}'"


def worker_command() -> str:
    """The group of HAM_NODES that starts one worker, with the options of this interpreter."""
    words = [sys.executable, *subprocess._args_from_interpreter_flags()]  # type: ignore[attr-defined]
    words.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py"))
    return "exec:" + " ".join(map(_word, words))
