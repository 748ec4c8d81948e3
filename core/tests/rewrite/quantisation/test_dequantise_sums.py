"""Sums of integers, cast and scaled, are dequantised in one step, bit for bit."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.dequantise_sums import PASS
from tilewright.testing.sketch import Sketch


def scaled(operators: Any, shape: tuple[int, ...], *, turned: bool = False, dtype: DType = DType.I32) -> Graph:
    s = Sketch(operators=operators)
    wide = s.node("Cast", (s.input("sums", dtype, (2, 3, 4)),), {"to": "f32"})
    scale = s.input("scale", DType.F32, shape)
    return s.finish(s.node("Mul", (scale, wide) if turned else (wide, scale)))


@pytest.mark.parametrize("shape", [(), (1,), (4,)])
@pytest.mark.parametrize("turned", [False, True])
def test_one_step(shape: tuple[int, ...], turned: bool, operators: Any, bench: Any) -> None:
    graph = scaled(operators, shape, turned=turned)
    after = bench.apply(graph, PASS)
    assert [node.op for node in after.nodes] == ["DequantizeLinear"]
    assert after.nodes[0].origin == ("Cast_0", "Mul_1")
    assert bench.same_bits(graph, after)


@pytest.mark.parametrize("shape", [(3, 1), (1, 4), (2, 3, 4)])
def test_scales_of_more_axes_stay(shape: tuple[int, ...], operators: Any, bench: Any) -> None:
    graph = scaled(operators, shape)
    assert bench.apply(graph, PASS) is graph


def test_sums_that_are_read_twice_or_are_no_integers_stay(operators: Any, bench: Any) -> None:
    graph = scaled(operators, (), dtype=DType.I64)
    assert bench.apply(graph, PASS) is graph
    s = Sketch(operators=operators)
    wide = s.node("Cast", (s.input("sums", DType.I32, (4,)),), {"to": "f32"})
    graph = s.finish(s.node("Mul", (wide, s.input("scale", DType.F32, ()))), s.node("Abs", (wide,)))
    assert bench.apply(graph, PASS) is graph
