"""GridSample: the C against the reference in any layout and tile, the reference beside onnx's own; far coordinates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tilewright.errors import TilewrightError
from tilewright.operators.convolution.grid_sample import KERNELS, OPERATORS, TAPS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(SAMPLE,), (KERNEL,) = OPERATORS, KERNELS
SHAPES = {1: ((2, 3, 5), (2, 7, 1)), 2: ((2, 3, 4, 5), (2, 3, 6, 2)), 3: ((1, 2, 3, 1, 4), (1, 2, 3, 2, 3))}
PADDINGS = ("zeros", "border", "reflection")


def operands(rank: int, reach: float = 1.6) -> list[np.ndarray]:
    """An image and a grid, half of it outside."""
    random = np.random.default_rng(rank)
    image, grid = SHAPES[rank]
    return [random.standard_normal(image).astype(np.float32), random.uniform(-reach, reach, grid).astype(np.float32)]


@pytest.mark.slow
@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", sorted(TAPS))
@pytest.mark.parametrize("rank", sorted(SHAPES))
def test_any_layout_and_tile(rank: int, mode: str, padding: str, align: int, tmp_path: Path) -> None:
    inputs = operands(rank)
    inputs[1].reshape(-1)[:6] = [np.nan, np.inf, -np.inf, 1e30, -1, 1]
    site = site_of(SAMPLE, inputs, {"mode": mode, "padding": padding, "align_corners": align})
    assert kernel_errors(SAMPLE, KERNEL, site, inputs, np.random.default_rng(align), tmp_path) == []


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("mode", sorted(TAPS))
@pytest.mark.parametrize("rank", [2, 3])
def test_as_onnx_has_it(
    beside_onnx: Callable[..., tuple[list[np.ndarray], list[np.ndarray]]],
    rank: int,
    mode: str,
    padding: str,
    align: int,
) -> None:
    image, grid = operands(rank)
    if rank == 3:
        image = np.repeat(image, 2, axis=3)  # theirs divides by the extent less one
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=align)
    (found,), (expected,) = beside_onnx(node, {"x": image, "g": grid}, opset=20)
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("image", "grid"), [((1, 1, 4, 4), (1, 2, 2, 3)), ((1, 1, 4, 4), (2, 2, 2, 2)), ((1, 4), (1, 1))]
)
def test_grids_that_do_not_fit(image: tuple[int, ...], grid: tuple[int, ...]) -> None:
    with pytest.raises(TilewrightError, match="grid"):
        site_of(
            SAMPLE,
            [np.zeros(image, np.float32), np.zeros(grid, np.float32)],
            {"mode": "linear", "padding": "zeros", "align_corners": 0},
        )
