"""The stored form of a requantisation: words that say themselves what they are, and the report's ranges."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.errors import TilewrightError
from tilewright.ir.tensors.requant import Requant


def bounds_of(reach: int, channels: int) -> AccumulatorBounds:
    low, high = (-reach,) * channels, (reach,) * channels
    return AccumulatorBounds(lowest=low, highest=high, partial_lowest=low, partial_highest=high)


def test_words_carry_multiplier_or_scale() -> None:
    scale = (0.011, 0.25, 0.5)  # the last two have ties
    form = requant_form(Requant(scale=scale, zero_point=0, low=-128, high=127), bounds_of(50, 3), "conv")
    assert form.proved == (True, False, False)
    assert form.words[0] / 2.0**form.shift == pytest.approx(0.011, rel=1e-3)
    bits = form.array()[1:].view(np.uint32) & np.uint32(0x7FFFFFFF)
    assert bits.view(np.float32).tolist() == [0.25, 0.5]
    assert str(form) == "channels 0 proved fixed-point; 1..2 exact float"


def test_ranges_are_contiguous() -> None:
    form = RequantForm(shift=31, words=(1, 2, 3, -1, -2, 5))
    assert [(part.first, part.last, part.proved) for part in form.ranges()] == [
        (0, 2, True), (3, 4, False), (5, 5, True)
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [float("nan"), float("inf"), -0.5])
def test_unusable_scales_are_refused(scale: float) -> None:
    with pytest.raises(TilewrightError) as caught:
        requant_form(Requant(scale=(0.5, scale), zero_point=0, low=0, high=255), bounds_of(9, 2), "gemm")
    assert (caught.value.code, caught.value.where) == ("TW3102", "gemm")
