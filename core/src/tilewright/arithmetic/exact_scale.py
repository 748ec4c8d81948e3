"""Knows which float32 makes `rne(f32(f32(acc) * scale))` what rational arithmetic makes of `acc * ratio`, a ratio of
scales as they are stored. Does not know operators, nor who asks.

The ratio itself is no float32. Rounded to the nearest, it decides sums near a half by its own error: 0.05 * 0.05 / 0.08
is nearly 1/32, and every 32nd sum nearly a half. Both functions rise with `acc`, so they are equal where their
thresholds are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tilewright.arithmetic.proof import exact_thresholds
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.requant import Requant

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_NEIGHBOURS = 3  # float32 values tried on either side of the nearest


def exact_scale(ratio: Fraction, reach: tuple[int, int], steps: tuple[int, int]) -> tuple[float, bool]:
    """The float32 nearest to `ratio` whose formula is exact on all sums of `reach` (both included), and True; where no
    float32 nearby is (halves of a ratio like 1/6 go up and down), the nearest of all, and False.

    `steps` are the lowest and highest result, without a zero point. `ratio` is positive.
    """
    import numpy as np

    nearest = _nearest(ratio)
    if not (np.isfinite(nearest) and nearest > 0):
        return float(nearest), False
    places = sorted(range(-_NEIGHBOURS, _NEIGHBOURS + 1), key=abs)
    candidates = (nearest.view(np.int32) + np.array(places, np.int32)).view(np.float32)
    candidates = candidates[np.isfinite(candidates) & (candidates > 0)]
    requant = Requant(scale=(1.0,), zero_point=0, low=steps[0], high=steps[1])
    lowest, highest = (np.full(len(candidates), end, np.int64) for end in reach)
    _, result, sound = exact_thresholds(requant, candidates, lowest, highest)
    equal = sound & (result == _thresholds(ratio, reach, steps)).all(axis=1)
    return (float(candidates[int(equal.argmax())]), True) if equal.any() else (float(nearest), False)


def _thresholds(ratio: Fraction, reach: tuple[int, int], steps: tuple[int, int]) -> Integers:
    """The smallest sum that is rounded to each step above the lowest, or higher; odd steps need more than a half."""
    import numpy as np

    below, above = ratio.denominator, 2 * ratio.numerator
    first = [ceil_div((2 * k - 1) * below + k % 2, above) for k in range(steps[0] + 1, steps[1] + 1)]
    return np.array([min(max(at, reach[0]), reach[1] + 1) for at in first], np.int64)


def _nearest(ratio: Fraction) -> np.float32:
    """`ratio` as float32, rounded once: float64 between the two would round twice."""
    import numpy as np

    with np.errstate(over="ignore"):
        guess = np.float32(float(ratio))
        near = [np.nextafter(guess, np.float32(side)) for side in (0.0, np.inf)]
    exact = [value for value in (guess, *near) if np.isfinite(value)]
    return min(exact, key=lambda value: abs(Fraction(float(value)) - ratio), default=guess)
