"""Knows weights that are stored compressed, TFLM_DECODE: each is a constant again when the file is read. Does not know
what reads them.

Beside the bits of a tensor stands how they are to be read: 16 bytes of metadata, then values. Bits are counted from the
highest of each byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Bytes = npt.NDArray[np.uint8]

_METADATA, _KIND, _VERSION, _OWN_VERSION, _WIDTH, _STRIDE = 16, 0, 1, 4, 5, 6  # bytes, and places among them
_TABLES, _PRUNED = 0, 2
_HELD = ("bool", "float32", "int8", "int16", "int32", "int64")
_AT_ONCE = 1 << 16  # numbers
_WORKING = 8  # bytes that a number takes while it is decoded


def _decode(op: Operator, net: Network) -> None:
    if len(op.inputs) != 2 * len(op.outputs):
        raise RefusedError(f"it has {len(op.inputs)} inputs for {len(op.outputs)} outputs")
    for place in range(len(op.outputs)):
        data, how = (net.need(op, 2 * place + part).reshape(-1).view(np.uint8) for part in (0, 1))
        output = net.output(op, place)
        count = int(np.prod(output.shape, dtype=object))
        if output.type not in _HELD or len(how) < _METADATA or (how[_VERSION], how[_OWN_VERSION]) != (1, 1):
            raise RefusedError(f"'{output.name}' is {output.type}, or compressed in a way that is not known")
        net.ledger.made(count * _WORKING)
        if how[_KIND] not in (_TABLES, _PRUNED):
            raise RefusedError(
                f"'{output.name}' is compressed in way {how[_KIND]}; 0 (tables) and 2 (pruned) are known"
            )
        decoded = _from_tables if how[_KIND] == _TABLES else _pruned
        net.put_known(output, decoded(output, count, data, how).reshape(output.shape))


def _from_tables(output: Tensor, count: int, data: Bytes, how: Bytes) -> Array:
    """Every number is an index into the values of its channel."""
    width, stride = int(how[_WIDTH]) & 7, int(how[_STRIDE])
    indices = _numbers(output, data, count, width)
    values = _values(output, how)
    places = indices + _channels(output, count) * stride
    if count and (int(indices.max()) >= stride or int(places.max()) >= len(values)):
        raise RefusedError(f"'{output.name}' names a value that its tables do not have")
    found: Array = values[places]
    return found


def _pruned(output: Tensor, count: int, data: Bytes, how: Bytes) -> Array:
    """A bit for each element says whether it has a value; the others are its zero point."""
    there = _numbers(output, data, count, 1).astype(bool)
    values = _values(output, how)
    if int(there.sum()) > len(values):
        raise RefusedError(f"'{output.name}' has {int(there.sum()):,} elements with values, and {len(values):,} values")
    zeros = output.zero_points if output.zero_points.size else np.zeros(1, np.int64)
    made = zeros[_channels(output, count) if len(zeros) > 1 else np.zeros(count, np.int64)].astype(output.type)
    made[there] = values[: int(there.sum())]
    return made


def _values(output: Tensor, how: Bytes) -> Array:
    kind = np.dtype("?" if output.type == "bool" else output.type)
    return np.frombuffer(how[_METADATA:].tobytes(), kind, (len(how) - _METADATA) // kind.itemsize)


def _channels(output: Tensor, count: int) -> npt.NDArray[np.int64]:
    """Which channel each element is of, where each has scales of its own."""
    channels, places = max(len(output.scales), 1), np.arange(count)
    if channels > 1 and output.axis not in (0, len(output.shape) - 1):
        raise RefusedError(f"'{output.name}' has its channels neither first nor last")
    return places % channels if output.axis else places // max(count // channels, 1)


def _numbers(output: Tensor, data: Bytes, count: int, width: int) -> npt.NDArray[np.int64]:
    """The next `width` bits, `count` times."""
    if not width or 8 * len(data) < count * width:
        raise RefusedError(f"'{output.name}' has {len(data):,} bytes for {count:,} numbers of {width} bits")
    found, powers = np.zeros(count, np.int64), 1 << np.arange(width)[::-1]
    for first in range(0, count, _AT_ONCE):
        some = min(_AT_ONCE, count - first)
        bits = np.unpackbits(data[first * width // 8 :], count=some * width)
        found[first : first + some] = bits.reshape(some, width) @ powers
    return found


CUSTOM: tuple[Conversion, ...] = (conversion("TFLM_DECODE", _decode),)  # operators with a name of their own
