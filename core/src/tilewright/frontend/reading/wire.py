"""Knows the outermost layer of protobuf and the first bytes of files that are not ONNX.
Does not know ONNX. It only makes "cannot be decoded" into a reason that a person can use."""

from __future__ import annotations

from types import MappingProxyType

_GRAPH_FIELD = 7  # ModelProto.graph
_FIELDS = 10_000  # looked at; real files have some dozens
_LONGEST = 10  # bytes of a number

_OTHER_FORMATS = MappingProxyType(
    {
        (0, b"PK\x03\x04"): "it is a zip archive (perhaps a PyTorch or Keras file): export it to ONNX first",
        (4, b"TFL3"): "it is a TensorFlow Lite file: convert it first (tf2onnx)",
        (4, b"ORTM"): "it is onnxruntime's own format: use the .onnx file it was made from",
        (0, b"\x89HDF"): "it is an HDF5 file (perhaps Keras): export it to ONNX first",
        (0, b"\x80\x02"): "it is a Python pickle (perhaps PyTorch): export it to ONNX first",
        (0, b"version https://git-lfs"): "it is a Git LFS pointer: fetch the real file (git lfs pull)",
        (0, b"<"): "it is a web page or XML, perhaps an error page saved as a file",
        (0, b"\x1f\x8b"): "it is gzip-compressed: unpack it first",
        (0, b"\x7fELF"): "it is a program",
    }
)


def damage(data: bytes) -> str:
    """Why these bytes cannot be an ONNX model, or "" when nothing speaks against it at this level."""
    if not data:
        return "it is empty"
    for (start, magic), reason in _OTHER_FORMATS.items():
        if data[start : start + len(magic)] == magic:
            return reason
    return _walk(data)


def _walk(data: bytes) -> str:
    position = 0
    for _ in range(_FIELDS):
        if position >= len(data):
            break
        found = _end(data, position)
        if isinstance(found, str):
            return found
        position = found
    return ""


def _end(data: bytes, start: int) -> int | str:
    """Where the field that begins at `start` ends, or what is wrong with it."""
    no_field = f"the bytes at offset {start:,} are no protobuf field"
    key, position = _varint(data, start)
    if key is None:
        return f"it ends in the middle of a field, after {len(data):,} bytes (truncated?)"
    field, kind = key >> 3, key & 7
    if not field or kind not in (0, 1, 2, 5):
        return no_field
    what, length = "its graph" if field == _GRAPH_FIELD else f"field {field}", {1: 8, 5: 4}.get(kind, 0)
    if kind in (0, 2):
        number, position = _varint(data, position)
        if number is None:
            return f"it ends in the middle of {what} (truncated?)"
        if number < 0:
            return no_field
        length = number if kind == 2 else 0
    missing = position + length - len(data)
    if missing > 0:
        return f"it ends in the middle of {what}: {missing:,} bytes are missing (truncated?)"
    return position + length


def _varint(data: bytes, position: int) -> tuple[int | None, int]:
    """A number and where it ends: None where the bytes end first, -1 where it does not end after ten, as all do."""
    value = 0
    for count, byte in enumerate(data[position : position + _LONGEST]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, position + count + 1
    return (None if len(data) < position + _LONGEST else -1), position
