"""`--io-type`: what holds for all inputs and outputs, for single ones, and what it may not be said of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.config.io_types import border_types
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType

TYPES = {"x": DType.F32, "index": DType.I64, "h": DType.F32, "y": DType.F32, "next": DType.F32}
GRAPH = Graph(
    name="net",
    inputs=("x", "index", "h"),
    outputs=("y", "next"),
    nodes=(Node(name="n", op="N", inputs=("x", "index", "h"), outputs=("y", "next")),),
    tensors={name: Tensor(name=name, dtype=dtype, shape=(1,)) for name, dtype in TYPES.items()},
    constants={},
)


@pytest.mark.parametrize(
    ("options", "types"),
    [
        ({}, {}),
        ({"io_type": "int8"}, {"x": "i8", "h": "i8", "y": "i8", "next": "i8"}),
        ({"io_type": "int8", "states": ("next:h",)}, {"x": "i8", "y": "i8"}),
        ({"io_type": "int8", "io_type_of": {"x": "uint8", "y": "float"}, "states": ("next:h",)}, {"x": "u8"}),
        ({"io_type_of": {"y": "uint16"}}, {"y": "u16"}),
        ({"io_type_of": {"index": "int16"}}, {"index": "i16"}),
    ],
)
def test_what_each_end_is_to_be(options: dict[str, Any], types: dict[str, str]) -> None:
    assert border_types(GRAPH, Options(**options)) == {name: DType(short) for name, short in types.items()}


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype.is_float])
def test_floats_of_every_width_are_asked_for(dtype: DType) -> None:
    """So that a border that cannot be quantised is refused, not passed over."""
    tensors = {**GRAPH.tensors, "x": Tensor(name="x", dtype=dtype, shape=(1,))}
    assert border_types(replace(GRAPH, tensors=tensors), Options(io_type="int8"))["x"] is DType.I8


@pytest.mark.parametrize(
    ("options", "code"),
    [({"io_type_of": {"z": "int8"}}, "TW1113"), ({"io_type_of": {"h": "int8"}, "states": ("next:h",)}, "TW1120")],
)
def test_what_has_no_border(options: dict[str, Any], code: str) -> None:
    with pytest.raises(TilewrightError, match=code):
        border_types(GRAPH, Options(**options))
