"""The table of tanh: how far its polynomials are off, and what it says at its ends."""

from __future__ import annotations

import numpy as np

from tilewright_cortexm.kernels.tanh_table import APART, END, places, rows

ONE = np.float32(1)


def tanh(x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """As C computes it, every product and every sum rounded."""
    moved = x + np.float32(3 * 2**18)
    d = x - (moved - np.float32(3 * 2**18))
    p = np.array(places(), np.float32)[(moved.view(np.uint32) & 255).astype(int)].T
    return ((p[0] * d + p[1]) * d + p[2]) * d + p[3]  # type: ignore[no-any-return]


def test_it_is_at_most_as_far_off_as_is_said() -> None:
    first, last = (int(np.float32(end).view(np.uint32)) for end in (2.0**-14, END))
    x = np.arange(first, last, 997, dtype=np.uint32).view(np.float32)
    exact = np.tanh(x.astype(np.float64))
    assert (np.abs(tanh(x) - exact) / exact).max() < 5.6 * 2.0**-24


def test_small_numbers_stay_what_they_are_and_no_result_is_above_1() -> None:
    small = np.array([0.0, 1e-45, 1e-38, 1e-10], np.float32)
    assert np.array_equal(tanh(small), small)
    assert tanh(np.linspace(0, END, 100_000, dtype=np.float32)[:-1]).max() <= ONE
    assert len(rows()) == len(places()) == END * APART + 1 and places()[-1][-1] == ONE - np.float32(2.0**-24)
