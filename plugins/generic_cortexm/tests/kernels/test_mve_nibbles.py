"""A sixteenth of a scale makes of 16 times a sum what the scale makes of the sum; of tiny ones it would not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright_cortexm.kernels.mve_nibbles import nibble_scales, refused_scales

PAIRS = [range(2), range(2, 3)]


def words(*scales: float) -> np.ndarray:
    return np.array([scales], np.float32).view(np.int32)


@given(total=st.integers(-(2**27), 2**27 - 1), scale=st.floats(2.0**-120, 1.0, width=32))
def test_products_are_the_same_bit_for_bit(total: int, scale: float) -> None:
    found = nibble_scales(words(scale, scale, scale), PAIRS, floats=True)[0].view(np.float32)
    expected = np.float32(total) * np.float32(scale)
    assert [np.float32(factor * total) * part for factor, part in zip((1, 16, 16), found, strict=True)] == [
        expected
    ] * 3


def test_scales_without_a_sixteenth_are_refused_and_numbers_of_tflm_stay() -> None:
    assert refused_scales(words(0.5, 2.0**-120), floats=True) is None
    assert refused_scales(words(0.5, 2.0**-121), floats=True) == "a scale is too small for a sixteenth of it"
    numbers = np.array([[7, 8, 9], [-1, -2, -3]], np.int32)
    assert refused_scales(numbers, floats=False) is None
    assert np.array_equal(nibble_scales(numbers, PAIRS, floats=False), numbers)
