"""Knows how `clamp(rne(a_scale * a + b_scale * b) + zero_point, low, high)` is computed exactly with integers.
Does not know tensors, nor how a form is written in C.

A float32 is an integer over a power of two, so the sum is an integer over a common power of two: multiply, add,
round half to even at a shift. Where no pair of 8-bit values falls on a half, adding one half and shifting is the
same; where 32-bit multipliers give the same result for every one of the 65,536 pairs, they are used instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from tilewright.errors import unsupported_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

_NEIGHBOURS = (0, -1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledSum:
    """The definition. Scales are float32 values, of either sign; zero points are subtracted first."""

    a_scale: float
    b_scale: float
    a_zero_point: int
    b_zero_point: int
    zero_point: int
    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SumForm:
    """`v = a * a_factor + b * b_factor + offset` (zero points inside), then `v >> shift`, zero point, clamp.

    With `ties`, `v` is rounded half to even at the shift; without, `offset` holds the half already. Every
    intermediate value keeps a magnitude below `2**(bits - 2)`, and `shift` is below `bits - 2`.
    """

    bits: int  # 32 or 64
    a_factor: int
    b_factor: int
    offset: int
    shift: int
    ties: bool


def exact_factors(total: ScaledSum) -> tuple[int, int, int]:
    """`a`, `b`, `shift`, of any size: `a_scale == a / 2**shift` and `b_scale == b / 2**shift`. `shift` is at least 1.

    Raises TW3103 where a scale is infinite or NaN.
    """
    try:
        ratios = [scale.as_integer_ratio() for scale in (total.a_scale, total.b_scale)]
    except (OverflowError, ValueError):
        raise unsupported_error(
            "TW3103",
            f"cannot add with scales {total.a_scale!r} and {total.b_scale!r}",
            fix=("quantise the model again: the scales of this node's tensors are not usable",),
        ) from None
    shift = max(1, *(below.bit_length() - 1 for _, below in ratios))
    a, b = ((above << shift) // below for above, below in ratios)
    return a, b, shift


def scaled_sum(total: ScaledSum, a: Array, b: Array) -> Integers:
    """The definition on arrays that broadcast, as values; exact whatever the scales."""
    import numpy as np

    a_factor, b_factor, shift = exact_factors(total)
    fits = 512 * (abs(a_factor) + abs(b_factor)) + (1 << shift) < 2**62
    kind = np.int64 if fits else object
    v = (a.astype(kind) - total.a_zero_point) * a_factor + (b.astype(kind) - total.b_zero_point) * b_factor
    rounded = (v + ((1 << (shift - 1)) - 1) + ((v >> shift) & 1)) >> shift
    result: Integers = np.minimum(np.maximum(rounded + total.zero_point, total.low), total.high).astype(np.int64)
    return result


@lru_cache(maxsize=512)
def sum_form(total: ScaledSum, a_range: tuple[int, int], b_range: tuple[int, int]) -> SumForm | None:
    """The cheapest form that is equal for every pair in the ranges; None where 64 bits are not enough."""
    import numpy as np

    a_factor, b_factor, shift = exact_factors(total)
    sizes = _largest(a_range, total.a_zero_point), _largest(b_range, total.b_zero_point)
    reach = sizes[0] * abs(a_factor) + sizes[1] * abs(b_factor) + (1 << shift)
    bits = next((width for width in (32, 64) if reach < 2 ** (width - 2) and shift < width - 3), 0)
    if not bits:
        return None
    a, b = np.arange(a_range[0], a_range[1] + 1)[:, None], np.arange(b_range[0], b_range[1] + 1)
    offset = -a_factor * total.a_zero_point - b_factor * total.b_zero_point
    halves = (a * a_factor + b * b_factor + offset) & ((1 << shift) - 1) == 1 << (shift - 1)
    ties = bool(halves.any())
    exact = SumForm(
        bits=bits,
        a_factor=a_factor,
        b_factor=b_factor,
        offset=offset if ties else offset + (1 << (shift - 1)),
        shift=shift,
        ties=ties,
    )
    return exact if bits == 32 else _narrow(total, a, b, sizes) or exact


def _largest(limits: tuple[int, int], zero_point: int) -> int:
    """Bound of a value, its zero point and their difference: what the factor is multiplied with."""
    return max(abs(zero_point), *(abs(limit) for limit in limits), *(abs(limit - zero_point) for limit in limits))


def _narrow(total: ScaledSum, a: Integers, b: Integers, sizes: tuple[int, int]) -> SumForm | None:
    """A 32-bit form without ties, shown equal on every pair; None where none is found nearby."""
    expected = scaled_sum(total, a, b)
    a0, b0 = a - total.a_zero_point, b - total.b_zero_point
    reach = sizes[0] * abs(total.a_scale) + sizes[1] * abs(total.b_scale) + 2
    shift = 0
    while reach * 2.0 ** (shift + 1) < 2.0**29 and shift < 28:
        shift += 1
    rounded = expected - total.zero_point
    below, above = expected > total.low, expected < total.high  # a clamped result bounds one side only
    for more_a, more_b in product(_NEIGHBOURS, repeat=2):
        factors = round(total.a_scale * 2.0**shift) + more_a, round(total.b_scale * 2.0**shift) + more_b
        rest = (rounded << shift) - a0 * factors[0] - b0 * factors[1]
        least = int(rest[below].max(initial=-(2**29)))
        most = int((rest + ((1 << shift) - 1))[above].min(initial=2**29))
        if least <= most:
            half = min(max(1 << (shift - 1) if shift else 0, least), most)
            offset = half - factors[0] * total.a_zero_point - factors[1] * total.b_zero_point
            return SumForm(bits=32, a_factor=factors[0], b_factor=factors[1], offset=offset, shift=shift, ties=False)
    return None
