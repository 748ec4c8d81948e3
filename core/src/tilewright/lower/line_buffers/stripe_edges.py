"""Knows the statements by which columns at an edge pass from one stripe of a step's rows to the next.
Does not know which columns these are: a table has them (`row_stripes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.ir.programs.expressions import Expression, FunctionCall, Number
from tilewright.ir.programs.statements import ByteRange, KernelCall, Statement
from tilewright.ir.tensors.layout import strides
from tilewright.lower.line_buffers.stripes import StripeTable
from tilewright.lower.operands.addresses import Address
from tilewright.lower.operands.c_boxes import Bounds
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.stripe_edges import blocks_around


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedColumns:
    """Of a step: rows that are held, from row `first` on, and columns of every row that wait for the next stripe."""

    number: int  # of the step in its region
    one: BufferedStep
    held: Address
    held_region: ByteRange
    capacity: tuple[int, ...]  # the shape of what is held
    first: Expression
    place: Address
    region: ByteRange
    stripes: StripeTable

    def statements(self, rows: Bounds) -> Iterator[Statement]:
        """What the stripe before has left of these rows comes in front of their columns; what the next one has, too,
        takes its place.
        """
        columns, axis = self.one.columns, self.one.axis
        if columns is None or axis is None:
            raise ValueError(f"step '{self.one.step.name}' has no columns that pass")
        shape = [columns.edge if at == columns.axis else extent for at, extent in enumerate(self.one.output.shape)]
        here, waiting = self._steps_bytes(self.capacity), self._steps_bytes(shape)
        there = self.held.address + (rows[0] - self.first) * here[axis]
        kept = self.place.address + rows[0] * waiting[axis]
        around = blocks_around(shape, self.one.output.layout, axis, columns.axis)
        if around is None:
            raise ValueError(f"columns of step '{self.one.step.name}' cannot pass")
        apart = around[0] if around else axis
        counts, size = (rows[1] - rows[0], Number(shape[around[0]] if around else 1)), here[columns.axis]
        arrived, (begin, count) = self.stripes.arrived(self.number), self.stripes.passed(self.number)
        yield self._passed(there, kept, arrived * size, counts, (here, waiting), (axis, apart))
        there = there + begin * size
        yield self._passed(kept, there, count * size, counts, (waiting, here), (axis, apart))

    def _steps_bytes(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Between neighbours along each axis."""
        output = self.one.output
        return tuple(step * output.item_bytes for step in strides(shape, output.layout))

    def _passed(
        self,
        to: Expression,
        origin: Expression,
        size: Expression,
        counts: tuple[Expression, Expression],
        steps: tuple[Sequence[int], Sequence[int]],
        axes: tuple[int, int],
    ) -> Statement:
        """`size` bytes of each block of each row: `counts` of both, along these axes."""
        apart = tuple(Number(own[axis]) for axis in axes for own in steps)
        arguments = (to, origin, size, counts[0], *apart[:2], counts[1], *apart[2:])
        both = (self.held_region, self.region)
        return KernelCall(
            kernel="tw_pass_columns", code=FunctionCall("tw_pass_columns", arguments), reads=both, writes=both
        )
