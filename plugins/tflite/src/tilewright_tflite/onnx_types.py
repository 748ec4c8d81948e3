"""Knows what types of the file are called in ONNX, and how a value is declared there. Does not know operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

ONNX_TYPES: Mapping[str, int] = MappingProxyType(
    {
        "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
        "float64": 11, "uint32": 12, "uint64": 13,
    }
)  # fmt: skip


def declared(name: str, kind: str, shape: Sequence[int]) -> Any:
    """An onnx.ValueInfoProto."""
    from onnx import helper

    return helper.make_tensor_value_info(name, ONNX_TYPES[kind], list(shape))
