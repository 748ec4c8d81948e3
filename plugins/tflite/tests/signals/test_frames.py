"""Windows saturate; a frame is scaled as far as 16 bits hold it."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright_tflite.signals.frames import SCALE, WINDOW, scale_bits


@pytest.mark.parametrize(
    ("samples", "bits"),
    [
        ([0, 0], 0), ([1], 14), ([-1], 14), ([16383], 1), ([16384], 0), ([-16385, 3], 0), ([32767], 0),
        ([9, -32768], 0), ([-32768, 9], 11), ([-32768, -9], 0), ([-32768, -9, -30], 10),
    ],
)  # fmt: skip
def test_samples_are_scaled_as_far_as_they_go(samples: list[int], bits: int) -> None:
    """The last cases are the library's: the magnitude of -32768 is -32768 there."""
    assert scale_bits(samples) == bits
    x = np.array(samples, np.int16)
    scaled, found = SCALE.reference(site_of(SCALE, [x], {}, ()), [x])
    assert found == bits and scaled.tolist() == (x.astype(np.int64) << bits).astype(np.int16).tolist()


def test_a_window_saturates() -> None:
    x, w = np.array([[32767, -32768, 5]], np.int16), np.array([4096, 32767, -4096], np.int16)
    (found,) = WINDOW.reference(site_of(WINDOW, [x, w], {"shift": 12}, (1,)), [x, w])
    assert found.tolist() == [[32767, -32768, -5]]
