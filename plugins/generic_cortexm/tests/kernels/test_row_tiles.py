"""Convolutions of both instruction sets, in their C forms, some rows at a time: equal to the reference, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import STRICT, byte_array, make_requant, refusal, run_tiled, site_of
from tilewright.ir.access import MapAccess
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute, Site
from tilewright.ir.kernel import Kernel
from tilewright.ir.layer import Layer, layer_of
from tilewright.operators.qconv import QCONV
from tilewright_cortexm.kernels import dsp_depthwise, dsp_products, dsp_taps, mve_depthwise, mve_products
from tilewright_cortexm.kernels.row_tiles import tile_elements, tile_rows

Array = npt.NDArray[np.generic]
UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")
MIXING = (dsp_products.KERNELS[0], mve_products.KERNELS[0])
DEPTHWISE = (dsp_depthwise.KERNELS[0], dsp_taps.KERNELS[0], mve_depthwise.KERNELS[0])
SHAPES = (  # height and width of X, strides, pads
    ((11, 7), (1, 1), (1, 1, 1, 1)),
    ((12, 9), (2, 2), (0, 1, 1, 0)),
    ((9, 8), (3, 1), (2, 0, 2, 1)),
)


def convolution(number: int, depthwise: bool, batches: int = 1) -> tuple[Site, list[Array | None]]:
    """A layer of 3x3 taps over one of `SHAPES`, and its inputs."""
    rng = np.random.default_rng(number)
    extents, strides, pads = SHAPES[number]
    channels, outputs = 6, 6 if depthwise else 5
    x = byte_array(rng, DType.I8, (batches, channels, *extents), False)
    w = byte_array(rng, DType.I8, (outputs, 1 if depthwise else channels, 3, 3), False)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": strides, "dilations": (1, 1), "pads": pads, "ceil_mode": 0,
        "group": channels if depthwise else 1, "requant": make_requant(rng, outputs, DType.I8, 60000.0, "random"),
        "x_zero_point": 3, "pad_value": 3, "w_zero_point": (0,), "output_type": "i8",
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, rng.integers(-5000, 5000, outputs).astype(np.int32)]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


def layer(kernel: Kernel, number: int, batches: int = 1) -> Layer:
    """The layer as the kernel computes it."""
    return layer_of(QCONV, kernel, convolution(number, kernel in DEPTHWISE, batches)[0])


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("number", range(len(SHAPES)))
@pytest.mark.parametrize("kernel", [*MIXING, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_some_rows_at_a_time_are_the_same(kernel: Kernel, number: int, rows: int, tmp_path: Path) -> None:
    site, inputs = convolution(number, kernel in DEPTHWISE)
    assert refusal(kernel, site) is None
    layouts = layer_of(QCONV, kernel, site).required
    (found,) = run_tiled(QCONV, kernel, site, inputs, cuts={"h": rows}, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.parametrize("kernel", [*MIXING, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_several_images_are_computed_in_one_piece(kernel: Kernel) -> None:
    assert isinstance(layer(kernel, 0).access, MapAccess)
    assert not isinstance(layer(kernel, 0, batches=2).access, MapAccess)


@pytest.mark.parametrize("kernel", [*MIXING, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_fewer_rows_take_fewer_cycles(kernel: Kernel) -> None:
    one = layer(kernel, 0)
    assert kernel.cycles is not None
    whole, part = kernel.cycles(one.whole), kernel.cycles(one.tile({**one.whole.box, "h": (0, 1)}))
    assert whole / 11 <= part < whole / 2


def test_elements_and_rows_of_a_tile() -> None:
    one = layer(dsp_products.KERNELS[0], 0)
    tile = one.tile({**one.whole.box, "h": (2, 5)})
    assert (tile_rows(tile), tile_rows(one.whole)) == (3, 11)
    assert tile_elements(tile) == pytest.approx(3 * 7 * 5)
