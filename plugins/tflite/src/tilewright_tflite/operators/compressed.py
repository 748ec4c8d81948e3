"""Knows weights that are stored compressed, TFLM_DECODE: each is a constant again when the file is read. Does not know
what reads them.

Beside the bits of a tensor stands how they are to be read: 16 bytes of metadata, then values. Bits are counted from the
highest of each byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
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
_TABLES, _HUFFMAN, _PRUNED = 0, 1, 2
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
        decoded = _DECODERS.get(int(how[_KIND]))
        if decoded is None:
            ways = "0 (tables), 1 (Huffman) and 2 (pruned)"
            raise RefusedError(f"'{output.name}' is compressed in way {how[_KIND]}; {ways} are known")
        net.put_known(output, decoded(output, count, data, how).reshape(output.shape))


def _from_tables(output: Tensor, count: int, data: Bytes, how: Bytes) -> Array:
    """Every number is an index into the values of its channel."""
    width, stride = int(how[_WIDTH]) & 7, int(how[_STRIDE])
    indices = _numbers(output, data, count, width)
    values = _values(output, how)
    places = indices + _channels(output, count) * stride
    if count and (int(indices.max()) >= stride or int(places.max()) >= len(values)):
        raise RefusedError(f"'{output.name}' names a value that its tables do not have")
    result: Array = values[places]
    return result


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


def _huffman(output: Tensor, count: int, data: Bytes, how: Bytes) -> Array:
    """Every number is a code word: its first bits lead into a table, whose entries are numbers, or lead on.

    An entry of 16 or 32 bits: the highest says whether it is a number; four bits say how many bits of the last step
    belong to the code word, or how many less one the next step takes; the others are the number, or how far it is to
    the next part of the table.
    """
    wide = bool(how[_WIDTH] & 1)
    if output.type not in (("int8", "int16") if wide else ("int8",)):
        raise RefusedError(f"'{output.name}' is {output.type}, for which there are no code words of this width")
    size = 4 if wide else 2
    whole = how[_METADATA : len(how) - len(how) % size]
    table = [int(each) for each in whole.view(f"<u{size}")]
    first, bits, content, end = (
        (int(how[_WIDTH]) >> 4) + 1,
        27 if wide else 11,
        data.tobytes() + bytes(8),
        8 * len(data),
    )
    numbers, place = [], 0
    for _ in range(count):
        taken, at = first, 0
        while True:
            window = int.from_bytes(content[place >> 3 : (place >> 3) + 8], "big")
            at += window >> (64 - (place & 7) - taken) & ((1 << taken) - 1)
            if at >= len(table) or place >= end:
                raise RefusedError(f"'{output.name}' has code words that lead out of their table, or out of their bits")
            entry = table[at]
            length = entry >> bits & 15
            if entry >> (bits + 4):
                break
            place, taken, at = place + taken, length + 1, at + (entry & ((1 << bits) - 1))
        if not length:
            raise RefusedError(f"'{output.name}' has a code word without bits")
        place += min(taken, length)
        numbers.append(entry & 0xFFFF)
    return np.array(numbers, np.uint16).astype(output.type)


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
    result, powers = np.zeros(count, np.int64), 1 << np.arange(width)[::-1]
    for first in range(0, count, _AT_ONCE):
        some = min(_AT_ONCE, count - first)
        bits = np.unpackbits(data[first * width // 8 :], count=some * width)
        result[first : first + some] = bits.reshape(some, width) @ powers
    return result


_DECODERS: Mapping[int, Callable[[Tensor, int, Bytes, Bytes], Array]] = MappingProxyType(
    {_TABLES: _from_tables, _HUFFMAN: _huffman, _PRUNED: _pruned}
)
CUSTOM: tuple[Conversion, ...] = (conversion("TFLM_DECODE", _decode),)  # operators with a name of their own
