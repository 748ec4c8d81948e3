"""Knows the pass that joins tables: a table of a table is one table, and a table that only clamps joins its producer.
Does not know what a table stands for. Bit-equal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.edit import Draft, GraphView, origins, with_attributes

if TYPE_CHECKING:
    import numpy.typing as npt

    Table = npt.NDArray[np.generic]


def _apply(graph: Graph, context: PassContext) -> PassResult:
    while (simpler := _once(graph)) is not graph:
        graph = simpler
    return PassResult(graph=graph)


def _once(graph: Graph) -> Graph:
    """One sweep over the tables, each looking at its own producer."""
    draft = Draft(graph=graph)
    view = GraphView.of(graph)
    for node in graph.nodes:
        before = view.producer.get(node.inputs[0]) if node.op == "QLookup" else None
        if before is None or before.name in draft.replacements or not view.read_once(node.inputs[0]):
            continue
        merged = _merged(draft, before, node)
        if merged is not None:
            draft.replace(before)
            draft.replace(node, replace(merged, outputs=node.outputs, origin=origins(before, node)))
    return draft.finish()


def _merged(draft: Draft, before: Node, lookup: Node) -> Node | None:
    """`before` with the table applied to its results; None where no single operator does both."""
    graph = draft.graph
    table = graph.constants.get(lookup.inputs[1])
    if table is None:
        return None
    dtype = graph.tensors[lookup.inputs[0]].dtype
    if before.op == "QLookup":
        first = graph.constants.get(before.inputs[1])
        if first is None:
            return None
        both = table[first.astype(np.int64) - dtype.limits[0]]
        return replace(before, inputs=(before.inputs[0], draft.constant(both, f"{lookup.inputs[1]}_joined")))
    limits = _clamp(table, dtype)
    return None if limits is None else _limited(before, *limits)


def _clamp(table: Table, dtype: DType) -> tuple[int, int] | None:
    """The limits, if all the table does is to clamp the stored value; None otherwise."""
    low, high = int(table[0]), int(table[-1])
    values = np.arange(dtype.limits[0], dtype.limits[1] + 1)
    same = table.dtype == dtype.numpy and low <= high and np.array_equal(table, np.clip(values, low, high))
    return (low, high) if same else None


def _limited(node: Node, low: int, high: int) -> Node | None:
    """An integer operator with narrower limits; None where it has none to narrow."""
    requant = node.attributes.get("requant")
    if isinstance(requant, Requant):
        limits = min(max(requant.low, low), high), min(max(requant.high, low), high)
        return with_attributes(node, {"requant": replace(requant, low=limits[0], high=limits[1])})
    if "low" not in node.attributes or "high" not in node.attributes:
        return None
    limits = min(max(node.integer("low"), low), high), min(max(node.integer("high"), low), high)
    return with_attributes(node, {"low": limits[0], "high": limits[1]})


PASS = GraphPass(
    name="merge-lookups",
    summary="tables of tables become one; tables that only clamp become limits of the operator before",
    apply=_apply,
    roots=("QLookup",),
    after=("lower-quantised",),
    before=("remove-dead-channels",),
)
