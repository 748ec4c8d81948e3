"""Which islands are lowered, what is said of those that stay, and which arithmetic quantises in a form nobody knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.pipeline import ordered
from tilewright.rewrite.qdq.lowering import FAMILIES, LOWER_QUANTISED, unrecognised
from tilewright.rewrite.qdq.movement import MOVE_QUANTISATION
from tilewright.testing.sketch import Sketch


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_ends_in_float_are_no_failure(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    stored = s.quantize(s.input("x", DType.F32, (4, 4)), 0.05, 3)
    y = s.quantize(s.node("Clip", (s.dequantize(stored, 0.05, 3),), {"min": 0.0}), 0.02, -128)
    graph = s.finish(s.dequantize(y, 0.02, -128))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QuantizeLinear", "QLookup", "DequantizeLinear"]
    assert not bench.diagnostics(graph, *PASSES)
    assert bench.same_bits(graph, lowered)


def test_what_has_no_integer_form_says_so(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (4,)), 0.05, 3) for name in "ab"]
    graph = s.finish(s.quantize(s.node("Div", sides, name="ratio"), 0.05, 3))
    assert "Div" in ops(bench.apply(graph, *PASSES))
    (warning,) = bench.diagnostics(graph, *PASSES)
    assert (warning.code, warning.where) == ("TW3001", "ratio")
    assert warning.message.startswith("Div is computed in float")


def test_families_lower_operators_of_the_normal_form(operators: Any) -> None:
    assert set(FAMILIES) <= set(operators)


def test_an_island_and_one_that_stays(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (4,)), 0.05, 3) for name in "ab"]
    total = s.quantize(s.node("Add", sides, name="total"), 0.1, -1)
    graph = s.finish(total, s.quantize(s.node("Div", sides, name="ratio"), 0.05, 3))
    ops = [node.op for node in bench.apply(graph, LOWER_QUANTISED).nodes]
    assert (ops.count("QAdd"), ops.count("Add"), ops.count("Div")) == (1, 0, 1)
    assert [(each.code, each.where) for each in bench.diagnostics(graph, LOWER_QUANTISED)] == [("TW3001", "ratio")]


def test_one_step_in_rare_ties_is_all_that_differs(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (64,)), scale, 3) for name, scale in (("a", 0.05), ("b", 0.07))]
    graph = s.finish(s.quantize(s.node("Add", sides), 0.1, -1))
    lowered = bench.apply(graph, LOWER_QUANTISED)
    for seed in range(3):
        (found,), (simulated,) = bench.outputs(lowered, seed), bench.outputs(graph, seed)
        assert np.abs(found.astype(int) - simulated.astype(int)).max() <= 1


def test_movers_have_moved_before() -> None:
    assert list(ordered((LOWER_QUANTISED, MOVE_QUANTISATION))) == [MOVE_QUANTISATION, LOWER_QUANTISED]


@pytest.mark.parametrize(
    ("ops", "limits", "warned"),
    [
        (("Round",), {"min": -8.0, "max": 7.0}, True),
        (("Round", "Add"), {"min": 0.0, "max": 15.0}, True),
        (("Round",), {"min": -0.5, "max": 7.0}, False),
        (("Round",), {"min": 0.0}, False),
        (("Round",), {"min": -1e9, "max": 1e9}, False),
        (("Add",), {"min": 0.0, "max": 6.0}, False),
        ((), {"min": 0.0, "max": 6.0}, False),
    ],
)
def test_what_is_warned_of(sketch: Any, ops: tuple[str, ...], limits: dict[str, float], warned: bool) -> None:
    s = sketch()
    value = s.input("x", DType.F32, (3, 5))
    for op in ops:
        value = s.node(op, (value,) if op == "Round" else (value, s.constant(np.array(3, np.float32))))
    found = unrecognised(s.graph((s.node("Clip", (value,), limits, name="clip"),)))
    assert [(one.code, one.severity, one.where) for one in found] == [("TW3004", "warning", "clip")] * warned
