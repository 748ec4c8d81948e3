"""What stands behind integer sums of dynamic quantisation becomes part of the product, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.scale_integer_products import PASS
from tilewright.testing.sketch import Sketch

F32 = np.float32
RANDOM = np.random.default_rng(4)
IMAGE = {
    "kernel_shape": (3, 3),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (1, 1, 1, 1),
    "ceil_mode": 0,
    "group": 1,
}


def numbers(*shape: int) -> np.ndarray:
    return np.asarray(RANDOM.random(shape) + 0.1, F32)


def sums(s: Sketch, *, image: bool) -> str:
    shape, weights = ((1, 2, 5, 5), (6, 2, 3, 3)) if image else ((2, 3, 4), (4, 6))
    w = s.constant(RANDOM.integers(-9, 9, weights).astype(np.int8))
    x, zero = s.input("x", DType.U8, shape), s.input("zero", DType.U8, (1,))
    return s.node("ConvInteger" if image else "MatMulInteger", (x, w, zero), IMAGE if image else {})


def network(operators: Any, factor: np.ndarray | None, bias: np.ndarray | None, *, image: bool = False) -> Graph:
    s = Sketch(operators=operators)
    wide = s.node("Cast", (sums(s, image=image),), {"to": "f32"})
    scale = s.input("scale", DType.F32, ())
    if factor is not None:
        scale = s.node("Mul", (scale, s.constant(factor)))
    y = s.node("Mul", (wide, scale))
    return s.finish(y if bias is None else s.node("Add", (s.constant(bias), y)))


@pytest.mark.parametrize("image", [False, True], ids=["matrix", "image"])
@pytest.mark.parametrize("factor", [None, (), (1,), "channels"], ids=str)
@pytest.mark.parametrize("bias", [None, (1,), "channels"], ids=str)
def test_one_step(factor: Any, bias: Any, image: bool, operators: Any, bench: Any) -> None:
    channels = (6, 1, 1) if image else (6,)
    given = [None if each is None else numbers(*(channels if each == "channels" else each)) for each in (factor, bias)]
    graph = network(operators, *given, image=image)
    after = bench.apply(graph, PASS)
    assert [node.op for node in after.nodes] == ["ConvInteger" if image else "MatMulInteger"]
    assert len(after.nodes[0].origin) == len(graph.nodes) - (factor is not None)
    assert bench.same_bits(graph, after)


def test_both_scales_may_be_computed(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    wide = s.node(
        "Cast", (s.node("MatMulInteger", tuple(s.input(name, DType.U8, (3, 3)) for name in "ab")),), {"to": "f32"}
    )
    scale = s.node("Mul", (s.input("s", DType.F32, (1,)), s.input("f", DType.F32, (1,))))
    graph = s.finish(s.node("Mul", (scale, wide)))
    after = bench.apply(graph, PASS)
    assert [(node.op, node.inputs[4:]) for node in after.nodes] == [("MatMulInteger", ("s", "f"))]
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("bias", [(3, 1), (2, 3, 6)], ids=str)
def test_an_addend_of_other_axes_stays(bias: tuple[int, ...], operators: Any, bench: Any) -> None:
    graph = network(operators, numbers(6), numbers(*bias))
    after = bench.apply(graph, PASS)
    assert [node.op for node in after.nodes] == ["MatMulInteger", "Add"]
    assert bench.same_bits(graph, after)


def test_scales_of_other_axes_and_sums_that_are_read_twice_stay(operators: Any, bench: Any) -> None:
    graph = network(operators, numbers(3, 1), None)
    assert bench.apply(graph, PASS) is graph
    s = Sketch(operators=operators)
    total = sums(s, image=False)
    wide = s.node("Cast", (total,), {"to": "f32"})
    graph = s.finish(s.node("Mul", (wide, s.input("scale", DType.F32, ()))), total)
    assert bench.apply(graph, PASS) is graph
