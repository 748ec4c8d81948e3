"""Folding keeps bits, keeps DequantizeLinear, and does not blow small files up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_constants import PASS
from tilewright.rewrite.fold.fold_dequantised import PASS as FOLD_DEQUANTISED
from tilewright.testing.sketch import Sketch


def test_chains_of_constants_are_computed(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (2, 3))
    two = s.node("Transpose", (s.constant(np.arange(6, dtype=np.float32).reshape(3, 2)),), {"perm": (1, 0)})
    three = s.node("Add", (two, s.constant(np.float32(0.1) * np.ones(3, np.float32))))
    graph = s.finish(s.node("Mul", (x, three)))
    folded = bench.apply(graph, PASS)
    assert [node.op for node in folded.nodes] == ["Mul"]
    assert bench.same_bits(graph, folded)


def test_weights_quantised_by_nodes_become_integers(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (1, 4))
    weight = np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
    stored = s.quantize(s.constant(weight), 0.02, 0)
    graph = s.finish(s.node("Gemm", (x, s.dequantize(stored, 0.02))))
    folded = bench.apply(graph, PASS)
    assert [node.op for node in folded.nodes] == ["DequantizeLinear", "Gemm"]
    assert folded.constants[stored].dtype == np.int8
    assert bench.same_bits(graph, folded)
    both = bench.apply(graph, PASS, FOLD_DEQUANTISED)
    assert [node.op for node in both.nodes] == ["Gemm"]
    assert bench.same_bits(graph, both)


def test_large_results_stay(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (3000, 3000))
    column, row = (s.constant(np.ones(shape, np.float32)) for shape in ((3000, 1), (1, 3000)))
    graph = s.finish(s.node("Add", (x, s.node("Mul", (column, row)))))
    assert bench.apply(graph, PASS) is graph


def test_a_constant_output_is_copied(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    ones = s.constant(np.ones(3, np.float32))
    graph = s.finish(s.node("Add", (ones, ones)))
    folded = bench.apply(graph, PASS)
    assert [node.op for node in folded.nodes] == ["Reshape"]
    assert bench.same_bits(graph, folded)
    assert bench.apply(folded, PASS) is folded


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
    folded = bench.apply(graph, PASS, FOLD_DEQUANTISED)
    assert [node.op for node in folded.nodes] == ["Add"]
    assert bench.same_bits(graph, folded)
