"""Q and DQ pass operators that move elements: which of them, and which must stay. `test_move_quantisation` has the
pass, on networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.qdq.movement import dequantise_after_constants, hoist_quantise, sink_dequantise
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
