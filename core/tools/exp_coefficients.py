"""Derives the polynomial of `tw_expf` (operators/functions.c) and prints it as C literals.

exp(r) = 1 + r + r^2 q(r) on |r| <= ln(2)/2. `q` is the polynomial of degree 4 whose relative error in exp is
levelled by Remez exchange; its coefficients are then rounded to float32 one by one, lowest first, and the
remaining ones fitted again, so that a rounding error is absorbed by the coefficients after it.
Run: python core/tools/exp_coefficients.py
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

DEGREE = 4
HALF_WIDTH = np.log(2.0) / 2 * 1.0001  # the reduction may land a rounding error outside


def target(r: Vector) -> Vector:
    """(exp(r) - 1 - r) / r^2, by its series: the closed form cancels near 0."""
    total, term = np.zeros_like(r), np.full_like(r, 0.5)
    for k in range(3, 24):
        total, term = total + term, term * r / k
    return total


def remez(fixed: list[float], free: int, points: int = 4001) -> list[float]:
    """The `free` coefficients after `fixed` that level the relative error of r^2 q(r) against exp(r)."""
    grid = np.cos(np.linspace(np.pi, 0.0, points)) * HALF_WIDTH
    grid = grid[np.abs(grid) > HALF_WIDTH / 1000]  # the weight is zero at 0
    weight = grid**2 / np.exp(grid)
    powers = np.stack([grid ** (len(fixed) + i) for i in range(free)], axis=1)
    wanted = target(grid) - sum(value * grid**i for i, value in enumerate(fixed))
    picked = np.linspace(0, len(grid) - 1, free + 1).round().astype(int)
    solution = np.zeros(free)
    for _ in range(30):
        signs = (-1.0) ** np.arange(free + 1)
        system = np.column_stack([powers[picked], signs / weight[picked]])
        solution = np.linalg.solve(system, wanted[picked])[:free]
        error = (wanted - powers @ solution) * weight
        picked = _extremes(error, free + 1)
    return [float(value) for value in solution]


def _extremes(error: Vector, count: int) -> npt.NDArray[np.int64]:
    """Indices of the `count` largest alternating extremes of `error`, in order."""
    runs = np.split(np.arange(len(error)), np.flatnonzero(np.diff(np.sign(error))) + 1)
    peaks = [int(run[np.argmax(np.abs(error[run]))]) for run in runs]
    while len(peaks) > count:
        drop = 0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else len(peaks) - 1
        peaks.pop(drop)
    if len(peaks) < count:
        raise ArithmeticError(f"the error changes sign {len(peaks) - 1} times, {count - 1} are needed")
    return np.asarray(peaks)


def coefficients() -> list[float]:
    """The coefficients of q, lowest power first, each a float32 value."""
    fixed: list[float] = [0.5]  # exact: keeps the error at small r below rounding
    for index in range(1, DEGREE + 1):
        fixed.append(float(np.float32(remez(fixed, DEGREE + 1 - index)[0])))
    return fixed


def split_ln2() -> tuple[float, float]:
    """ln(2) as high + low: `high` has 15 bits, so that n * high is exact for |n| <= 2^9."""
    high = float(np.round(np.log(2.0) * 2**15) / 2**15)
    return high, float(np.float32(np.log(2.0) - high))


def literals() -> dict[str, str]:
    """Every number of `tw_expf` that is derived, as C text."""
    high, low = split_ln2()
    values = {f"q{i}": value for i, value in enumerate(coefficients())}
    values |= {"log2e": float(np.float32(1 / np.log(2.0))), "ln2_high": high, "ln2_low": low}
    return {name: f"{value.hex()}f" for name, value in values.items()}


if __name__ == "__main__":
    sys.stdout.writelines(f"{name} = {text}\n" for name, text in literals().items())
