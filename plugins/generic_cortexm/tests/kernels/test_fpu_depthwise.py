"""Depthwise convolutions of the scalar unit of floats, in their C form: inside the error model, whole and in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, layers_taken, result_errors, run_kernel, run_tiled, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.fpu_depthwise import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
(KERNEL,) = KERNELS
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})


def depthwise(rng: np.random.Generator, extents: tuple[int, ...], channels: int, **changes: Attribute) -> Case:
    rank = len(extents)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3,) * rank, "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (1,) * (2 * rank),
        "group": channels, "ceil_mode": 0, **changes,
    }  # fmt: skip
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, tuple)
    shapes = ((1, channels, *extents), (channels, 1, *kernel), (channels,))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    return site_of(vocabulary()["Conv"], inputs, attributes, (1, 2)), inputs


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rank = draw(st.sampled_from([1, 2, 2]))
    kernel = (*(draw(st.integers(1, 4)) for _ in range(rank - 1)), draw(st.sampled_from([2, 3, 3, 3, 5])))
    dilations = tuple(draw(st.sampled_from([1, 1, 2])) for _ in range(rank))
    extents = tuple((k - 1) * d + draw(st.integers(1, 11)) for k, d in zip(kernel, dilations, strict=True))
    return depthwise(
        np.random.default_rng(draw(st.integers(0, 2**32))), extents, draw(st.sampled_from([2, 3, 4, 8, 13])),
        kernel_shape=kernel, dilations=dilations, strides=tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        pads=tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)), **draw(st.sampled_from(CLIPS)),
    )  # fmt: skip


def errors(case: Case, folder: Path, cuts: dict[str, int] | None = None) -> list[str]:
    site, inputs = case
    operator = vocabulary()["Conv"]
    layouts = layer_of(operator, KERNEL, site).required
    if cuts is None:
        results = run_kernel(operator, KERNEL, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    else:
        results = run_tiled(operator, KERNEL, site, inputs, cuts=cuts, folder=folder, layouts=layouts, flags=UBSAN)
    return result_errors(operator, site, inputs, results)


@compiled
@given(case=cases())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    assert errors(case, tmp_path_factory.mktemp("c")) == []


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4, "w": 4}], ids=str)
@pytest.mark.parametrize("stride", [1, 2])
def test_parts_of_an_image_are_the_same(stride: int, cuts: dict[str, int], tmp_path: Path) -> None:
    assert errors(depthwise(np.random.default_rng(1), (9, 23), 6, strides=(1, stride)), tmp_path, cuts) == []


def test_layers_that_are_taken(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {KERNEL.name: {"depthwise"}}


def instructions(channels: int, **changes: Attribute) -> float:
    site, _ = depthwise(np.random.default_rng(0), (12, 12), channels, **changes)
    assert KERNEL.instructions is not None
    return KERNEL.instructions(layer_of(vocabulary()["Conv"], KERNEL, site).whole)


def test_three_neighbours_cost_less_than_pixels_one_by_one() -> None:
    assert instructions(16) < 0.8 * instructions(16, dilations=(1, 2), pads=(1, 2, 1, 2))


def test_a_single_channel_beyond_fours_costs_less_than_four() -> None:
    assert instructions(8) < instructions(9) < instructions(12)
