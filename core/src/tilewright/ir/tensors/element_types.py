"""Knows ONNX's numbers for element types and which of them tilewright holds.
Does not know tensors. Source: TensorProto.DataType of the ONNX specification."""

from __future__ import annotations

from types import MappingProxyType

from tilewright.ir.tensors.dtypes import DType

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
    }
)


def type_name(number: int) -> str:
    """A name for any ONNX element type, known or not."""
    if number in ELEMENT_TYPES:
        return ELEMENT_TYPES[number].value
    return _NAMES.get(number, f"type number {number}")
