"""Knows one step that is computed row by row: its trips, what each of them reads of others, columns, bytes.
Does not know how a step comes to be so (`analysis`), nor what its calls take (`call_costs`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from tilewright.ir.plans.region import FlattenedRows, SplitReduction
from tilewright.ir.plans.stages import Step
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.tile.machine import StepOperand

LARGEST_EXTENT = 128  # calls of one step, as far as rows per call can see to it: the order is a table


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRead:
    """An operand that is a value: from which row on each trip of the step reads it, and where it ends.

    `low` has one entry more: what a step reads that has come to its end. `view` is what the operand is, where that only
    shows the bytes of the value in another shape.
    """

    operand: str
    value: str
    low: tuple[int, ...]
    high: tuple[int, ...]
    view: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Of a step that is computed in stripes: trips of a loop that is an axis of its output."""

    loop: str
    axis: int
    bounds: tuple[tuple[int, int], ...]  # by stripe: the first one, and one after the last
    edge: int = 0  # columns that pass from one stripe to the next; 0: what two of them have is computed in both

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of each stripe."""
        return tuple(high - low for low, high in self.bounds)

    @property
    def computed(self) -> tuple[tuple[int, int], ...]:
        """By stripe what it computes: all of it, or what the one before does not leave."""
        reached = (0, *(high for _, high in self.bounds)) if self.edge else (0,) * len(self.bounds)
        return tuple((max(low, end), high) for (low, high), end in zip(self.bounds, reached, strict=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferedStep:
    """A step, its rows, and what it reads of others. `axis` None: its output is there with the last trip, all rows."""

    index: int
    step: Step
    loop: str  # "": one trip is everything
    extent: int  # trips; rows of an image that is read flattened
    grain: int  # trips of a call are a multiple of it, those of the last one excepted
    axis: int | None  # of the output, along which every trip is a row
    rows: int  # of the output, as those who read it count
    output: StepOperand
    reads: tuple[RowRead, ...]
    sums: SplitReduction | None
    cannot: str  # why it is in no region; "" where it can be
    flattened: FlattenedRows = field(default_factory=FlattenedRows)  # which trips of its loop are a row
    columns: Columns | None = None  # all at once
    departs: bool = False  # the application takes its rows: they are made as soon as they can be

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the output, or of what the widest stripe has of it."""
        if self.columns is None:
            return self.output.shape
        widest = max(self.columns.widths)
        return tuple(widest if axis == self.columns.axis else extent for axis, extent in enumerate(self.output.shape))

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns that each stripe computes; one 0 where there are none."""
        return tuple(high - low for low, high in self.columns.computed) if self.columns else (0,)

    @property
    def edges_bytes(self) -> int:
        """Of the columns that pass from one stripe to the next, of every row."""
        columns, shape = self.columns, self.output.shape
        kept = columns.edge * prod(shape) // shape[columns.axis] if columns else 0
        return kept * self.output.item_bytes

    @property
    def row_bytes(self) -> int:
        """One row of the output, or of what the widest stripe has of it."""
        return prod(self.shape) * self.output.item_bytes // max(self.rows, 1)

    @property
    def sums_bytes(self) -> int:
        """Of its partial results."""
        return prod(self.output.shape) * self.sums.dtype.size_bytes if self.sums else 0

    def extent_of(self, rows: int) -> int:
        """Of one call: about `rows`, and so many that there are not too many calls."""
        least = max(rows, ceil_div(self.extent, LARGEST_EXTENT))
        return min(self.extent, align_up(least, self.grain))
