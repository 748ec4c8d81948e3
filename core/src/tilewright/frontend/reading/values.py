"""Knows how tensors and attributes of a file become arrays and Python values, every count checked before it is used.
Does not know nodes: what a value may be used for is decided where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewright.errors import Diagnostic, TilewrightError, model_error
from tilewright.frontend.reading.file_model import FileAttribute, FileNode, FileTensor
from tilewright.frontend.reading.import_options import raised
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.reader import bad_attribute
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType, type_name

if TYPE_CHECKING:
    from tilewright.frontend.reading.external import ExternalFiles
    from tilewright.frontend.reading.file_model import FileTensor
    from tilewright.ir.graphs.model_formats import Limits

Array = npt.NDArray[np.generic]
COUNTED_BYTES = 2**31 - 1  # offsets and counts of generated C are int32_t
_PACKED = {  # ONNX's number -> held as, bits of an element, bit of the sign
    21: (np.dtype("uint8"), 4, 0),
    22: (np.dtype("int8"), 4, 8),
    25: (np.dtype("uint8"), 2, 0),
    26: (np.dtype("int8"), 2, 2),
}
_BOOL = 9
_AGAIN = "the file is damaged or hand-made: export the model again"


def packed_bits(data_type: int) -> int:
    """Bits of an element of an ONNX type of which several share a byte, else 0. Such elements are only held as numbers
    of 8 bits, see `to_array`.
    """
    return _PACKED[data_type][1] if data_type in _PACKED else 0


def checked_size(shape: tuple[int, ...], item_bytes: int, limit: int, where: str) -> int:
    """Bytes of a dense value. Raises TW1206 for a negative dimension, more than `limit` bytes, or more than C counts.

    The extents of a value without elements are held against the limit too: they are counted, and things made for each.
    """
    if any(extent < 0 for extent in shape):
        raise _absurd(f"a dimension is negative: {_shape_text(shape)}", where)
    size = math.prod(max(extent, 1) for extent in shape) * item_bytes
    if size > COUNTED_BYTES:
        reason = f"shape {_shape_text(shape)} needs {size:,} bytes; the limit of generated C is {COUNTED_BYTES:,}"
        raise _absurd(reason, where)
    if size > limit:
        reason = f"shape {_shape_text(shape)} needs {size:,} bytes; the limit is {limit:,}"
        raise _absurd(reason, where, raised("tensor", size))
    return size if 0 not in shape else 0


def _absurd(reason: str, where: str, *further: str) -> TilewrightError:
    return model_error(
        "TW1206",
        reason,
        where=where,
        fix=("check the exporter's input shape; a real network for a small machine is far below this", *further),
    )


def _shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def to_array(tensor: FileTensor, files: ExternalFiles, limits: Limits, where: str) -> Array:
    """The elements, read-only where they are the file's own bytes; integers of 4 and 2 bits become the same in 8 bits.

    Raises TW1206, TW1210, TW1211.
    """
    if packed_bits(tensor.data_type):
        return _from_packed(tensor, files, limits, where)
    dtype = ELEMENT_TYPES[tensor.data_type].numpy
    size = checked_size(tensor.dims, dtype.itemsize, limits.tensor_bytes, where)
    if tensor.values is not None:
        return _from_typed(tensor.values, tensor, dtype, where)
    raw = files.read(tensor.external, size, where) if tensor.external is not None else tensor.raw or b""
    if len(raw) != size:
        raise _wrong_count(f"{len(raw):,} bytes", f"{size:,}", tensor, where)
    if tensor.data_type == _BOOL and raw.strip(b"\0\1"):
        raise model_error("TW1211", "a bool tensor holds bytes other than 0 and 1", where=where, fix=(_AGAIN,))
    array = np.frombuffer(raw, dtype.newbyteorder("<")).reshape(tensor.dims)
    return array.astype(dtype, copy=False)


def _from_packed(tensor: FileTensor, files: ExternalFiles, limits: Limits, where: str) -> Array:
    """Two or four elements in a byte, the first one in its lowest bits; bits behind the last one are passed over."""
    dtype, bits, sign = _PACKED[tensor.data_type]
    count = checked_size(tensor.dims, 1, limits.tensor_bytes, where)
    size = ceil_div(count * bits, 8)
    if tensor.values is not None:
        packed = _narrow(tensor.values, np.dtype("uint8"), where).view(np.uint8)
    else:
        raw = files.read(tensor.external, size, where) if tensor.external is not None else tensor.raw or b""
        packed = np.frombuffer(raw, np.uint8)
    if packed.size != size:
        raise _wrong_count(f"{packed.size:,} bytes", f"{size:,}", tensor, where)
    parts = (packed[:, np.newaxis] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
    elements = parts.reshape(-1)[:count]
    return ((elements ^ sign).astype(dtype) - sign).astype(dtype).reshape(tensor.dims)


def _from_typed(values: Array, tensor: FileTensor, dtype: np.dtype[np.generic], where: str) -> Array:
    expected = math.prod(tensor.dims)
    if values.size != expected:
        raise _wrong_count(f"{values.size:,} elements", f"{expected:,}", tensor, where)
    if ELEMENT_TYPES[tensor.data_type].is_half:  # the field holds their bits
        return _narrow(values, np.dtype("uint16"), where).view(dtype).reshape(tensor.dims)
    return _narrow(values, dtype, where).reshape(tensor.dims)


def _narrow(values: Array, dtype: np.dtype[np.generic], where: str) -> Array:
    """Elements of a wider storage field in their own type, or TW1211 where one does not fit."""
    narrow = values.astype(dtype)
    if dtype.kind != "f" and not np.array_equal(narrow.astype(values.dtype), values):
        raise model_error("TW1211", f"a stored element does not fit the type {dtype.name}", where=where, fix=(_AGAIN,))
    return narrow


def _wrong_count(stored: str, needed: str, tensor: FileTensor, where: str) -> TilewrightError:
    return model_error(
        "TW1211",
        f"a tensor holds {stored}; {type_name(tensor.data_type)} {_shape_text(tensor.dims)} needs {needed}",
        where=where,
        fix=(_AGAIN,),
    )


def not_finite(arrays: dict[str, Array]) -> tuple[Diagnostic, ...]:
    """One warning that names the constants with NaN or infinity in them, if there are any."""
    names = [
        name
        for name, array in arrays.items()
        if DType.from_numpy(array.dtype).is_float and not np.isfinite(array).all()
    ]
    if not names:
        return ()
    return (
        Diagnostic(
            code="TW1216",
            severity="warning",
            message=f"{len(names)} constant(s) contain NaN or infinity: {show_all(names)}",
            where=f"initialiser {show(names[0])}",
            fix=("check the training run; they are compiled as they are",),
        ),
    )


def typed_attributes(
    node: FileNode, known: Mapping[str, str], decode: Callable[[FileTensor, str], Array], where: str
) -> dict[str, object]:
    """Every attribute as int, float, str, tuple or array. Raises TW1213 when a type is not the declared one."""
    values: dict[str, object] = {}
    for attribute in node.attributes:
        if attribute.name in values:
            raise bad_attribute(attribute.name, "is given twice", where)
        expected = known[attribute.name]
        if attribute.kind != expected:
            raise bad_attribute(attribute.name, f"is {attribute.kind}, but {node.op_type} takes {expected}", where)
        values[attribute.name] = _plain(attribute, decode, where)
    return values


def _plain(attribute: FileAttribute, decode: Callable[[FileTensor, str], Array], where: str) -> object:
    value = attribute.value
    if isinstance(value, bytes):
        return _text(value, attribute.name, where)
    if isinstance(value, FileTensor):
        return decode(value, where)
    if attribute.kind == "STRINGS" and isinstance(value, tuple):
        return tuple(_text(item, attribute.name, where) for item in value)
    if value is None or attribute.reference:
        reason = f"refers to {show(attribute.reference)} outside a function" if attribute.reference else "has no value"
        raise bad_attribute(attribute.name, reason, where)
    return value


def _text(value: bytes, name: str, where: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise bad_attribute(name, "is not valid UTF-8", where) from error
