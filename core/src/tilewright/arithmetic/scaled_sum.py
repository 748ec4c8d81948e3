"""Knows how `clamp(rne((a_scale * a + b_scale * b) / y_scale) + zero_point, low, high)` is computed with integers,
exactly. Does not know tensors, nor how a form is written in C.

A float32 is an integer over a power of two, so the sum is an integer over a common divisor, `y_scale` inside. Where
that is a power of two: multiply, add, round half to even at a shift. Where no pair of 8-bit values falls on a half,
adding one half and shifting is the same. Any other form has rounded factors, and is used where it gives the same result
for every one of the 65,536 pairs; where none does, because halves go up and down, the sum is divided.

Values of 16 bits have 2**32 pairs, which nobody goes through: theirs is at a shift with halves to even, or divided.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm
from typing import TYPE_CHECKING

from tilewright.errors import unsupported_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

_NEIGHBOURS = (0, -1, 1)
_WIDTHS = {32: (29, 28), 64: (60, 48)}  # bits -> log2 of what a sum stays below, and the finest shift tried


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledSum:
    """The definition. Scales are float32 values as they are stored, those of a and b of either sign, that of y
    positive: no ratio of theirs is rounded. Zero points are subtracted first."""

    a_scale: float
    b_scale: float
    a_zero_point: int
    b_zero_point: int
    zero_point: int
    low: int
    high: int
    y_scale: float = 1.0
    wide: bool = False  # a value has 16 bits

    @property
    def ratios(self) -> tuple[Fraction, Fraction]:
        """`a_scale / y_scale` and `b_scale / y_scale`. TW3103 where they are no numbers."""
        try:
            a, b, y = (Fraction(scale) for scale in (self.a_scale, self.b_scale, self.y_scale))
            return a / y, b / y
        except (OverflowError, ValueError, ZeroDivisionError):
            raise unsupported_error(
                "TW3103",
                f"cannot add with scales {self.a_scale!r} and {self.b_scale!r} to a result of scale {self.y_scale!r}",
                fix=("quantise the model again: the scales of this node's tensors are not usable",),
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SumForm:
    """`v = a * a_factor + b * b_factor + offset` (zero points inside), then `v >> shift`, zero point, clamp.

    With `ties`, `v` is rounded half to even at the shift; without, `offset` holds the half already. Every
    intermediate value keeps a magnitude below `2**(bits - 2)`, and `shift` is below `bits - 2`. Where `divisor` is not
    0, `v` is divided by it instead, and rounded half to even (64 bits, `shift` 0).
    """

    bits: int  # 32 or 64
    a_factor: int
    b_factor: int
    offset: int
    shift: int
    ties: bool
    divisor: int = 0


def exact_factors(total: ScaledSum) -> tuple[int, int, int]:
    """`a`, `b`, `divisor`, of any size: the ratios are `a / divisor` and `b / divisor`. `divisor` is even.

    Raises TW3103 where a scale is infinite or NaN, or that of the result is 0.
    """
    ratios = total.ratios
    divisor = lcm(2, *(ratio.denominator for ratio in ratios))
    a, b = (ratio.numerator * (divisor // ratio.denominator) for ratio in ratios)
    return a, b, divisor


def scaled_sum(total: ScaledSum, a: Array, b: Array) -> Integers:
    """The definition on arrays that broadcast, as values; exact whatever the scales."""
    import numpy as np

    a_factor, b_factor, divisor = exact_factors(total)
    reach = 2**17 if total.wide else 512
    fits = reach * (abs(a_factor) + abs(b_factor)) + divisor < 2**62
    kind = np.int64 if fits else object
    v = (a.astype(kind) - total.a_zero_point) * a_factor + (b.astype(kind) - total.b_zero_point) * b_factor
    floor = v // divisor
    rest = v - floor * divisor
    rounded = floor + (rest + (floor & 1) > divisor // 2)  # an odd floor goes up on the half itself
    result: Integers = np.minimum(np.maximum(rounded + total.zero_point, total.low), total.high).astype(np.int64)
    return result


@lru_cache(maxsize=512)
def sum_form(total: ScaledSum, a_range: tuple[int, int], b_range: tuple[int, int]) -> SumForm | None:
    """The cheapest form that is equal for every pair in the ranges; None where 64 bits are not enough."""
    import numpy as np

    sizes = _largest(a_range, total.a_zero_point), _largest(b_range, total.b_zero_point)
    if total.wide:
        return _exact(total, a_range, b_range, sizes)
    exact = _exact(total, a_range, b_range, sizes)
    if exact is not None and exact.bits == 32:
        return exact
    a, b = np.arange(a_range[0], a_range[1] + 1)[:, None], np.arange(b_range[0], b_range[1] + 1)
    expected = scaled_sum(total, a, b)
    rounded = form_of(total, a, b, expected, 32)
    if rounded is None and (exact is None or exact.divisor):
        rounded = form_of(total, a, b, expected, 64)
    return rounded or exact


def _exact(
    total: ScaledSum, a_range: tuple[int, int], b_range: tuple[int, int], sizes: tuple[int, int]
) -> SumForm | None:
    """The definition itself: at a shift, or over a divisor; None where 64 bits are not enough."""
    a_factor, b_factor, divisor = exact_factors(total)
    shift = divisor.bit_length() - 1
    at_shift = divisor == 1 << shift
    reach = sizes[0] * abs(a_factor) + sizes[1] * abs(b_factor) + divisor
    widths = (32, 64) if at_shift else (64,)
    bits = next((width for width in widths if reach < 2 ** (width - 2) and shift < width - 3), 0)
    if not bits:
        return None
    offset = -a_factor * total.a_zero_point - b_factor * total.b_zero_point
    if not at_shift:
        return SumForm(
            bits=64, a_factor=a_factor, b_factor=b_factor, offset=offset, shift=0, ties=True, divisor=divisor
        )
    ties = total.wide or _has_halves(a_range, b_range, (a_factor, b_factor, offset), divisor)
    return SumForm(
        bits=bits,
        a_factor=a_factor,
        b_factor=b_factor,
        offset=offset if ties else offset + (divisor >> 1),
        shift=shift,
        ties=ties,
    )


def _has_halves(
    a_range: tuple[int, int], b_range: tuple[int, int], numbers: tuple[int, int, int], divisor: int
) -> bool:
    """Whether any pair of bytes falls on a half."""
    import numpy as np

    a_factor, b_factor, offset = numbers
    a, b = np.arange(a_range[0], a_range[1] + 1)[:, None], np.arange(b_range[0], b_range[1] + 1)
    return bool(((a * a_factor + b * b_factor + offset) & (divisor - 1) == divisor >> 1).any())


def _sizes(total: ScaledSum, a: Integers, b: Integers) -> tuple[int, int]:
    return (
        _largest((int(a.min()), int(a.max())), total.a_zero_point),
        _largest((int(b.min()), int(b.max())), total.b_zero_point),
    )


def _largest(limits: tuple[int, int], zero_point: int) -> int:
    """Bound of a value, its zero point and their difference: what the factor is multiplied with."""
    return max(abs(zero_point), *(abs(limit) for limit in limits), *(abs(limit - zero_point) for limit in limits))


def form_of(total: ScaledSum, a: Integers, b: Integers, expected: Integers, bits: int) -> SumForm | None:
    """A form of `bits` without ties, shown equal to what is `expected` of every pair of `a` and `b`; None where none is
    found near the ratios of `total`.
    """
    ratios, sizes = total.ratios, _sizes(total, a, b)
    reach = sizes[0] * abs(ratios[0]) + sizes[1] * abs(ratios[1]) + 2
    most_bits, finest = _WIDTHS[bits]
    shift = 0
    while reach * 2 ** (shift + 1) < 2**most_bits and shift < finest:
        shift += 1
    finer = (shift, shift + 1) if bits == 32 else (shift,)  # the room of a bit that is left is used where it is needed
    fitting = (each for each in finer if reach * 2**each < 2 ** (bits - 2))
    forms = (_form_at(total, a, b, expected, each, bits) for each in fitting)
    return next((form for form in forms if form is not None), None)


def _form_at(total: ScaledSum, a: Integers, b: Integers, expected: Integers, shift: int, bits: int) -> SumForm | None:
    """A form at one shift whose factors are the nearest, or next to them."""
    ratios, beyond = total.ratios, 2 ** _WIDTHS[bits][0]
    a0, b0 = a - total.a_zero_point, b - total.b_zero_point
    rounded = expected - total.zero_point
    below, above = expected > total.low, expected < total.high  # a clamped result bounds one side only
    for more_a, more_b in product(_NEIGHBOURS, repeat=2):
        factors = round(ratios[0] * 2**shift) + more_a, round(ratios[1] * 2**shift) + more_b
        rest = (rounded << shift) - a0 * factors[0] - b0 * factors[1]
        least = int(rest[below].max(initial=-beyond))
        most = int((rest + ((1 << shift) - 1))[above].min(initial=beyond))
        if least <= most:
            half = min(max(1 << (shift - 1) if shift else 0, least), most)
            offset = half - factors[0] * total.a_zero_point - factors[1] * total.b_zero_point
            return SumForm(bits=bits, a_factor=factors[0], b_factor=factors[1], offset=offset, shift=shift, ties=False)
    return None
