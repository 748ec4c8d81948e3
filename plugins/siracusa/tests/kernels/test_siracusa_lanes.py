"""Depthwise convolutions and pools, in the portable form of their instructions, equal the references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import byte_array, make_requant, refusal, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.operators.pooling.pool import MAX_POOL
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qpool import QAVERAGE_POOL
from tilewright_siracusa.kernels.depthwise import DEPTHWISE, DEPTHWISE_TAPS
from tilewright_siracusa.kernels.pools import AVERAGE, MAX

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None], np.random.Generator]
Check = Callable[..., None]
compiled: Any = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)


def windows(draw: st.DrawFn, rank: int, most: int = 5) -> tuple[dict[str, Attribute], list[int]]:
    """Attributes of random windows, and extents into which some of them fit."""
    kernel = [draw(st.integers(1, most)) for _ in range(rank)]
    dilations = [draw(st.sampled_from([1, 1, 1, 2])) for _ in range(rank)]
    pads = [draw(st.integers(0, max(kernel[axis % rank] - 1, 0))) for axis in range(2 * rank)]
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(draw(st.integers(1, 2)) for _ in range(rank)),
        "dilations": tuple(dilations), "pads": tuple(pads), "ceil_mode": 0,
    }  # fmt: skip
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 6)) for k, d in zip(kernel, dilations, strict=True)]
    return attributes, extents


def shifted(rng: np.random.Generator, channels: int, y_type: DType) -> Requant:
    """Sums multiplied and shifted, in 32 bits that may wrap around."""
    multiplier, addend = (tuple(int(each) for each in rng.integers(1, most, channels)) for most in (3000, 2**24))
    rounding = MultiplyShift(multiplier=multiplier, addend=addend, shift=(12,))
    scale, limits = tuple(each / 4096 for each in multiplier), y_type.limits
    return Requant(scale=scale, zero_point=0, low=limits[0], high=limits[1], rounding=rounding)


@st.composite
def depthwise_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank, channels = draw(st.sampled_from([1, 2, 2, 2])), draw(st.sampled_from([2, 3, 4, 5, 8, 11]))
    x_type, w_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    attributes, extents = windows(draw, rank)
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), draw(st.booleans()))
    w = byte_array(rng, w_type, (channels, 1, *attributes["kernel_shape"]), draw(st.booleans()))
    bias = rng.integers(-5000, 5000, channels).astype(np.int32) if draw(st.booleans()) else None
    zero = st.sampled_from([0, *x_type.limits, 3])
    kind = draw(st.sampled_from(["random", "ties", "coarse", "shift"]))
    if kind == "shift":
        requant = shifted(rng, channels, y_type)
    else:
        requant = make_requant(rng, channels, y_type, 255 * 128 * np.sqrt(w[0].size), kind)
    attributes |= {
        "group": channels, "requant": requant,
        "x_zero_point": draw(zero), "pad_value": draw(zero), "output_type": y_type.value,
        "w_zero_point": (128 if w_type is DType.U8 else 0,),
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def average_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank, channels = draw(st.sampled_from([1, 2, 2])), draw(st.sampled_from([1, 3, 4, 8, 10]))
    x_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(2))
    attributes, extents = windows(draw, rank, most=7)
    attributes["count_include_pad"] = draw(st.integers(0, 1))
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), draw(st.booleans()))
    taps = int(np.prod(attributes["kernel_shape"]))
    one = make_requant(rng, 1, y_type, 255 * taps, draw(st.sampled_from(["random", "ties", "coarse"])))
    scale = tuple(float(np.float32(one.scale[0] * taps / count)) for count in range(1, taps + 1))
    attributes |= {
        "x_zero_point": draw(st.sampled_from([0, *x_type.limits])), "output_type": y_type.value,
        "requant": Requant(scale=scale, zero_point=one.zero_point, low=one.low, high=one.high),
    }  # fmt: skip
    return site_of(QAVERAGE_POOL, [x], attributes), [x], rng


@st.composite
def max_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank, channels = draw(st.sampled_from([1, 2, 2])), draw(st.sampled_from([1, 3, 4, 8, 10]))
    attributes, extents = windows(draw, rank)
    attributes["ceil_mode"] = draw(st.integers(0, 1))
    x = byte_array(rng, draw(st.sampled_from(BYTES)), (draw(st.integers(1, 2)), channels, *extents), False)
    return site_of(MAX_POOL, [x], attributes), [x], rng


@pytest.mark.slow
@compiled
@given(case=depthwise_cases())
def test_depthwise_convolutions(check: Check, case: Case) -> None:
    site, inputs, rng = case
    refusals = [str(refusal(kernel, site)) for kernel in (DEPTHWISE, DEPTHWISE_TAPS)]
    assume("None" in refusals)
    assert sum("strips" in reason for reason in refusals) == 1
    check(QCONV, (DEPTHWISE, DEPTHWISE_TAPS)[refusals.index("None")], site, inputs, rng)


@pytest.mark.slow
@compiled
@given(case=average_cases())
def test_averages(check: Check, case: Case) -> None:
    site, inputs, rng = case
    assert refusal(AVERAGE, site) is None
    check(QAVERAGE_POOL, AVERAGE, site, inputs, rng)


@compiled
@given(case=max_cases())
def test_largest_elements(check: Check, case: Case) -> None:
    site, inputs, rng = case
    assert refusal(MAX, site) is None
    check(MAX_POOL, MAX, site, inputs, rng)


def test_refusals_say_why() -> None:
    requant = Requant(scale=(0.25,), zero_point=0, low=-128, high=127)
    pool: dict[str, Attribute] = {
        "kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
    }  # fmt: skip
    x = np.zeros((1, 4, 40, 40), np.int8)
    average = {**pool, "count_include_pad": 0, "requant": requant}
    assert refusal(AVERAGE, site_of(QAVERAGE_POOL, [x], average)) is None
    assert "one scale" in str(refusal(AVERAGE, site_of(QAVERAGE_POOL, [x], {**average, "pads": (1, 1, 1, 1)})))
    wide = {**average, "kernel_shape": (33, 2)}
    assert "more than 32 taps" in str(refusal(AVERAGE, site_of(QAVERAGE_POOL, [x], wide)))
    assert "i8 or u8" in str(refusal(MAX, site_of(MAX_POOL, [x.astype(np.float32)], pool)))
    conv: dict[str, Attribute] = {**pool, "group": 1, "requant": requant, "x_zero_point": 0, "w_zero_point": (0,)}
    full = site_of(QCONV, [x, np.ones((4, 4, 2, 2), np.int8)], conv, (1,))
    assert "no depthwise" in str(refusal(DEPTHWISE, full))
