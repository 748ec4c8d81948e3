"""Knows the outermost layer of protobuf: files that are not ONNX, where one is damaged, and what a message takes
in memory once it is parsed, counted from its bytes. Does not know ONNX, nor limits.

A few bytes of a file may stand for much: an empty message, a number of one byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

_GRAPH_FIELD = 7  # ModelProto.graph
_FIELDS = 10_000  # looked at; real files have some dozens
_LONGEST = 10  # bytes of a number

_OTHER_FORMATS = MappingProxyType(
    {
        (0, b"PK\x03\x04"): "it is a zip archive (perhaps a PyTorch or Keras file): export it to ONNX first",
        (4, b"TFL3"): "it is a TensorFlow Lite file: `pip install tilewright-tflite` brings its importer",
        (4, b"ORTM"): "it is onnxruntime's own format: use the .onnx file it was made from",
        (0, b"\x89HDF"): "it is an HDF5 file (perhaps Keras): export it to ONNX first",
        (0, b"\x80\x02"): "it is a Python pickle (perhaps PyTorch): export it to ONNX first",
        (0, b"version https://git-lfs"): "it is a Git LFS pointer: fetch the real file (git lfs pull)",
        (0, b"<"): "it is a web page or XML, perhaps an error page saved as a file",
        (0, b"\x1f\x8b"): "it is gzip-compressed: unpack it first",
        (0, b"\x7fELF"): "it is a program",
    }
)
_MESSAGE_PARTS = 4  # a message takes as much as so many numbers and texts
_OBJECT_BYTES = 40  # of a number outside a tensor: they are read into tuples
_BYTES_OF_KIND = {1: 8, 5: 4}  # wire types of fixed size
_TENSOR = "TensorProto"


def damage(data: bytes) -> str:
    """Why these bytes cannot be an ONNX model, or "" when nothing speaks against it at this level."""
    if not data:
        return "it is empty"
    for (start, magic), reason in _OTHER_FORMATS.items():
        if data[start : start + len(magic)] == magic:
            return reason
    position = 0
    for _ in range(_FIELDS):
        if position >= len(data):
            break
        end = _end(data, position)
        if isinstance(end, str):
            return end
        position = end
    return ""


def holds_graph(data: bytes) -> bool:
    """Whether a file without `damage` has what makes it a model, as far as its fields are looked at."""
    position = 0
    for _ in range(_FIELDS):
        if position >= len(data):
            return False
        key, _start = _checked_varint(data, position)
        end = _end(data, position)
        if key is None or isinstance(end, str) or key == _GRAPH_FIELD << 3 | 2:
            return key == _GRAPH_FIELD << 3 | 2
        position = end
    return True


def _end(data: bytes, start: int) -> int | str:
    """Where the field that begins at `start` ends, or what is wrong with it."""
    no_field = f"the bytes at offset {start:,} are no protobuf field"
    key, position = _checked_varint(data, start)
    if key is None:
        return f"it ends in the middle of a field, after {len(data):,} bytes (truncated?)"
    field, kind = key >> 3, key & 7
    if not field or kind not in (0, 1, 2, 5):
        return no_field
    what, length = "its graph" if field == _GRAPH_FIELD else f"field {field}", {1: 8, 5: 4}.get(kind, 0)
    if kind in (0, 2):
        number, position = _checked_varint(data, position)
        if number is None:
            return f"it ends in the middle of {what} (truncated?)"
        if number < 0:
            return no_field
        length = number if kind == 2 else 0
    missing = position + length - len(data)
    if missing > 0:
        return f"it ends in the middle of {what}: {missing:,} bytes are missing (truncated?)"
    return position + length


def _checked_varint(data: bytes, position: int) -> tuple[int | None, int]:
    """A number and its end: None where the bytes end first, -1 where it has more than the ten bytes of a number."""
    value = 0
    for count, byte in enumerate(data[position : position + _LONGEST]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position + count + 1
    return (None if len(data) < position + _LONGEST else -1), position


@dataclass(slots=True, kw_only=True)
class WireSize:
    """`parts` are fields, a message as several; `number_bytes` are the bytes of packed numbers once they are parsed."""

    parts: int = 0
    number_bytes: int = 0


def wire_size(data: bytes, description: Any, most_parts: int, most_number_bytes: int) -> WireSize:
    """Count the fields of a message that `description` (a protobuf descriptor) describes, until a count is too high.

    Bytes that are no protobuf end the count of the message that they are in: parsing them says more.
    """
    size, known = WireSize(), dict[str, dict[int, _Field]]()  # the fields of every message that was met
    waiting = [(0, len(data), description)]
    while waiting and size.parts <= most_parts and size.number_bytes <= most_number_bytes:
        position, end, message = waiting.pop()
        if message.full_name not in known:
            known[message.full_name] = {field.number: _field(field) for field in message.fields}
        fields = known[message.full_name]
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
                count = length // field.item_bytes
                if not field.fixed:  # each number ends with a byte below 128
                    count = int(np.count_nonzero(np.frombuffer(data, np.uint8, length, start) < 0x80))
                size.number_bytes += count * (field.item_bytes if in_tensor else _OBJECT_BYTES)
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


def _field(field: Any) -> _Field:
    if field.cpp_type in (field.CPPTYPE_STRING, field.CPPTYPE_MESSAGE):
        return _Field(message=field.message_type)
    wide = (field.CPPTYPE_INT64, field.CPPTYPE_UINT64, field.CPPTYPE_DOUBLE)
    fixed = (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE)
    return _Field(item_bytes=8 if field.cpp_type in wide else 4, fixed=field.cpp_type in fixed)


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
