"""Knows how quantised Add, Sub and Mul of two tensors become QAdd and QMul.
Does not know elementwise operators of one tensor; `lookup` turns those into tables.
"""

from __future__ import annotations

import math

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.qdq.island import Island, Lowered, QuantisedSource
from tilewright.rewrite.qdq.weights import scale_ratio
from tilewright.rewrite.qdq.work import Work


def lower_sum(island: Island, main: Node, work: Work) -> Lowered:
    """QAdd of Add, or of Sub with a negative second scale."""
    operands = _operands(island, main)
    if isinstance(operands, str):
        return operands
    a, b = operands
    a_scale, b_scale = (scale_ratio(side.affine.scales(), island.output)[0] for side in operands)
    if not (math.isfinite(a_scale) and math.isfinite(b_scale)):
        return "the ratio of its scales is not a finite float32"
    sign = -1.0 if main.op == "Sub" else 1.0
    low, high = island.low_high()
    attributes: dict[str, Attribute] = {
        "a_scale": a_scale,
        "b_scale": sign * b_scale,
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": b.affine.zero_point[0],
        "zero_point": island.output.zero_point[0],
        "low": low,
        "high": high,
    }
    return island.integer_node("QAdd", (a.value, b.value), attributes, a.node, b.node)


def lower_product(island: Island, main: Node, work: Work) -> Lowered:
    """QMul of Mul."""
    operands = _operands(island, main)
    if isinstance(operands, str):
        return operands
    a, b = operands
    requant = island.requant(scale_ratio(a.affine.scales() * b.affine.scales(), island.output))
    if isinstance(requant, str):
        return requant
    attributes: dict[str, Attribute] = {
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": b.affine.zero_point[0],
        "requant": requant,
    }
    return island.integer_node("QMul", (a.value, b.value), attributes, a.node, b.node)


def _operands(island: Island, main: Node) -> tuple[QuantisedSource, QuantisedSource] | str:
    a, b = (island.stored(name) for name in main.inputs)
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else (a, b)
