"""Knows how numbers are rounded to whole steps: sizes to alignments, work to pieces. Does not know what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@overload
def ceil_div(count: int, size: int) -> int: ...
@overload
def ceil_div(count: Integers, size: int | Integers) -> Integers: ...
@overload
def ceil_div(count: int, size: Integers) -> Integers: ...
def ceil_div(count: int | Integers, size: int | Integers) -> int | Integers:
    """How many pieces of `size` hold `count`: the quotient, rounded up. Of arrays, element by element."""
    return -(-count // size)


@overload
def align_up(value: int, align: int) -> int: ...
@overload
def align_up(value: Integers, align: int) -> Integers: ...
def align_up(value: int | Integers, align: int) -> int | Integers:
    """The least multiple of `align` that is not below `value`."""
    return -(-value // align) * align


def align_down(value: int, align: int) -> int:
    """The greatest multiple of `align` that is not above `value`."""
    return value // align * align
