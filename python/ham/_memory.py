"""Memory of nodes."""

from __future__ import annotations

from typing import Any

from . import _ham
from ._ham import Buffer

__all__ = ["Buffer", "allocate"]


def allocate(node: Any, nbytes: int) -> Buffer:
    """Memory of ``nbytes`` bytes on a node (a :class:`ham.Node` or its number), aligned to 64 bytes, not initialised.

    It is freed with the last reference. Raises :class:`ham.ConfigError` if no job is up, :class:`ham.NodeFailure` if the
    node is lost, MemoryError.
    """
    return _ham.allocate(getattr(node, "number", node), nbytes)


def _array(self: Buffer, dtype: Any = "u1", shape: Any = None) -> Any:
    """An array of NumPy over the memory, on its own node; keeps it. ``shape``: one dimension by default."""
    import numpy

    array = numpy.frombuffer(self, dtype)
    return array if shape is None else array.reshape(shape)


def _interface(self: Buffer) -> dict:
    return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self._address(), False), "version": 3}


def _dlpack(self: Buffer, **options: Any) -> Any:
    return _array(self).__dlpack__(**options)


def _dlpack_device(self: Buffer) -> tuple:
    return (1, 0)  # kDLCPU


def _get(self: Buffer, offset: int = 0, nbytes: Any = None) -> bytearray:
    """A copy of ``nbytes`` bytes from ``offset`` on; by default all behind it. From any node. Blocks."""
    data = bytearray(self.nbytes - offset if nbytes is None else nbytes)
    self.get_into(data, offset)
    return data


for _name, _verb in {
    "array": _array,
    "get": _get,
    "__array_interface__": property(_interface),
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
}.items():
    setattr(Buffer, _name, _verb)
