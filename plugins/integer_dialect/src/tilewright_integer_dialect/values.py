"""Knows values of a network of whole numbers: their names, element types and the range of what they can hold.
Does not know operators. A range is two integers, both included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.api.graph import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

BYTES = (DType.I8, DType.U8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What a value can be: from `low` to `high`."""

    low: int
    high: int

    def __add__(self, other: Range) -> Range:
        return Range(low=self.low + other.low, high=self.high + other.high)

    def __neg__(self) -> Range:
        return Range(low=-self.high, high=-self.low)

    def __mul__(self, other: Range) -> Range:
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Range(low=min(products), high=max(products))

    def times(self, count: int) -> Range:
        """The sum of `count` such values."""
        return Range(low=self.low * count, high=self.high * count)

    def clamped(self, low: int, high: int) -> Range:
        """After a clip."""
        return Range(low=min(max(self.low, low), high), high=max(min(self.high, high), low))

    def joined(self, *others: Range) -> Range:
        """What holds these and all others."""
        return Range(low=min(each.low for each in (self, *others)), high=max(each.high for each in (self, *others)))

    def fits(self, dtype: DType) -> bool:
        """Whether that type holds all of it."""
        low, high = dtype.limits
        return low <= self.low and self.high <= high

    @property
    def dtype(self) -> DType:
        """The smallest type that holds it: signed first."""
        return next((dtype for dtype in (*BYTES, DType.I32) if self.fits(dtype)), DType.I64)


def range_of(dtype: DType) -> Range:
    """All that a type holds."""
    return Range(low=dtype.limits[0], high=dtype.limits[1])


def range_in(array: Integers) -> Range:
    """From the least to the greatest element; 0 where there is none."""
    return Range(low=int(array.min()), high=int(array.max())) if array.size else Range(low=0, high=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value of the translated network. `shape` is None where the file does not declare it; `array` has the elements
    of a constant, as int64.
    """

    name: str
    dtype: DType
    range: Range
    shape: tuple[int, ...] | None = None
    array: Integers | None = None


def elements(shape: Sequence[int] | None, axes: Sequence[int]) -> int | None:
    """How many elements lie along these axes; None where nothing says it."""
    if shape is None:
        return None
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count
