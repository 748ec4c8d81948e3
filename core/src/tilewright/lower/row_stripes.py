"""Knows how stripes of columns become C: a constant table of where each step has them, and a loop around the order.
Does not know what is computed in a stripe, nor why it has these columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.dataclass import dataclass
from tilewright.ir.expressions import Element, Expression, Name, Number
from tilewright.ir.program import Parameter
from tilewright.ir.regions import Stripes
from tilewright.ir.statements import Declare, For, Statement
from tilewright.lower.boxes import Bounds

STRIPE = Parameter(type="int32_t", name="stripe")
_LEFT, _RIGHT = Name("left"), Name("right")  # columns of the stripe: the first one, and one after the last
NAMES = (STRIPE.name, _LEFT.text, _RIGHT.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeTable:
    """By stripe, and by step of a region, the first column and one after the last."""

    name: Name
    stripes: Stripes

    def first(self, number: int) -> Expression:
        """The first column that a step has in the stripe."""
        return self._at(2 * number)

    def bounds(self, number: int) -> Bounds:
        """A step's columns, of which `declared` has declared the ends."""
        widths = {own[number][1] - own[number][0] for own in self.stripes.bounds}
        return _LEFT, _LEFT + widths.pop() if len(widths) == 1 else _RIGHT

    def declared(self, number: int) -> Iterator[Statement]:
        """The ends of a step's columns."""
        yield Declare(type="const int32_t", name=_LEFT.text, value=self.first(number))
        yield Declare(type="const int32_t", name=_RIGHT.text, value=self._at(2 * number + 1))

    def each(self, body: tuple[Statement, ...]) -> Statement:
        """The same for every stripe."""
        stop = Number(len(self.stripes.bounds))
        return For(variable=STRIPE.name, start=Number(0), stop=stop, step=Number(1), body=body)

    def text(self) -> str:
        """Its definition."""
        rows = [", ".join(f"{low}, {high}" for low, high in own) for own in self.stripes.bounds]
        most = max(high for own in self.stripes.bounds for _, high in own)
        lines = ",\n    ".join(rows)
        size = 2 * len(self.stripes.loops) * len(rows)
        return f"static const uint{8 if most < 256 else 16}_t {self.name}[{size}] = {{\n    {lines},\n}};"

    def _at(self, place: int) -> Expression:
        return Element(self.name, STRIPE.variable * (2 * len(self.stripes.loops)) + place)
