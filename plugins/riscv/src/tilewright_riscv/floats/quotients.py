"""Knows how quotients are computed by multiplication, for cores that share one divider: a guess of the reciprocal from
the bits of the divisor, made exact. Does not know what is divided, nor which machine has such cores.

The guess p of 1 / b is off by at most 5.1 %: `e = 1 - b p`. `p (1 + e + e^2)` is off by e^3, 1.3e-4, and what that
leaves is squared once more, 1.7e-8, less than the rounding of the last step: p is 1 / b within 1.3 units of 2^-24. A
quotient gets the remainder a - b y times p on top. Of dividends of 2^-100 and more it is exact, and the quotient within
0.6 units in the last place; it is within 2 of smaller ones. Tanh, which may be off by more, is a p (1 + e + ... + e^5).

What divides numbers of its own making has divisors of 2^-24 to 2^63. Of any other operands magnitudes are looked at
first: divisors of 2^-60 to 2^60, dividends up to 2^60, zero among them. Where one is not, the whole run is divided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from tilewright_riscv.floats.lanes import Program

_ONE: Mapping[str, str] = MappingProxyType({"one": "1.0f"})


def _reciprocal(b: str, p: str, e: str) -> str:
    """Lines: p = 1 / b; e is lost."""
    return f"""
        {p} = guess {b}
        {e} = less {b} {p} one
        {e} = fma {e} {e} {e}
        {p} = fma {e} {p} {p}
        {e} = less {b} {p} one
        {p} = fma {e} {p} {p}"""


_LINES: Mapping[str, str] = MappingProxyType({
    # y = a power of two over y: t and p are free
    "y = div small y": f"{_reciprocal('y', 'p', 't')}\ny = mul small p",
    # y = a / y: p is free
    "y = div a y": """
        p = guess y
        y = less y p one
        a = mul a p
        p = fma y y y
        a = fma a p a
        p = mul y y
        p = mul p y
        y = fma a p a""",
    "y = div one x": _reciprocal("x", "y", "e"),
    "y = div a b": f"{_reciprocal('b', 'p', 'e')}\ny = mul a p\ne = less b y a\ny = fma e p y",
})  # fmt: skip
_ANY: Mapping[str, tuple[str, ...]] = MappingProxyType({"y = div one x": ("x",), "y = div a b": ("a", "b")})


@cache
def multiplied(program: Program) -> Program:
    """The program without a quotient; itself where it has none."""
    for line, lines in _LINES.items():
        if line in program.lines:
            within = _ANY.get(line, ())
            return replace(
                program, lines=program.lines.replace(line, lines), constants={**program.constants, **_ONE},
                within=within, beyond=program.lines if within else "", apart=True,
            )  # fmt: skip
    return program
