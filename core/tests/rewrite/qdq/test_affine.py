"""Scales and zero points: ONNX's formulas beside fractions and numpy, and what cannot be read from a node."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.qdq.affine import Affine, read
from tilewright.testing.sketch import Sketch

scales = st.floats(2.0**-10, 2.0**6, width=32)
reals = st.floats(-1e4, 1e4, width=32)


@st.composite
def affines(draw: st.DrawFn) -> Affine:
    dtype = draw(st.sampled_from([DType.I8, DType.U8, DType.I16]))
    return Affine(scale=(draw(scales),), zero_point=(draw(st.integers(*dtype.limits)),), dtype=dtype, axis=None)


@pytest.mark.slow
@given(affines(), reals)
def test_quantise(affine: Affine, real: float) -> None:
    """`saturate(rne(real / scale) + zero_point)`, the quotient rounded to float32."""
    quotient = Fraction(float(np.float32(real) / np.float32(affine.scale[0])))
    low, high = affine.dtype.limits
    expected = min(max(round(quotient) + affine.zero_point[0], low), high)
    found = affine.quantise(np.array([real], np.float32))
    assert (found.tolist(), found.dtype) == ([expected], affine.dtype.numpy)


@given(affines(), st.integers(0, 255))
def test_there_and_back(affine: Affine, step: int) -> None:
    stored = np.array([affine.dtype.limits[0] + step], affine.dtype.numpy)
    real = affine.dequantise(stored)
    assert affine.quantise(real).tolist() == stored.tolist()
    assert affine.exactly(float(real[0])) == stored[0]


@given(affines(), reals, reals)
def test_limits_of_a_clip(affine: Affine, one: float, other: float) -> None:
    """Clipping before and after quantisation is the same."""
    low, high = sorted((one, other))
    least, most = affine.limits(low, high)
    x = np.linspace(-2e4, 2e4, 41, dtype=np.float32)
    clipped = affine.quantise(np.clip(x, np.float32(low), np.float32(high)))
    assert clipped.tolist() == np.clip(affine.quantise(x), least, most).tolist()


PLAIN = Affine(scale=(0.5,), zero_point=(3,), dtype=DType.I8, axis=None)


def test_what_is_no_number() -> None:
    found = PLAIN.quantise(np.array([math.nan, math.inf, -math.inf, 1e38], np.float32))
    assert found.tolist() == [3, 127, -128, 127]
    assert PLAIN.limits(-math.inf, math.inf) == (-128, 127)


@pytest.mark.parametrize(("real", "stored"), [
    (-1.0, 1), (0.0, 3), (0.25, None), (62.0, 127), (62.5, None), (math.inf, None), (math.nan, None)
])  # fmt: skip
def test_values_that_have_an_exact_form(real: float, stored: int | None) -> None:
    assert PLAIN.exactly(real) == stored


def test_one_scale_for_each_index_of_an_axis() -> None:
    """uint8 less a zero point of 255 must not wrap."""
    affine = Affine(scale=(1.0, 0.5), zero_point=(0, 255), dtype=DType.U8, axis=1)
    assert not affine.whole
    stored = np.array([[[4, 0], [255, 0]]], np.uint8)
    assert affine.dequantise(stored).tolist() == [[[4, 0], [0, -127.5]]]


def _graph(operators: Any, scale: Any, zero_point: Any = 0, axis: int = 0) -> Graph:
    s = Sketch(operators=operators)
    return s.finish(s.dequantize(s.input("x", DType.U8, (2, 3)), scale, zero_point, axis))


def test_read(operators: Any) -> None:
    one, several = _graph(operators, 0.1, 7), _graph(operators, [0.1, 0.2, 0.3], [7, 8, 9], -1)
    tenth, fifth = float(np.float32(0.1)), float(np.float32(0.2))
    assert read(one, one.nodes[0]) == Affine(scale=(tenth,), zero_point=(7,), dtype=DType.U8, axis=None)
    found = read(several, several.nodes[0])
    assert isinstance(found, Affine)
    assert (found.scale[:2], found.zero_point, found.axis) == ((tenth, fifth), (7, 8, 9), 1)


def test_a_zero_point_that_is_absent(operators: Any) -> None:
    graph = _graph(operators, [0.1, 0.2], [7, 8])
    node = replace(graph.nodes[0], inputs=graph.nodes[0].inputs[:2])
    found = read(graph, node)
    assert isinstance(found, Affine) and found.zero_point == (0, 0)


def test_the_type_is_that_of_what_is_stored(operators: Any) -> None:
    s = Sketch(operators=operators)
    graph = s.finish(s.quantize(s.input("x", DType.F32, (2,)), 0.1, 0, DType.I16))
    found = read(graph, graph.nodes[0])
    assert isinstance(found, Affine) and found.dtype is DType.I16


@pytest.mark.parametrize(("index", "what"), [(1, "scale"), (2, "zero point")])
def test_numbers_that_are_computed(index: int, what: str, operators: Any) -> None:
    graph = _graph(operators, 0.1)
    node = graph.nodes[0]
    constants = {name: array for name, array in graph.constants.items() if name != node.inputs[index]}
    assert read(replace(graph, constants=constants), node) == f"the {what} of '{node.name}' is not constant"


def test_scales_of_blocks(operators: Any) -> None:
    graph = _graph(operators, [0.1, 0.2])
    node = replace(graph.nodes[0], attributes={**graph.nodes[0].attributes, "block_size": 3})
    assert "scale per block" in str(read(graph, node))
