"""What is computed at compile time, what stays, and how a constant becomes an output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.graph_pass import PassContext
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold import folding
from tilewright.rewrite.fold.folding import fold
from tilewright.testing.sketch import Sketch


def _folded(graph: Graph, operators: Any, *keep: str) -> list[str]:
    return [node.op for node in fold(graph, PassContext(operators=operators), keep).verify().nodes]


def _two_steps(sketch: Sketch) -> Graph:
    """x * round(0.6 + 0.6)."""
    part = sketch.constant(np.array([0.6], np.float32))
    once = sketch.node("Round", (sketch.node("Add", (part, part)),))
    return sketch.finish(sketch.node("Mul", (sketch.input("x", DType.F32, (1,)), once)))


def test_what_is_kept_keeps_what_it_feeds(sketch: Callable[[], Sketch], operators: Any) -> None:
    graph = _two_steps(sketch())
    assert _folded(graph, operators) == ["Mul"]
    assert _folded(graph, operators, "Round") == ["Round", "Mul"]
    assert _folded(graph, operators, "Add") == ["Add", "Round", "Mul"]


def test_operators_of_nobody_stay(sketch: Callable[[], Sketch], operators: Any) -> None:
    others = {name: operator for name, operator in operators.items() if name != "Add"}
    assert _folded(_two_steps(sketch()), others) == ["Add", "Round", "Mul"]


def test_results_above_the_cap_stay(sketch: Callable[[], Sketch], operators: Any, monkeypatch: Any) -> None:
    graph = _two_steps(sketch())
    monkeypatch.setattr(folding, "SIZE_CAP_BYTES", 4)
    assert _folded(graph, operators) == ["Mul"]
    monkeypatch.setattr(folding, "SIZE_CAP_BYTES", 3)
    assert _folded(graph, operators) == ["Add", "Round", "Mul"]


def test_an_output_is_copied_and_read_on(sketch: Callable[[], Sketch], operators: Any, bench: Any) -> None:
    """A constant that is both an output and an operand: the copy has the node's name, the operand is folded."""
    s = sketch()
    ones = s.constant(np.ones((2, 1), np.float32))
    both = s.node("Add", (ones, ones), name="twice")
    graph = s.finish(both, s.node("Add", (both, both)))
    after = fold(graph, PassContext(operators=operators)).verify()
    assert [(node.op, node.name, node.attributes["shape"]) for node in after.nodes] == [
        ("Reshape", "twice", (2, 1)), ("Reshape", "Add_1", (2, 1))
    ]  # fmt: skip
    assert after.nodes[0].origin == ("twice",)
    assert bench.same_bits(graph, after)
    assert fold(after, PassContext(operators=operators)) is after


def test_absent_inputs_are_no_obstacle(sketch: Callable[[], Sketch], operators: Any, bench: Any) -> None:
    s = sketch()
    a, b = (s.constant(np.ones((2, 2), np.float32)) for _ in range(2))
    graph = s.finish(s.node("Add", (s.input("x", DType.F32, (2, 2)), s.node("Gemm", (a, b, "")))))
    assert _folded(graph, operators) == ["Add"]
