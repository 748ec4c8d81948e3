"""Knows what a protobuf takes in memory once it is parsed, from its bytes and its description: counted, nothing made.
Does not know limits. A few bytes of a file may stand for much: an empty message, a number of one byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_MESSAGE_PARTS = 4  # a message takes as much as so many numbers and texts
_OBJECT_BYTES = 40  # of a number outside a tensor: they are read into tuples
_BYTES_OF_KIND = {1: 8, 5: 4}  # wire types of fixed size
_TENSOR = "TensorProto"


@dataclass(slots=True, kw_only=True)
class WireSize:
    """What was counted. `parts` are fields, messages several times; `number_bytes` is what packed numbers become."""

    parts: int = 0
    number_bytes: int = 0


def wire_size(data: bytes, description: Any, most_parts: int, most_number_bytes: int) -> WireSize:
    """Count the fields of a message that `description` (a protobuf descriptor) is of; no further than what is over.

    Bytes that are no protobuf end the count of the message that they are in: parsing them says more.
    """
    size, fields_of = WireSize(), _Fields()
    waiting = [(0, len(data), description)]
    while waiting and size.parts <= most_parts and size.number_bytes <= most_number_bytes:
        position, end, message = waiting.pop()
        fields = fields_of(message)
        in_tensor = message.name == _TENSOR
        while position < end and size.parts <= most_parts:
            key, position = _varint(data, position)
            kind, size.parts = key & 7, size.parts + 1
            if kind != 2:
                position = _varint(data, position)[1] if kind == 0 else position + _BYTES_OF_KIND.get(kind, end)
                continue
            length, start = _varint(data, position)
            position = start + length
            if position > end:
                break
            field = fields.get(key >> 3, _UNKNOWN)
            if field.message is not None:
                size.parts += _MESSAGE_PARTS - 1
                waiting.append((start, position, field.message))
            elif field.item_bytes:
                numbers = length // field.item_bytes if field.fixed else _numbers(data, start, length)
                size.number_bytes += numbers * (field.item_bytes if in_tensor else _OBJECT_BYTES)
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """What a field holds: the description of a message, or numbers of `item_bytes` once they are parsed, or texts (0).

    Numbers that are `fixed` take as much in the file.
    """

    message: Any = None
    item_bytes: int = 0
    fixed: bool = False


_UNKNOWN = _Field()


class _Fields:
    """The fields of every message that was met, by their numbers."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, _Field]] = {}

    def __call__(self, message: Any) -> dict[int, _Field]:
        found = self._known.get(message.full_name)
        if found is None:
            found = self._known[message.full_name] = {field.number: _field(field) for field in message.fields}
        return found


def _field(field: Any) -> _Field:
    if field.cpp_type in (field.CPPTYPE_STRING, field.CPPTYPE_MESSAGE):
        return _Field(message=field.message_type)
    wide = (field.CPPTYPE_INT64, field.CPPTYPE_UINT64, field.CPPTYPE_DOUBLE)
    fixed = (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE)
    return _Field(item_bytes=8 if field.cpp_type in wide else 4, fixed=field.cpp_type in fixed)


def _numbers(data: bytes, start: int, length: int) -> int:
    """How many numbers there are at most: each ends with a byte below 128."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8, length, start) < 0x80))


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number and the place behind it; a place behind all bytes where there is none."""
    if position < len(data) and data[position] < 0x80:
        return data[position], position + 1
    value = shift = 0
    for at in range(position, min(position + 10, len(data))):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at + 1
        shift += 7
    return value, len(data) + 1
