"""Knows how stripes of columns become C: a constant table of where each step has them, and a loop around the order.
Does not know what is computed in a stripe, nor why it has these columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.ir.plans.region import Stripes
from tilewright.ir.programs.expressions import Element, Expression, Name, Number
from tilewright.ir.programs.program import Parameter
from tilewright.ir.programs.statements import Declare, For, Statement
from tilewright.lower.operands.c_boxes import Bounds

STRIPE = Parameter(type="int32_t", name="stripe")
_LEFT, _RIGHT = Name("left"), Name("right")  # columns of the stripe: the first one, and one after the last
NAMES = (STRIPE.name, _LEFT.text, _RIGHT.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeTable:
    """By stripe, and by step of a region, the first column and one after the last. Where edges are kept, between them
    the first one that is computed; and behind the last stripe one without columns.
    """

    name: Name
    stripes: Stripes

    def first(self, number: int) -> Expression:
        """The first column that a step has in the stripe."""
        return self._at(number, 0)

    def bounds(self, number: int) -> Bounds:
        """The columns that a step computes, of which `declared` has declared the ends."""
        widths = {own[number][-1] - own[number][-2] for own in self._rows}
        return _LEFT, _LEFT + widths.pop() if len(widths) == 1 else _RIGHT

    def declared(self, number: int) -> Iterator[Statement]:
        """The ends of the columns that a step computes."""
        yield Declare(type="const int32_t", name=_LEFT.text, value=self._at(number, -2))
        yield Declare(type="const int32_t", name=_RIGHT.text, value=self._at(number, -1))

    def arrived(self, number: int) -> Expression:
        """How many of a step's columns come from the stripe before."""
        return _LEFT - self.first(number)

    def passed(self, number: int) -> tuple[Expression, Expression]:
        """Where in its columns those begin that the next stripe has, too, and how many they are; none of the last."""
        first = self._at(number, 0, stripe=1)
        return first - self.first(number), self._at(number, 1, stripe=1) - first

    def each(self, body: tuple[Statement, ...]) -> Statement:
        """The same for every stripe."""
        stop = Number(len(self.stripes.bounds))
        return For(variable=STRIPE.name, start=Number(0), stop=stop, step=Number(1), body=body)

    def text(self) -> str:
        """Its definition."""
        beyond = [[own[-1:] * self._wide for own in self._rows[-1]]] if self.stripes.edges else []
        rows = [", ".join(str(end) for own in row for end in own) for row in (*self._rows, *beyond)]
        most = max(own[-1] for row in self._rows for own in row)
        lines = ",\n    ".join(rows)
        size = self._wide * len(self.stripes.loops) * len(rows)
        return f"static const uint{8 if most < 256 else 16}_t {self.name}[{size}] = {{\n    {lines},\n}};"

    @property
    def _wide(self) -> int:
        """Numbers of a step: its first column, where any are kept the first that is computed, one after the last."""
        return 3 if self.stripes.edges else 2

    @property
    def _rows(self) -> list[list[tuple[int, ...]]]:
        """By stripe, by step, these numbers."""
        rows = list[list[tuple[int, ...]]]()
        for own in self.stripes.bounds:
            before = [ends[-1] for ends in rows[-1]] if rows else [0] * len(own)
            new = [max(low, before[step]) if self.stripes.edge(step) else low for step, (low, _) in enumerate(own)]
            middle = [(first,) if self.stripes.edges else () for first in new]
            rows.append([(low, *first, high) for (low, high), first in zip(own, middle, strict=True)])
        return rows

    def _at(self, number: int, end: int, stripe: int = 0) -> Expression:
        """One of the numbers of a step: in the stripe, or in one behind it."""
        place = self._wide * (stripe * len(self.stripes.loops) + number) + end % self._wide
        return Element(self.name, STRIPE.variable * (self._wide * len(self.stripes.loops)) + place)
