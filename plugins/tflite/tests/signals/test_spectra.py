"""The transform in 16 bits is one: near numpy's, and the whole scale of its steps away from it."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright_tflite.signals.spectra import ENERGY, IRFFT, RFFT
from tilewright_tflite.signals.transforms import complex_twiddles, real_twiddles


def spectrum(samples: np.ndarray, length: int) -> np.ndarray:
    inputs = [samples.astype(np.int16), complex_twiddles(length // 2), real_twiddles(length // 2)]
    (found,) = RFFT.reference(site_of(RFFT, inputs, {}, (1, 2)), inputs)
    pairs = found.astype(np.float64).reshape(-1, 2)
    return np.asarray(pairs[:, 0] + 1j * pairs[:, 1])


@pytest.mark.parametrize("length", [4, 8, 16, 64, 128, 512, 1024])
def test_a_transform_is_near_that_of_real_numbers(length: int) -> None:
    """It divides by its length; every step of it rounds by half a unit at most, and twiddles are that near, too."""
    samples = np.random.default_rng(length).integers(-32768, 32768, length)
    wanted = np.fft.rfft(samples) / length
    steps = np.log2(length)
    assert np.abs(spectrum(samples, length) - wanted).max() < 2 + steps


@pytest.mark.parametrize("length", [4, 8, 16, 64, 128, 512, 1024])
def test_the_way_back_is_near_that_of_real_numbers(length: int) -> None:
    bins = np.random.default_rng(length).integers(-8000, 8000, length + 2).astype(np.int16)  # no sum wraps
    inputs = [bins, complex_twiddles(length // 2, -1), real_twiddles(length // 2, -1)]
    (found,) = IRFFT.reference(site_of(IRFFT, inputs, {}, (1, 2)), inputs)
    pairs = bins.astype(np.float64).reshape(-1, 2)
    wanted = np.fft.irfft(pairs[:, 0] + 1j * pairs[:, 1])
    assert np.abs(found - wanted).max() < 2 + np.log2(length)


def test_zeros_stand_behind_a_short_frame() -> None:
    samples = np.arange(-20, 20)
    assert np.array_equal(spectrum(samples, 64), spectrum(np.pad(samples, (0, 24)), 64))


def test_energies_are_those_between_two_bins() -> None:
    x = np.array([3, 4, -32768, -32768, 1, 0, 5, 12], np.int16)
    (found,) = ENERGY.reference(site_of(ENERGY, [x], {"first": 1, "end": 3}, ()), [x])
    assert found.tolist() == [0, 2**31, 1, 0]
