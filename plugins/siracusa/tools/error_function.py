"""Derives the polynomial of the error function in kernels/float_functions.py and prints it as C literals.

erf(x) = x p(x^2 - CENTRE) for |x| <= LIMIT, beyond which it is 1 in float32. The polynomial is fitted at Chebyshev's
points to the relative error; coefficients are rounded to float32 one by one, lowest first, and the others fitted again.
Run: python plugins/siracusa/tools/error_function.py
"""

from __future__ import annotations

import math
import re
import sys

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
DEGREE, CENTRE, LIMIT = 15, 7.5, 3.9
UNIT = 8.0  # of the argument while fitting, which keeps powers small


def wanted(z: Vector) -> Vector:
    """erf(sqrt(z)) / sqrt(z)."""
    x = np.sqrt(np.maximum(z, 1e-12))
    return np.array([math.erf(value) for value in x]) / x


def fitted(fixed: list[float], points: int = 3001) -> tuple[Vector, float]:
    """The coefficients after `fixed`, in powers of (z - CENTRE) / UNIT, and the largest relative error."""
    low, high = -CENTRE / UNIT, (LIMIT**2 - CENTRE) / UNIT
    grid = np.cos((np.arange(points) + 0.5) * np.pi / points) * (high - low) / 2 + (high + low) / 2
    exact = wanted(CENTRE + UNIT * grid)
    rest = np.asarray(1 - sum(value * grid**power for power, value in enumerate(fixed)) / exact, np.float64)
    powers = grid[:, None] ** np.arange(len(fixed), DEGREE + 1) / exact[:, None]
    solution = np.asarray(np.linalg.lstsq(powers, rest, rcond=None)[0], np.float64)
    return solution, float(np.abs(rest - powers @ solution).max())


def coefficients() -> list[float]:
    """Float32 values, lowest power of z - CENTRE first."""
    fixed: list[float] = []
    while len(fixed) <= DEGREE:
        fixed.append(float(np.float32(fitted(fixed)[0][0])))
    return [value / UNIT**power for power, value in enumerate(fixed)]


def literals() -> list[str]:
    """The coefficients as C text."""
    return [re.sub("0*p", "p", value.hex()) + "f" for value in coefficients()]


if __name__ == "__main__":
    sys.stdout.writelines(f"c{power} = {text}\n" for power, text in enumerate(literals()))
