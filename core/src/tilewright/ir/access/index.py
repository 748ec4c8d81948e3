"""Knows the index of one operand axis, a sum of loops with `//`, `%` and `clamp`, and its range over a box.
Does not know how it is written (`index_notation`), nor whole operands (`access`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Box = Mapping[str, tuple[int, int]]  # loop -> half-open range


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The part of one operand axis that a box of loops touches: `range(low, high, step)`.

    `before` and `after` count positions outside the operand, where padding is read.
    """

    low: int
    high: int
    step: int = 1
    before: int = 0
    after: int = 0

    @property
    def extent(self) -> int:
        """Positions from the first to the last, padding excluded."""
        return max(0, self.high - self.low)


@dataclass(frozen=True, slots=True)
class Term:
    """`coefficient * loop`, or `coefficient * (inner // by)`, `% by`, or `clamp(inner, *by)`."""

    coefficient: int
    loop: str = ""
    inner: Index | None = None
    operation: Literal["", "//", "%", "clamp"] = ""
    by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """One axis of an operand, as a sum of terms."""

    terms: tuple[Term, ...]
    offset: int = 0

    def range(self, box: Box) -> tuple[int, int]:
        """The smallest and largest value over `box`, both included."""
        low = high = self.offset
        for term in self.terms:
            first, last = _atom_range(term, box)
            if term.coefficient < 0:
                first, last = last, first
            low += first * term.coefficient
            high += last * term.coefficient
        return low, high

    def step(self, box: Box) -> int:
        """The step of which all differences of values over `box` are multiples."""
        moving = 0
        for term in self.terms:
            if term.inner is not None:
                return 1
            low, high = box[term.loop]
            if high - low > 1:
                moving = math.gcd(moving, abs(term.coefficient))
        return max(moving, 1)

    def at(self, point: Mapping[str, int]) -> int:
        """The value at one trip of every loop."""
        return self.range({loop: (trip, trip + 1) for loop, trip in point.items()})[0]


@dataclass(frozen=True, slots=True)
class Axis:
    """How one axis of an operand is indexed. `index` None means the whole axis."""

    index: Index | None
    extent: int
    padded: bool = False

    def span(self, box: Box) -> Span:
        """The positions touched over `box`, clipped to the operand."""
        if self.index is None:
            return Span(low=0, high=self.extent)
        low, last = self.index.range(box)
        if low >= 0 and last < self.extent:
            return Span(low=low, high=last + 1, step=self.index.step(box))
        return Span(
            low=min(max(low, 0), self.extent),
            high=max(min(last + 1, self.extent), 0),
            before=max(0, -low),
            after=max(0, last + 1 - self.extent),
        )


def folded(inner: Index, operation: Literal["//", "%", "clamp"], by: tuple[int, ...]) -> Index:
    """`inner` under an operation; a plain number where no loop is in it."""
    if operation == "//" and by == (1,):
        return inner
    if not inner.terms:
        return Index((), _apply(operation, inner.offset, by))
    return Index((Term(1, inner=inner, operation=operation, by=by),))


def scaled(index: Index, factor: int) -> Index:
    """`index` times a number."""
    terms = tuple(
        Term(term.coefficient * factor, term.loop, term.inner, term.operation, term.by) for term in index.terms
    )
    return Index(terms if factor else (), index.offset * factor)


def simplified(index: Index, box: Box) -> Index:
    """An index of the same values over `box`, without operations that change nothing there: `o//n` of fewer than n
    trips is 0, and `o%n` is o.
    """
    parts = [scaled(_simplified_atom(term, box), term.coefficient) for term in index.terms]
    return Index(
        tuple(term for part in parts for term in part.terms), index.offset + sum(part.offset for part in parts)
    )


def _simplified_atom(term: Term, box: Box) -> Index:
    """A term without its coefficient."""
    if term.inner is None:
        return Index((Term(1, term.loop),))
    inner = simplified(term.inner, box)
    low, high = inner.range(box)
    if term.operation == "clamp":
        least, most = term.by
        return inner if least <= low and high <= most else folded(inner, "clamp", term.by)
    (by,) = term.by
    if low // by != high // by:
        return folded(inner, term.operation or "%", term.by)
    return Index((), low // by) if term.operation == "//" else Index(inner.terms, inner.offset - low // by * by)


def _atom_range(term: Term, box: Box) -> tuple[int, int]:
    if term.inner is None:
        low, high = box[term.loop]
        return low, high - 1 if high > low else low
    low, high = term.inner.range(box)
    if term.operation == "%":
        (by,) = term.by
        return (low % by, high % by) if low // by == high // by else (0, by - 1)
    return _apply(term.operation, low, term.by), _apply(term.operation, high, term.by)


def _apply(operation: str, value: int, by: tuple[int, ...]) -> int:
    if operation == "//":
        return value // by[0]
    if operation == "%":
        return value % by[0]
    return min(max(value, by[0]), by[1])


def bare_loop(axis: Axis) -> str:
    """The loop that alone, unscaled and unmoved, is the index; empty for any other index."""
    if axis.index is None or axis.index.offset or len(axis.index.terms) != 1:
        return ""
    (term,) = axis.index.terms
    return term.loop if term.coefficient == 1 else ""


def mentions(index: Index | None, loop: str) -> bool:
    """Whether the index depends on the loop."""
    for term in index.terms if index else ():  # noqa: SIM110  # asked too often for a generator
        if term.loop == loop or mentions(term.inner, loop):
            return True
    return False
