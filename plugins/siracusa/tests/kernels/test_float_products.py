"""Convolutions and matrix products of floats stay inside the error model: whole, in tiles, in any layout they take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import (
    STRICT,
    refusal,
    result_errors,
    run_kernel,
    site_of,
)
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.convolution.conv import CONV
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright_siracusa.kernels import float_conv, float_depthwise, float_matmul

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None], np.random.Generator]
compiled: Any = settings.get_profile("programs")
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": 0.0, "clip_high": 6.0})


def values(rng: np.random.Generator, *shape: int, special: bool = False) -> Array:
    found = rng.normal(0, 10.0 ** rng.uniform(-2, 2), shape).astype(np.float32)
    if special:
        found[rng.random(shape) < 0.05] = rng.choice([np.nan, np.inf, -np.inf])
    return found


@st.composite
def conv_cases(draw: st.DrawFn, depthwise: bool) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.sampled_from([1, 2, 2, 2]))
    channels = draw(st.sampled_from([2, 5, 8] if depthwise else [1, 3, 9, 10, 16]))
    outputs = channels if depthwise else draw(st.sampled_from([1, 3, 4, 5, 8, 9]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilations = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)] if draw(st.booleans()) else [0] * (2 * rank)
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 8)) for k, d in zip(kernel, dilations, strict=True)]
    x = values(rng, draw(st.integers(1, 2)), channels, *extents, special=draw(st.booleans()))
    w = values(rng, outputs, 1 if depthwise else channels, *kernel)
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(strides), "dilations": tuple(dilations), "pads": tuple(pads),
        "group": channels if depthwise else 1, "ceil_mode": 0, **draw(st.sampled_from(CLIPS)),
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, values(rng, outputs) if draw(st.booleans()) else None]
    return site_of(CONV, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lead = draw(st.sampled_from([(1,), (2,), (7,), (2, 5), (2, 3, 2), ()]))
    depth, columns = draw(st.sampled_from([1, 4, 15, 33])), draw(st.sampled_from([1, 2, 3, 4, 7, 12]))
    turned = draw(st.booleans())
    c_shape = draw(st.sampled_from([None, (columns,), (1,), (*lead, columns), (*lead, 1)]))
    attributes: dict[str, Attribute] = {
        "alpha": draw(st.sampled_from([1.0, 0.5])), "beta": draw(st.sampled_from([1.0, -2.0])), "transB": int(turned),
        **draw(st.sampled_from(CLIPS)),
    }  # fmt: skip
    inputs: list[Array | None] = [
        values(rng, *lead, depth, special=draw(st.booleans())),
        values(rng, *((columns, depth) if turned else (depth, columns))),
        None if c_shape is None else values(rng, *c_shape),
    ]
    return site_of(GEMM, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def matmul_cases(draw: st.DrawFn, constant: bool) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a, b = draw(
        st.sampled_from(
            [((5, 8), (8, 6)), ((1, 4), (4, 4)), ((2, 9, 7), (7, 5)), ((2, 2, 6, 12), (12, 9))]
            if constant
            else [((5, 8), (8, 6)), ((2, 3, 7), (2, 7, 5)), ((2, 2, 6, 12), (2, 2, 12, 9)), ((1, 3, 5), (4, 5, 3))]
        )
    )
    inputs: list[Array | None] = [values(rng, *a), values(rng, *b)]
    return site_of(MATMUL, inputs, draw(st.sampled_from(CLIPS)), (1,) if constant else ()), inputs, rng


@compiled
@given(case=conv_cases(depthwise=False))
def test_convolutions(case: Case, check: Callable[..., None]) -> None:
    assume(refusal(float_conv.CONV, case[0]) is None)
    check(CONV, float_conv.CONV, *case)


@compiled
@given(case=conv_cases(depthwise=True))
def test_depthwise_convolutions(case: Case, check: Callable[..., None]) -> None:
    assume(refusal(float_depthwise.DEPTHWISE, case[0]) is None)
    check(CONV, float_depthwise.DEPTHWISE, *case)


@compiled
@given(case=gemm_cases())
def test_fully_connected_layers(case: Case, check: Callable[..., None]) -> None:
    check(GEMM, float_matmul.GEMM, *case)


@pytest.mark.slow
@pytest.mark.parametrize("constant", [True, False])
@compiled
@given(data=st.data())
def test_products(constant: bool, data: st.DataObject, check: Callable[..., None]) -> None:
    case = data.draw(matmul_cases(constant))
    check(MATMUL, float_matmul.MATMUL_WEIGHTS if constant else float_matmul.MATMUL, *case)


def test_refusals_say_why() -> None:
    x, w = np.zeros((1, 4, 5, 5), np.float32), np.ones((4, 4, 3, 3), np.float32)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
        "ceil_mode": 0,
    }  # fmt: skip
    assert refusal(float_conv.CONV, site_of(CONV, [x, w], attributes, (1,))) is None
    assert "must be constants" in str(refusal(float_conv.CONV, site_of(CONV, [x, w], attributes)))
    padded = {**attributes, "pads": (1, 1, 1, 1)}
    assert "4 channels at padded edges" in str(refusal(float_conv.CONV, site_of(CONV, [x, w], padded, (1,))))
    grouped = site_of(CONV, [x, w[:, :2]], {**attributes, "group": 2}, (1,))
    assert "more than one group" in str(refusal(float_conv.CONV, grouped))
    assert "no depthwise" in str(refusal(float_depthwise.DEPTHWISE, grouped))
    a = np.zeros((2, 4), np.float32)
    assert "must be constants" in str(refusal(float_matmul.GEMM, site_of(GEMM, [a, a.T.copy()], {})))
    assert "not a constant" in str(refusal(float_matmul.MATMUL_WEIGHTS, site_of(MATMUL, [a, a.T.copy()], {})))
    assert "is a constant" in str(refusal(float_matmul.MATMUL, site_of(MATMUL, [a, a.T.copy()], {}, (1,))))


@pytest.mark.parametrize("rows", [20, 21, 3])
def test_rows_that_are_known_when_it_is_compiled_give_no_warning(rows: int, tmp_path: Path) -> None:
    """Blocks of four rows and what they leave: gcc took the end of the first loop for an overflow in the second."""
    rng = np.random.default_rng(rows)
    inputs = [values(rng, rows, 8), values(rng, 8, 8), values(rng, 8)]
    site = site_of(GEMM, inputs, {}, (1, 2))
    layouts = layer_of(GEMM, float_matmul.GEMM, site).preferred
    found = run_kernel(GEMM, float_matmul.GEMM, site, inputs, folder=tmp_path, layouts=layouts, flags=(*STRICT, "-O2"))
    assert result_errors(GEMM, site, inputs, found) == []
