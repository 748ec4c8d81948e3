"""A value is computed from what is known, and no further back; what it takes is asked before."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.exact.evaluation import demand_feasible, exactly, piece
from tilewright.comparison.exact.rationals import NotExact
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

OPERATORS = MappingProxyType({operator.name: operator for operator in tilewright_operators()})
X = np.array([[3, -5, 7, 0]], np.int8)


def network() -> Graph:
    """Two roundings: to fifths, then to halves, each a chain from integers to integers."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.I8, (1, 4))
    first = sketch.quantize(sketch.dequantize(x, 0.25, 1), 0.5, 2, name="first")
    return sketch.finish(sketch.quantize(sketch.dequantize(first, 0.5, 2), 2.0, 0, name="second"))


def test_back_to_what_is_known() -> None:
    graph = network()
    whole = piece(graph, "second:0", ())
    assert [site.node.op for site in whole] == ["DequantizeLinear", "QuantizeLinear"] * 2
    assert [site.node.name for site in piece(graph, "second:0", {"first:0", "second:0"})][-1:] == ["second"]
    assert len(piece(graph, "second:0", {"first:0"})) == 2


def test_the_value_what_was_rounded_and_ties() -> None:
    graph = network()
    found = exactly(piece(graph, "first:0", ()), {"x": X}, graph.constants, OPERATORS)
    assert found.value.numerators.tolist() == [[3, -1, 5, 2]]
    assert [found.number_before((0, at)) for at in range(4)] == [1, -3, 3, Fraction(-1, 2)]
    assert found.ties is not None
    assert found.ties.tolist() == [[False, False, False, True]]
    second = exactly(piece(graph, "second:0", ()), {"x": X}, graph.constants, OPERATORS)
    assert second.value.numerators.tolist() == [[0, -1, 1, 0]]  # 1/4, -3/4, 3/4, 0


def test_what_is_not_rounded_has_nothing_before() -> None:
    sketch = Sketch(operators=OPERATORS)
    graph = sketch.finish(sketch.dequantize(sketch.input("x", DType.I8, (1, 4)), 0.1, 0))
    found = exactly(piece(graph, graph.outputs[0], ()), {"x": X}, graph.constants, OPERATORS)
    assert (found.before, found.ties, found.number_before((0, 0))) == (None, None, None)
    assert found.value.at((0, 0)) == 3 * Fraction(float(np.float32(0.1)))


def test_a_node_without_rational_arithmetic_is_named() -> None:
    sketch = Sketch(operators=OPERATORS)
    graph = sketch.finish(sketch.node("Sin", (sketch.input("x", DType.F32, (2,)),), name="wave"))
    with pytest.raises(NotExact, match=r"node 'wave' \(Sin\): Sin has no rational arithmetic"):
        exactly(piece(graph, "wave:0", ()), {"x": np.zeros(2, np.float32)}, {}, OPERATORS)
    with pytest.raises(NotExact, match="no node computes it"):
        exactly((), {}, {}, OPERATORS)


def test_what_takes_minutes_is_refused_before() -> None:
    sketch = Sketch(operators=OPERATORS)
    value = sketch.node(
        "MatMul", (sketch.input("x", DType.F32, (4096, 2048)), sketch.input("w", DType.F32, (2048, 512)))
    )
    graph = sketch.finish(value)
    with pytest.raises(NotExact, match="4,294,967,296 products"):
        demand_feasible(piece(graph, value, ()), OPERATORS)
    demand_feasible(piece(network(), "second:0", ()), OPERATORS)
