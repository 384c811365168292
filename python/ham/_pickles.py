"""Tasks and results as messages: pickles, with large buffers beside them in memory of the node that gets them."""

from __future__ import annotations

import functools
import pickle
import struct
import sys
import threading
import types
import weakref
from typing import Any, Callable, Optional

from . import _ham

try:
    import cloudpickle
except ImportError:  # functions of __main__, lambdas and closures cannot be sent then
    cloudpickle = None

#: Buffers of at least so many bytes travel beside the pickle: copied once, into memory of the receiving node.
OUT_OF_BAND = 32 << 10
#: Pickles of more bytes travel there, too: messages are limited.
MAX_PICKLE = 1 << 20

CALL, CHUNK, INITIALISE, RESULT, FAILURE, RESIDENT = range(6)

#: Kind, whether the pickle is the last buffer, number of buffers, size of the function, size of what _resident.extras gives.
_HEAD = struct.Struct("<BBIII")
_BUFFER = struct.Struct("<QQQi?")  # address, tag, size, node, read-only

_BY_VALUE = frozenset((int, float, str, bytes, bool, type(None), complex, bytearray))

_NO_BUFFERS = bytes(4)  # their number in a message


class Pickled:
    """A pickle, and the buffers that it leaves out: views of the objects' own memory."""

    __slots__ = ("data", "buffers")

    def __init__(self, data: bytes, buffers: list) -> None:
        self.data = data
        self.buffers = buffers


_NOTHING = Pickled(pickle.dumps(None, 5), [])
_NO_ARGUMENTS = Pickled(pickle.dumps(((), {}), 5), [])


def _is_plain(value: Any) -> bool:
    """Whether pickle alone does it: no function or class of __main__ can be in it."""
    kind = type(value)
    if kind in _BY_VALUE:
        return True
    if kind is tuple or kind is list:
        return len(value) <= 16 and all(map(_is_plain, value))
    if kind is dict:
        return len(value) <= 16 and all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return kind.__module__ == "numpy" and kind.__name__ == "ndarray" and value.dtype.kind in "biufcSUmM"


def dump_simple_call(arguments: tuple, keywords: dict) -> Optional[Pickled]:
    """What dump gives for arguments that are numbers and texts: without the search for anything else. None: they are not."""
    if keywords:
        return None
    if not arguments:
        return _NO_ARGUMENTS
    if _BY_VALUE.issuperset(map(type, arguments)):
        return Pickled(pickle.dumps((arguments, keywords), 5), [])
    return None


def dump(value: Any) -> Pickled:
    """Pickles with protocol 5. Raises what the value's own pickling raises."""
    if value is None:
        return _NOTHING
    if type(value) in _BY_VALUE:
        return Pickled(pickle.dumps(value, 5), [])
    buffers: list = []

    def keep(buffer: pickle.PickleBuffer) -> bool:
        try:
            raw = buffer.raw()
        except BufferError:  # not contiguous
            return True
        if raw.nbytes < OUT_OF_BAND:
            return True
        buffers.append(raw)
        return False

    if cloudpickle is None or _is_plain(value):
        return Pickled(pickle.dumps(value, 5, buffer_callback=keep), buffers)
    return Pickled(cloudpickle.dumps(value, 5, buffer_callback=keep), buffers)


_function_pickles: "weakref.WeakKeyDictionary[Callable, tuple]" = weakref.WeakKeyDictionary()
_function_lock = threading.Lock()


def _stands_alone(function: Any) -> bool:
    """Whether a function without others in it is its code and defaults alone, as things are."""
    if function.__closure__ or function.__dict__ or function.__kwdefaults__ is not None:
        return False
    names = function.__globals__
    for name in function.__code__.co_names:
        if name in names:
            return False
    return True


def _has_others_in_it(code: types.CodeType) -> bool:
    return any(isinstance(constant, types.CodeType) for constant in code.co_consts)


@functools.lru_cache(maxsize=None)
def _importable(name: str) -> bool:
    """Whether workers, which get this process's path, find a module. Those of pytest's importlib mode they do not.

    Packages that are installed in place may have a finder of their own, in each process.
    """
    top = name.partition(".")[0]
    try:
        return any(finder.find_spec(top, None) is not None for finder in sys.meta_path if hasattr(finder, "find_spec"))
    except Exception:  # of any finder
        return True


def _pickle_by_value(module: Any) -> None:
    """Its functions and classes cross by value from now on."""
    if cloudpickle is not None and module is not None and module.__name__ not in cloudpickle.list_registry_pickle_by_value():
        cloudpickle.register_pickle_by_value(module)


def known_function(function: Any) -> Optional[bytes]:
    """The pickle by value of a function that dump_function has made before, if it is the same today; else None."""
    if type(function) is not types.FunctionType:
        return None
    known = _function_pickles.get(function)
    if known is None or function.__code__ is not known[0] or function.__defaults__ is not known[1]:
        return None
    return known[2] if _stands_alone(function) else None


