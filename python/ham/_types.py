"""Values of C++ as bytes: encoders and decoders made from layout texts, "f8,vec<f8>->str" (docs/wire-format.md, Types)."""

from __future__ import annotations

import functools
import struct
from typing import Any, Callable, NamedTuple

from . import _ham

try:
    import numpy
except ImportError:  # vectors are lists then
    numpy = None  # type: ignore[assignment]

_NUMBERS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}
_COUNT = struct.Struct("<Q")


class RemoteObject(NamedTuple):
    """An object in C++ that lives on a node: a ``remote_ref<T>`` that a function has returned, for others that take one.

    Owns nothing: the object lives until a function of its program destroys it, or its node ends. ``type`` is the name of
    the class of the reference.
    """

    node: int
    number: int
    tag: int
    type: str


class Codec(NamedTuple):
    """How values of one type cross. ``read`` takes the bytes and a position, and gives the value and the next position."""

    write: Callable[[list, Any], None]
    read: Callable[[bytes, int], tuple]
    scalar: str = ""  # its letter of struct, if it is a number


class Signature(NamedTuple):
    """What crosses for one function."""

    parameters: list
    result: Any  # None: void
    packer: Any  # packs all parameters at once if they are numbers


def _split(text: str) -> list[str]:
    """At the commas outside of angle brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def _count(data: bytes, at: int) -> tuple[int, int]:
    count = _COUNT.unpack_from(data, at)[0]
    if count > len(data):
        raise ValueError(f"a result that says it has {count} elements is too short")
    return count, at + _COUNT.size


def _boolean() -> Codec:
    def write(to: list, value: Any) -> None:
        if not isinstance(value, int) and type(value).__name__ not in ("bool", "bool_") or value not in (0, 1):
            raise TypeError(f"a bool is needed, not {value!r:.200}")
        to.append(b"\1" if value else b"\0")

    return Codec(write, lambda data, at: (data[at] != 0, at + 1))


def _number(letter: str) -> Codec:
    form = struct.Struct("<" + letter)

    def read(data: bytes, at: int) -> tuple:
        return form.unpack_from(data, at)[0], at + form.size

    return Codec(lambda to, value: to.append(form.pack(value)), read, letter)


def _text() -> Codec:
    def write(to: list, value: Any) -> None:
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a str is needed, not {type(value).__name__}")
        data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)
        to.append(_COUNT.pack(len(data)) + data)

    def read(data: bytes, at: int) -> tuple:
        count, at = _count(data, at)
        return data[at : at + count].decode("utf-8", "surrogateescape"), at + count

    return Codec(write, read)


def _octets() -> Codec:
    def write(to: list, value: Any) -> None:
        view = memoryview(value).cast("B")
        to.append(_COUNT.pack(view.nbytes))
        to.append(view)

    def read(data: bytes, at: int) -> tuple:
        count, at = _count(data, at)
        return data[at : at + count], at + count

    return Codec(write, read)


def _array(kind: str) -> Codec:
    """A vector of numbers: any sequence, or array of that type; comes back as an array of NumPy."""
    dtype = numpy.dtype("<" + kind)

    def write(to: list, value: Any) -> None:
        array = numpy.asarray(value)
        if array.size and not numpy.can_cast(array.dtype, dtype, "same_kind" if array.dtype.kind != "i" else "unsafe"):
            raise TypeError(f"an array of {array.dtype} is no vector of {dtype}")
        if array.ndim != 1:
            raise TypeError(f"a vector has one dimension, not {array.ndim}; pass array.ravel()")
        if array.size and dtype.kind in "iu" and not numpy.can_cast(array.dtype, dtype):
            least, most, range_ = array.min(), array.max(), numpy.iinfo(dtype)
            if least < range_.min or most > range_.max:
                raise TypeError(f"numbers from {least} to {most} are no vector of {dtype}")
        array = numpy.ascontiguousarray(array, dtype)
        to.append(_COUNT.pack(array.size))
        to.append(array.view("u1").data)

    def read(data: bytes, at: int) -> tuple:
        count, at = _count(data, at)
        end = at + count * dtype.itemsize
        return numpy.frombuffer(data[at:end], dtype).copy(), end

    return Codec(write, read)


def _sequence(item: Codec, make: Callable = list) -> Codec:
    def write(to: list, value: Any) -> None:
        if isinstance(value, str):
            raise TypeError("a sequence is needed, not str")
        to.append(_COUNT.pack(len(value)))
        for one in value:
            item.write(to, one)

    def read(data: bytes, at: int) -> tuple:
        count, at = _count(data, at)
        values = []
        for _ in range(count):
            value, at = item.read(data, at)
            values.append(value)
        return make(values), at

    return Codec(write, read)


def _mapping(key: Codec, item: Codec) -> Codec:
    pairs = _sequence(_fixed([key, item]), dict)
    return Codec(lambda to, value: pairs.write(to, value.items()), pairs.read)


def _fixed(items: list, make: Callable = tuple) -> Codec:
    def write(to: list, value: Any) -> None:
        if len(value) != len(items):
            raise TypeError(f"{len(items)} elements are needed, not {len(value)}")
        for item, one in zip(items, value):
            item.write(to, one)

    def read(data: bytes, at: int) -> tuple:
        values = []
        for item in items:
            value, at = item.read(data, at)
            values.append(value)
        return make(values), at

    return Codec(write, read)


def _optional(item: Codec) -> Codec:
    def write(to: list, value: Any) -> None:
        to.append(b"\0" if value is None else b"\1")
        if value is not None:
            item.write(to, value)

    def read(data: bytes, at: int) -> tuple:
        return item.read(data, at + 1) if data[at] else (None, at + 1)

    return Codec(write, read)


def _complex(part: Codec) -> Codec:
    pair = _fixed([part, part])

    def read(data: bytes, at: int) -> tuple:
        (real, imaginary), at = pair.read(data, at)
        return complex(real, imaginary), at

    return Codec(lambda to, value: pair.write(to, (complex(value).real, complex(value).imag)), read)


def _pointer(element: int = 0) -> Codec:
    """`element`: size of the elements of a buffer_span, which has their number behind it."""
    form = struct.Struct("<QQi")

    def write(to: list, value: Any) -> None:
        if not isinstance(value, _ham.Buffer):
            raise TypeError(f"a ham.Buffer is needed for a buffer_ptr, not {type(value).__name__}")
        address, tag, size, node = value._describe()
        to.append(form.pack(address, tag, node))
        if element:
            to.append(_COUNT.pack(size // element))

    def read(data: bytes, at: int) -> tuple:
        raise TypeError("a buffer_ptr has no length and cannot be a result")

    return Codec(write, read)


def _reference(name: str) -> Codec:
    """A remote_ref of this name."""
    form = struct.Struct("<iQQ")

    def write(to: list, value: Any) -> None:
        if not isinstance(value, RemoteObject) or value.type != name:
            raise TypeError(f"a ham.RemoteObject of type {name} is needed, not {value!r:.200}")
        to.append(form.pack(*value[:3]))

    def read(data: bytes, at: int) -> tuple:
        return RemoteObject(*form.unpack_from(data, at), name), at + form.size

    return Codec(write, read)


@functools.lru_cache(maxsize=None)
def codec(layout: str) -> Codec:
    """Of one type. Raises TypeError for one that has no counterpart in Python."""
    if layout in _NUMBERS:
        return _number(_NUMBERS[layout])
    if layout == "bool":
        return _boolean()
    if layout == "char":
        return _number("b")
    if layout == "str":
        return _text()
    if layout in ("vec<u1>", "vec<i1>", "vec<char>", "vec<enum<u1>>"):
        return _octets()
    kind, _, inner = layout.partition("<")
    inner = inner[:-1]
    content = inner.rpartition(":")[2]
    if kind == "codec" and content.startswith("buffer_ptr<"):
        element = content[len("buffer_ptr<") :].partition(">")[0]
        if content == f"buffer_ptr<{element}>":
            return _pointer()
        if content == f"buffer_ptr<{element}>,u8" and element in _NUMBERS:
            return _pointer(int(element[1]))
    name = inner.rpartition(":")[0]
    if kind == "fields" and content == "i4,u8,u8" and "remote_ref" in name:
        return _reference(name)
    parts = _split(inner) if inner else []
    if kind == "vec" and inner in _NUMBERS and numpy is not None:
        return _array(inner)
    if kind in ("vec", "seq") and inner != "bit" and len(parts) == 1:
        return _sequence(codec(inner))
    if kind == "set" and len(parts) == 1:
        return _sequence(codec(inner), set)
    if kind == "map" and len(parts) == 2:
        return _mapping(codec(parts[0]), codec(parts[1]))
    if kind in ("tuple", "pair"):
        return _fixed([codec(part) for part in parts])
    if kind == "array" and len(parts) == 2:
        return _fixed([codec(parts[0])] * int(parts[1]), list)
    if kind == "opt":
        return _optional(codec(inner))
    if kind == "enum":
        return codec(inner)
    if kind == "complex":
        return _complex(codec(inner))
    raise TypeError(f'"{layout}" has no counterpart in Python')


@functools.lru_cache(maxsize=1024)
def signature(layout: str) -> Signature:
    """Of a function, by its layout."""
    sent, _, result = layout.rpartition("->")
    parameters = [codec(part) for part in _split(sent)] if sent else []
    packer = None
    if parameters and all(one.scalar for one in parameters):
        packer = struct.Struct("<" + "".join(one.scalar for one in parameters)).pack
    return Signature(parameters, None if result == "void" else codec(result), packer)


def encode(of: Signature, arguments: tuple) -> bytes:
    """The bytes of the arguments. Raises TypeError or struct.error for what the function does not take."""
    if len(arguments) != len(of.parameters):
        raise TypeError(f"the function takes {len(of.parameters)} arguments, not {len(arguments)}")
    if of.packer is not None:
        try:
            return of.packer(*arguments)
        except struct.error as error:
            raise TypeError(f"the arguments {arguments!r} are not of the function's types: {error}") from None
    parts: list = []
    for number, (parameter, argument) in enumerate(zip(of.parameters, arguments), 1):
        try:
            parameter.write(parts, argument)
        except (TypeError, ValueError, AttributeError, struct.error) as error:
            raise TypeError(f"argument {number}: {error}") from None
    return b"".join(parts)


def decode_arguments(of: Signature, data: bytes) -> list:
    """The values that a function in Python is called with. Raises ValueError or struct.error for bytes that are none."""
    values, at = [], 0
    for parameter in of.parameters:
        value, at = parameter.read(data, at)
        values.append(value)
    if at != len(data):
        raise ValueError(f"arguments of {len(data)} bytes have {at} only")
    return values


def encode_result(of: Signature, value: Any) -> bytes:
    """The bytes of what a function in Python returns. Raises TypeError for what is not of its type."""
    if of.result is None:
        return b""
    parts: list = []
    try:
        of.result.write(parts, value)
    except (TypeError, ValueError, AttributeError, struct.error) as error:
        raise TypeError(f"the result {value!r:.200} is not of the type that was offered: {error}") from None
    return b"".join(parts)


def decode(of: Signature, data: bytes) -> Any:
    """The value that a function has returned."""
    if of.result is None:
        return None
    value, end = of.result.read(data, 0)
    if end != len(data):
        raise ValueError(f"a result of {len(data)} bytes has {end} only")
    return value
