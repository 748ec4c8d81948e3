"""The proof of multiply-add-shift forms, checked against the formula itself: every accumulator, or every step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from counted import counted
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.proof import exact_thresholds, prove
from tilewright.ir.tensors.requant import Requant, requantise

Integers = npt.NDArray[np.int64]
clamps = st.sampled_from([(-128, 127), (0, 255), (0, 127), (-128, -1), (5, 5), (17, 200)])
zeros = st.sampled_from([-128, 0, 3, 127, 255])
scales = st.one_of(
    st.floats(2.0**-20, 4.0, width=32), st.integers(-18, 3).map(lambda e: 2.0**e), st.sampled_from([0.0, 1e-38, 1e30])
)


def shifted(acc: Integers, multiplier: int, shift: int, requant: Requant) -> Integers:
    """The fixed-point form in Python's integers, which cannot overflow."""
    half = 1 << (shift - 1)
    values = [((int(a) * multiplier + half) >> shift) + requant.zero_point for a in acc]
    return np.asarray([min(max(v, requant.low), requant.high) for v in values], np.int64)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(scale=scales, limits=clamps, zero_point=zeros, low=st.integers(-3000, 3000), extent=st.integers(0, 4000))
def test_proved_means_equal_everywhere(
    scale: float, limits: tuple[int, int], zero_point: int, low: int, extent: int
) -> None:
    requant = Requant(scale=(scale,), zero_point=zero_point, low=limits[0], high=limits[1])
    acc = np.arange(low, low + extent + 1)
    proof = prove(requant, [low], [low + extent])
    (multiplier,) = proof.multipliers
    if multiplier is not None:
        assert 0 <= multiplier < 2**31 and 1 <= proof.shift <= 62
        assert np.array_equal(shifted(acc, multiplier, proof.shift, requant), requantise(acc, requant, 0))


@settings(max_examples=60, deadline=None)
@given(
    scale=st.floats(2.0**-10, 0.25, width=32), zero_point=zeros, low=st.integers(-300, 0), extent=st.integers(0, 600)
)
def test_not_proved_means_impossible(scale: float, zero_point: int, low: int, extent: int) -> None:
    """For a shift of 12 every multiplier can be tried: where one is equal, the proof must have found one as well."""
    requant = Requant(scale=(scale,), zero_point=zero_point, low=-128, high=127)
    acc = np.arange(low, low + extent + 1)
    expected = requantise(acc, requant, 0)
    candidates = np.arange(0, 2000)[:, None]
    all_shifted = np.clip(((acc * candidates + 2**11) >> 12) + zero_point, -128, 127)
    if (all_shifted == expected).all(axis=1).any():
        assert prove(requant, [low], [low + extent]).multipliers[0] is not None


@pytest.mark.parametrize("magnitude", [2**15, 2**22, 2**27, 2**31 - 1, 2**40])
def test_large_ranges_at_every_step_and_at_random(magnitude: int) -> None:
    rng = np.random.default_rng(magnitude)
    found = 0
    for _ in range(20):
        scale = np.float32(100 / magnitude * 2.0 ** rng.uniform(-3, 3))
        zero_point = int(rng.integers(-128, 128))
        requant = Requant(scale=(float(scale),), zero_point=zero_point, low=-128, high=127)
        ends = np.sort(rng.integers(-magnitude, magnitude, 2))
        lowest, highest = ends[:1], ends[1:]
        _, thresholds, sound = exact_thresholds(requant, scale.reshape(1), lowest, highest)
        assert sound.all()
        proof = prove(requant, lowest.tolist(), highest.tolist())
        (multiplier,) = proof.multipliers
        if multiplier is None:
            continue
        found += 1
        near = (thresholds.reshape(-1, 1) + np.arange(-2, 3)).reshape(-1)
        acc = np.concatenate([near, rng.integers(ends[0], ends[1] + 1, 3000), ends])
        acc = acc[(acc >= ends[0]) & (acc <= ends[1])]
        assert np.abs(acc).max() * multiplier <= 2**62
        assert np.array_equal(shifted(acc, multiplier, proof.shift, requant), requantise(acc, requant, 0))
    assert found or magnitude > 2**22  # above, float32 rounds the accumulator itself and few channels are left


@settings(max_examples=50, deadline=None)
@given(scale=scales, zero_point=zeros, low=st.integers(-3000, 3000), extent=st.integers(0, 4000))
def test_thresholds_are_where_the_formula_steps(scale: float, zero_point: int, low: int, extent: int) -> None:
    requant = Requant(scale=(scale,), zero_point=zero_point, low=-128, high=127)
    ends = np.asarray([low]), np.asarray([low + extent])
    steps, thresholds, sound = exact_thresholds(requant, np.asarray([scale], np.float32), *ends)
    assert sound.all()
    with np.errstate(over="ignore"):
        rounded = np.rint(np.arange(low, low + extent + 1).astype(np.float32) * np.float32(scale))
    for k, threshold in zip(steps, thresholds[0], strict=True):
        assert threshold == low + int((rounded < k).sum())


def test_one_shift_serves_channels_of_different_scales() -> None:
    scale = (0.71, 0.011, 0.0003)
    proof = prove(Requant(scale=scale, zero_point=0, low=-128, high=127), [-100, -90, -80], [100, 90, 80])
    assert all(multiplier is not None for multiplier in proof.multipliers)


def test_layers_share_a_shift_where_it_proves_all_that_any_does() -> None:
    """Code of one shift is there once. Where another shift proves more, or this one cannot, the layer has its own."""

    def shift(scale: float) -> int:
        proof = prove(Requant(scale=(scale,), zero_point=0, low=-128, high=127), [-4000], [4000])
        assert proof.multipliers[0] is not None
        return proof.shift

    assert {shift(scale) for scale in (0.0021, 0.0043, 0.0082)} == {36}
    assert shift(0.12371) < 36  # 0.12371 * 2**36 has more than 31 bits


def test_an_outlier_does_not_cost_the_other_channels_their_proof() -> None:
    scale = (100.0, 1.31e-6, 9.2e-7, 7.7e-7)
    reach = 3 * 10**6
    proof = prove(Requant(scale=scale, zero_point=0, low=-128, high=127), [-1] + [-reach] * 3, [1] + [reach] * 3)
    assert [multiplier is not None for multiplier in proof.multipliers] == [False, True, True, True]


def test_ties_are_not_proved_unless_out_of_reach() -> None:
    requant = Requant(scale=(0.25,), zero_point=0, low=-128, high=127)
    assert prove(requant, [-1], [1]).multipliers != (None,)
    assert prove(requant, [-8], [8]).multipliers == (None,)  # 2 -> 0 but 6 -> 2: half to even


def test_a_network_of_a_thousand_channels_is_quick() -> None:
    rng = np.random.default_rng(3)
    scale = tuple(float(s) for s in (2.0 ** rng.uniform(-12, -7, 1000)).astype(np.float32))
    reach = rng.integers(10_000, 60_000, 1000)
    requant, low, high = Requant(scale=scale, zero_point=0, low=-128, high=127), (-reach).tolist(), reach.tolist()
    _, calls = counted(lambda: prove(requant, low, high))
    assert calls < 5 * 1000
