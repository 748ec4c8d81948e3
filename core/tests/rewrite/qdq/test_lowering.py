"""Which islands are lowered, and what is said of those that stay."""

from __future__ import annotations

from typing import Any

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.qdq.lowering import FAMILIES
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
