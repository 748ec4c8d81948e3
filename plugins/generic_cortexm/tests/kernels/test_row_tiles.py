"""Convolutions of both instruction sets, in their C forms, some rows at a time: equal to the reference, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_tiled, site_of
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import Layer, layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.pooling.pool import MAX_POOL
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright_cortexm.kernels import (
    dsp_depthwise,
    dsp_pools,
    dsp_products,
    dsp_taps,
    mve_depthwise,
    mve_pools,
    mve_products,
)
from tilewright_cortexm.kernels.row_tiles import product, tile_elements, tile_rows

Array = npt.NDArray[np.generic]
MIXING = (dsp_products.KERNELS[0], mve_products.KERNELS[0])
SINGLE = (dsp_products.KERNELS[1], mve_products.KERNELS[1])  # one column at a time
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


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("number", range(len(SHAPES)))
@pytest.mark.parametrize("kernel", [*MIXING, *SINGLE, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_some_rows_at_a_time_are_the_same(kernel: Kernel, number: int, rows: int, tmp_path: Path) -> None:
    site, inputs = convolution(number, kernel in DEPTHWISE)
    assert refusal(kernel, site) is None
    layouts = layer_of(QCONV, kernel, site).required
    (found,) = run_tiled(QCONV, kernel, site, inputs, cuts={"h": rows}, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (2, 3), (1, 4), (3, 5)])
@pytest.mark.parametrize("number", range(len(SHAPES)))
@pytest.mark.parametrize("kernel", [*MIXING, *SINGLE, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_some_columns_at_a_time_are_the_same(
    kernel: Kernel, number: int, rows: int, columns: int, tmp_path: Path
) -> None:
    """The last columns are fewer, so that their number is known when the program runs; where 1 divides all, before."""
    site, inputs = convolution(number, kernel in DEPTHWISE)
    layouts = layer_of(QCONV, kernel, site).required
    cuts = {"h": rows, "w": columns}
    (found,) = run_tiled(QCONV, kernel, site, inputs, cuts=cuts, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.parametrize("kernel", [*MIXING, *SINGLE, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_fewer_columns_take_less_scratch_and_fewer_cycles(kernel: Kernel) -> None:
    one = layer(kernel, 0)
    assert kernel.instructions is not None
    whole, part = (one.tile({**one.whole.box, "h": (0, 1), "w": (0, end)}) for end in (7, 1))
    assert kernel.instructions(part) < kernel.instructions(whole)
    assert kernel.scratch_bytes(part) <= kernel.scratch_bytes(whole)
    if kernel in (dsp_depthwise.KERNELS[0], *MIXING):
        assert kernel.scratch_bytes(part) < kernel.scratch_bytes(whole)


@pytest.mark.parametrize("kernel", [*MIXING, *SINGLE, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_several_images_are_computed_in_one_piece(kernel: Kernel) -> None:
    assert isinstance(layer(kernel, 0).access, MapAccess)
    assert not isinstance(layer(kernel, 0, batches=2).access, MapAccess)


@pytest.mark.parametrize("kernel", [*MIXING, *SINGLE, *DEPTHWISE], ids=lambda kernel: kernel.name)
def test_fewer_rows_take_fewer_cycles(kernel: Kernel) -> None:
    one = layer(kernel, 0)
    assert kernel.instructions is not None
    whole, part = kernel.instructions(one.whole), kernel.instructions(one.tile({**one.whole.box, "h": (0, 1)}))
    assert whole / 11 <= part < whole / 2


def test_elements_and_rows_of_a_tile() -> None:
    one = layer(dsp_products.KERNELS[0], 0)
    tile = one.tile({**one.whole.box, "h": (2, 5)})
    assert (tile_rows(tile), tile_rows(one.whole)) == (3, 11)
    assert tile_elements(tile) == pytest.approx(3 * 7 * 5)


@pytest.mark.parametrize(("width", "rows"), [(5, 1), (4, 1), (7, 1), (8, 1), (5, 2)])
def test_columns_that_do_not_come_out_even_are_computed_in_pairs(width: int, rows: int, tmp_path: Path) -> None:
    kernel, rng = dsp_products.KERNELS[0], np.random.default_rng(width)
    x, w = byte_array(rng, DType.I8, (1, 4, 6, width), False), byte_array(rng, DType.I8, (7, 4, 3, 3), False)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": 1, "requant": make_requant(rng, 7, DType.I8, 60000.0, "random"), "x_zero_point": 3, "pad_value": 3,
        "w_zero_point": (0,), "output_type": "i8",
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, rng.integers(-5000, 5000, 7).astype(np.int32)]
    site = site_of(QCONV, inputs, attributes, (1, 2))
    one = layer_of(QCONV, kernel, site)
    (found,) = run_tiled(
        QCONV, kernel, site, inputs, cuts={"h": rows}, folder=tmp_path, layouts=one.required, flags=UBSAN
    )
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])
    assert "_pairs_" in (tmp_path / "kernel.c").read_text()
    assert kernel.instructions is not None
    part = kernel.instructions(one.tile({**one.whole.box, "h": (0, rows)}))
    assert part < 1.15 * rows / 6 * kernel.instructions(one.whole)


POOLS = (*dsp_pools.KERNELS, *mve_pools.KERNELS)


def pooled(kernel: Kernel, *, whole_image: bool) -> tuple[Operator, Site, list[Array | None]]:
    """A pool over an image of 11 x 6: windows of 3 x 2 with padding that counts, or one window over everything."""
    rng = np.random.default_rng(len(kernel.name))
    x: list[Array | None] = [byte_array(rng, DType.I8, (1, 20, 11, 6), False)]
    kernel_shape, pads, strides = ((11, 6), (0,) * 4, (1, 1)) if whole_image else ((3, 2), (2, 1, 1, 0), (2, 1))
    taps = 66 if whole_image else 6
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel_shape, "strides": strides, "dilations": (1, 1), "pads": pads, "ceil_mode": 0,
    }  # fmt: skip
    if kernel.op == "MaxPool":
        return MAX_POOL, site_of(MAX_POOL, x, attributes), x
    summed: dict[str, Attribute] = {"x_zero_point": -3, "output_type": "i8"}
    if kernel.op == "QReduceMean":
        requant = make_requant(rng, 1, DType.I8, 130.0 * 66, "random")
        return QREDUCE_MEAN, site_of(QREDUCE_MEAN, x, {**summed, "axes": (2, 3), "keepdims": 0, "requant": requant}), x
    summed |= {"count_include_pad": 1, "requant": make_requant(rng, taps, DType.I8, 130.0 * taps, "random")}
    return QAVERAGE_POOL, site_of(QAVERAGE_POOL, x, {**attributes, **summed}), x


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kernel", [one for one in POOLS if one.op != "QReduceMean"], ids=lambda kernel: kernel.name)
def test_pools_some_rows_at_a_time_are_the_same(kernel: Kernel, rows: int, tmp_path: Path) -> None:
    operator, site, inputs = pooled(kernel, whole_image=False)
    layouts = layer_of(operator, kernel, site).required
    (found,) = run_tiled(
        operator, kernel, site, inputs, cuts={"h": rows}, folder=tmp_path, layouts=layouts, flags=UBSAN
    )
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("kernel", [one for one in POOLS if one.op != "QReduceMean"], ids=lambda kernel: kernel.name)
def test_pools_some_columns_at_a_time_are_the_same(kernel: Kernel, columns: int, tmp_path: Path) -> None:
    operator, site, inputs = pooled(kernel, whole_image=False)
    layouts, cuts = layer_of(operator, kernel, site).required, {"h": 2, "w": columns}
    (found,) = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("kernel", [one for one in POOLS if one.op != "MaxPool"], ids=lambda kernel: kernel.name)
def test_means_over_an_image_are_summed_in_parts(kernel: Kernel, rows: int, tmp_path: Path) -> None:
    operator, site, inputs = pooled(kernel, whole_image=True)
    one = layer_of(operator, kernel, site)
    assert one.sums is not None
    (found,) = run_tiled(
        operator, kernel, site, inputs, cuts={"y": rows}, folder=tmp_path, layouts=one.required, flags=UBSAN
    )
    assert np.array_equal(found, operator.reference(site, inputs)[0])


@pytest.mark.parametrize(
    ("factors", "text"),
    [((5, "y.extent"), "5 * y.extent"), (("16", 1), "16"), ((1, "1"), "1"), ((3, "a + b"), "3 * (a + b)")],
)
def test_products_read_well(factors: tuple[object, ...], text: str) -> None:
    assert product(*factors) == text
