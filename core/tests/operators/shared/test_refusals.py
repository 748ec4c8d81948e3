"""What an operator says of operands that do not fit together: which node, which operands, and why."""

from __future__ import annotations

import pytest

from core.tests.operators.plain_imports import Inputs, Refused, onnx_node
from tilewright.errors import Exit
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.refusals import need_axis, need_types, shape_error


def test_node_operands_and_reason() -> None:
    operands = (Tensor(name="x", dtype=DType.F32, shape=(2, 3)), None, Tensor(name="w", dtype=DType.I8, shape=()))
    node = Node(name="conv1", op="Conv", inputs=("x", "", "w"), outputs=("y",))
    error = shape_error(Site(node=node, inputs=operands, outputs=(), constants={}), "W needs four axes")
    assert (error.code, error.exit_code, error.where) == ("TW1310", Exit.MODEL, "conv1")
    assert error.message == "Conv: W needs four axes"
    assert error.details == ("inputs: x: f32[2, 3], w: i8[]",)
    assert error.fix


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
