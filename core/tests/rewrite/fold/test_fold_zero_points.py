"""The zero point of an input moves into the bias; every bit stays, at borders too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.fold.fold_zero_points import PASS
from tilewright.testing.sketch import Sketch


def _requant(channels: int) -> Requant:
    scale = tuple(float(np.float32(0.001 * (1 + index))) for index in range(channels))
    return Requant(scale=scale, zero_point=-3, low=-128, high=127)


@pytest.mark.parametrize("zeros", [(0,), (3,), (-2, 0, 5, 1)])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("group", [1, 2])
def test_conv(zeros: tuple[int, ...], bias: bool, group: int, operators: Any, bench: Any) -> None:
    s, generator = Sketch(operators=operators), np.random.default_rng(0)
    weights = generator.integers(-128, 128, (4, 4 // group, 3, 3)).astype(np.int8)
    inputs = [s.input("x", DType.I8, (1, 4, 5, 5)), s.constant(weights)]
    if bias:
        inputs.append(s.constant(generator.integers(-900, 900, 4).astype(np.int32)))
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (2, 1), "dilations": (1, 1), "pads": (1, 0, 1, 2), "group": group,
        "x_zero_point": -17, "pad_value": -17, "w_zero_point": zeros, "requant": _requant(4), "output_type": "i8",
    }  # fmt: skip
    graph = s.finish(s.node("QConv", inputs, attributes))
    folded = bench.apply(graph, PASS)
    (node,) = folded.nodes
    assert (node.integer("x_zero_point"), node.integer("pad_value")) == (0, -17)
    assert len(node.inputs) == 3
    assert bench.same_bits(graph, folded)


@pytest.mark.parametrize("zeros", [(0,), (3,), (-2, 0, 5, 1)])
def test_gemm(zeros: tuple[int, ...], operators: Any, bench: Any) -> None:
    s, generator = Sketch(operators=operators), np.random.default_rng(0)
    weights = s.constant(generator.integers(-128, 128, (6, 4)).astype(np.int8))
    attributes: dict[str, Attribute] = {
        "a_zero_point": 200, "b_zero_point": zeros, "requant": _requant(4), "output_type": "i8"
    }  # fmt: skip
    graph = s.finish(s.node("QGemm", (s.input("x", DType.U8, (3, 6)), weights), attributes))
    folded = bench.apply(graph, PASS)
    assert folded.nodes[0].integer("a_zero_point") == 0
    assert bench.same_bits(graph, folded)


def test_a_bias_that_would_overflow_stays(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    weights, bias = s.constant(np.full((6, 4), 127, np.int8)), s.constant(np.full(4, 2**31 - 1, np.int32))
    attributes: dict[str, Attribute] = {"a_zero_point": -1, "requant": _requant(4), "output_type": "i8"}
    graph = s.finish(s.node("QGemm", (s.input("x", DType.I8, (3, 6)), weights, bias), attributes))
    assert bench.apply(graph, PASS) is graph
