"""An ONNX node and a conversion that only knows its inputs: for what imports look at and refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.importing import OnnxNode
from tilewright.ir.tensors.dtypes import DType


class Refused(Exception):
    """What a conversion gives for a node that cannot be imported."""


class Inputs:
    """Types of values; every shape is empty."""

    def __init__(self, types: Mapping[str, DType]) -> None:
        self.types = types

    def tensor(self, name: str) -> Tensor:
        return Tensor(name=name, dtype=self.types[name], shape=())

    def refuse(self, node: OnnxNode, reason: str) -> Exception:
        return Refused(f"{node.name}: {reason}")


def onnx_node(inputs: Sequence[str] = (), **attributes: object) -> OnnxNode:
    """A node `n` of no particular operator."""
    return OnnxNode(
        name="n", op_type="Any", domain="", version=17, inputs=tuple(inputs), outputs=("y",), attributes=attributes
    )  # fmt: skip
