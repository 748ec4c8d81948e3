"""Two bytes added or subtracted and requantised: the C, in 32 bits and in 64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import MultiplyShift, Requant


@pytest.mark.parametrize("dtypes", [(np.int8, np.int8), (np.uint8, np.int8)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("multiplier", "addend", "shift"), [(77, -1234, 9), (2**24, 2**40, 28), (3, 0, 0)])
def test_the_c_is_exact(dtypes: Any, sign: int, multiplier: int, addend: int, shift: int, right_in_c: Any) -> None:
    rng = np.random.default_rng(shift)
    limits = [np.iinfo(dtype) for dtype in dtypes]
    shapes = ((2, 3, 7), (3, 1))
    arrays = [
        rng.integers(limit.min, limit.max + 1, shape).astype(dtype)
        for limit, shape, dtype in zip(limits, shapes, dtypes, strict=True)
    ]
    rounding = MultiplyShift(multiplier=(multiplier,), addend=(addend,), shift=(shift,), bits=64)
    requant = Requant(scale=(multiplier / 2**shift,), zero_point=0, low=-128, high=127, rounding=rounding)
    assert right_in_c("integer.PairSum", arrays, {"requant": requant, "sign": sign}) == []


def test_values_of_32_bits_are_refused(right_in_c: Callable[..., list[str]]) -> None:
    from tilewright.api.testing import refusal, site_of
    from tilewright_integer_dialect.operators.pairs import PAIR, PAIR_PORTABLE

    rounding = MultiplyShift(multiplier=(1,), shift=(0,))
    requant = Requant(scale=(1.0,), zero_point=0, low=-128, high=127, rounding=rounding)
    site = site_of(PAIR, [np.zeros(3, np.int32), np.zeros(3, np.int8)], {"requant": requant, "sign": 1})
    assert refusal(PAIR_PORTABLE, site) == "values must be i8 or u8, found i32"
