"""Types and axes that imports refuse, and how they say so."""

from __future__ import annotations

import pytest

from core.tests.operators.plain_imports import Inputs, Refused, onnx_node
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.import_checks import need_axis, need_types

GRAPH = Inputs({"a": DType.F32, "b": DType.F16, "i": DType.I64})


def test_types() -> None:
    need_types(onnx_node(["a", "", "b"]), GRAPH, DType.F32, DType.F16)  # what is absent has no type
    need_types(onnx_node(["a", "i"]), GRAPH, DType.F32, first=1)
    with pytest.raises(Refused, match="n: i is i64; supported here: f32, f16"):
        need_types(onnx_node(["a", "i"]), GRAPH, DType.F32, DType.F16, first=2)


def test_axes_count_from_the_front() -> None:
    assert [need_axis(onnx_node(), GRAPH, axis, 3) for axis in (-3, -1, 0, 2)] == [0, 2, 0, 2]


@pytest.mark.parametrize(("axis", "rank"), [(3, 3), (-4, 3), (0, 0), (-1, 0)])
def test_axes_that_are_not_there(axis: int, rank: int) -> None:
    with pytest.raises(Refused, match=f"axis {axis} is outside a tensor of {rank} axes"):
        need_axis(onnx_node(), GRAPH, axis, rank)
