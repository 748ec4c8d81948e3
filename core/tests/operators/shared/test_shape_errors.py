"""What an operator says of operands that do not fit together: which node, which operands, and why."""

from __future__ import annotations

from tilewright.errors import Exit
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.shape_errors import shape_error


def test_node_operands_and_reason() -> None:
    operands = (Tensor(name="x", dtype=DType.F32, shape=(2, 3)), None, Tensor(name="w", dtype=DType.I8, shape=()))
    node = Node(name="conv1", op="Conv", inputs=("x", "", "w"), outputs=("y",))
    error = shape_error(Site(node=node, inputs=operands, outputs=(), constants={}), "W needs four axes")
    assert (error.code, error.exit_code, error.where) == ("TW1310", Exit.MODEL, "conv1")
    assert error.message == "Conv: W needs four axes"
    assert error.details == ("inputs: x: f32[2, 3], w: i8[]",)
    assert error.fix
