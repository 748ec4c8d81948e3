"""Knows the element types: their ONNX, numpy and C names, sizes and ranges.
Does not know tensors."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


class DType(Enum):
    """An element type. The value is the short name used in index maps, kernels and reports."""

    F32 = "f32"
    F64 = "f64"  # products, sums element by element and Clip; else folded at compile time
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"
    BOOL = "bool"

    @property
    def numpy(self) -> np.dtype[np.generic]:
        """The numpy type with the same bits."""
        import numpy as np

        return np.dtype(_NUMPY[self.value])

    @property
    def c_type(self) -> str:
        """The C11 type with the same bits."""
        return _C[self.value]

    @property
    def size_bytes(self) -> int:
        """Bytes of one element."""
        return _BYTES[self.value]

    @property
    def is_float(self) -> bool:
        """True for IEEE types."""
        return self in (DType.F32, DType.F64)

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
    "bool": "uint8_t",
}
_BYTES = {"f32": 4, "f64": 8, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "bool": 1}
