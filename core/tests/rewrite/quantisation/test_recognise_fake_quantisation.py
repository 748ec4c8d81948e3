"""Quantisation written as arithmetic is recognised where that keeps the outputs, and left alone elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.quantisation.recognise_fake_quantisation import PASS


def f32(value):
    return np.array(value, np.float32)


def fake(s, value, scale, low=-128.0, high=127.0, before=None, after=None, back=None, divisor=None):
    """The chain; `before`, `after` and `back` are zero points added before and after Round, and taken off."""
    value = s.node("Div", (value, s.constant(f32(scale if divisor is None else divisor))))
    if before is not None:
        value = s.node("Add", (value, s.constant(f32(before))))
    value = s.node("Round", (value,))
    if after is not None:
        value = s.node("Add", (s.constant(f32(after)), value))
    value = s.node("Clip", (value,), {"min": low, "max": high})
    if back is not None:
        value = s.node("Sub", (value, s.constant(f32(back))))
    return s.node("Mul", (value, s.constant(f32(scale))))


def ops(graph):
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize(
    ("numbers", "dtype"),
    [
        ({}, DType.I8),
        ({"low": 0.0, "high": 255.0}, DType.U8),
        ({"before": 0.0, "back": 0.0}, DType.I8),
        ({"low": 0.0, "high": 255.0, "after": 100.0, "back": 100.0}, DType.U8),
        ({"after": -7.0, "back": -7.0}, DType.I8),
    ],
)
def test_recognised_with_equal_outputs(sketch, bench, numbers, dtype):
    s = sketch()
    y = fake(s, s.input("x", DType.F32, (3, 50)), 0.02, **numbers)
    graph = s.graph((y,))
    after = bench.apply(graph, PASS)
    assert ops(after) == ["QuantizeLinear", "DequantizeLinear"]
    assert after.tensors[after.nodes[0].outputs[0]].dtype is dtype
    assert after.nodes[1].origin == tuple(node.name for node in graph.nodes)
    np.testing.assert_array_equal(bench.outputs(graph)[0], bench.outputs(after)[0])


@pytest.mark.parametrize(
    "numbers",
    [
        {"before": 3.0, "back": 3.0},
        {"after": 3.0},
        {"after": 3.0, "back": 4.0},
        {"low": -8.0, "high": 7.0},
        {"low": -128.0, "high": 255.0},
        {"low": -0.5},
        {"divisor": 0.03},
        {"after": 300.0, "back": 300.0},
    ],
)
def test_left_alone(sketch, bench, numbers):
    s = sketch()
    graph = s.graph((fake(s, s.input("x", DType.F32, (3, 5)), 0.02, **numbers),))
    assert bench.apply(graph, PASS) is graph


def test_left_alone_when_something_else_reads_the_middle(sketch, bench):
    s = sketch()
    y = fake(s, s.input("x", DType.F32, (3, 5)), 0.02)
    graph = s.graph((y, "Round_1:0"))
    assert bench.apply(graph, PASS) is graph


def test_narrow_weights_per_channel(sketch, bench):
    """Weights clipped to -127..127 that never reach the limit; one scale per output channel."""
    weights = np.random.default_rng(1).uniform(-1, 1, (4, 2, 3, 3)).astype(np.float32)
    scale = (np.abs(weights).max(axis=(1, 2, 3), keepdims=True) / 127).astype(np.float32)
    s = sketch()
    x = s.input("x", DType.F32, (1, 2, 5, 5))
    w = fake(s, s.constant(weights), scale, -127.0, 127.0)
    conv = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
    graph = s.graph((s.node("Conv", (x, w), conv),))
    after = bench.apply(graph, PASS)
    assert ops(after) == ["QuantizeLinear", "DequantizeLinear", "Conv"]
    assert after.nodes[0].integer("axis") == 0
    np.testing.assert_array_equal(bench.outputs(graph)[0], bench.outputs(after)[0])


def test_a_network_of_such_chains_becomes_integer(sketch, bench):
    weights = np.random.default_rng(2).uniform(-1, 1, (8, 6)).astype(np.float32)
    s = sketch()
    x = fake(s, s.input("x", DType.F32, (3, 8)), 0.02)
    product = s.node("MatMul", (x, fake(s, s.constant(weights), 0.01)))
    graph = s.graph((fake(s, product, 0.05),))
    after = bench.apply(graph, *PASSES)
    assert ops(after) == ["QuantizeLinear", "QGemm", "DequantizeLinear"]
    before, now = bench.outputs(graph)[0], bench.outputs(after)[0]
    assert np.abs(before - now).max() <= 0.05 + 1e-6
