"""Quotients by multiplication: as close as the error says, for divisors of every magnitude that is let through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from tilewright_riscv.floats.functions import UNARY, pair
from tilewright_riscv.floats.lanes import Program, divisions
from tilewright_riscv.floats.quotients import multiplied

Floats = npt.NDArray[np.float32]
UNIT = 2.0**-24


def once(value: np.ndarray) -> Floats:
    """What float64 holds, or all but exactly, rounded to float32."""
    return value.astype(np.float32)


OPERATIONS: dict[str, Callable[..., Floats]] = {
    "mul": lambda a, b: once(a.astype(float) * b),
    "fma": lambda a, b, c: once(a.astype(float) * b + c),
    "less": lambda a, b, c: once(c - a.astype(float) * b),
    "guess": lambda a: (np.uint32(0x7EF311C7) - a.view(np.uint32)).view(np.float32),
}


def played(program: Program, **values: Floats) -> Floats:
    found = {**values, "one": np.ones(1, np.float32)}
    for line in program.parsed:
        found[line.target] = OPERATIONS[line.operation](*(found[name] for name in line.operands))
    return found[program.result]


def divisors() -> Floats:
    """Every seventh fraction there is, and random ones of every exponent from -60 to 60; both signs."""
    fractions = (np.uint32(0x3F800000) + np.arange(0, 2**23, 7, dtype=np.uint32)).view(np.float32)
    rng = np.random.default_rng(1)
    powers = (2.0 ** rng.integers(-60, 60, 200_000) * rng.uniform(1, 2, 200_000)).astype(np.float32)
    return np.concatenate([fractions, -powers, powers, np.array([2.0**-60, 2.0**60], np.float32)])


def test_a_guess_is_off_by_a_twentieth() -> None:
    x = divisors()
    assert np.abs(1 - x.astype(float) * OPERATIONS["guess"](x)).max() < 0.0506


def test_reciprocals() -> None:
    x = divisors()
    assert np.abs(1 - x.astype(float) * played(multiplied(UNARY["Reciprocal"]), x=x)).max() <= 1.3 * UNIT


@pytest.mark.parametrize(("scale", "most"), [(1.0, 0.6), (2.0**59, 0.6), (2.0**-60, 0.6), (2.0**-120, 2)])
def test_quotients(scale: float, most: float) -> None:
    """Where the remainder has all its bits, and where it is too small for that."""
    b = divisors()
    a = np.random.default_rng(2).standard_normal(b.size).clip(-2, 2).astype(np.float32) * np.float32(scale)
    exact = a.astype(float) / b
    usual = np.abs(exact) >= 2.0**-126
    last = np.spacing(np.abs(exact.astype(np.float32))).astype(float)
    error = np.abs(played(multiplied(pair("Div", relu=False)), a=a, b=b) - exact) / last
    assert error[usual].max() <= most and error.max() <= 2


@pytest.mark.parametrize("op", ["Sigmoid", "Swish", "GeluTanh", "Tanh", "Reciprocal"])
def test_no_divider_is_left(op: str) -> None:
    assert divisions(UNARY[op]) == 1
    assert divisions(multiplied(UNARY[op])) == 0


def test_what_does_not_know_its_operands_looks_at_them() -> None:
    quotient = multiplied(pair("Div", relu=True))
    assert quotient.within == ("a", "b") and "div a b" in quotient.beyond
    assert multiplied(UNARY["Sigmoid"]).within == ()
    assert multiplied(UNARY["Exp"]) is UNARY["Exp"]
