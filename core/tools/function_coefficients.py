"""Derives the polynomials of operators/functions_more.c and prints them as C literals.

Each polynomial is fitted at Chebyshev's points to the relative error of the function that it is part of. Its
coefficients are then rounded to float32 one by one, lowest first, and the remaining ones fitted again.
Run: python core/tools/function_coefficients.py
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
TAIL_SLOPE = 0.25
ERF_SPLIT = 0.875  # below: odd polynomial; above: 1 - 2 upper_tail(sqrt(2) x)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One polynomial: `wanted(x)` on [low, high], its error times `weight(x)`; the lowest terms may be given."""

    degree: int
    low: float
    high: float
    wanted: Callable[[Vector], Vector]
    weight: Callable[[Vector], Vector]
    given: tuple[float, ...] = ()


def _elementwise(function: Callable[[float], float]) -> Callable[[Vector], Vector]:
    return lambda x: np.array([function(float(value)) for value in x])


def _tail_factor(x: float) -> float:
    """exp(x^2 / 2) times the upper tail of the normal distribution, by its continued fraction where erfc underflows."""
    if x < 5:
        return 0.5 * math.erfc(x / math.sqrt(2)) * math.exp(x * x / 2)
    fraction = x
    for k in range(120, 0, -1):
        fraction = x + k / fraction
    return 1 / (fraction * math.sqrt(2 * math.pi))


def _atanh_rest(z: float) -> float:
    """(atanh(s) - s) / s^3 with z = s^2, by its series."""
    return sum(z**k / (2 * k + 3) for k in range(60))


def _expm1_rest(r: float) -> float:
    """(exp(r) - 1 - r) / r^2, by its series."""
    return sum(r**k / math.factorial(k + 2) for k in range(20))


def _log_rest(f: float) -> float:
    """(log(1 + f) - f + f^2 / 2) / f^3, by its series near 0."""
    if abs(f) < 0.1:
        return sum((-f) ** k / (k + 3) for k in range(30))
    return (math.log1p(f) - f + f * f / 2) / f**3


def _erf_rest(z: float) -> float:
    """erf(x) / x - 1 with z = x^2, by its series."""
    return 2 / math.sqrt(math.pi) * sum((-z) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(40)) - 1


def _sin_rest(z: float) -> float:
    """(sin(r) - r) / r^3 with z = r^2, by its series."""
    return sum((-1) ** (k + 1) * z**k / math.factorial(2 * k + 3) for k in range(12))


def _cos_rest(z: float) -> float:
    """(cos(r) - 1 + r^2 / 2) / r^4 with z = r^2, by its series."""
    return sum((-z) ** k / math.factorial(2 * k + 4) for k in range(12))


def _atan_rest(z: float) -> float:
    """(atan(s) - s) / s^3 with z = s^2, by its series."""
    return sum((-1) ** (k + 1) * z**k / (2 * k + 3) for k in range(60))


def _asin_rest(z: float) -> float:
    """(asin(s) - s) / s^3 with z = s^2, by its series."""
    return sum(math.comb(2 * k, k) * z ** (k - 1) / (4**k * (2 * k + 1)) for k in range(1, 60))


def two_over_pi(words: int) -> list[str]:
    """The first bits of 2 / pi, 32 in each word, pi by Machin's formula in integers."""
    one = 1 << (32 * words + 64)

    def arctan_of_inverse(n: int) -> int:
        total, term, k = 0, one // n, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term //= n * n
            k += 2
        return total

    quotient = 2 * one * one // (4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))) >> 64
    return [f"UINT32_C(0x{quotient >> 32 * (words - 1 - index) & 0xFFFFFFFF:08x})" for index in range(words)]


