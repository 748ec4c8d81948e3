"""Two channels in one word: proved exactly as far as it holds, and then the sums are those of the channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.dsp_pairs import joint_biases, joint_words, pairs_of, proved

PAIR = [range(2)]


def bounds(*ends: tuple[int, int]) -> AccumulatorBounds:
    lowest, highest = zip(*ends, strict=True)
    return AccumulatorBounds(lowest=lowest, highest=highest, partial_lowest=lowest, partial_highest=highest)


def halves(words: int) -> list[int]:
    return [(half + 2**15) % 2**16 - 2**15 for half in (words & 65535, words >> 16)]


def even_bytes(word: int) -> list[int]:
    return [(byte + 128) % 256 - 128 for byte in (word & 255, word >> 16 & 255)]


def sums_of(weights: np.ndarray, biases: np.ndarray, x: np.ndarray) -> tuple[int, int]:
    """What the instructions make of `[2, fours, 4]` weights and the values: SXTB16, SMLAD modulo 2**32, SUB, ASR."""
    words = joint_words(weights.astype(np.int8)).reshape(-1).view("<u4")
    lower, both = (int(bias) for bias in joint_biases(biases, PAIR))
    for at, word in enumerate(map(int, words)):
        values = [int(value) for value in x[at // 2, at % 2 :: 2]]
        lower += sum(value * weight for value, weight in zip(values, even_bytes(word), strict=True))
        both += sum(value * weight for value, weight in zip(values, halves(word), strict=True))
    apart = (both - lower + 2**31) % 2**32 - 2**31
    return lower, apart >> 8


@given(
    fours=st.integers(1, 5), seed=st.integers(0, 2**32), saturated=st.booleans(),
    upper=st.sampled_from([-(2**23), -(2**23) + 1, -1, 0, 2**23 - 1]), lower=st.integers(-(2**30), 2**30),
)  # fmt: skip
def test_sums_at_the_edges_of_what_is_proved_are_those_of_the_channels(
    fours: int, seed: int, saturated: bool, upper: int, lower: int
) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.choice([-127, 127], (2, fours, 4)) if saturated else rng.integers(-127, 128, (2, fours, 4))
    x = rng.choice([-128, 127, 255], (fours, 4))
    products = (weights * x).sum(axis=(1, 2))
    found = sums_of(weights, np.array([lower, upper]) - products, x)
    assert found == (lower, upper)
    assert proved(weights, bounds((lower, lower), (upper, upper)), PAIR)


def test_a_sum_beyond_them_is_not_proved_and_would_be_wrong() -> None:
    weights, x = np.ones((2, 1, 4), np.int64), np.zeros((1, 4), np.int64)
    for beyond in (-(2**23) - 1, 2**23):
        assert not proved(weights, bounds((0, 0), (min(beyond, 0), max(beyond, 0))), PAIR)
        assert sums_of(weights, np.array([0, beyond]), x)[1] != beyond
        assert proved(weights, bounds((-(2**31), 2**31 - 1), (0, 0)), PAIR), "the lower channel has all 32 bits"


@pytest.mark.parametrize(
    ("lower", "upper", "fits"),
    [(-1, -128, False), (-128, -128, False), (0, -128, True), (127, -128, True), (-128, -127, True), (-128, 127, True)],
)
def test_a_half_holds_two_weights_but_for_the_least_above_a_negative_one(lower: int, upper: int, fits: bool) -> None:
    weights = np.zeros((2, 1, 4), np.int64)
    weights[:, 0, 2] = lower, upper
    assert proved(weights, bounds((0, 0), (0, 0)), PAIR) is fits
    x = np.array([[0, 0, 3, 0]])
    assert (sums_of(weights, np.array([5, 7]), x) == (5 + 3 * lower, 7 + 3 * upper)) is fits


def test_every_pair_has_to_be_proved_and_a_channel_alone_does_not_count() -> None:
    weights, fine, wide = np.zeros((5, 1, 4), np.int64), (0, 0), (0, 2**23)
    pairs = [*pairs_of(range(4)), *pairs_of(range(4, 5))]
    assert [list(pair) for pair in pairs] == [[0, 1], [2, 3], [4]]
    assert proved(weights, bounds(wide, fine, wide, fine, wide), pairs)
    assert not proved(weights, bounds(fine, fine, fine, wide, fine), pairs)
    assert not proved(weights[:1], bounds(fine), pairs_of(range(1))), "nothing is saved"
