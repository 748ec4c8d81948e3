"""RoiAlign: the C against the reference in any layout and tile, the reference beside onnx's own; odd regions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError
from tilewright.operators.convolution.roi_align import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(ALIGN,), (KERNEL,) = OPERATORS, KERNELS
BINS = {"height": 3, "width": 2, "scale": 0.75}


def operands() -> list[np.ndarray]:
    """Two images, and regions of which some reach beyond them, one has no extent and one is turned around."""
    random = np.random.default_rng(1)
    regions = np.sort(random.uniform(-3, 11, (6, 2, 2)), axis=1).reshape(6, 4).astype(np.float32)
    regions[1, 2:], regions[2] = regions[1, :2], regions[2, [2, 3, 0, 1]]
    return [random.standard_normal((2, 3, 5, 7)).astype(np.float32), regions, np.array([0, 1, 1, 0, 1, 0])]


@pytest.mark.parametrize("half_pixel", [0, 1])
@pytest.mark.parametrize("samples", [0, 1, 3])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_any_layout_and_tile(mode: str, samples: int, half_pixel: int, tmp_path: Path) -> None:
    inputs = operands()
    inputs[1][3], inputs[1][4, 0] = [np.nan, 1e30, np.inf, -np.inf], np.nan
    inputs[2][:2] = [-1, 7]
    site = site_of(ALIGN, inputs, {**BINS, "mode": mode, "samples": samples, "half_pixel": half_pixel})
    assert kernel_errors(ALIGN, KERNEL, site, inputs, np.random.default_rng(2), tmp_path) == []


@pytest.mark.parametrize("half_pixel", [0, 1])
@pytest.mark.parametrize("samples", [0, 1, 3])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_as_onnx_has_it(
    beside_onnx: Callable[..., tuple[list[np.ndarray], list[np.ndarray]]], mode: str, samples: int, half_pixel: int
) -> None:
    x, regions, images = operands()
    node = helper.make_node(
        "RoiAlign",
        ["x", "b", "i"],
        ["y"],
        mode=mode,
        sampling_ratio=samples,
        output_height=3,
        output_width=2,
        spatial_scale=0.75,
        coordinate_transformation_mode="half_pixel" if half_pixel else "output_half_pixel",
    )
    (found,), (expected,) = beside_onnx(node, {"x": x, "b": regions, "i": images}, opset=22)
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "regions", "images"), [((1, 2, 4), (3, 4), 3), ((1, 2, 4, 4), (3, 5), 3), ((1, 2, 4, 4), (3, 4), 2)]
)
def test_regions_that_do_not_fit(x: tuple[int, ...], regions: tuple[int, ...], images: int) -> None:
    given = [np.zeros(x, np.float32), np.zeros(regions, np.float32), np.zeros(images, np.int64)]
    with pytest.raises(TilewrightError, match="regions"):
        site_of(ALIGN, given, {**BINS, "mode": "avg", "samples": 0, "half_pixel": 0})
