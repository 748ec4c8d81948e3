"""Knows the checks that imports of float operators share. Does not know the operators."""

from __future__ import annotations

from tilewright.ir.graphs.importing import Conversion, OnnxNode
from tilewright.ir.tensors.dtypes import DType


def need_types(node: OnnxNode, graph: Conversion, *allowed: DType, first: int | None = None) -> None:
    """Refuse a node with an input of another element type; `first` says how many inputs are looked at."""
    for name in node.inputs[:first]:
        if name and graph.tensor(name).dtype not in allowed:
            names = ", ".join(dtype.value for dtype in allowed)
            raise graph.refuse(node, f"{name} is {graph.tensor(name).dtype.value}; supported here: {names}")


def need_axis(node: OnnxNode, graph: Conversion, axis: int, rank: int) -> int:
    """`axis` counted from the front; refuses one that the tensor does not have."""
    if not -rank <= axis < rank:
        raise graph.refuse(node, f"axis {axis} is outside a tensor of {rank} axes")
    return axis % rank
