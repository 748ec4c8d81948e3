"""Knows integer sums of numbers and C expressions, and how they are written.
Does not know what is counted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant + factor * expression + ...`; every expression is a C primary (a name, a member, a call, or in
    parentheses) of type int32_t. Equal sums of the same expressions compare equal."""

    constant: int = 0
    terms: tuple[tuple[int, str], ...] = ()

    @property
    def number(self) -> int | None:
        """The value where it is known now."""
        return None if self.terms else self.constant

    def __add__(self, other: Sum | int) -> Sum:
        if isinstance(other, int):
            return Sum(self.constant + other, self.terms)
        factors = dict.fromkeys((text for _, text in (*self.terms, *other.terms)), 0)
        for factor, text in (*self.terms, *other.terms):
            factors[text] += factor
        terms = tuple((factor, text) for text, factor in factors.items() if factor)
        return Sum(self.constant + other.constant, terms)

    def __sub__(self, other: Sum | int) -> Sum:
        return self + (-other if isinstance(other, int) else other * -1)

    def __mul__(self, factor: int) -> Sum:
        terms = tuple((own * factor, text) for own, text in self.terms) if factor else ()
        return Sum(self.constant * factor, terms)

    def __str__(self) -> str:
        """C without a pair of parentheses around it."""
        positive_first = sorted(self.terms, key=lambda term: term[0] < 0)
        text = ""
        for factor, expression in positive_first:
            product = expression if abs(factor) == 1 else f"{abs(factor)} * {expression}"
            if text:
                text += f" {'-' if factor < 0 else '+'} {product}"
            else:
                text = f"-{product}" if factor < 0 else product
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text

    def primary(self) -> str:
        """C that may stand beside any operator."""
        text = str(self)
        alone = (not self.terms and self.constant >= 0) or (self.constant == 0 and self.terms[0][0] == 1)
        return text if alone and len(self.terms) < 2 else f"({text})"


def variable(expression: str) -> Sum:
    """The value of one C primary."""
    return Sum(0, ((1, expression),))


def factor(text: str) -> str:
    """C that may stand beside `*`, `/` and `%`."""
    return f"({text})" if " " in text else text
