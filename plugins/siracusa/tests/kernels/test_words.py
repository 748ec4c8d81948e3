"""Values of 16 bits: weights of two channels that share 16 bits come apart exactly, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.graph import DoubleRounding, MultiplyShift, Requant, Site
from tilewright.api.testing import refusal, site_of, vocabulary
from tilewright_siracusa.kernels.products import WORDS
from tilewright_siracusa.kernels.words import in_bytes, word_biases, word_bytes, word_finish

PLAIN = Requant(scale=(2.0**-9,), zero_point=3, low=-(2**15), high=2**15 - 1)
SHIFTED = replace(PLAIN, rounding=MultiplyShift(multiplier=(2**14 + 77,), shift=(24,), bits=64))


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def sums_of(weights: np.ndarray, biases: np.ndarray, x: np.ndarray) -> list[int]:
    """What the instructions make of [channels, values], modulo 2**32."""
    stored, begun = word_bytes(weights).view("<i2").astype(np.int64), word_biases(biases)
    found = list[int]()
    for pair, row in enumerate(stored):
        upper = wrapped(int(begun[2 * pair + 1]) + int(((row >> 8) * x).sum()))
        both = wrapped(int(begun[2 * pair]) + int((row * x).sum()))
        found += [wrapped(both - 256 * upper - 128 * int(x.sum())), upper]
    return found


@given(
    pairs=st.integers(1, 3), depth=st.integers(1, 20), seed=st.integers(0, 2**32), saturated=st.booleans(),
    total=st.sampled_from([-(2**31), -1, 0, 2**31 - 1]),
)  # fmt: skip
def test_sums_at_the_edges_are_those_of_the_channels(
    pairs: int, depth: int, seed: int, saturated: bool, total: int
) -> None:
    rng = np.random.default_rng(seed)
    shape = (2 * pairs, depth)
    weights = (rng.choice([-128, 127], shape) if saturated else rng.integers(-128, 128, shape)).astype(np.int8)
    x = rng.choice([-(2**15), 2**15 - 1, 1], depth)
    biases = np.array([wrapped(int(one)) for one in total - (weights.astype(np.int64) * x).sum(axis=1)], np.int64)
    assert sums_of(weights, biases, x) == [total] * len(weights)


def gemm(dtype: type = np.int16, bias: int = 0, **changes: object) -> Site:
    inputs = [np.zeros((1, 4), dtype), np.full((4, 2), -8, np.int8), np.full(2, bias, np.int64)]
    attributes = {"a_zero_point": 3, "b_zero_point": (0,), "requant": PLAIN, "output_type": "i16"}
    return site_of(vocabulary()["QGemm"], inputs, {**attributes, **changes}, (1, 2))


@pytest.mark.parametrize("requant", [PLAIN, SHIFTED, replace(PLAIN, low=0), replace(SHIFTED, high=900)])
def test_what_is_taken(requant: Requant) -> None:
    assert refusal(WORDS[1], gemm(requant=requant)) is None


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (gemm(np.int8), "is i8 to i16; this kernel takes i16"),
        (gemm(bias=2**31 - 9), "the accumulator needs 64 bits; this kernel has 32"),
        (gemm(b_zero_point=(125,)), "weights minus their zero points do not fit 8 bits"),
        (gemm(requant=replace(PLAIN, rounding=DoubleRounding())), "its rounding is another"),
        (
            gemm(requant=replace(SHIFTED, rounding=MultiplyShift(multiplier=(2**15,), shift=(24,), bits=64))),
            "its multipliers are not those of tflm",
        ),
        (
            gemm(requant=replace(SHIFTED, rounding=MultiplyShift(multiplier=(9,), shift=(16,), bits=64))),
            "a channel is scaled by a quarter or more",
        ),
    ],
)
def test_what_is_refused(site: Site, reason: str) -> None:
    assert reason in str(refusal(WORDS[1], site))


def test_padding_that_16_bits_do_not_hold_is_refused() -> None:
    inputs = [np.zeros((1, 4, 3, 3), np.int16), np.ones((2, 4, 1, 1), np.int8)]
    attributes = {
        "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
        "ceil_mode": 0,
        "requant": PLAIN, "x_zero_point": 0, "pad_value": 2**15, "w_zero_point": (0,), "output_type": "i16",
    }  # fmt: skip
    site = site_of(vocabulary()["QConv"], inputs, attributes, (1,))
    assert "i16 does not hold" in str(refusal(WORDS[0], site))


def test_limits_are_less_the_zero_point_where_it_is_added_last() -> None:
    assert word_finish(replace(PLAIN, low=0)) == ("i16", "{.low = -3, .high = 32764, .zero_point = 3}")
    assert word_finish(SHIFTED) == ("shift_i16", "{.low = -32768, .high = 32767, .zero_point = 3}")


def test_steps_over_values_become_bytes_and_extents_stay() -> None:
    assert in_bytes({"x_row": 7, "y_batch": 3, "rows": "4", "top": 5}) == {
        "x_row": 14, "y_batch": 6, "rows": "4", "top": 5,
    }  # fmt: skip
