"""Pools of floats, in their C forms: inside the error model, whole and in parts; NaN is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Site
from tilewright.api.testing import layers_taken, refusal, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.mve_float_pools import KERNELS

Case = tuple[Site, list[np.ndarray]]
BY_OP = {kernel.op: kernel for kernel in KERNELS}


def pool(op: str, shape: tuple[int, ...], **changes: Attribute) -> Case:
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 2), "strides": (2, 1), "dilations": (1, 2), "pads": (2, 0, 1, 1), "ceil_mode": 0,
        **({} if op == "MaxPool" else {"count_include_pad": 0}), **changes,
    }  # fmt: skip
    return site_of(vocabulary()[op], [x], attributes), [x]


def test_layers_that_are_taken(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"", "ceil", "global"} for kernel in KERNELS}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.op)
def test_nan_and_infinities_are_kept(kernel: Kernel, tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    for channels in (5, 8):
        site, (x,) = pool(kernel.op, (2, channels, 9, 11))
        x[0, 1, 2, 3], x[0, 2, 5, 8], x[1, 0, 0, 0] = np.nan, np.inf, -np.inf
        (folder := tmp_path / str(channels)).mkdir()
        assert float_errors(kernel, (site, [x]), folder) == []


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.op)
def test_parts_of_an_image_are_the_same(kernel: Kernel, tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    more = {} if kernel.op == "MaxPool" else {"count_include_pad": 1, "clip_low": -0.2, "clip_high": 0.3}
    assert float_errors(kernel, pool(kernel.op, (1, 5, 9, 11), **more), tmp_path, {"h": 2, "w": 3}) == []


def test_a_mean_of_an_image_is_summed_in_parts(tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    whole: dict[str, Attribute] = {"kernel_shape": (6, 7), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4}
    kernel, case = BY_OP["AveragePool"], pool("AveragePool", (1, 8, 6, 7), **whole, clip_low=0.0)
    assert float_errors(kernel, case, tmp_path, {"y": 2}) == []
    layer = layer_of(vocabulary()["AveragePool"], kernel, case[0])
    assert kernel.instructions is not None
    assert kernel.instructions(layer.tile({"y": (0, 1)})) < kernel.instructions(layer.whole) / 2


def test_other_types_are_refused() -> None:
    site, _ = pool("MaxPool", (1, 4, 9, 11))
    whole = site_of(vocabulary()["MaxPool"], [np.zeros((1, 4, 9, 11), np.int8)], site.node.attributes)
    assert "values must be f32" in str(refusal(BY_OP["MaxPool"], whole))
