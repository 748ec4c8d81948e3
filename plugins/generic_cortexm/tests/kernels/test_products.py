"""Convolutions and matrix products of both instruction sets, in their C forms: equal to the references, bit for bit."""

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
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_cortexm.kernels import dsp_products, mve_products

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)
CONV = (dsp_products.KERNELS[0], mve_products.KERNELS[0])
GEMM = tuple(
    kernel
    for kernel in (*dsp_products.KERNELS, *mve_products.KERNELS)
    if (kernel.op, kernel.weight_bits) == ("QGemm", (8,))
)


def scales(draw: st.DrawFn, rng: np.random.Generator, outputs: int, y_type: DType, depth: int) -> Requant:
    kind = draw(st.sampled_from(["random", "ties", "coarse"]))
    requant = make_requant(rng, outputs, y_type, 255 * 128 * np.sqrt(depth), kind)
    low, high = y_type.limits
    narrowed = draw(st.sampled_from([(low, high), (low, high), (low + 20, high), (low + 3, high - 90)]))
    return replace(requant, low=narrowed[0], high=narrowed[1])


@st.composite
def conv_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.sampled_from([1, 2, 2, 2]))
    x_type, w_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    channels, outputs = draw(st.sampled_from([1, 2, 3, 4, 7, 16, 21])), draw(st.sampled_from([1, 2, 3, 4, 5, 6, 9]))
    groups = draw(st.sampled_from([1, 1, 1, 3]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilations = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 4)) for k, d in zip(kernel, dilations, strict=True)]
    saturated = draw(st.booleans())
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), groups * channels, *extents), saturated)
    w = byte_array(rng, w_type, (groups * outputs, channels, *kernel), saturated)
    w_zero = 128 if w_type is DType.U8 else 0
    bias = rng.integers(-5000, 5000, len(w)).astype(np.int32) if draw(st.booleans()) else None
    zero = st.sampled_from([0, *x_type.limits, 3])
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(strides), "dilations": tuple(dilations), "pads": tuple(pads),
        "group": groups, "ceil_mode": 0, "requant": scales(draw, rng, len(w), y_type, w[0].size),
        "x_zero_point": draw(zero), "pad_value": draw(zero), "w_zero_point": (w_zero,), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    lead = draw(st.sampled_from([(1,), (2,), (3,), (7,), (2, 5), ()]))
    depth, columns = draw(st.sampled_from([1, 4, 15, 16, 33, 64, 100])), draw(st.sampled_from([1, 2, 3, 4, 7, 12]))
    a = byte_array(rng, a_type, (*lead, depth), draw(st.booleans()))
    b = byte_array(rng, b_type, (depth, columns), draw(st.booleans()))
    bias = rng.integers(-5000, 5000, columns).astype(np.int32) if draw(st.booleans()) else None
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])), "b_zero_point": (128 if b_type is DType.U8 else 0,),
        "requant": scales(draw, rng, columns, y_type, depth), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [a, b, bias]
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize("kernel", CONV, ids=lambda kernel: kernel.engine)
@compiled
@given(case=conv_cases())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, case: Case) -> None:
    site, inputs = case
    assume(refusal(kernel, site) is None)
    folder, layouts = tmp_path_factory.mktemp("c"), layer_of(QCONV, kernel, site).required
    (found,) = run_kernel(QCONV, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, QCONV.reference(site, inputs)[0])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", GEMM, ids=lambda kernel: kernel.engine)
@compiled
@given(case=gemm_cases())
def test_matrix_products(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, case: Case) -> None:
    site, inputs = case
    assume(refusal(kernel, site) is None)
    (found,) = run_kernel(QGEMM, kernel, site, inputs, folder=tmp_path_factory.mktemp("c"), flags=UBSAN)
    assert np.array_equal(found, QGEMM.reference(site, inputs)[0])


def conv_site(x: Array, w: Array, **changes: Attribute) -> Site:
    rank, outputs = w.ndim - 2, w.shape[0]
    requant = Requant(scale=(2.0**-10,) * outputs, zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        "kernel_shape": w.shape[2:], "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (0,) * (2 * rank),
        "group": 1, "ceil_mode": 0, "requant": requant, "x_zero_point": 0, "pad_value": 0, "w_zero_point": (0,),
    }  # fmt: skip
    return site_of(QCONV, [x, w], {**attributes, **changes}, (1,))


@pytest.mark.parametrize("kernel", CONV, ids=lambda kernel: kernel.engine)
def test_refusals_say_why(kernel: Kernel) -> None:
    w = np.ones((4, 4, 3, 3), np.int8)
    x = np.zeros((1, 4, 5, 5), np.int8)
    assert refusal(kernel, conv_site(x, w)) is None
    assert refusal(kernel, conv_site(x, w[:, :2], group=2)) is None
    assert refusal(kernel, conv_site(x, w[:, :1], group=4)) == "has one output in every group"
    assert "i8 does not hold" in str(refusal(kernel, conv_site(x, w, pad_value=200)))
    assert "3 spatial axes" in str(
        refusal(kernel, conv_site(np.zeros((1, 4, 5, 5, 5), np.int8), np.ones((4, 4, 1, 1, 1), np.int8)))
    )
    wide = np.full((4, 9000, 3, 3), -128, np.int8)
    assert "64 bits" in str(refusal(kernel, conv_site(np.zeros((1, 9000, 5, 5), np.int8), wide, x_zero_point=127)))
    large = conv_site(np.zeros((1, 900, 5, 5), np.int8), np.ones((4, 900, 3, 3), np.int8))
    assert "bytes of scratch" in str(refusal(kernel, large))
    uneven = conv_site(x, np.full((4, 4, 3, 3), 255, np.uint8))
    assert "do not fit 8 bits" in str(refusal(kernel, uneven))


def test_costs_grow_with_work_and_weights_stay_one_byte_each() -> None:
    for kernel in CONV:
        site = conv_site(np.zeros((1, 16, 8, 8), np.int8), np.ones((8, 16, 3, 3), np.int8))
        assert layer_of(QCONV, kernel, site).packed["W"].nbytes == 8 * 16 * 9


def test_channels_without_weights_are_no_reason_against_words_of_two_channels(tmp_path: Path) -> None:
    """Their sums are constants: large ones, which are clamped, become smaller ones of the same results."""
    rng = np.random.default_rng(3)
    x, w = byte_array(rng, DType.I8, (1, 5, 4, 4), False), rng.integers(-9, 9, (4, 5, 3, 3)).astype(np.int8)
    w[1::2] = 0
    requant = Requant(scale=(2.0**-8, 2.0**-8, 2.0**-8, 2.0**-30), zero_point=0, low=-128, high=127)
    found = []
    for bias in (2**23, -(2**30)):
        inputs: list[Array | None] = [x, w, np.array([5, bias, -7, 9], np.int32)]
        attributes = {**conv_site(x, w).node.attributes, "requant": requant}
        site = site_of(QCONV, inputs, attributes, (1, 2))
        layer = layer_of(QCONV, CONV[0], site)
        found.append(layer.whole.site.analysis.paired)
        (folder := tmp_path / str(bias)).mkdir()
        (results,) = run_kernel(QCONV, CONV[0], site, inputs, folder=folder, layouts=layer.required, flags=UBSAN)
        assert np.array_equal(results, QCONV.reference(site, inputs)[0])
    needed = [x, w, np.array([5, 3, -7, 2**30], np.int32)]  # which is 1, and 0 were it smaller
    site = site_of(QCONV, needed, attributes, (1, 2))
    assert found == [True, True] and not layer_of(QCONV, CONV[0], site).whole.site.analysis.paired
