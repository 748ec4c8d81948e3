"""Folding keeps bits, keeps DequantizeLinear until nobody needs it, and does not blow small files up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import PassContext
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold import fold_constants
from tilewright.rewrite.fold.fold_constants import FOLD_CONSTANTS, FOLD_DEQUANTISED, fold
from tilewright.rewrite.pipeline import ordered
from tilewright.rewrite.qdq.lowering import LOWER_QUANTISED
from tilewright.testing.sketch import Sketch


def test_chains_of_constants_are_computed(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (2, 3))
    two = s.node("Transpose", (s.constant(np.arange(6, dtype=np.float32).reshape(3, 2)),), {"perm": (1, 0)})
    three = s.node("Add", (two, s.constant(np.float32(0.1) * np.ones(3, np.float32))))
    graph = s.finish(s.node("Mul", (x, three)))
    folded = bench.apply(graph, FOLD_CONSTANTS)
    assert [node.op for node in folded.nodes] == ["Mul"]
    assert bench.same_bits(graph, folded)


def test_weights_quantised_by_nodes_become_integers(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (1, 4))
    weight = np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
    stored = s.quantize(s.constant(weight), 0.02, 0)
    graph = s.finish(s.node("Gemm", (x, s.dequantize(stored, 0.02))))
    folded = bench.apply(graph, FOLD_CONSTANTS)
    assert [node.op for node in folded.nodes] == ["DequantizeLinear", "Gemm"]
    assert folded.constants[stored].dtype == np.int8
    assert bench.same_bits(graph, folded)
    both = bench.apply(graph, FOLD_CONSTANTS, FOLD_DEQUANTISED)
    assert [node.op for node in both.nodes] == ["Gemm"]
    assert bench.same_bits(graph, both)


def test_large_results_stay(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (3000, 3000))
    column, row = (s.constant(np.ones(shape, np.float32)) for shape in ((3000, 1), (1, 3000)))
    graph = s.finish(s.node("Add", (x, s.node("Mul", (column, row)))))
    assert bench.apply(graph, FOLD_CONSTANTS) is graph


def test_a_constant_output_is_copied(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    ones = s.constant(np.ones(3, np.float32))
    graph = s.finish(s.node("Add", (ones, ones)))
    folded = bench.apply(graph, FOLD_CONSTANTS)
    assert [node.op for node in folded.nodes] == ["Reshape"]
    assert bench.same_bits(graph, folded)
    assert bench.apply(folded, FOLD_CONSTANTS) is folded


@pytest.mark.parametrize("op", ["Clip", "Relu-like", "Round", "QuantizeLinear", "DequantizeLinear"])
def test_a_scalar_is_folded_to_an_array(sketch: Callable[[], Sketch], bench: Any, op: str) -> None:
    """Numpy makes scalars of arrays without dimensions, and scalars cannot be constants of a graph."""
    s = sketch()
    half = s.constant(np.array(0.6, np.float32))
    if op == "QuantizeLinear":
        value = s.node("Cast", (s.quantize(half, 0.1, 0),), {"to": "f32"})
    elif op == "DequantizeLinear":
        value = s.dequantize(s.constant(np.array(6, np.int8)), 0.1)
    else:
        limits = {"Clip": {"min": 0.0, "max": 0.5}, "Relu-like": {"min": 0.0}}
        value = s.node("Clip" if op in limits else op, (half,), limits.get(op, {}))
    graph = s.finish(s.node("Add", (s.input("x", DType.F32, (3,)), value)))
    folded = bench.apply(graph, FOLD_CONSTANTS, FOLD_DEQUANTISED)
    assert [node.op for node in folded.nodes] == ["Add"]
    assert bench.same_bits(graph, folded)


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
    monkeypatch.setattr(fold_constants, "SIZE_CAP_BYTES", 4)
    assert _folded(graph, operators) == ["Mul"]
    monkeypatch.setattr(fold_constants, "SIZE_CAP_BYTES", 3)
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


def test_constants_only(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    weight = s.dequantize(s.constant(np.arange(-3, 3, dtype=np.int8).reshape(2, 3)), [0.5, 0.25, 0.1], [0, 1, 2], 1)
    x = s.dequantize(s.input("x", DType.I8, (4, 2)), 0.05)
    graph = s.finish(s.node("Gemm", (x, weight)))
    folded = bench.apply(graph, FOLD_DEQUANTISED)
    assert [node.op for node in folded.nodes] == ["DequantizeLinear", "Gemm"]
    weights = folded.constants[folded.nodes[-1].inputs[1]]
    wanted = np.array([[-1.5, -0.75, -0.3], [0, 0, 0]], np.float32)
    assert weights.dtype == np.float32 and np.allclose(weights, wanted, atol=1e-7)
    assert bench.same_bits(graph, folded)


def test_integers_are_made_before() -> None:
    """The other way round no weight would be left to be an integer."""
    assert list(ordered((FOLD_DEQUANTISED, LOWER_QUANTISED))) == [LOWER_QUANTISED, FOLD_DEQUANTISED]
