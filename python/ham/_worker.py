"""The program of a worker: executes tasks until the job ends. Started by the host's library; not for people."""

from __future__ import annotations

import collections
import ctypes
import os
import signal
import sys

if __package__ in (None, ""):  # started by its file, so that it is found without a path
    folder = os.path.dirname(os.path.abspath(__file__))
    if getattr(sys.flags, "safe_path", False) or sys.flags.isolated:
        sys.path.insert(0, os.path.dirname(folder))
    else:  # in place of this folder
        sys.path[0] = os.path.dirname(folder)
    if sys.path.count(sys.path[0]) > 1:
        del sys.path[0]
    import ham._worker

    ham._worker.main()
    sys.exit(0)

import pickle
import runpy
import time
import traceback
from typing import Any, Callable

from . import _ham, _pickles, _resident, this_call
from ._errors import RemoteError

#: The name under which hosts call a worker.
NAME = "ham.python.run"

_HOST = 0
_MAX_FUNCTIONS = 256
_functions: "collections.OrderedDict[bytes, tuple[Callable, str]]" = collections.OrderedDict()
_busy = False


def _function(data: bytes) -> tuple[Callable, str]:
    """The function of a pickle, and its name; the same object for the same pickle, while it is in the cache."""
    known = _functions.get(data)
    if known is not None:
        return known
    function = pickle.loads(data)
    found = function, _name(function)
    _functions[data] = found
    if len(_functions) > _MAX_FUNCTIONS:
        _functions.popitem(last=False)
    return found


def _name(function: Callable) -> str:
    """What recordings and traces call it; empty: they do without."""
    try:
        name = getattr(function, "__qualname__", None) or type(function).__qualname__
        return name if name.isascii() else name.encode(errors="replace").decode()
    except Exception:
        return ""


def _named(data: bytes) -> Callable:
    """The function of a pickle; recordings and traces call what is executed by its name from here on."""
    function, name = _function(data)
    if name:
        _ham.name_call(name)
    return function


def _initialise(path: list, folder: str, initializer: Any, arguments: tuple) -> None:
    for entry in path:
        if entry not in sys.path:
            sys.path.append(entry)
    try:
        os.chdir(folder)
    except OSError:
        pass  # a worker of another machine
    if initializer is not None:
        pickle.loads(initializer)(*arguments)


def _chunk(function: Callable, items: list) -> tuple:
    """Results up to the first exception, and that."""
    results: list = []
    try:
        for arguments in items:
            results.append(function(*arguments))
    except BaseException as error:
        return results, (error, traceback.format_exc())
    return results, None


def _execute(message: bytes) -> Any:
    global _busy
    kind, function, extra, value = _pickles.decode(message)
    seconds = _resident.take(extra)
    _busy = True  # from here on Ctrl-C interrupts it: the host relies on what it has sent
    this_call._end = None if seconds is None else time.monotonic() + seconds
    if kind == _pickles.CALL:
        call = _named(function)
        arguments, keywords = value()
        return call(*arguments, **keywords)
    if kind == _pickles.CHUNK:
        results, failed = _chunk(_named(function), value())
        if failed is not None and _pickles.describe_exception(*failed) is None:
            failed = (RemoteError(_pickles.exception_text(failed[0])), failed[1])
        return results, failed
    return _initialise(*value())


def run(message: bytes) -> bytes:
    """Executes one task; its result, or its exception, as a message to the host."""
    global _busy
    try:
        try:
            body = _pickles.dump(_execute(message))
        finally:
            _busy = False
        return _pickles.encode(_HOST, _pickles.RESULT, body)
    except BaseException as error:
        text = traceback.format_exc()
        failure = _pickles.describe_exception(error, text)
        if failure is None:
            failure = _pickles.dump((RemoteError(_pickles.exception_text(error)), text))
        return _pickles.encode(_HOST, _pickles.FAILURE, failure)
    finally:
        this_call._end = None
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass


def _interrupt(*_: Any) -> None:
    """Ctrl-C reaches all processes of the terminal: it ends what is executed, not a worker that waits."""
    if _busy:
        raise KeyboardInterrupt


def main() -> None:
    """Joins the job that has started this process. Does not return."""
    signal.signal(signal.SIGINT, _interrupt)
    load = "--load="
    for word in [word for word in sys.argv if word.startswith(load)]:
        sys.argv.remove(word)
        if word.endswith(".py"):
            runpy.run_path(word[len(load) :], run_name="ham.script")
        else:
            ctypes.CDLL(word[len(load) :], mode=ctypes.RTLD_GLOBAL)  # what it offers is known before the job is joined
    _ham.register(NAME, run)
    _ham.serve(sys.argv)
    sys.exit("ham: this program is started by ham.Executor, or waits for one with --ham-serve=ADDRESS:PORT")
