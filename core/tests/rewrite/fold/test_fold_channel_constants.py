"""Arithmetic with constants of channels goes into weights before and behind it, inside the error model."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_channel_constants import PASS as FOLD
from tilewright.testing.sketch import Sketch

MakeSketch = Callable[[], Sketch]
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
    folded = bench.apply(graph, FOLD)
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
    folded = bench.apply(graph, FOLD)
    assert [node.op for node in folded.nodes] == ["Gemm"]
    assert _within_model(bench, graph, folded, 7)


def _ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def _conv(s: Sketch, x: str, outputs: int = 4, **changes: Any) -> str:
    inputs = s.tensors[x].shape[1] // changes.get("group", 1)
    weight = s.constant(_floats(1, outputs, inputs, 3, 3))
    return s.node("Conv", (x, weight, s.constant(_floats(2, outputs))), {**CONV, **changes})


def _arithmetic(s: Sketch, value: str, op: str, *shape: int, first: bool = False) -> str:
    numbers = s.constant(np.abs(_floats(len(s.nodes) + 11, *shape)) + np.float32(0.5))
    return s.node(op, (numbers, value) if first else (value, numbers))


def test_a_chain_behind_a_conv_is_gone(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    for op in ("Sub", "Mul", "Add", "Div"):
        y = _arithmetic(s, y, op, 4, 1, 1)
    graph = s.finish(_arithmetic(s, y, "Sub", 1, first=True))
    folded = bench.apply(graph, FOLD)
    assert _ops(folded) == ["Conv"]
    assert len(folded.nodes[0].origin) == 6
    assert _within_model(bench, graph, folded, 20)


@pytest.mark.parametrize(
    ("moves", "shape"),
    [
        ([("Transpose", {"perm": (0, 2, 3, 1)})], (4,)),
        ([("Reshape", {"shape": (1, 2, 2, 25)})], (2, 2, 1)),
        ([("Reshape", {"shape": (1, 100)})], (1,)),
        ([("MaxPool", {"kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4})], (4, 1, 1)),
        ([("ReduceMean", {"axes": (2, 3), "keepdims": 0})], (4,)),
        ([("Transpose", {"perm": (2, 3, 0, 1)}), ("Reshape", {"shape": (25, 4)})], (4,)),
    ],
)
def test_channels_are_followed(moves: Any, shape: tuple[int, ...], sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    for op, attributes in moves:
        y = s.node(op, (y,), attributes)
    graph = s.finish(_arithmetic(s, _arithmetic(s, y, "Mul", *shape), "Add", *shape))
    folded = bench.apply(graph, FOLD)
    two_axes = shape == (2, 2, 1)
    assert _ops(folded) == ["Conv", *(op for op, _ in moves), *(["Mul", "Add"] if two_axes else [])]
    assert _within_model(bench, graph, folded, 20)


def test_another_reader_keeps_what_it_reads(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    graph = s.finish(_arithmetic(s, y, "Add", 4, 1, 1), s.node("Sigmoid", (y,)))
    assert bench.apply(graph, FOLD) is graph


def test_numbers_of_rows_stay(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    graph = s.finish(_arithmetic(s, y, "Add", 5, 1))
    assert bench.apply(graph, FOLD) is graph


def test_a_weight_that_others_read_is_not_stored_twice(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x, weight = s.input("x", DType.F32, (3, 6)), s.constant(_floats(1, 6, 4))
    one, two = (s.node("MatMul", (x, weight), name=name) for name in "ab")
    graph = s.finish(_arithmetic(s, one, "Mul", 4), _arithmetic(s, two, "Add", 4))
    folded = bench.apply(graph, FOLD)
    assert sorted(_ops(folded)) == ["Gemm", "MatMul", "Mul"]
    assert _within_model(bench, graph, folded, 7)


@pytest.mark.parametrize(("pads", "left"), [(0, []), (1, ["Mul", "Add"])])
def test_a_shift_before_a_conv_needs_no_zeros_around(
    pads: int, left: list[str], sketch: MakeSketch, bench: Any
) -> None:
    s = sketch()
    y = s.input("x", DType.F32, (1, 2, 5, 5))
    y = _arithmetic(s, _arithmetic(s, y, "Mul", 2, 1, 1), "Add", 2, 1, 1)
    graph = s.finish(_conv(s, y, pads=(pads,) * 4))
    folded = bench.apply(graph, FOLD)
    assert _ops(folded) == [*left, "Conv"]
    assert _within_model(bench, graph, folded, 20)


def test_all_readers_take_a_factor_or_none(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = _arithmetic(s, s.input("x", DType.F32, (3, 6)), "Mul", 6)
    products = [s.node("MatMul", (x, s.constant(_floats(seed, 6, 4)))) for seed in (1, 2, 3)]
    graph = s.finish(*products)
    folded = bench.apply(graph, FOLD)
    assert _ops(folded) == ["MatMul"] * 3
    assert _within_model(bench, graph, folded, 7)
    other = s.finish(*products, s.node("Sigmoid", (x,)))
    assert bench.apply(other, FOLD) is other


def test_a_negative_factor_stays_behind_the_largest(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    y = s.node("MaxPool", (y,), {"kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4})
    graph = s.finish(s.node("Mul", (y, s.constant(np.array([1, -1, 1, 1], np.float32).reshape(4, 1, 1)))))
    assert bench.apply(graph, FOLD) is graph


@pytest.mark.parametrize("numbers", [0.0, math.inf, math.nan])
def test_a_quotient_that_is_no_number_stays(numbers: float, sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    y = _conv(s, s.input("x", DType.F32, (1, 2, 5, 5)))
    graph = s.finish(s.node("Div", (y, s.constant(np.full(1, numbers, np.float32)))))
    assert (bench.apply(graph, FOLD) is graph) == (numbers != math.inf)


@pytest.mark.parametrize("seed", range(24))
def test_any_network_of_products_and_arithmetic_computes_the_same(seed: int, sketch: MakeSketch, bench: Any) -> None:
    draw, s = random.Random(seed), sketch()
    value = s.input("x", DType.F32, (1, 4, 5, 5))
    for _ in range(10):
        value = _DRAWN[draw.choice(tuple(_DRAWN))](draw, s, value)
    graph = s.finish(value)
    folded = bench.apply(graph, FOLD)
    assert len(folded.nodes) <= len(graph.nodes)
    for one, other in zip(bench.outputs(graph), bench.outputs(folded), strict=True):
        assert np.allclose(one, other, rtol=1e-3, atol=1e-4 * float(np.abs(one).max()))


def _draw_arithmetic(draw: random.Random, s: Sketch, value: str) -> str:
    shape = s.tensors[value].shape
    axis = draw.randrange(len(shape))
    numbers = [extent if each == axis else 1 for each, extent in enumerate(shape)]
    op = draw.choice(("Add", "Sub", "Mul", "Div"))
    return _arithmetic(
        s, value, op, *draw.choice((numbers, [1])), first=op in ("Add", "Sub", "Mul") and draw.random() < 0.3
    )


def _draw_product(draw: random.Random, s: Sketch, value: str) -> str:
    shape = s.tensors[value].shape
    if len(shape) == 4 and min(shape[2:]) >= 3 and draw.random() < 0.7:
        group = draw.choice([group for group in (1, 2, 4) if shape[1] % group == 0])
        changes = {"group": group, "pads": (draw.randrange(2),) * 4}
        if draw.random() < 0.7:
            return _conv(s, value, outputs=4, **changes)
        weight = s.constant(_floats(draw.randrange(99), shape[1], 4 // group, 3, 3))
        return s.node("ConvTranspose", (value, weight), {**CONV, **changes, "pads": (1,) * 4, "output_padding": (0, 0)})
    weight = _floats(draw.randrange(99), shape[-1], 4)
    if draw.random() < 0.5:
        return s.node("MatMul", (value, s.constant(weight)))
    bias = s.constant(_floats(draw.randrange(99), draw.choice((1, 4))))
    turned = s.constant(np.ascontiguousarray(weight.T))
    return s.node("Gemm", (value, turned, bias), {"alpha": 0.5, "beta": 2.0, "transB": 1})


def _draw_move(draw: random.Random, s: Sketch, value: str) -> str:
    shape = s.tensors[value].shape
    kind = draw.randrange(3)
    if kind == 0:
        return s.node("Transpose", (value,), {"perm": tuple(draw.sample(range(len(shape)), len(shape)))})
    if kind == 1 and len(shape) == 4 and min(shape[2:]) > 1:
        window = {"kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 0, 0, 0)}
        counted = {"count_include_pad": draw.randrange(2)}
        return s.node("MaxPool", (value,), window) if draw.random() < 0.5 else s.node(
            "AveragePool", (value,), {**window, **counted}
        )  # fmt: skip
    merged = (shape[0], shape[1], *([math.prod(shape[2:])] if len(shape) > 3 else shape[2:]))
    return s.node("Reshape", (value,), {"shape": merged})


_DRAWN = {"arithmetic": _draw_arithmetic, "again": _draw_arithmetic, "product": _draw_product, "move": _draw_move}
