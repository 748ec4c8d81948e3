"""Products of floats with constants of 4 bits keep these packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.packed_products import PASS
from tilewright.testing.sketch import Sketch

DEPTH, COLUMNS = 24, 5


def weights(s: Sketch, shape: tuple[int, int], scales: tuple[int, ...], kind: str, **attributes: int) -> str:
    random, low = np.random.default_rng(2), 0 if kind == "uint8" else -8
    names = [
        s.constant(random.integers(low, low + 16, shape).astype(kind)),
        s.constant((random.random(scales) + 0.1).astype(np.float32)),
        s.constant(random.integers(low, low + 16, scales).astype(kind)),
    ]
    return s.node("DequantizeLinear", tuple(names), {"weight_bits": 4, **attributes})


def product(operators: Any, way: str, kind: str, *, blocked: bool) -> Graph:
    s = Sketch(operators=operators)
    x = s.input("x", DType.F32, (3, DEPTH))
    turned = way != "MatMul"
    shape, depth_axis = ((COLUMNS, DEPTH), 1) if turned else ((DEPTH, COLUMNS), 0)
    scales = tuple(extent // 8 if axis == depth_axis else extent for axis, extent in enumerate(shape))
    if blocked:
        w = weights(s, shape, scales, kind, axis=depth_axis, block_size=8)
    else:
        w = weights(s, shape, (COLUMNS,), kind, axis=1 - depth_axis)
    if way == "Gemm":
        bias = s.constant(np.arange(COLUMNS, dtype=np.float32))
        return s.finish(s.node("Gemm", (x, w, bias), {"alpha": 1.0, "beta": 1.0, "transB": 1}))
    if way == "Transpose":
        w = s.node("Transpose", (w,), {"perm": (1, 0)})
    return s.finish(s.node("MatMul", (x, w)))


@pytest.mark.parametrize("way", ["MatMul", "Transpose", "Gemm"])
@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("blocked", [True, False])
def test_weights_stay_what_they_are(way: str, kind: str, blocked: bool, operators: Any, bench: Any) -> None:
    graph = product(operators, way, kind, blocked=blocked)
    after = bench.apply(graph, PASS)
    (node,) = after.nodes
    assert (node.op, node.integer("block_size")) == ("MatMulNBits", 8 if blocked else DEPTH)
    assert after.constants[node.inputs[1]].shape == (COLUMNS, DEPTH)
    assert abs(after.constants[node.inputs[1]]).max() <= 8
    values = bench.inputs(graph)
    before, now = (run(each, values, operators)[each.outputs[0]] for each in (graph, after))
    assert np.allclose(before, now, rtol=1e-6, atol=1e-5)


def test_blocks_along_columns_and_weights_of_8_bits_stay_floats(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.input("x", DType.F32, (3, 8))
    w = weights(s, (8, 16), (8, 2), "int8", axis=1, block_size=8)
    graph = s.finish(s.node("MatMul", (x, w)))
    assert bench.apply(graph, PASS) is graph


def test_a_product_of_quantised_values_is_left_to_integers(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    scale = s.constant(np.full((), 0.5, np.float32))
    x = s.node("DequantizeLinear", (s.input("q", DType.I8, (3, DEPTH)), scale), {"axis": 1})
    w = weights(s, (DEPTH, COLUMNS), (COLUMNS,), "int8", axis=1)
    graph = s.finish(s.node("MatMul", (x, w)))
    assert bench.apply(graph, PASS) is graph
