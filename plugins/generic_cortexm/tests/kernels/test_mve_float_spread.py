"""Convolutions of floats whose taps are apart, in their C forms: inside the error model, whole and in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.graph import Site
from tilewright.api.testing import (
    UBSAN,
    layers_taken,
    refusal,
    result_errors,
    run_kernel,
    site_of,
    vocabulary,
)
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.mve_float_spread import KERNELS

Case = tuple[Site, list[np.ndarray]]
APART = KERNELS[0]
HALVES = {kernel.op: kernel for kernel in KERNELS[1:]}
compiled = settings.get_profile("programs")
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})


def conv(extents: tuple[int, ...], groups: int, each: int, outputs: int, **changes: Attribute) -> Case:
    """`each` channels and `outputs` of every group."""
    rank, rng = len(extents), np.random.default_rng(sum(extents))
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3,) * rank, "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (1,) * (2 * rank),
        "group": groups, "ceil_mode": 0, **changes,
    }  # fmt: skip
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, tuple)
    shapes = ((1, groups * each, *extents), (groups * outputs, each, *kernel), (groups * outputs,))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    return site_of(vocabulary()["Conv"], inputs, attributes, (1, 2)), inputs


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank, groups = draw(st.sampled_from([1, 2, 2])), draw(st.sampled_from([1, 2, 3]))
    kernel = (*(draw(st.integers(1, 4)) for _ in range(rank - 1)), draw(st.integers(2 if groups == 1 else 1, 4)))
    dilations = (*(draw(st.integers(1, 2)) for _ in kernel[1:]), draw(st.integers(2 if groups == 1 else 1, 3)))
    extents = tuple((k - 1) * d + draw(st.integers(1, 9)) for k, d in zip(kernel, dilations, strict=True))
    each, outputs = draw(st.sampled_from([1, 3, 4, 5])), draw(st.sampled_from([2, 3, 4, 6]))
    return conv(
        extents, groups, each, outputs, kernel_shape=kernel, dilations=dilations,
        strides=tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        pads=tuple(draw(st.integers(0, 3)) for _ in range(2 * rank)), **draw(st.sampled_from(CLIPS)),
    )  # fmt: skip


@compiled
@given(case=cases())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    (site, inputs), operator = case, vocabulary()["Conv"]
    layouts, folder = layer_of(operator, APART, site).required, tmp_path_factory.mktemp("c")
    results = run_kernel(operator, APART, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert result_errors(operator, site, inputs, results) == []


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4, "w": 3}], ids=str)
def test_parts_of_an_image_are_the_same(
    cuts: dict[str, int], tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    assert float_errors(APART, conv((9, 13), 2, 3, 5, dilations=(1, 2)), tmp_path, cuts) == []


def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert taken[APART.name] == {"groups", "1d"}


def test_refusals_say_why() -> None:
    assert "has taps that are neighbours" in str(refusal(APART, conv((5, 5), 1, 4, 4)[0]))
    assert "one output per channel" in str(refusal(APART, conv((5, 5), 4, 1, 1)[0]))
    assert "3 spatial axes" in str(refusal(APART, conv((4, 4, 4), 2, 2, 2)[0]))
    site, inputs = conv((5, 5), 2, 4, 4)
    assert "constants" in str(refusal(APART, site_of(vocabulary()["Conv"], inputs, site.node.attributes)))


def test_more_groups_cost_more() -> None:
    few, many = (layer_of(vocabulary()["Conv"], APART, conv((8, 8), groups, 4, 4)[0]) for groups in (2, 4))
    assert APART.instructions is not None
    assert APART.instructions(few.whole) < APART.instructions(many.whole) < 2.1 * APART.instructions(few.whole)


def halves(case: Case) -> Case:
    site, inputs = case
    arrays = [array.astype(np.float16) for array in inputs]
    constants = tuple(range(1, len(arrays)))
    return site_of(vocabulary()[site.node.op], arrays, site.node.attributes, constants), arrays


@compiled
@given(case=cases())
def test_convolutions_of_float16(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    (site, inputs), operator, kernel = halves(case), vocabulary()["Conv"], HALVES["Conv"]
    layouts, folder = layer_of(operator, kernel, site).required, tmp_path_factory.mktemp("c")
    results = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert result_errors(operator, site, inputs, results) == []


def product(op: str, rows: int, depth: int, columns: int, **attributes: Attribute) -> Case:
    rng = np.random.default_rng(rows)
    shapes = ((rows, depth), (depth, columns), *([(columns,)] if op == "Gemm" else []))
    inputs = [rng.standard_normal(shape).astype(np.float16) for shape in shapes]
    return site_of(vocabulary()[op], inputs, attributes, tuple(range(1, len(inputs)))), inputs


@pytest.mark.parametrize("op", ["Gemm", "MatMul"])
def test_products_of_float16(op: str, tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    for rows, depth, columns in ((1, 7, 5), (9, 16, 8)):
        clip: dict[str, Attribute] = {"beta": 0.5, **CLIPS[rows % 3]} if op == "Gemm" else {}
        (folder := tmp_path / str(rows)).mkdir()
        assert float_errors(HALVES[op], product(op, rows, depth, columns, **clip), folder) == []


def test_infinities_and_nan_of_float16_are_kept(tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    site, inputs = halves(conv((6, 9), 1, 4, 6, clip_low=0.0))
    inputs[0][0, 1, 2, 3], inputs[0][0, 2, 5, 8], inputs[0][0, 0, 0, 0] = np.nan, np.inf, -np.inf
    assert float_errors(HALVES["Conv"], (site, inputs), tmp_path) == []


def test_refusals_of_float16_say_why() -> None:
    site, inputs = product("Gemm", 2, 5, 4, alpha=0.5)
    assert "alpha" in str(refusal(HALVES["Gemm"], site))
    assert "constants" in str(refusal(HALVES["Gemm"], site_of(vocabulary()["Gemm"], inputs, {})))
    assert "float16" in str(refusal(HALVES["Conv"], conv((5, 5), 2, 4, 4)[0]))
    assert "3 spatial axes" in str(refusal(HALVES["Conv"], halves(conv((4, 4, 4), 2, 2, 2))[0]))
