"""Knows how large an integer accumulator can become, from constant weights and the range of the input.
Does not know where weights are stored, nor how the accumulator is requantised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.errors import unsupported_error
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_INT32, _INT64 = 2**31, 2**62  # int64 keeps one bit for the rounding term of a multiply-add-shift


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulatorBounds:
    """Exact ranges, one entry per output channel, both limits included.

    `lowest` and `highest` are reached by the finished sum. `partial_lowest` and `partial_highest` also
    hold for every partial sum, in whatever order the products are added, with or without the bias.
    """

    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    partial_lowest: tuple[int, ...]
    partial_highest: tuple[int, ...]

    @property
    def bits(self) -> int:
        """32 or 64, the narrowest C integer that no partial sum can leave; or the bits needed beyond 64."""
        least, most = min(self.partial_lowest, default=0), max(self.partial_highest, default=0)
        if least >= -_INT32 and most < _INT32:
            return 32
        if least >= -_INT64 and most < _INT64:
            return 64
        return max((-1 - least).bit_length(), most.bit_length(), 63) + 2  # with the bit for rounding


def value_range(dtype: DType, producer: Requant | None = None) -> tuple[int, int]:
    """The range of an 8-bit value: its type's limits, narrowed by the clamp of the requantisation that made it."""
    low, high = dtype.limits
    return (low, high) if producer is None else (max(low, producer.low), min(high, producer.high))


def dot_bounds(
    weights: Integers, bias: Integers, values: tuple[int, int], extra: tuple[int, ...] = ()
) -> AccumulatorBounds:
    """Bounds of `bias[o] + sum(weights[o] * x)` with x in `values` or one of `extra` (a padding value).

    `weights` is int64 [O, K] and `bias` int64 [O]; zero points are subtracted from weights and values already.
    """
    import numpy as np

    low, high = min(values + extra), max(values + extra)
    positive, negative = np.maximum(weights, 0).sum(axis=1), np.minimum(weights, 0).sum(axis=1)
    least, most = min(low, 0), max(high, 0)
    down, up = positive * least + negative * most, positive * most + negative * least
    return AccumulatorBounds(
        lowest=_ints(bias + positive * low + negative * high),
        highest=_ints(bias + positive * high + negative * low),
        partial_lowest=_ints(down + np.minimum(bias, 0)),
        partial_highest=_ints(up + np.maximum(bias, 0)),
    )


def product_bounds(first: tuple[int, int], second: tuple[int, int], terms: int = 1) -> AccumulatorBounds:
    """Bounds of a sum of `terms` products whose factors lie in `first` and `second` (zero points subtracted)."""
    corners = [a * b for a in first for b in second]
    low, high = min(corners), max(corners)
    return AccumulatorBounds(
        lowest=(terms * low,),
        highest=(terms * high,),
        partial_lowest=(terms * min(low, 0),),
        partial_highest=(terms * max(high, 0),),
    )


def accumulator_bits(bounds: AccumulatorBounds, where: str) -> int:
    """32 or 64: the accumulator a kernel must use. Raises TW3101 where not even 64 bits are enough.

    `where` is the node's name.
    """
    if bounds.bits <= 64:
        return bounds.bits
    raise unsupported_error(
        "TW3101",
        f"the accumulator of this layer needs {bounds.bits} bits; kernels have at most 64",
        where=where,
        details=(f"sums range from {min(bounds.partial_lowest)} to {max(bounds.partial_highest)}",),
        fix=("split the layer along its input channels", "use smaller weights or a smaller bias"),
    )


def _ints(values: Integers) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
