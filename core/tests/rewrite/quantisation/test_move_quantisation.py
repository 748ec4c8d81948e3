"""Operators that only move elements work on stored integers, wherever the exporter put Q and DQ. Bit-equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.lower_quantised import PASS as LOWER
from tilewright.rewrite.quantisation.move_quantisation import PASS as MOVE
from tilewright.testing.sketch import Sketch

MAX_POOL: dict[str, Any] = {
    "kernel_shape": (2, 2),
    "strides": (2, 2),
    "dilations": (1, 1),
    "pads": (0, 1, 0, 1),
    "ceil_mode": 0,
}
MOVERS: dict[str, dict[str, Attribute]] = {
    "MaxPool": MAX_POOL,
    "Pad": {"pads": (0, 0, 1, 0, 0, 0, 0, 2), "mode": "constant", "value": 0.0},
    "Reshape": {"shape": (4, 12)},
    "Slice": {"starts": (0, 1, 0, 0), "steps": (1, 1, 1, 2), "shape": (1, 2, 4, 2)},
    "Transpose": {"perm": (0, 2, 3, 1)},
}


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("op", MOVERS)
@pytest.mark.parametrize("y_scale", [0.05, 0.07])
def test_one_mover(op: str, y_scale: float, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 4, 4)), 0.05, -3)
    graph = s.finish(s.quantize(s.node(op, (x,), MOVERS[op], name="move"), y_scale, -3))
    moved = bench.apply(graph, MOVE, LOWER)
    assert ops(moved) == ([op] if y_scale == 0.05 else [op, "QLookup"])
    assert moved.nodes[0].name == "move"
    assert bench.same_bits(graph, moved)


def test_several_movers_without_q_and_dq_between(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = s.dequantize(s.input("x", DType.U8, (1, 3, 4, 4)), 0.05, 130)
    for op in ("MaxPool", "Transpose"):
        y = s.node(op, (y,), MOVERS[op])
    graph = s.finish(s.node("Reshape", (y,), {"shape": (1, 18)}))
    moved = bench.apply(graph, MOVE, LOWER)
    assert ops(moved) == ["MaxPool", "Transpose", "Reshape", "DequantizeLinear"]
    assert bench.same_bits(graph, moved)


def test_q_rises_over_movers_to_the_operator_that_computes(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (1, 3, 4, 4)), 0.05, 2) for name in "ab"]
    y = s.node("Transpose", (s.node("MaxPool", (s.node("Add", sides),), MAX_POOL),), {"perm": (0, 2, 3, 1)})
    graph = s.finish(s.quantize(y, 0.1, -1))
    moved = bench.apply(graph, MOVE, LOWER)
    assert ops(moved) == ["QAdd", "MaxPool", "Transpose"]
    assert bench.same_bits(graph, bench.apply(graph, MOVE))


@pytest.mark.parametrize("value", [0.05, 0.06])
def test_a_padding_value_must_have_an_exact_stored_form(value: float, operators: Any, bench: Any) -> None:
    """0.05 is one step; 0.06 is none, so that Pad can only be moved to the other side of the next Q."""
    s = Sketch(operators=operators)
    attributes: dict[str, Any] = {**MOVERS["Pad"], "value": float(np.float32(value))}
    padded = s.node("Pad", (s.dequantize(s.input("x", DType.I8, (1, 3, 4, 4)), 0.05, -3),), attributes)
    graph = s.finish(padded)
    assert ops(bench.apply(graph, MOVE)) == (
        ["Pad", "DequantizeLinear"] if value == 0.05 else ["DequantizeLinear", "Pad"]
    )
    quantised = s.finish(s.quantize(padded, 0.07, 5))
    moved = bench.apply(quantised, MOVE, LOWER)
    assert ops(moved) == (["Pad", "QLookup"] if value == 0.05 else ["QLookup", "Pad"])
    assert bench.same_bits(quantised, moved)


@pytest.mark.parametrize(("scales", "expected"), [((0.05, 0.05), 0), ((0.05, 0.06), 1), ((0.06, 0.07), 2)])
def test_concat(scales: tuple[float, float], expected: int, operators: Any, bench: Any) -> None:
    """Only inputs of another scale than the result get a table."""
    s = Sketch(operators=operators)
    sides = [
        s.dequantize(s.input(name, DType.I8, (1, 3, 4)), scale, -3) for name, scale in zip("ab", scales, strict=True)
    ]
    graph = s.finish(s.quantize(s.node("Concat", sides, {"axis": 1}, name="cat"), 0.05, -3))
    moved = bench.apply(graph, MOVE, LOWER)
    assert sorted(ops(moved)) == ["Concat", *["QLookup"] * expected]
    assert bench.same_bits(graph, moved)


def test_several_consumers_of_one_dequantize(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 4, 4)), 0.05, -3)
    pooled = s.quantize(s.node("MaxPool", (x,), MAX_POOL), 0.05, -3)
    graph = s.finish(pooled, s.quantize(s.node("Add", (x, x)), 0.2, 4), s.node("Reshape", (x,), {"shape": (48,)}))
    moved = bench.apply(graph, MOVE, LOWER)
    assert sorted(ops(moved)) == ["DequantizeLinear", "MaxPool", "QLookup", "Reshape"]
    assert bench.same_bits(graph, moved)
