"""Sums of gates: what is given, what is multiplied with the state, what is known; and what is no such sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.roll.gate_sums import GateSum, Given, gate_sum
from tilewright.testing.sketch import Sketch


def _sum(s: Sketch, value: str, state: str) -> GateSum | None:
    return gate_sum(GraphView.of(s.finish(value)), value, state)


def _sketched(sketch: Callable[[], Sketch]) -> tuple[Sketch, str, str, str]:
    s = sketch()
    g, h = s.input("g", DType.F32, (2, 6)), s.input("h", DType.F32, (2, 3))
    weight = s.constant(np.arange(18, dtype=np.float32).reshape(3, 6))
    return s, g, h, s.node("Gemm", (h, weight, s.constant(np.arange(6, dtype=np.float32))))


def test_columns_of_a_product_and_of_what_is_given(sketch: Callable[[], Sketch]) -> None:
    s, g, h, own = _sketched(sketch)
    cut = {"starts": (0, 2), "steps": (1, 1), "shape": (2, 3)}
    value = s.node("Add", (s.node("Slice", (g,), cut), s.node("Slice", (own,), cut)))
    found = _sum(s, value, h)
    assert found is not None
    assert found.weights is not None
    assert (found.columns, found.given) == (3, Given(value="g", start=2))
    assert found.weights.tolist() == [[2, 3, 4], [8, 9, 10], [14, 15, 16]]
    assert found.bias.tolist() == [2, 3, 4]
    assert sorted(node.op for node in found.nodes) == ["Add", "Gemm", "Slice", "Slice"]


def test_two_values_from_outside_are_one(sketch: Callable[[], Sketch]) -> None:
    s, g, h, _ = _sketched(sketch)
    value = s.node("Add", (g, s.node("Sigmoid", (g,))))
    found = _sum(s, value, h)
    assert found is not None
    assert found.given == Given(value=value, start=0)


def test_two_products_with_the_state_are_no_gate(sketch: Callable[[], Sketch]) -> None:
    s, _, h, own = _sketched(sketch)
    assert _sum(s, s.node("Add", (own, own)), h) is None


def test_the_state_itself_is_no_gate(sketch: Callable[[], Sketch]) -> None:
    s, _, h, own = _sketched(sketch)
    s.node("Sigmoid", (own,))
    assert gate_sum(GraphView.of(s.finish(own)), h, h) is None


def test_numbers_that_differ_by_row_are_no_gate(sketch: Callable[[], Sketch]) -> None:
    s, _, h, own = _sketched(sketch)
    rows = s.constant(np.arange(12, dtype=np.float32).reshape(2, 6))
    assert _sum(s, s.node("Add", (own, rows)), h) is None
