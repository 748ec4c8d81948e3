"""Convolutions and fully connected layers, in the portable form of their instructions, equal the references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.api.testing import byte_array, make_requant, refusal, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_siracusa.kernels.products import CONV, GEMM, NIBBLES, WORDS
from tilewright_siracusa.kernels.vector import VECTOR, VECTOR_NIBBLES

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None], np.random.Generator]
Check = Callable[..., None]
compiled: Any = settings.get_profile("programs")
BYTES = (DType.I8, DType.U8)


def scales(draw: st.DrawFn, rng: np.random.Generator, outputs: int, y_type: DType, depth: int) -> Requant:
    kind = draw(st.sampled_from(["random", "ties", "coarse", "shift"]))
    if kind == "shift":
        words = draw(st.integers(0, 16)), draw(st.sampled_from(["half-up", "floor"])), draw(st.sampled_from([32, 64]))
        requant = shifted(rng, outputs, *words)
    else:
        requant = make_requant(rng, outputs, y_type, 255 * 128 * np.sqrt(depth), kind)
    low, high = y_type.limits
    narrowed = draw(st.sampled_from([(low, high), (low, high), (low + 20, high), (low + 3, high - 90)]))
    return replace(requant, low=narrowed[0], high=narrowed[1])


def shifted(rng: np.random.Generator, outputs: int, shift: int, rounding: Any, bits: int) -> Requant:
    """Sums multiplied and shifted, in 32 bits that may wrap around, or in 64."""
    multiplier = tuple(int(number) for number in rng.integers(1, 1 + (1 << shift), outputs))
    addend = tuple(int(number) for number in rng.integers(-(2**24), 2**24, outputs))
    numbers = MultiplyShift(multiplier=multiplier, addend=addend, shift=(shift,), rounding=rounding, bits=bits)
    scale = tuple(number / 2**shift for number in multiplier)
    return Requant(scale=scale, zero_point=0, low=0, high=0, rounding=numbers)


@st.composite
def conv_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rank = draw(st.sampled_from([1, 2, 2, 2]))
    x_type, w_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    channels, outputs = draw(st.sampled_from([1, 2, 3, 4, 8, 16, 20])), draw(st.sampled_from([1, 3, 4, 5, 8, 9]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    dilations = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    pads = [draw(st.integers(0, 2)) for _ in range(2 * rank)]
    extents = [(k - 1) * d + 1 + draw(st.integers(0, 6)) for k, d in zip(kernel, dilations, strict=True)]
    saturated = draw(st.booleans())
    x = byte_array(rng, x_type, (draw(st.integers(1, 2)), channels, *extents), saturated)
    w = byte_array(rng, w_type, (outputs, channels, *kernel), saturated)
    bias = rng.integers(-5000, 5000, outputs).astype(np.int32) if draw(st.booleans()) else None
    zero = st.sampled_from([0, *x_type.limits, 3])
    attributes: dict[str, Attribute] = {
        "kernel_shape": tuple(kernel), "strides": tuple(strides), "dilations": tuple(dilations), "pads": tuple(pads),
        "group": 1, "ceil_mode": 0, "requant": scales(draw, rng, outputs, y_type, w[0].size),
        "x_zero_point": draw(zero), "pad_value": draw(zero), "output_type": y_type.value,
        "w_zero_point": (128 if w_type is DType.U8 else 0,),
    }  # fmt: skip
    inputs: list[Array | None] = [x, w, bias]
    return site_of(QCONV, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a_type, b_type, y_type = (draw(st.sampled_from(BYTES)) for _ in range(3))
    lead = draw(st.sampled_from([(1,), (1,), (2,), (3,), (7,), (2, 5), (2, 3, 2), ()]))
    depth, columns = draw(st.sampled_from([1, 4, 12, 15, 33, 64])), draw(st.sampled_from([1, 2, 3, 4, 7, 12]))
    a = byte_array(rng, a_type, (*lead, depth), draw(st.booleans()))
    b = byte_array(rng, b_type, (depth, columns), draw(st.booleans()))
    bias = rng.integers(-5000, 5000, columns).astype(np.int32) if draw(st.booleans()) else None
    attributes: dict[str, Attribute] = {
        "a_zero_point": draw(st.sampled_from([0, *a_type.limits])), "b_zero_point": (128 if b_type is DType.U8 else 0,),
        "requant": scales(draw, rng, columns, y_type, depth), "output_type": y_type.value,
    }  # fmt: skip
    inputs: list[Array | None] = [a, b, bias]
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs, rng


@compiled
@given(case=conv_cases())
def test_convolutions(check: Check, case: Case) -> None:
    site, inputs, rng = case
    assume(refusal(CONV, site) is None)
    check(QCONV, CONV, site, inputs, rng)


@compiled
@given(case=conv_cases())
def test_convolutions_with_weights_of_4_bits(check: Check, case: Case) -> None:
    site, inputs, rng = in_4_bits(case)
    assume(refusal(NIBBLES[0], site) is None)
    check(QCONV, NIBBLES[0], site, inputs, rng)


@compiled
@given(case=conv_cases(), twice=st.booleans())
def test_convolutions_of_values_of_16_bits(check: Check, case: Case, twice: bool) -> None:
    site, inputs, rng = of_16_bits(case, twice=twice)
    assume(refusal(WORDS[0], site) is None)
    check(QCONV, WORDS[0], site, inputs, rng)


@pytest.mark.slow
@compiled
@given(case=gemm_cases(), twice=st.booleans())
def test_fully_connected_layers_of_values_of_16_bits(check: Check, case: Case, twice: bool) -> None:
    site, inputs, rng = of_16_bits(case, twice=twice)
    assume(refusal(WORDS[1], site) is None)
    check(QGEMM, WORDS[1], site, inputs, rng)


def of_16_bits(case: Case, *, twice: bool) -> Case:
    """The same with values of 16 bits, whose results have about as many; or, `twice`, as tflm multiplies and shifts."""
    site, (x, w, bias), rng = case
    assert x is not None and w is not None
    outputs = w.shape[0] if site.node.op == "QConv" else w.shape[1]
    shifts = tuple(int(shift) for shift in rng.integers(17, 30, outputs))
    numbers = MultiplyShift(multiplier=(2**14 + 77,) * outputs, shift=shifts, bits=64)
    scale = tuple((2**14 + 77) / 2.0**shift for shift in shifts) if twice else tuple(rng.uniform(2.0**-12, 1, outputs))
    exact = Requant(
        scale=scale, zero_point=int(rng.integers(-9, 9)), low=int(rng.choice([-(2**15), 0])), high=2**15 - 1
    )
    attributes: dict[str, Attribute] = {
        **site.node.attributes, "output_type": "i16", "requant": replace(exact, rounding=numbers) if twice else exact,
    }  # fmt: skip
    wide = byte_array(rng, DType.I16, x.shape, saturated=bool(rng.integers(2)))
    inputs: list[Array | None] = [wide, w, None if bias is None else bias.astype(np.int64)]
    return site_of({"QConv": QCONV, "QGemm": QGEMM}[site.node.op], inputs, attributes, (1, 2)), inputs, rng


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [NIBBLES[1], VECTOR_NIBBLES], ids=lambda kernel: kernel.name)
@compiled
@given(case=gemm_cases())
def test_fully_connected_layers_with_weights_of_4_bits(check: Check, kernel: Kernel, case: Case) -> None:
    site, inputs, rng = in_4_bits(case)
    assume(refusal(kernel, site) is None)
    check(QGEMM, kernel, site, inputs, rng)


def in_4_bits(case: Case) -> Case:
    """The same with the upper half of its weights, as the file has them; sums stay as large."""
    site, (x, w, bias), rng = case
    assert w is not None
    before = site.node.requant()
    factor = 16.0 if before.rounding == "float32" else 1.0
    attributes: dict[str, Attribute] = {
        **site.node.attributes, "weight_bits": 4, "w_zero_point": (0,), "b_zero_point": (0,),
        "requant": replace(before, scale=tuple(scale * factor for scale in before.scale)),
    }  # fmt: skip
    upper = ((w.astype(np.int16) - (128 if w.dtype == np.uint8 else 0)) >> 4).astype(np.int8)
    operator = {"QConv": QCONV, "QGemm": QGEMM}[site.node.op]
    return site_of(operator, [x, upper, bias], attributes, (1, 2)), [x, upper, bias], rng


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [GEMM, VECTOR], ids=lambda kernel: kernel.name)
@compiled
@given(case=gemm_cases())
def test_fully_connected_layers(check: Check, kernel: Kernel, case: Case) -> None:
    site, inputs, rng = case
    assume(refusal(kernel, site) is None)
    check(QGEMM, kernel, site, inputs, rng)


def conv_site(x: Array, w: Array, **changes: Attribute) -> Site:
    rank, outputs = w.ndim - 2, w.shape[0]
    requant = Requant(scale=(2.0**-10,) * outputs, zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        "kernel_shape": w.shape[2:], "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (0,) * (2 * rank),
        "group": 1, "ceil_mode": 0, "requant": requant, "x_zero_point": 0, "pad_value": 0, "w_zero_point": (0,),
    }  # fmt: skip
    return site_of(QCONV, [x, w], {**attributes, **changes}, (1,))


def test_refusals_say_why() -> None:
    x, w = np.zeros((1, 4, 5, 5), np.int8), np.ones((4, 4, 3, 3), np.int8)
    assert refusal(CONV, conv_site(x, w)) is None
    assert refusal(CONV, conv_site(x, w[:, :2], group=2)) == "has more than one group"
    volume = conv_site(np.zeros((1, 4, 5, 5, 5), np.int8), np.ones((4, 4, 1, 1, 1), np.int8))
    assert "3 spatial axes" in str(refusal(CONV, volume))
    wide = np.full((4, 9000, 3, 3), -128, np.int8)
    assert "64 bits" in str(refusal(CONV, conv_site(np.zeros((1, 9000, 5, 5), np.int8), wide, x_zero_point=127)))
    assert "do not fit 8 bits" in str(refusal(CONV, conv_site(x, np.full((4, 4, 3, 3), 255, np.uint8))))
    long = conv_site(np.zeros((1, 1, 40), np.int8), np.ones((1, 1, 33), np.int8))
    assert "more than 32 taps" in str(refusal(CONV, long))
    deep = site_of(
        QGEMM,
        [np.zeros((1, 2, 1, 2, 3), np.int8), np.ones((3, 2), np.int8)],
        {"requant": Requant(scale=(0.1,), zero_point=0, low=-128, high=127)},
        (1,),
    )
    assert "4 axes of rows" in str(refusal(GEMM, deep))
    assert "4 rows, not one" in str(refusal(VECTOR, deep))


def test_weights_have_an_axis_for_everything_that_is_cut() -> None:
    site = conv_site(np.zeros((1, 16, 8, 8), np.int8), np.ones((10, 16, 3, 3), np.int8))
    packed = layer_of(QCONV, CONV, site).packed
    assert packed["W"].shape == (3, 3, 3, 4, 16)
    assert packed["P"].shape == (3, 8)
    assert packed["W"].sum() == 10 * 16 * 9


@pytest.mark.parametrize("channels", [16, 3], ids=["in place", "copied"])
def test_weights_of_4_bits_share_bytes(channels: int) -> None:
    x, w = np.zeros((1, channels, 8, 8), np.int8), np.full((10, channels, 3, 3), -8, np.int8)
    wide, narrow = (
        layer_of(QCONV, kernel, conv_site(x, w, weight_bits=4)).packed["W"] for kernel in (CONV, NIBBLES[0])
    )
    assert wide.nbytes == 2 * narrow.nbytes
    assert "weights have 8 bits" in str(refusal(NIBBLES[0], conv_site(x, w)))
