"""Quantisation as PyTorch decomposes it becomes Q and DQ, a network of it becomes integer; all else is left alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.rewrite.quantisation.recognise_decomposed_quantisation import PASS


def f32(value: Any) -> Any:
    return np.array(value, np.float32)


def quantise(s: Any, value: str, scale: float, zero: int | None = 0, to: str = "i8", **limits: float) -> str:
    """As `torch.ops.quantized_decomposed.quantize_per_tensor` is exported."""
    low, high = DType(to).limits
    value = s.node("Mul", (value, s.constant(f32(1.0 / scale))))
    value = s.node("Round", (value,))
    if zero is not None:
        value = s.node("Add", (value, s.constant(f32(zero))))
    value = s.node("Clip", (value,), {"min": float(low), "max": float(high), **limits})
    return str(s.node("Cast", (value,), {"to": to}))


def dequantise(s: Any, value: str, scale: Any, zero: float | None = 0) -> str:
    value = s.node("Cast", (value,), {"to": "f32"})
    if zero is not None:
        value = s.node("Sub", (value, s.constant(f32(zero))))
    return str(s.node("Mul", (value, s.constant(f32(scale)))))


def ops(graph: Any) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize(("to", "zero"), [("i8", 0), ("i8", -7), ("u8", 100), ("i8", None)])
def test_both_halves(sketch: Any, bench: Any, to: str, zero: int | None) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (3, 50))
    graph = s.graph((dequantise(s, quantise(s, x, 0.03125, zero, to), 0.03125, zero),))
    after = bench.apply(graph, PASS)
    assert ops(after) == ["QuantizeLinear", "DequantizeLinear"]
    assert after.nodes[1].origin == tuple(node.name for node in graph.nodes[-(2 if zero is None else 3) :])
    np.testing.assert_array_equal(bench.outputs(graph)[0], bench.outputs(after)[0])


def test_a_scale_without_an_exact_inverse_is_that_of_the_other_half(sketch: Any, bench: Any) -> None:
    s = sketch()
    graph = s.graph((dequantise(s, quantise(s, s.input("x", DType.F32, (3, 50)), 0.013), 0.013),))
    after = bench.apply(graph, PASS)
    scales = [float(after.constants[node.inputs[1]]) for node in after.nodes]
    assert scales == [float(np.float32(0.013))] * 2
    before, now = bench.outputs(graph)[0], bench.outputs(after)[0]
    assert np.abs(before - now).max() <= 0.013 + 1e-6


def test_weights_of_8_bits_keep_their_scale_per_channel(sketch: Any, bench: Any) -> None:
    """The importer has folded the Cast already: whole numbers as floats."""
    numbers = np.random.default_rng(1)
    weights = numbers.integers(-127, 128, (4, 2, 3, 3)).astype(np.float32)
    s = sketch()
    scaled = s.node("Mul", (s.constant(weights), s.constant(f32(numbers.uniform(0.01, 0.1, (4, 1, 1, 1))))))
    conv = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
    graph = s.graph((s.node("Conv", (s.input("x", DType.F32, (1, 2, 5, 5)), scaled), conv),))
    after = bench.apply(graph, PASS)
    assert ops(after) == ["DequantizeLinear", "Conv"]
    assert after.constants[after.nodes[0].inputs[0]].dtype == np.int8
    assert after.nodes[0].integer("axis") == 0
    np.testing.assert_array_equal(bench.outputs(graph)[0], bench.outputs(after)[0])


@pytest.mark.parametrize("limits", [{"max": 126.0}, {"min": -64.0}, {"max": 127.5}])
def test_another_range_than_the_type_s_is_left_alone(sketch: Any, bench: Any, limits: dict[str, float]) -> None:
    s = sketch()
    graph = s.graph((quantise(s, s.input("x", DType.F32, (3, 5)), 0.02, **limits),))
    assert bench.apply(graph, PASS) is graph


@pytest.mark.parametrize(("scale", "zero"), [(0.1, 0.5), (-0.1, 0), (0.1, 400)])
def test_numbers_that_are_no_quantisation_are_left_alone(sketch: Any, bench: Any, scale: float, zero: float) -> None:
    s = sketch()
    graph = s.graph((dequantise(s, s.input("q", DType.I8, (3, 5)), scale, zero),))
    assert bench.apply(graph, PASS) is graph


def test_float_weights_are_left_alone(sketch: Any, bench: Any) -> None:
    s = sketch()
    weights = s.constant(f32([[1.5, 2.0], [300.0, 4.0]]))
    graph = s.graph(
        (s.node("MatMul", (s.input("x", DType.F32, (1, 2)), s.node("Mul", (weights, s.constant(f32(2)))))),)
    )
    assert bench.apply(graph, PASS) is graph


def test_a_network_of_such_halves_becomes_integer(sketch: Any, bench: Any) -> None:
    weights = np.random.default_rng(2).integers(-127, 128, (8, 6)).astype(np.int8)
    s = sketch()
    x = dequantise(s, quantise(s, s.input("x", DType.F32, (3, 8)), 0.02, 3), 0.02, 3)
    product = s.node("MatMul", (x, dequantise(s, s.constant(weights), 0.01)))
    graph = s.graph((dequantise(s, quantise(s, product, 0.05), 0.05),))
    after = bench.apply(graph, *PASSES)
    assert ops(after) == ["QuantizeLinear", "QGemm", "DequantizeLinear"]
    before, now = bench.outputs(graph)[0], bench.outputs(after)[0]
    assert np.abs(before - now).max() <= 0.05 + 1e-6
