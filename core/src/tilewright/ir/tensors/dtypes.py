"""Knows the element types: their ONNX, numpy and C names, ONNX's numbers for them, sizes and ranges. Does not know
tensors. Source of the numbers: TensorProto.DataType of the ONNX specification.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
from types import MappingProxyType


class DType(Enum):
    """An element type. The value is the short name used in index maps, kernels and reports."""

    F32 = "f32"
    F64 = "f64"  # products, sums element by element and Clip; else folded at compile time
    F16 = "f16"  # IEEE 754 binary16: stored as its bits, computed in float32
    BF16 = "bf16"  # the upper half of a float32: the same
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    BOOL = "bool"

    # Sizes and names are asked for so often that the value is read as `_value_`, without the descriptor in between.

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The numpy type with the same bits."""
        import numpy as np

        if self is DType.BF16:
            from ml_dtypes import bfloat16

            half: np.dtype[np.generic] = np.dtype(bfloat16)
            return half
        return np.dtype(_NUMPY[self._value_])

    @property
    def c_type(self) -> str:
        """The C11 type with the same bits."""
        return _C[self._value_]

    @property
    def size_bytes(self) -> int:
        """Bytes of one element."""
        return _BYTES[self._value_]

    @property
    def is_float(self) -> bool:
        """True for types with an exponent."""
        return self in _FRACTIONS

    @property
    def is_half(self) -> bool:
        """True for floats of 16 bits, which C only stores: `computed_in` says what it computes in."""
        return self in (DType.F16, DType.BF16)

    @property
    def computed_in(self) -> DType:
        """The type of what an operator computes before its result is rounded, once, to this one."""
        return DType.F32 if self.is_half else self

    @property
    def unit(self) -> float:
        """The largest relative rounding error of a float type. KeyError for others."""
        return _FRACTIONS[self]

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return not self.is_float and self is not DType.BOOL

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest value of an integer type."""
        bits = 8 * self.size_bytes
        if self.value.startswith("u") or self is DType.BOOL:
            return 0, 1 if self is DType.BOOL else (1 << bits) - 1
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    @classmethod
    def from_numpy(cls, dtype: np.dtype[np.generic]) -> DType:
        """The type of a numpy array. ValueError when tilewright has none for it."""
        return _from_numpy(dtype)


@lru_cache(maxsize=64)
def _from_numpy(dtype: np.dtype[np.generic]) -> DType:
    """Cached, because numpy puts the name of a type together anew each time."""
    for short, name in _NUMPY.items():
        if dtype.name == name:
            return DType(short)
    raise ValueError(f"no element type for numpy {dtype.name}")


_NUMPY = {
    "f32": "float32",
    "f64": "float64",
    "f16": "float16",
    "bf16": "bfloat16",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "u16": "uint16",
    "i32": "int32",
    "u32": "uint32",
    "i64": "int64",
    "u64": "uint64",
    "bool": "bool",
}
_C = {short: f"{name}_t" for short, name in _NUMPY.items()} | {
    "f32": "float",
    "f64": "double",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "bool": "uint8_t",
}
_BYTES = {
    "f32": 4,
    "f64": 8,
    "f16": 2,
    "bf16": 2,
    "i8": 1,
    "u8": 1,
    "i16": 2,
    "u16": 2,
    "i32": 4,
    "u32": 4,
    "i64": 8,
    "u64": 8,
    "bool": 1,
}
_FRACTIONS = {DType.F32: 2.0**-24, DType.F64: 2.0**-53, DType.F16: 2.0**-11, DType.BF16: 2.0**-8}


ELEMENT_TYPES = MappingProxyType(
    {
        1: DType.F32,
        2: DType.U8,
        3: DType.I8,
        4: DType.U16,
        5: DType.I16,
        6: DType.I32,
        7: DType.I64,
        9: DType.BOOL,
        10: DType.F16,
        11: DType.F64,
        12: DType.U32,
        13: DType.U64,
        16: DType.BF16,
    }
)

_NAMES = MappingProxyType(
    {
        0: "undefined",
        8: "string",
        14: "complex64",
        15: "complex128",
        17: "float8e4m3fn",
        18: "float8e4m3fnuz",
        19: "float8e5m2",
        20: "float8e5m2fnuz",
        21: "uint4",
        22: "int4",
        23: "float4e2m1",
        25: "uint2",
        26: "int2",
    }
)


def type_name(number: int) -> str:
    """A name for any ONNX element type, known or not."""
    if number in ELEMENT_TYPES:
        return ELEMENT_TYPES[number].value
    return _NAMES.get(number, f"type number {number}")
