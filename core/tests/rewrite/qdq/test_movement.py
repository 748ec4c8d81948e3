"""Q and DQ pass operators that move elements: which of them, and which must stay. `test_move_quantisation` has the
pass, on networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.qdq.lowering import LOWER_QUANTISED
from tilewright.rewrite.qdq.movement import (
    MOVE_QUANTISATION,
    dequantise_after_constants,
    hoist_quantise,
    sink_dequantise,
)
from tilewright.testing.sketch import Sketch

Step = Callable[[Graph], Graph]


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.verify().nodes]


def _turned(s: Sketch, value: str) -> str:
    return s.node("Transpose", (value,), {"perm": (1, 0)})


def test_sinking_writes_the_same_values(operators: Any, bench: Any) -> None:
    """The old name is what is dequantised, so that nobody else has to change."""
    s = Sketch(operators=operators)
    moved = _turned(s, s.dequantize(s.input("x", DType.U8, (2, 3)), 0.1, 7))
    graph = s.finish(moved, s.node("Add", (moved, moved)))
    after = sink_dequantise(graph)
    assert _ops(after) == ["Transpose", "DequantizeLinear", "Add"]
    assert after.nodes[0].inputs == ("x",) and after.tensors[after.nodes[0].outputs[0]].dtype is DType.U8
    assert after.nodes[1].outputs == (moved,)
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize(("scale", "zero_point", "sinks"), [(0.1, 7, True), (0.2, 7, False), (0.1, 8, False)])
def test_all_operands_must_be_stored_alike(
    scale: float, zero_point: int, sinks: bool, operators: Any, bench: Any
) -> None:
    s = Sketch(operators=operators)
    alike = s.dequantize(s.input("a", DType.I8, (2,)), 0.1, 7)
    parts = [alike, s.dequantize(s.input("b", DType.I8, (2,)), scale, zero_point)]
    graph = s.finish(s.node("Concat", parts, {"axis": 0}))
    after = sink_dequantise(graph)
    assert (_ops(after)[-1] == "DequantizeLinear") == sinks
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize(("dtype", "scale"), [(DType.I32, 0.1), (DType.I8, [0.1, 0.2])], ids=["wide", "per axis"])
def test_what_does_not_sink(dtype: DType, scale: Any, operators: Any) -> None:
    s = Sketch(operators=operators)
    zeros = [0, 0] if isinstance(scale, list) else 0
    graph = s.finish(_turned(s, s.dequantize(s.input("x", dtype, (2, 3)), scale, zeros)))
    assert sink_dequantise(graph) is graph


@pytest.mark.parametrize("step", [sink_dequantise, hoist_quantise])
def test_operators_that_compute_stay(step: Step, operators: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (2, 3)), 0.1)
    graph = s.finish(s.quantize(s.node("Clip", (x,), {"min": 0.0}), 0.1, 0))
    assert step(graph) is graph


def test_hoisting_over_a_chain(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.node("Clip", (s.input("x", DType.F32, (2, 3)),), {"min": 0.0})
    graph = s.finish(s.quantize(s.node("Reshape", (_turned(s, x),), {"shape": (6,)}), 0.1, 3, name="q"))
    after = hoist_quantise(graph)
    assert _ops(after) == ["Clip", "QuantizeLinear", "Transpose", "Reshape"]
    assert after.outputs == graph.outputs and after.nodes[-1].outputs == graph.outputs
    assert after.nodes[-1].origin == ("Reshape_2", "q")
    assert bench.same_bits(graph, after)


def test_what_others_read_in_float_stays(operators: Any) -> None:
    s = Sketch(operators=operators)
    turned = _turned(s, s.input("x", DType.F32, (2, 3)))
    graph = s.finish(s.quantize(turned, 0.1, 0), s.node("Clip", (turned,)))
    assert hoist_quantise(graph) is graph


def test_two_uses_of_one_operand_are_quantised_once(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.input("x", DType.F32, (2,))
    graph = s.finish(s.quantize(s.node("Concat", (x, x), {"axis": 0}), 0.1, 3))
    after = hoist_quantise(graph)
    assert _ops(after) == ["QuantizeLinear", "Concat"]
    assert bench.same_bits(graph, after)


def test_padding_is_quantised_too(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    pad = {"pads": (1, 0), "mode": "constant", "value": float(np.float32(0.26))}
    graph = s.finish(s.quantize(s.node("Pad", (s.input("x", DType.F32, (3,)),), pad), 0.1, 3))
    after = hoist_quantise(graph)
    assert after.nodes[-1].attributes["value"] == 6
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("perm", [(1, 0, 2), (2, 1, 0), (2, 0, 1)])
def test_scales_follow_the_axes_of_a_constant(perm: tuple[int, ...], operators: Any, bench: Any) -> None:
    """Twice in a row, so that the second starts from what the first wrote."""
    s = Sketch(operators=operators)
    weight = s.constant(np.arange(24, dtype=np.int8).reshape(2, 3, 4))
    real = s.dequantize(weight, [0.1, 0.2, 0.3], [1, 2, 3], 1)
    turned = s.node("Transpose", (s.node("Transpose", (real,), {"perm": perm}),), {"perm": (1, 2, 0)})
    graph = s.finish(s.node("Add", (turned, s.input("x", DType.F32, (1,)))))
    after = dequantise_after_constants(graph)
    assert "Transpose" not in _ops(after)
    assert bench.same_bits(graph, after)


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
    moved = bench.apply(graph, MOVE_QUANTISATION, LOWER_QUANTISED)
    assert ops(moved) == ([op] if y_scale == 0.05 else [op, "QLookup"])
    assert moved.nodes[0].name == "move"
    assert bench.same_bits(graph, moved)


def test_several_movers_without_q_and_dq_between(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = s.dequantize(s.input("x", DType.U8, (1, 3, 4, 4)), 0.05, 130)
    for op in ("MaxPool", "Transpose"):
        y = s.node(op, (y,), MOVERS[op])
    graph = s.finish(s.node("Reshape", (y,), {"shape": (1, 18)}))
    moved = bench.apply(graph, MOVE_QUANTISATION, LOWER_QUANTISED)
    assert ops(moved) == ["MaxPool", "Transpose", "Reshape", "DequantizeLinear"]
    assert bench.same_bits(graph, moved)


def test_q_rises_over_movers_to_the_operator_that_computes(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (1, 3, 4, 4)), 0.05, 2) for name in "ab"]
    y = s.node("Transpose", (s.node("MaxPool", (s.node("Add", sides),), MAX_POOL),), {"perm": (0, 2, 3, 1)})
    graph = s.finish(s.quantize(y, 0.1, -1))
    moved = bench.apply(graph, MOVE_QUANTISATION, LOWER_QUANTISED)
    assert ops(moved) == ["QAdd", "MaxPool", "Transpose"]
    assert bench.same_bits(graph, bench.apply(graph, MOVE_QUANTISATION))


@pytest.mark.parametrize("value", [0.05, 0.06])
def test_a_padding_value_must_have_an_exact_stored_form(value: float, operators: Any, bench: Any) -> None:
    """0.05 is one step; 0.06 is none, so that Pad can only be moved to the other side of the next Q."""
    s = Sketch(operators=operators)
    attributes: dict[str, Any] = {**MOVERS["Pad"], "value": float(np.float32(value))}
    padded = s.node("Pad", (s.dequantize(s.input("x", DType.I8, (1, 3, 4, 4)), 0.05, -3),), attributes)
    graph = s.finish(padded)
    assert ops(bench.apply(graph, MOVE_QUANTISATION)) == (
        ["Pad", "DequantizeLinear"] if value == 0.05 else ["DequantizeLinear", "Pad"]
    )
    quantised = s.finish(s.quantize(padded, 0.07, 5))
    moved = bench.apply(quantised, MOVE_QUANTISATION, LOWER_QUANTISED)
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
    moved = bench.apply(graph, MOVE_QUANTISATION, LOWER_QUANTISED)
    assert sorted(ops(moved)) == ["Concat", *["QLookup"] * expected]
    assert bench.same_bits(graph, moved)


def test_several_consumers_of_one_dequantize(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 4, 4)), 0.05, -3)
    pooled = s.quantize(s.node("MaxPool", (x,), MAX_POOL), 0.05, -3)
    graph = s.finish(pooled, s.quantize(s.node("Add", (x, x)), 0.2, 4), s.node("Reshape", (x,), {"shape": (48,)}))
    moved = bench.apply(graph, MOVE_QUANTISATION, LOWER_QUANTISED)
    assert sorted(ops(moved)) == ["DequantizeLinear", "MaxPool", "QLookup", "Reshape"]
    assert bench.same_bits(graph, moved)


@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin"])
def test_the_largest_of_stored_values_is_stored(op: str, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.U8, (2, 3)), 0.1, 7)
    graph = s.finish(s.node(op, (x,), {"axes": (1,), "keepdims": 0}))
    after = sink_dequantise(graph)
    assert _ops(after) == [op, "DequantizeLinear"]
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_place_of_the_largest_is_found_in_stored_values(op: str, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), 0.1, 7)
    graph = s.finish(s.node(op, (x,), {"axis": 1, "keepdims": 1}))
    after = sink_dequantise(graph)
    assert _ops(after) == [op]
    assert bench.same_bits(graph, after)


def test_order_needs_a_positive_scale(operators: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), -0.1, 7)
    graph = s.finish(s.node("ReduceMax", (x,), {"axes": (1,), "keepdims": 0}))
    assert sink_dequantise(graph) is graph


@pytest.mark.parametrize("stored", [False, True])
def test_rows_of_a_table_are_quantised_with_the_table(stored: bool, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    places = s.input("i", DType.I64, (4,))
    table = s.dequantize(s.input("x", DType.I8, (3, 5)), 0.1, 3) if stored else s.constant(
        np.linspace(-3, 3, 15, dtype=np.float32).reshape(3, 5)
    )  # fmt: skip
    graph = s.finish(s.quantize(s.node("Gather", (table, places), {"axis": 0}), 0.1, 3))
    after = bench.apply(graph, *PASSES)
    assert _ops(after) == ["Gather"]
    assert bench.same_bits(graph, after)


def test_rows_that_are_computed_are_gathered_first(operators: Any) -> None:
    """To quantise a whole tensor for a few of its rows would be more work."""
    s = Sketch(operators=operators)
    rows = s.node("Gather", (s.input("x", DType.F32, (9, 5)), s.constant(np.array([2, 0], np.int64))), {"axis": 0})
    graph = s.finish(s.quantize(rows, 0.1, 3))
    assert hoist_quantise(graph) is graph
