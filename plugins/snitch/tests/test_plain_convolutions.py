"""Portable convolutions, of a core's part of a tile: what the simulated core takes; GVSoC, for those counted there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from snitch_run import run_on_iss
from timing import GVSOC_FAR

from tilewright.api.graph import Attribute, DType
from tilewright.api.testing import site_of
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.requant import Requant
from tilewright.plugins import load_for
from tilewright.testing.one_step import vocabulary
from tilewright_snitch.plain_convolutions import blocks_of, convolution_cycles

KERNELS = load_for(target="snitch").kernels
NAMES = {
    "Conv": "portable.conv_f32", "QConv": "portable.qconv", "ConvInteger": "portable.conv_integer",
    "ConvTranspose": "portable.conv_transpose_f32",
}  # fmt: skip


def window(side: int, pad: int, group: int, stride: int = 1) -> dict[str, Attribute]:
    return {
        "kernel_shape": (side, side), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
        "ceil_mode": 0, "group": group,
    }  # fmt: skip


def drawn(dtype: DType, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    rng = np.random.default_rng(6)
    if dtype.is_float:
        return rng.standard_normal(shape).astype(dtype.numpy)
    return rng.integers(-100, 100, shape).astype(dtype.numpy)


def requant(channels: int, depth: int) -> Requant:
    """That uses the range of the output; by multiplication of integers."""
    scale = 40 / (74 * 74 * np.sqrt(depth)) * np.linspace(0.5, 1.5, channels)
    return Requant(scale=tuple(float(one) for one in scale.astype(np.float32)), zero_point=-5, low=-128, high=127)


def compared(op: str, inputs: list[Any], attributes: dict[str, Attribute], box: Any, folder: Path) -> tuple[Any, int]:
    """What is estimated of a part, and what the simulated core takes."""
    operator, kernel = vocabulary()[op], KERNELS[NAMES[op]]
    site = site_of(operator, inputs, attributes, (1, 2) if op != "ConvInteger" else (1,))
    took = run_on_iss(operator, kernel, site, inputs, folder, box, timing=GVSOC_FAR, opaque=True).cycles
    layer = layer_of(operator, kernel, site)
    return convolution_cycles(op, layer.tile({**layer.whole.box, **box})), took


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 4, 6])
@pytest.mark.parametrize(
    ("channels", "side", "group"), [(2, 3, 1), (4, 3, 1), (8, 3, 1), (20, 3, 1), (16, 1, 1), (5, 2, 1), (8, 3, 2)]
)
def test_floats(channels: int, side: int, group: int, outputs: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Shapes of which some were not measured."""
    tool("riscv64-unknown-elf-gcc")
    inputs = [drawn(DType.F32, *shape) for shape in ((1, channels, 5, 5), (16, channels // group, side, side), (16,))]
    expected, took = compared("Conv", inputs, window(side, 0, group), {"o": (0, outputs)}, tmp_path)
    assert expected == pytest.approx(took, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 4, 6])
@pytest.mark.parametrize(
    ("channels", "side", "group"), [(3, 3, 1), (8, 3, 1), (12, 3, 1), (24, 1, 1), (16, 3, 4), (12, 3, 12), (12, 5, 12)]
)
def test_bytes(channels: int, side: int, group: int, outputs: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    made = 12 if group == 12 else 16
    shapes = ((1, channels, side + 2, side + 2), (made, channels // group, side, side))
    scale = requant(made, channels // group * side**2)
    attributes = {"requant": scale, "x_zero_point": 0, "pad_value": 0, "w_zero_point": (0,)}
    inputs = [*(drawn(DType.I8, *shape) for shape in shapes), np.arange(made, dtype=np.int32)]
    expected, took = compared("QConv", inputs, window(side, 0, group) | attributes, {"o": (0, outputs)}, tmp_path)
    assert expected == pytest.approx(took, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize(
    ("channels", "side", "stride", "group"), [(4, 3, 1, 1), (4, 3, 2, 1), (12, 3, 2, 3), (24, 3, 2, 1), (8, 2, 2, 1)]
)
def test_spread(
    channels: int, side: int, stride: int, group: int, outputs: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Where strides leave out positions, taps that reach none are tried, too."""
    tool("riscv64-unknown-elf-gcc")
    inputs = [drawn(DType.F32, *one) for one in ((1, channels, 3, 3), (channels, 12 // group, side, side), (12,))]
    attributes = window(side, 0, group, stride) | {"output_padding": (0, 0)}
    expected, took = compared("ConvTranspose", inputs, attributes, {"o": (0, outputs)}, tmp_path)
    assert expected == pytest.approx(took, rel=0.25)


def part(op: str, inputs: list[Any], attributes: dict[str, Attribute], box: dict[str, tuple[int, int]]) -> float:
    operator = vocabulary()[op]
    layer: Layer = layer_of(operator, KERNELS[NAMES[op]], site_of(operator, inputs, attributes, (1, 2)[: len(inputs)]))
    return convolution_cycles(op, layer.tile({**layer.whole.box, **box})) or 0.0


@pytest.mark.parametrize(
    ("dtype", "channels", "outputs", "side", "group", "size", "box", "cycles"),
    [
        (DType.BF16, 12, 12, 3, 4, 15, {"h": (0, 2)}, 198_000), (DType.BF16, 24, 24, 5, 24, 9, {"o": (0, 3)}, 148_000),
        (DType.F16, 6, 12, 3, 2, 13, {"h": (0, 2)}, 360_000), (DType.F16, 24, 24, 5, 24, 9, {"o": (0, 3)}, 247_000),
    ],
)  # fmt: skip
def test_halves(
    dtype: DType,
    channels: int,
    outputs: int,
    side: int,
    group: int,
    size: int,
    box: dict[str, tuple[int, int]],
    cycles: int,
) -> None:
    """A core's part on GVSoC, which waits for every number that moves between its register files."""
    shapes = ((1, channels, size, size), (outputs, channels // group, side, side), (outputs,))
    inputs = [drawn(dtype, *shape) for shape in shapes]
    assert part("Conv", inputs, window(side, side // 2, group), box) == pytest.approx(cycles, rel=0.25)


@pytest.mark.parametrize(
    ("channels", "outputs", "side", "group", "size", "rows", "cycles"),
    [(6, 10, 3, 2, 15, 2, 108_000), (20, 8, 3, 1, 10, 2, 410_000), (24, 8, 1, 1, 13, 2, 51_000)],
)
def test_sums_of_integers(
    channels: int, outputs: int, side: int, group: int, size: int, rows: int, cycles: int
) -> None:
    """A core's rows on GVSoC, with zero points of weights."""
    shapes = ((1, channels, size, size), (outputs, channels // group, side, side), (1,), (outputs,))
    inputs = [drawn(DType.I8, *shape) for shape in shapes]
    found = part("ConvInteger", inputs, window(side, side // 2, group), {"h": (0, rows)})
    assert found == pytest.approx(cycles, rel=0.5)


def test_blocks_are_of_one_group() -> None:
    assert blocks_of(18, 6) == (3, 6)
    assert blocks_of(16, 16) == (4, 0)
    assert blocks_of(7, 16) == (1, 3)


def test_padding_that_counts_takes_longer() -> None:
    attributes = window(3, 1, 8) | {"requant": requant(8, 9), "x_zero_point": 0, "w_zero_point": (0,)}
    inputs = [drawn(DType.I8, 1, 8, 6, 6), drawn(DType.I8, 8, 1, 3, 3), np.arange(8, dtype=np.int32)]
    none, some = (part("QConv", inputs, attributes | {"pad_value": value}, {}) for value in (0, 7))
    assert some > 1.1 * none


def test_what_is_no_convolution() -> None:
    site = site_of(vocabulary()["Add"], [np.zeros((2, 3), np.float32)] * 2, {})
    whole = layer_of(vocabulary()["Add"], KERNELS["portable.add"], site).whole
    assert convolution_cycles("Add", whole) is None
