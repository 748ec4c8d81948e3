"""A convolution and what is added to its results, in one kernel: equal to one after the other, in the portable form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.graph import MultiplyShift, Requant
from tilewright.api.testing import byte_array, make_requant, refusal, site_of, vocabulary
from tilewright.ir.graphs.chains import chain_operator
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright_siracusa.kernels.conv_sum import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None], np.random.Generator]
compiled: Any = settings.get_profile("programs")
(CONV_SUM,) = KERNELS
CHAIN = chain_operator([vocabulary()[name] for name in CONV_SUM.pattern])
BYTES = st.sampled_from((DType.I8, DType.U8))
SHIFTS = MultiplyShift(multiplier=(517,), shift=(16,), bits=64)
WINDOW: Mapping[str, Attribute] = {"0.dilations": (1, 1), "0.group": 1, "0.ceil_mode": 0, "0.w_zero_point": (0,)}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x_type, result, other, total = (draw(BYTES) for _ in range(4))
    channels, outputs, taps = draw(st.sampled_from([4, 8])), draw(st.integers(1, 9)), draw(st.integers(1, 3))
    shape, pad = (draw(st.integers(1, 2)), channels, draw(st.integers(3, 7)), draw(st.integers(3, 6))), taps // 2
    x, w = (byte_array(rng, dtype, each, draw(st.booleans())) for dtype, each in (
        (x_type, shape), (DType.I8, (outputs, channels, taps, taps))
    ))  # fmt: skip
    rows, columns = (extent + 2 * pad - taps + 1 for extent in shape[2:])
    more = byte_array(rng, other, (shape[0], outputs, rows, columns), draw(st.booleans()))
    requant = make_requant(
        rng, outputs, result, 255 * 128 * np.sqrt(w[0].size), draw(st.sampled_from(["ties", "coarse"]))
    )
    rounding: dict[str, Attribute] = {}
    if draw(st.booleans()):
        low, high = result.limits
        requant = Requant(scale=(517 / 2**16,), zero_point=1, low=low, high=high, rounding=SHIFTS)
        rounding = {"1.rounding": "multiply-shift"}
    (low, high), scale = total.limits, 2.0 ** rng.uniform(-2, 0, 2)
    attributes: dict[str, Attribute] = {
        **WINDOW, **rounding, "0.kernel_shape": (taps, taps), "0.strides": (1, 1), "0.pads": (pad,) * 4,
        "0.requant": replace(requant, low=requant.low + draw(st.sampled_from([0, 9]))), "0.output_type": result.value,
        "0.x_zero_point": draw(st.sampled_from([0, 3])), "0.pad_value": draw(st.sampled_from([0, 3])),
        "1.a_scale": float(np.float32(scale[0])), "1.b_scale": float(np.float32(scale[1])), "1.a_zero_point": 3,
        "1.b_zero_point": 0, "1.zero_point": int(rng.integers(low, high + 1)),
        "1.low": low + draw(st.sampled_from([0, 7])), "1.high": high, "1.output_type": total.value,
    }  # fmt: skip
    bias = rng.integers(-5000, 5000, outputs).astype(np.int32) if draw(st.booleans()) else None
    addends = [None, more] if draw(st.booleans()) else [more, None]
    inputs: list[Array | None] = [x, w, bias, *addends]
    return site_of(CHAIN, inputs, attributes, (1, 2)), inputs, rng


@pytest.mark.slow
@settings(compiled, max_examples=10)
@given(case=cases())
def test_sums_of_results(check: Callable[..., None], case: Case) -> None:
    site, inputs, rng = case
    assume(refusal(CONV_SUM, site) is None)
    check(CHAIN, CONV_SUM, site, inputs, rng)


def site(x: Array, more: Array, constants: tuple[int, ...] = (1,), **add: Attribute) -> Site:
    """A convolution of four channels to four, 1x1, and a sum."""
    requant = Requant(scale=(2.0**-10,), zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        **WINDOW, "0.kernel_shape": (1, 1), "0.strides": (1, 1), "0.pads": (0,) * 4, "0.requant": requant,
        "0.output_type": "i8", "0.x_zero_point": 0, "0.pad_value": 0, "1.a_scale": 0.3712, "1.b_scale": 0.6131,
        "1.a_zero_point": 3, "1.b_zero_point": -2, "1.zero_point": 1, "1.low": -128, "1.high": 127,
        "1.output_type": "i8",
    }  # fmt: skip
    w = np.ones((4, x.shape[1], 1, 1), np.int8)
    return site_of(
        CHAIN, [x, w, None, None, more], {**attributes, **{f"1.{name}": to for name, to in add.items()}}, constants
    )


def test_refusals_say_why() -> None:
    x, more = np.zeros((1, 4, 5, 5), np.int8), np.zeros((1, 4, 5, 5), np.int8)
    assert refusal(CONV_SUM, site(x, more)) is None
    assert refusal(CONV_SUM, site(np.zeros((1, 3, 5, 5), np.int8), more)) == "windows are copied to columns"
    as_large = "what is added must be computed, and as large as the result"
    assert refusal(CONV_SUM, site(x, more[:, :, :1])) == as_large
    assert refusal(CONV_SUM, site(x, more, constants=(1, 4))) == as_large
    ties = refusal(CONV_SUM, site(x, more, a_scale=0.5, b_scale=0.5, a_zero_point=0, b_zero_point=0))
    assert ties == "the sum has no 32-bit form without ties"
