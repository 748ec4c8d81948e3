"""Knows how the bytes of a constant are its elements. Does not know what they are used for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import HELD, Tensor

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import TensorProto

    Array = npt.NDArray[np.generic]

_NUMPY: Mapping[str, str] = MappingProxyType({"bool": "?", "float16": "<f2", "float32": "<f4", "float64": "<f8"})


def elements_of(tensor: Tensor, data: Array) -> Array:
    """The elements of a constant, whose bytes are `data`. RefusedError where they do not fit its type and shape."""
    raw = data.tobytes() if tensor.type == "int4" else data
    if tensor.type != "int4" and tensor.type not in HELD:
        raise RefusedError(f"its tensor '{tensor.name}' is {tensor.type}, which tilewright does not hold")
    count = int(np.prod(tensor.shape, dtype=object))
    kind = np.dtype(_NUMPY.get(tensor.type, tensor.type)) if tensor.type != "int4" else np.dtype("int8")
    size = (count + 1) // 2 if tensor.type == "int4" else count * kind.itemsize
    if len(raw) != size:
        raise RefusedError(f"its tensor '{tensor.name}' has {len(raw):,} bytes, and its shape needs {size:,}")
    if tensor.type == "int4":
        packed = np.frombuffer(raw, np.int8)
        halves = np.stack([(packed << 4) >> 4, packed >> 4], axis=-1)
        return halves.reshape(-1)[:count].reshape(tensor.shape)
    return np.frombuffer(raw, kind).reshape(tensor.shape)


def tensor_of_nibbles(array: Array, name: str) -> TensorProto:
    """A constant of ONNX that has these numbers of 4 bits: two to a byte, the first one in its low half."""
    from onnx import TensorProto, helper

    flat = np.append(array.reshape(-1), np.zeros(array.size % 2, array.dtype)).astype(np.uint8) & 15
    packed = (flat[0::2] | (flat[1::2] << 4)).tobytes()
    return helper.make_tensor(name, TensorProto.INT4, array.shape, packed, raw=True)
