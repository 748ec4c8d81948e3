"""What operators have in common."""

from __future__ import annotations

from tilewright.api.testing import site_of
from tilewright_integer_dialect.operators.parts import limited_dtype, rows
from tilewright_integer_dialect.vocabulary import OPERATORS


def test_rows_are_whole_and_everything_else_can_be_cut() -> None:
    import numpy as np

    operator = next(each for each in OPERATORS if each.name == "integer.ITAMax")
    site = site_of(operator, [np.zeros((2, 3, 5), np.int8)], {"group": 0, "levels": 256})
    assert [loop.name for loop in rows(site).loops] == ["i0", "i1"]


def test_the_smallest_type_holds_the_limits() -> None:
    import numpy as np

    operator = next(each for each in OPERATORS if each.name == "integer.RMSNorm")
    arrays = [np.zeros((2, 5), np.int8), np.zeros(5, np.int32)]
    for low, high, name in ((-128, 127, "i8"), (0, 255, "u8"), (-129, 127, "i32")):
        assert limited_dtype(site_of(operator, arrays, {"shift": 1, "low": low, "high": high})).value == name
