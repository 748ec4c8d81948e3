"""Knows how values of equal steps become one value with an axis for the steps, at best without a copy: parts of one
value are that value, and products with the same matrix are one product. Does not know what the steps compute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView


@dataclass(slots=True, kw_only=True)
class Made:
    """Nodes that are made for one layer, in order. Local to the pass that makes it."""

    draft: Draft
    name: str
    origin: tuple[str, ...]
    nodes: list[Node]

    def node(
        self, op: str, inputs: Sequence[str], shape: tuple[int, ...], attributes: dict[str, Attribute], output: str = ""
    ) -> str:
        """The output of one more node, of float32."""
        written = output or self.draft.value(DType.F32, shape, f"{self.name}/{op.lower()}")
        made = Node(
            name=self.draft.node_name(f"{self.name}/{op.lower()}"),
            op=op,
            inputs=tuple(inputs),
            outputs=(written,),
            attributes=attributes,
            origin=self.origin,
        )
        self.nodes.append(made)
        return written

    def shape(self, value: str) -> tuple[int, ...]:
        """Of a value that was there, or was made."""
        return (self.draft.tensors.get(value) or self.draft.graph.tensors[value]).shape


def stacked(made: Made, view: GraphView, values: Sequence[str]) -> str:
    """The value [steps, rows, columns] of values [rows, columns]."""
    rows, columns = view.graph.tensors[values[0]].shape
    shape = (len(values), rows, columns)
    nodes = [view.producer.get(value) for value in values]
    first = nodes[0]
    if first is not None and all(node is not None and _like(view, first, node) for node in nodes):
        inner = [node.inputs[0] for node in nodes if node is not None]
        if len(view.graph.tensors[inner[0]].shape) == 2:
            below = stacked(made, view, inner)
            return made.node(first.op, (below, *first.inputs[1:]), shape, dict(first.attributes))
    whole = _parts_of_one(made, view, values)
    if whole:
        return whole
    wider = [made.node("Reshape", (value,), (1, rows, columns), {"shape": (1, rows, columns)}) for value in values]
    return made.node("Concat", wider, shape, {"axis": 0})


def _like(view: GraphView, first: Node, node: Node) -> bool:
    """Whether both are the same product of a computed value with a known matrix."""
    same = (node.op, node.inputs[1:], dict(node.attributes)) == (first.op, first.inputs[1:], dict(first.attributes))
    known = all(name in view.graph.constants for name in node.inputs[1:])
    matrix = node.op in ("Gemm", "MatMul") and len(view.graph.tensors[node.inputs[1]].shape) == 2
    return same and known and matrix and node.inputs[0] not in view.graph.constants


def _parts_of_one(made: Made, view: GraphView, values: Sequence[str]) -> str:
    """Where the values are all the places along an axis of one value, one after the other: that value; else ""."""
    tensors = view.graph.tensors
    cuts: list[Node] = []
    for value in values:
        node = view.producer.get(value)
        while node is not None and node.op == "Reshape":
            node = view.producer.get(node.inputs[0])
        if node is None or node.op != "Slice" or set(node.integers("steps")) != {1}:
            return ""
        cuts.append(node)
    source = cuts[0].inputs[0]
    whole, part = tensors[source].shape, cuts[0].integers("shape")
    axes = [axis for axis, (all_, own) in enumerate(zip(whole, part, strict=True)) if all_ != own]
    if len(axes) != 1 or part[axes[0]] != 1 or math.prod(part) != tensors[values[0]].elements:
        return ""
    axis = axes[0]
    starts = [cut.integers("starts")[axis] for cut in cuts]
    same = all(cut.inputs[0] == source and cut.integers("shape") == part for cut in cuts)
    if not same or starts != list(range(starts[0], starts[0] + len(values))):
        return ""
    if len(values) < whole[axis]:
        begin = tuple(starts[0] if each == axis else 0 for each in range(len(whole)))
        whole = tuple(len(values) if each == axis else extent for each, extent in enumerate(whole))
        cut: dict[str, Attribute] = {"starts": begin, "steps": (1,) * len(whole), "shape": whole}
        source = made.node("Slice", (source,), whole, cut)
    if math.prod(whole[:axis]) > 1:
        order = (axis, *(each for each in range(len(whole)) if each != axis))
        whole = tuple(whole[each] for each in order)
        source = made.node("Transpose", (source,), whole, {"perm": order})
    shape = (len(values), *tensors[values[0]].shape)
    return made.node("Reshape", (source,), shape, {"shape": shape})
