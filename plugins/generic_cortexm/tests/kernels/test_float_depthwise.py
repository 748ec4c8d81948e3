"""Depthwise convolutions of floats, in their C forms: inside the error model, whole and in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import (
    UBSAN,
    layers_taken,
    refusal,
    result_errors,
    run_kernel,
    run_tiled,
    site_of,
    vocabulary,
)
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.float_depthwise import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
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
    kernel, dilations = (tuple(draw(st.integers(1, most)) for _ in range(rank)) for most in (5, 2))
    extents = tuple((k - 1) * d + draw(st.integers(1, 6)) for k, d in zip(kernel, dilations, strict=True))
    return depthwise(
        np.random.default_rng(draw(st.integers(0, 2**32))), extents, draw(st.sampled_from([2, 3, 4, 8, 13])),
        kernel_shape=kernel, dilations=dilations, strides=tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        pads=tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)), **draw(st.sampled_from(CLIPS)),
    )  # fmt: skip


def errors(kernel: Kernel, case: Case, folder: Path, cuts: dict[str, int] | None = None) -> list[str]:
    site, inputs = case
    operator = vocabulary()["Conv"]
    layouts = layer_of(operator, kernel, site).required
    if cuts is None:
        results = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    else:
        results = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=folder, layouts=layouts, flags=UBSAN)
    return result_errors(operator, site, inputs, results)


@compiled
@given(case=cases())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    assert errors(KERNELS[0], case, tmp_path_factory.mktemp("c")) == []


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4, "w": 3}], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_parts_of_an_image_are_the_same(kernel: Kernel, cuts: dict[str, int], tmp_path: Path) -> None:
    assert errors(kernel, depthwise(np.random.default_rng(1), (9, 11), 6), tmp_path, cuts) == []


def test_layers_that_are_taken(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"depthwise"} for kernel in KERNELS}


def test_refusals_say_why() -> None:
    site, inputs = depthwise(np.random.default_rng(0), (5, 5), 4)
    assert refusal(KERNELS[0], site) is None
    assert "3 spatial axes" in str(refusal(KERNELS[0], depthwise(np.random.default_rng(0), (4, 4, 4), 4)[0]))
    computed = site_of(vocabulary()["Conv"], inputs, site.node.attributes, ())
    assert "constants" in str(refusal(KERNELS[0], computed))
    grouped = [np.zeros((1, 4, 5, 5), np.float32), np.zeros((4, 2, 3, 3), np.float32)]
    two = site_of(vocabulary()["Conv"], grouped, {**site.node.attributes, "group": 2}, (1,))
    assert "one output per channel" in str(refusal(KERNELS[0], two))


def test_channels_that_do_not_come_in_fours_cost_more() -> None:
    rng = np.random.default_rng(0)
    for kernel in KERNELS:
        odd, even = (layer_of(vocabulary()["Conv"], kernel, depthwise(rng, (8, 8), n)[0]) for n in (7, 8))
        assert kernel.instructions is not None
        assert kernel.instructions(odd.whole) > kernel.instructions(even.whole)
