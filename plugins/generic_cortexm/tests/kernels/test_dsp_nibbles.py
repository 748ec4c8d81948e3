"""Weights of 4 bits of two channels in a byte: the sums come apart exactly, and beyond the bounds they would not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.kernel import AccumulatorBounds
from tilewright_cortexm.kernels.dsp_nibbles import HIGH, LOW, nibble_biases, nibble_words, refused, words_of
from tilewright_cortexm.kernels.dsp_pairs import pairs_of


def wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def sums_of(weights: np.ndarray, biases: np.ndarray, x: np.ndarray) -> list[int]:
    """What the instructions make of `[channels, fours, 4]` weights: SXTB16, AND, SMLAD modulo 2**32, SUB, ASR."""
    pairs = pairs_of(range(len(weights)))
    stored = nibble_words(weights.astype(np.int8), pairs).reshape(-1, len(pairs), 4)
    begun = [int(bias) - 8 * int(x.sum()) for bias in nibble_biases(biases, pairs)]
    found = list[int]()
    for at, pair in enumerate(pairs):
        both = begun[pair[-1]] + int((stored[:, at].astype(np.int64) * x).sum())
        lower = begun[pair[0]] + int(((stored[:, at] & 15).astype(np.int64) * x).sum()) if len(pair) == 2 else 0
        found += [lower] if len(pair) == 2 else []
        found.append(wrapped(wrapped(both) - wrapped(lower)) >> 4)
    return found


@given(
    channels=st.integers(1, 4), fours=st.integers(1, 5), seed=st.integers(0, 2**32), saturated=st.booleans(),
    total=st.sampled_from([-(2**27), -1, 0, 2**27 - 1]),
)  # fmt: skip
def test_sums_at_the_edges_are_those_of_the_channels(
    channels: int, fours: int, seed: int, saturated: bool, total: int
) -> None:
    rng = np.random.default_rng(seed)
    shape = (channels, fours, 4)
    weights = rng.choice([LOW, HIGH], shape) if saturated else rng.integers(LOW, HIGH + 1, shape)
    x = rng.choice([-128, 127, 255], (fours, 4))
    biases = total - (weights * x).sum(axis=(1, 2))
    assert sums_of(weights, biases, x) == [total] * channels
    assert len(nibble_words(weights.astype(np.int8), pairs_of(range(channels)))) == 4 * fours * words_of(channels)


def test_what_does_not_come_apart_is_refused() -> None:
    fine = np.full((2, 1, 4), LOW)
    assert refused(fine, bounds((0, 2**27 - 1))) is None
    assert refused(fine - 1, bounds((0, 0))) == "weights minus their zero points do not fit 4 bits"
    assert refused(fine, bounds((0, 2**27))) == "sums leave the 28 bits in which two channels come apart"
    assert sums_of(np.zeros((2, 1, 4), np.int64), np.array([0, 2**27]), np.zeros((1, 4), np.int64))[1] != 2**27


def bounds(*ends: tuple[int, int]) -> AccumulatorBounds:
    lowest, highest = zip(*ends, strict=True)
    return AccumulatorBounds(lowest=lowest, highest=highest, partial_lowest=lowest, partial_highest=highest)
