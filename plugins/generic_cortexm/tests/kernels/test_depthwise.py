"""Depthwise convolutions of both instruction sets, in their C forms: equal to the reference, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import UBSAN, byte_array, make_requant, refusal, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels import dsp_depthwise, dsp_taps, mve_depthwise
from tilewright_cortexm.work import whole_work

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
SEVERAL = (dsp_taps.KERNELS[1], mve_depthwise.KERNELS[1])
KERNELS = (*dsp_depthwise.KERNELS, dsp_taps.KERNELS[0], mve_depthwise.KERNELS[0], *SEVERAL)


@st.composite
def cases(draw: st.DrawFn, simple: bool, multipliers: tuple[int, ...] = (1,)) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x_type, w_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    channels = draw(st.sampled_from([2, 4, 5, 6, 7, 8, 11, 16]))
    kernel = [3, 3] if simple else [draw(st.integers(1, 4)) for _ in range(2)]
    dilations = [1, 1] if simple else [draw(st.integers(1, 2)) for _ in range(2)]
    strides = draw(st.permutations([draw(st.integers(1, 3)), draw(st.integers(1, 2))]))
    pads = [draw(st.integers(0, 2)) for _ in range(4)]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 6)) for k, d in zip(kernel, dilations, strict=True)]
    saturated, outputs = draw(st.booleans()), channels * draw(st.sampled_from(multipliers))
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), saturated)
    w = byte_array(rng, w_type, (outputs, 1, *kernel), saturated)
    bias = rng.integers(-5000, 5000, outputs).astype(np.int32) if draw(st.booleans()) else None
    zero = st.sampled_from([*x_type.limits, 3])
    requant = make_requant(rng, outputs, y_type, 60000.0, draw(st.sampled_from(["random", "ties", "coarse"])))
    if draw(st.booleans()):
        requant = replace(requant, low=min(requant.low + 20, requant.high))
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(strides), "dilations": tuple(dilations), "pads": tuple(pads),
        "group": channels, "ceil_mode": 0, "requant": requant, "x_zero_point": draw(zero), "pad_value": draw(zero),
        "w_zero_point": (128 if w_type is DType.U8 else 0,), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@compiled
@given(data=st.data())
def test_equal_to_the_reference(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, data: st.DataObject) -> None:
    site, inputs = data.draw(cases(kernel in dsp_depthwise.KERNELS, (2, 4) if kernel in SEVERAL else (1,)))
    assume(refusal(kernel, site) is None)
    folder, layouts = tmp_path_factory.mktemp("c"), layer_of(QCONV, kernel, site).required
    (found,) = run_kernel(QCONV, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@compiled
@given(case=cases(simple=False))
def test_what_the_dsp_form_cannot_do_is_refused(case: Case) -> None:
    site, _ = case
    special = site.node.integers("kernel_shape") == (3, 3) and site.node.integers("dilations") == (1, 1)
    refused, columns = (refusal(kernel, site) for kernel in dsp_depthwise.KERNELS)
    strides, higher = site.node.integers("strides"), site.output.shape[2] > site.output.shape[3]
    if not special or site.input(0).shape[1] < 4:
        assert refused and columns
    else:
        assert (refused is None) is (strides[1] < 3)
        assert (columns is None) is (higher and strides[0] < 3)


def same_size(
    pads: tuple[int, ...], channels: int, x_type: DType, extents: tuple[int, int] = (6, 5), filters: int = 1
) -> Case:
    """A layer of 3x3 taps over two images, whose output is as large as its input."""
    rng = np.random.default_rng(channels)
    x, w = (
        byte_array(rng, x_type, (2, channels, *extents), False),
        byte_array(rng, DType.I8, (channels * filters, 1, 3, 3), False),
    )
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": pads, "group": channels, "ceil_mode": 0,
        "requant": make_requant(rng, channels * filters, DType.I8, 60000.0, "random"), "x_zero_point": 3,
        "pad_value": 3, "w_zero_point": (0,), "output_type": "i8",
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, None]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize(("pads", "channels"), [((1, 1, 1, 1), 8), ((2, 0, 0, 2), 6), ((0, 2, 2, 0), 3)])
@pytest.mark.parametrize("x_type", BYTES)
@pytest.mark.parametrize("kernel", dsp_depthwise.KERNELS, ids=lambda kernel: kernel.name)
def test_results_may_take_the_bytes_of_what_the_dsp_form_reads(
    tmp_path: Path, pads: tuple[int, ...], channels: int, x_type: DType, kernel: Kernel
) -> None:
    site, inputs = same_size(pads, channels, x_type)
    layer = layer_of(QCONV, kernel, site)
    assert layer.in_place == (("X", "Y"),)
    (found,) = run_kernel(
        QCONV, kernel, site, inputs, folder=tmp_path, layouts=layer.required, flags=UBSAN, in_place=True
    )
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


def test_they_may_not_where_sizes_differ() -> None:
    site, _ = same_size((1, 1, 1, 0), 8, DType.I8)
    for kernel in dsp_depthwise.KERNELS:
        assert layer_of(QCONV, kernel, site).in_place == ()


def test_columns_are_taken_for_rows_where_they_are_longer_and_that_takes_less_time_and_more_scratch() -> None:
    site = same_size((1, 1, 1, 1), 64, DType.I8, (25, 5))[0]
    rows, columns = (layer_of(QCONV, kernel, site).whole for kernel in dsp_depthwise.KERNELS)
    assert dsp_depthwise.KERNELS[1].scratch_bytes(columns) > dsp_depthwise.KERNELS[0].scratch_bytes(rows)
    cycles = [kernel.instructions for kernel in dsp_depthwise.KERNELS]
    assert cycles[0] and cycles[1] and cycles[1](columns) < 0.7 * cycles[0](rows)
    wide = same_size((1, 1, 1, 1), 64, DType.I8, (5, 25))[0]
    assert "the result is 5x25" in str(refusal(dsp_depthwise.KERNELS[1], wide))


@pytest.mark.parametrize(("kernel", "core"), [(SEVERAL[0], "m4"), (SEVERAL[1], "m55")])
def test_several_filters_of_a_channel_take_less_than_a_third_of_portable_c(kernel: Kernel, core: str) -> None:
    site = same_size((1, 1, 1, 1), 8, DType.I8, filters=2)[0]
    portable = tables()[core].of_portable(whole_work("QConv", site))
    used = tables()[core].executed_by(kernel, layer_of(QCONV, kernel, site).whole)
    assert portable and used and 3 * used < portable
    for filters, multiple in ((1, False), (3, False), (4, True)):
        reason = refusal(kernel, same_size((1, 1, 1, 1), 8, DType.I8, filters=filters)[0])
        assert (reason is None) is multiple and (multiple or "outputs per channel" in str(reason))
