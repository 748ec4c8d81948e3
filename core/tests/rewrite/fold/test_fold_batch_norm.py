"""BatchNormalization goes into the weights before it, inside the error model."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_batch_norm import PASS as FOLD_BATCH_NORM
from tilewright.testing.sketch import Sketch

CONV: dict[str, Any] = {
    "kernel_shape": (3, 3),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (1, 1, 1, 1),
    "group": 1,
}


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


@pytest.mark.parametrize("bias", [False, True])
def test_batch_norm_goes_into_conv(bias: bool, sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    inputs = [s.input("x", DType.F32, (1, 2, 5, 5)), s.constant(_floats(1, 3, 2, 3, 3))]
    if bias:
        inputs.append(s.constant(_floats(2, 3)))
    y = s.node("Conv", inputs, CONV, name="conv")
    numbers = [s.constant(_floats(seed, 3)) for seed in (3, 4, 5)]
    numbers.append(s.constant(np.abs(_floats(6, 3)) + np.float32(0.1)))
    graph = s.finish(s.node("BatchNormalization", (y, *numbers), {"epsilon": 1e-5}, name="norm"))
    folded = bench.apply(graph, FOLD_BATCH_NORM)
    assert [(node.name, node.op, node.origin) for node in folded.nodes] == [("conv", "Conv", ("conv", "norm"))]
    assert _within_model(bench, graph, folded, 20)


@pytest.mark.parametrize("transposed", [0, 1])
def test_batch_norm_goes_into_gemm(transposed: int, sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    weight = _floats(1, 6, 4).T if transposed else _floats(1, 6, 4)
    inputs = (s.input("x", DType.F32, (2, 6)), s.constant(np.ascontiguousarray(weight)))
    y = s.node("Gemm", inputs, {"alpha": 1.0, "beta": 1.0, "transB": transposed}, name="dense")
    numbers = [s.constant(_floats(seed, 4)) for seed in (3, 4, 5)]
    numbers.append(s.constant(np.abs(_floats(6, 4)) + np.float32(0.1)))
    graph = s.finish(s.node("BatchNormalization", (y, *numbers), {"epsilon": 1e-3}))
    folded = bench.apply(graph, FOLD_BATCH_NORM)
    assert [node.op for node in folded.nodes] == ["Gemm"]
    assert _within_model(bench, graph, folded, 7)
