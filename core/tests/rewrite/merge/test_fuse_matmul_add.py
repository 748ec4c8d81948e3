"""MatMul and Add become a Gemm, to the bit, only where the bias is one of columns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.fuse_matmul_add import PASS as FUSE_MATMUL_ADD
from tilewright.testing.sketch import Sketch


def _floats(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _within_model(bench: Any, before: Graph, after: Graph, terms: int) -> bool:
    """|difference| <= 8 sqrt(K) u sum|a b|, the sum bounded by K times the largest product seen."""
    for seed in range(3):
        for one, other in zip(bench.outputs(before, seed), bench.outputs(after, seed), strict=True):
            allowed = 8 * math.sqrt(terms) * 2.0**-24 * max(1.0, float(np.abs(one).max())) * 8
            if float(np.abs(one.astype(np.float64) - other).max()) > allowed:
                return False
    return True


@pytest.mark.parametrize("shape", [(1, 6), (2, 3, 6)])
@pytest.mark.parametrize("swapped", [False, True])
def test_matmul_add_becomes_gemm(shape: tuple[int, ...], swapped: bool, sketch: Any, bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, shape), s.constant(_floats(1, 6, 4))), name="dense")
    operands = [product, s.constant(_floats(2, 4))]
    graph = s.finish(s.node("Add", operands[::-1] if swapped else operands, name="bias"))
    fused = bench.apply(graph, FUSE_MATMUL_ADD)
    assert [(node.name, node.op, node.origin) for node in fused.nodes] == [("dense", "Gemm", ("dense", "bias"))]
    assert _within_model(bench, graph, fused, 7)


def test_matmul_read_twice_stays(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, (1, 6)), s.constant(_floats(1, 6, 4))))
    graph = s.finish(s.node("Add", (product, s.constant(_floats(2, 4)))), product)
    assert bench.apply(graph, FUSE_MATMUL_ADD) is graph


def test_a_bias_per_row_is_no_gemm_bias(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    product = s.node("MatMul", (s.input("x", DType.F32, (4, 6)), s.constant(_floats(1, 6, 4))))
    graph = s.finish(s.node("Add", (product, s.constant(_floats(2, 4, 1)))))
    assert bench.apply(graph, FUSE_MATMUL_ADD) is graph
