"""Knows sums that gates of recurrent cells are activated with: a part of what is given from outside, a product of the
state with a known matrix, and known numbers. Does not know cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Node
from tilewright.rewrite.edit import GraphView

Floats = npt.NDArray[np.float32]
_DEEPEST = 8  # nodes one above the other in a sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Columns `start` and following of a value."""

    value: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSum:
    """`given + state @ weights + bias`, each absent or there; `nodes` compute it from the state."""

    columns: int
    given: Given | None = None
    weights: Floats | None = None  # [state, columns]
    bias: Floats = field(default_factory=lambda: np.zeros(1, np.float32))
    nodes: tuple[Node, ...] = ()

    def cut(self, start: int, columns: int, node: Node) -> GateSum:
        """The sum of some columns."""
        outer = None if self.given is None else replace(self.given, start=self.given.start + start)
        wide = np.broadcast_to(self.bias, (self.columns,)) if self.bias.size == 1 else self.bias
        weights = None if self.weights is None else self.weights[:, start : start + columns]
        bias = self.bias if self.bias.size == 1 else wide[start : start + columns]
        return GateSum(columns=columns, given=outer, weights=weights, bias=bias, nodes=(*self.nodes, node))

    def plus(self, other: GateSum, node: Node) -> GateSum | None:
        """The sum of two; None where both have the same kind of part."""
        if (self.given and other.given) or (self.weights is not None and other.weights is not None):
            return None
        return GateSum(
            columns=max(self.columns, other.columns),
            given=self.given or other.given,
            weights=self.weights if self.weights is not None else other.weights,
            bias=np.asarray(self.bias + other.bias),
            nodes=(*self.nodes, *other.nodes, node),
        )


def gate_sum(view: GraphView, value: str, state: str, depth: int = 0) -> GateSum | None:
    """What `value`, of two axes, is as such a sum over `state`; None where it is none."""
    graph, node = view.graph, view.producer.get(value)
    columns = graph.tensors[value].shape[-1] if graph.tensors[value].shape else 1
    if not graph.tensors[value].elements:
        return None
    if value in graph.constants:
        rows = np.asarray(graph.constants[value], np.float32).reshape(-1, columns)
        return GateSum(columns=columns, bias=rows[0]) if len(rows) and np.all(rows == rows[0]) else None
    own = GateSum(columns=columns, given=Given(value=value, start=0))
    if node is None or value == state or depth > _DEEPEST:
        return None if value == state else own
    if node.op in ("Gemm", "MatMul") and node.inputs[0] == state:
        return _product(view, node, columns)
    if node.op == "Add" and not node.attributes:
        parts = [gate_sum(view, name, state, depth + 1) for name in node.inputs]
        both = parts[0].plus(parts[1], node) if parts[0] is not None and parts[1] is not None else None
        return both if both is not None or any(part is None for part in parts) else _outside(parts, own)
    if node.op == "Slice" and len(graph.tensors[value].shape) == len(graph.tensors[node.inputs[0]].shape) == 2:
        starts, steps = node.integers("starts"), node.integers("steps")
        if (
            starts[0] == 0
            and steps == (1, 1)
            and graph.tensors[node.inputs[0]].shape[0] == graph.tensors[value].shape[0]
        ):
            whole = gate_sum(view, node.inputs[0], state, depth + 1)
            return None if whole is None else whole.cut(starts[1], columns, node)
    return own


def _outside(parts: list[GateSum | None], own: GateSum) -> GateSum | None:
    """A sum of two values from outside is one of them."""
    return own if all(part is not None and part.weights is None for part in parts) else None


def _product(view: GraphView, node: Node, columns: int) -> GateSum | None:
    constants = view.graph.constants
    factors = (node.number("alpha", 1.0), node.number("beta", 1.0))
    known = all(name in constants for name in node.inputs[1:])
    if not known or factors != (1.0, 1.0) or "clip_low" in node.attributes or constants[node.inputs[1]].ndim != 2:
        return None
    matrix = np.asarray(constants[node.inputs[1]], np.float32)
    weights = matrix.T if node.integer("transB") else matrix
    bias = (
        np.asarray(constants[node.inputs[2]], np.float32).reshape(-1)
        if len(node.inputs) > 2
        else np.zeros(1, np.float32)
    )
    if bias.size not in (1, columns):
        return None
    return GateSum(columns=columns, weights=weights, bias=bias, nodes=(node,))