FITS = {
    "sin": Fit(
        degree=3,
        low=0.0,
        high=(math.pi / 4) ** 2 * 1.0001,
        wanted=_elementwise(_sin_rest),
        weight=lambda z: z / (1 + z * _elementwise(_sin_rest)(z)),
    ),
    "cos": Fit(
        degree=3,
        low=0.0,
        high=(math.pi / 4) ** 2 * 1.0001,
        wanted=_elementwise(_cos_rest),
        weight=lambda z: z**2 / np.cos(np.sqrt(z)),
    ),
    "atan": Fit(
        degree=5,
        low=0.0,
        high=(math.sqrt(2) - 1) ** 2 * 1.0001,
        wanted=_elementwise(_atan_rest),
        weight=lambda z: z / (1 + z * _elementwise(_atan_rest)(z)),
    ),
    "asin": Fit(
        degree=5,
        low=0.0,
        high=0.25 * 1.0001,
        wanted=_elementwise(_asin_rest),
        weight=lambda z: z / (1 + z * _elementwise(_asin_rest)(z)),
    ),
    "expm1": Fit(
        degree=5,
        low=-0.34665,
        high=0.34665,
        wanted=_elementwise(_expm1_rest),
        weight=lambda r: r**2 / np.expm1(r),
        given=(0.5,),
    ),
    "log": Fit(
        degree=7,
        low=math.sqrt(0.5) - 1.0001,
        high=math.sqrt(2) - 0.9999,
        wanted=_elementwise(_log_rest),
        weight=lambda f: f**3 / np.log1p(f),
    ),
    "atanh": Fit(
        degree=3,
        low=0.0,
        high=1 / 9 * 1.0001,
        wanted=_elementwise(_atanh_rest),
        weight=lambda z: z / (1 + z / 3),
    ),
    "erf": Fit(
        degree=6,
        low=0.0,
        high=ERF_SPLIT**2 * 1.0001,
        wanted=_elementwise(_erf_rest),
        weight=lambda z: 1 / (1 + _elementwise(_erf_rest)(z)),
    ),
    "near": Fit(
        degree=10,
        low=-1.0001,
        high=1.0001,
        wanted=lambda d: _elementwise(_tail_factor)(1 + d),
        weight=lambda d: 1 / _elementwise(_tail_factor)(1 + d),
    ),
    "far": Fit(
        degree=7,
        low=1 / (1 + TAIL_SLOPE * 14.5),
        high=1 / (1 + TAIL_SLOPE * 2) * 1.0001,
        wanted=lambda t: _elementwise(_tail_factor)((1 / t - 1) / TAIL_SLOPE) / t,
        weight=lambda t: t / _elementwise(_tail_factor)((1 / t - 1) / TAIL_SLOPE),
    ),
}


def fitted(fit: Fit, fixed: list[float], points: int = 3001) -> tuple[list[float], float]:
    """The coefficients after `fixed` with the least squared error at Chebyshev's points, and its largest value."""
    half, middle = (fit.high - fit.low) / 2, (fit.high + fit.low) / 2
    grid = np.cos((np.arange(points) + 0.5) * np.pi / points) * half + middle
    grid = grid[np.abs(grid) > half / 1000]  # some weights are 0 / 0 at 0
    weight = fit.weight(grid)
    powers = grid[:, None] ** np.arange(len(fixed), fit.degree + 1) * weight[:, None]
    wanted = (fit.wanted(grid) - sum(value * grid**i for i, value in enumerate(fixed))) * weight
    solution = np.linalg.lstsq(powers, wanted, rcond=None)[0]
    return [float(value) for value in solution], float(np.abs(wanted - powers @ solution).max())


def coefficients(fit: Fit) -> list[float]:
    """Float32 values, lowest power first."""
    fixed = list(fit.given)
    while len(fixed) <= fit.degree:
        fixed.append(float(np.float32(fitted(fit, fixed)[0][0])))
    return fixed


def error(fit: Fit) -> float:
    """Largest weighted error of the rounded coefficients."""
    return fitted(fit, coefficients(fit))[1]


def literals() -> dict[str, list[str]]:
    """Every polynomial as C text, lowest power first; and the bits of 2 / pi."""
    polynomials = {name: [f"{value.hex()}f" for value in coefficients(fit)] for name, fit in FITS.items()}
    return {**polynomials, "two_over_pi": two_over_pi(7)}


if __name__ == "__main__":
    for name, fit in FITS.items():
        sys.stdout.write(f"{name}: relative error 2^{math.log2(error(fit)):.1f}\n")
    for name, texts in literals().items():
        sys.stdout.writelines(f"{name}{power} = {text}\n" for power, text in enumerate(texts))
