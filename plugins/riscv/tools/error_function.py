"""Derives the polynomials of floats/functions.py that are not the core's, and prints them as C literals.

erf(x) = x p(x^2 - 7.5) for |x| <= 3.9, beyond which it is 1 in float32. The part of the normal distribution beyond x is
exp(-x^2 / 2) p(x - 1.5) for 0 <= x <= 3. Polynomials are fitted at Chebyshev's points to the relative error;
coefficients are rounded to float32 one by one, lowest first, and the others fitted again.
Run: python plugins/riscv/tools/error_function.py
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A polynomial in x - centre on [low, high]. `unit` is the argument's while fitting, which keeps powers small."""

    wanted: Callable[[float], float]
    degree: int
    low: float
    high: float
    centre: float
    unit: float


def _error_function(z: float) -> float:
    """erf(sqrt(z)) / sqrt(z)."""
    x = math.sqrt(max(z, 1e-12))
    return math.erf(x) / x


FITS = {
    "erf": Fit(wanted=_error_function, degree=15, low=0.0, high=3.9**2, centre=7.5, unit=8.0),
    "tail": Fit(
        wanted=lambda x: math.erfc(x / math.sqrt(2)) * math.exp(x * x / 2) / 2,
        degree=12,
        low=0.0,
        high=3.0,
        centre=1.5,
        unit=1.0,
    ),
}


def fitted(fit: Fit, fixed: list[float], points: int = 3001) -> Vector:
    """The coefficients after `fixed`, in powers of (x - centre) / unit."""
    x = np.cos((np.arange(points) + 0.5) * np.pi / points) * (fit.high - fit.low) / 2 + (fit.high + fit.low) / 2
    exact, at = np.array([fit.wanted(float(value)) for value in x]), (x - fit.centre) / fit.unit
    rest = np.asarray(1 - sum(value * at**power for power, value in enumerate(fixed)) / exact, np.float64)
    powers = at[:, None] ** np.arange(len(fixed), fit.degree + 1) / exact[:, None]
    return np.asarray(np.linalg.lstsq(powers, rest, rcond=None)[0], np.float64)


def literals(fit: Fit) -> list[str]:
    """The coefficients as C text, lowest power of x - centre first."""
    fixed: list[float] = []
    while len(fixed) <= fit.degree:
        fixed.append(float(np.float32(fitted(fit, fixed)[0])))
    return [re.sub("0*p", "p", (value / fit.unit**power).hex()) + "f" for power, value in enumerate(fixed)]


if __name__ == "__main__":
    for name, fit in FITS.items():
        sys.stdout.writelines(f"{name} c{power} = {text}\n" for power, text in enumerate(literals(fit)))