def dump_function(function: Any) -> bytes:
    """By reference if workers can import it, else by value: known_function() has that from now on, if it stays the same."""
    name = getattr(function, "__module__", None)
    if isinstance(name, str) and name != "__main__" and not _importable(name):
        _pickle_by_value(sys.modules.get(name))
    if type(function) is not types.FunctionType:
        if cloudpickle is None or (type(function) is types.BuiltinFunctionType and type(function.__self__) is types.ModuleType):
            return pickle.dumps(function, 5)
        return cloudpickle.dumps(function, 5)
    module = sys.modules.get(function.__module__)
    if function.__module__ != "__main__" and _importable(function.__module__) and getattr(module, function.__qualname__, None) is function:
        return pickle.dumps(function, 5)
    if cloudpickle is None:
        raise pickle.PicklingError(
            f"{function.__qualname__} is defined in {function.__module__} and cannot be imported by workers; install "
            "cloudpickle, or put it into a module"
        )
    code, defaults = function.__code__, function.__defaults__
    data = cloudpickle.dumps(function, 5)
    if not _has_others_in_it(code) and _stands_alone(function) and _is_plain(defaults):
        with _function_lock:
            _function_pickles[function] = (code, defaults, data)
    return data


def _place(node: int, view: memoryview) -> _ham.Buffer:
    """Copies bytes into memory of a node."""
    there = _ham.allocate(node, view.nbytes)
    there.put(view)
    return there


def encode(node: int, kind: int, body: Pickled, function: bytes = b"", extra: bytes = b"") -> bytes:
    """A message to a node; puts the buffers there. Raises as ham.allocate."""
    if not body.buffers and len(body.data) <= MAX_PICKLE:
        return _HEAD.pack(kind, 0, 0, len(function), len(extra)) + function + extra + body.data
    apart = len(body.data) > MAX_PICKLE
    views = [memoryview(view) for view in (*body.buffers, *([body.data] if apart else []))]
    places = [_place(node, view) for view in views]
    # The node frees them; if there is no memory for one, they are freed here.
    parts = [_BUFFER.pack(*place._hand_over(), view.readonly) for place, view in zip(places, views)]
    head = _HEAD.pack(kind, apart, len(parts), len(function), len(extra))
    return b"".join((head, *parts, function, extra, b"" if apart else body.data))


def decode(message: bytes) -> tuple[int, bytes, bytes, Callable[[], Any]]:
    """Kind, pickle of the function, `extra`, and what makes the value. Owns the message's buffers from here on."""
    kind, apart, count, function_size, extra_size = _HEAD.unpack_from(message)
    at = _HEAD.size
    views = []
    for _ in range(count):
        *where, read_only = _BUFFER.unpack_from(message, at)
        at += _BUFFER.size
        view = memoryview(_ham._adopt(tuple(where)))
        views.append(view.toreadonly() if read_only else view)
    function = message[at : at + function_size]
    at += function_size
    data: Any = views.pop() if apart else memoryview(message)[at + extra_size :]
    return kind, function, message[at : at + extra_size], lambda: pickle.loads(data, buffers=views)


def decode_result(message: bytes) -> tuple[int, Any]:
    """Kind and value of a message without a function."""
    if not has_buffers(message):
        return message[0], pickle.loads(memoryview(message)[_HEAD.size :])
    kind, _, _, make = decode(message)
    return kind, make()


def extra_of(message: bytes) -> bytes:
    """What encode was given as `extra`."""
    _, _, count, function_size, extra_size = _HEAD.unpack_from(message)
    at = _HEAD.size + count * _BUFFER.size + function_size
    return message[at : at + extra_size]


def has_buffers(message: bytes) -> bool:
    """Whether decode takes buffers over, and may be called once only."""
    return message[2:6] != _NO_BUFFERS


def discard(message: bytes) -> None:
    """In place of decode, on any node: frees the message's buffers."""
    at = _HEAD.size
    for _ in range(_HEAD.unpack_from(message)[2]):
        _ham._adopt(_BUFFER.unpack_from(message, at)[:-1])
        at += _BUFFER.size


def exception_text(error: BaseException) -> str:
    """Its type and text; its class may raise in place of giving one."""
    name = type(error).__name__
    try:
        return f"{name}: {error}"
    except Exception:
        return f"{name}, whose text cannot be made"


def describe_exception(error: BaseException, text: str) -> Optional[Pickled]:
    """An exception with its traceback as text; None if it cannot be pickled and made again."""
    try:
        body = dump((error, text))
        pickle.loads(body.data, buffers=body.buffers)
        return body
    except Exception:
        return None
