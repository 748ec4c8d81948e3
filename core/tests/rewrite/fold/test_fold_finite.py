"""Guards against infinities are gone where values are finite, and stay where they may not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_constants import FOLD_CONSTANTS
from tilewright.rewrite.fold.fold_finite import FOLD_DECIDED, FOLD_FINITE
from tilewright.testing.sketch import Sketch

Build = Callable[[Sketch, str], str]
PASSES = (FOLD_FINITE, FOLD_CONSTANTS, FOLD_DECIDED)


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def number(s: Sketch, value: float) -> str:
    return s.constant(np.array(value, np.float32))


def guarded(s: Sketch, x: str) -> str:
    """Rows that are -inf throughout become 0, as torch's exporter writes it."""
    lowest = s.node("Equal", (s.node("ReduceMax", (x,), {"axes": (1,), "keepdims": 1}), number(s, -np.inf)))
    soft = s.node("Softmax", (x,), {"axis": 1})
    return s.node("Where", (s.node("Not", (s.node("Not", (lowest,)),)), number(s, 0), soft))


FINITE: dict[str, Build] = {
    "dequantised": lambda s, x: x,
    "scaled": lambda s, x: s.node("Mul", (x, number(s, 0.125))),
    "quotient": lambda s, x: s.node("Div", (x, number(s, 8))),
    "product": lambda s, x: s.node("MatMul", (x, x)),
    "masked with a large number": lambda s, x: s.node("Sub", (x, number(s, 1e9))),
    "padded": lambda s, x: s.node("Pad", (x,), {"pads": (1, 0, 0, 1), "mode": "constant", "value": 3.0}),
}
UNKNOWN: dict[str, Build] = {
    "float": lambda s, x: s.input("f", DType.F32, (4, 4)),
    "masked with infinity": lambda s, x: s.node("Add", (x, number(s, -np.inf))),
    "divided by little": lambda s, x: s.node("Div", (x, number(s, 1e-38))),
    "divided by what is computed": lambda s, x: s.node("Div", (x, x)),
    "exponential": lambda s, x: s.node("Exp", (x,)),
    "large": lambda s, x: s.node("Mul", (number(s, 1e30), s.node("Mul", (x, number(s, 1e30))))),
    "padded with infinity": lambda s, x: s.node(
        "Pad", (x,), {"pads": (1, 0, 0, 1), "mode": "constant", "value": -np.inf}
    ),
}


def network(operators: Any, build: Build) -> Graph:
    s = Sketch(operators=operators)
    return s.finish(guarded(s, build(s, s.dequantize(s.input("x", DType.I8, (4, 4)), 0.1, 3))))


@pytest.mark.parametrize("name", FINITE)
def test_guards_of_finite_values_are_gone(name: str, operators: Any, bench: Any) -> None:
    graph = network(operators, FINITE[name])
    after = bench.apply(graph, *PASSES)
    assert ops(after)[-1] == "Softmax" and not {"Equal", "Not", "Where", "ReduceMax"} & set(ops(after))
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_guards_stay(name: str, operators: Any, bench: Any) -> None:
    assert "Where" in ops(bench.apply(network(operators, UNKNOWN[name]), *PASSES))


def test_a_finite_value_equals_itself(operators: Any, bench: Any) -> None:
    """What tells numbers from NaN."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4,)), 0.1, 3)
    y = s.input("y", DType.F32, (4,))
    graph = s.finish(*(s.node("Where", (s.node("Equal", (each, each)), each, number(s, 0))) for each in (x, y)))
    after = bench.apply(graph, *PASSES)
    assert ops(after) == ["DequantizeLinear", "Equal", "Where"]
    assert bench.same_bits(graph, after)


def test_what_is_selected_and_broadcast_stays(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    graph = s.finish(s.node("Where", (s.constant(np.ones((4, 1), bool)), s.input("x", DType.F32, (3,)), number(s, 0))))
    assert bench.apply(graph, *PASSES) is graph


def test_the_largest_of_nothing_is_infinite(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 0)), 0.1, 3)
    largest = s.node("ReduceMax", (x,), {"axes": (1,), "keepdims": 1})
    graph = s.finish(s.node("Equal", (largest, number(s, -np.inf))))
    assert ops(bench.apply(graph, *PASSES)) == ops(graph)
