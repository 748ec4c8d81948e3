"""Knows how rows of a window stay from tile to tile in the generated program: what is new, and what cores move.
Does not know when windows are brought, nor what computes on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tilewright.ir.programs.expressions import Choice, Expression, FunctionCall, Name, Number, Struct
from tilewright.ir.programs.statements import Declare, Statement
from tilewright.ir.programs.subexpressions import replaced
from tilewright.ir.tensors.layout import Layout
from tilewright.lower.operands.c_boxes import NOTHING, CBox, CSpan, axis_names, ends_of, window
from tilewright.lower.tiles.region_box import BEFORE
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import TileBuffers, TiledStep


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingWindow:
    """`new` is what is copied of a window, `stay` how many rows of it were there, `by` how many rows they move."""

    declared: tuple[Statement, ...]
    new: tuple[CSpan, ...]
    stay: Expression
    by: Expression
    later: Expression  # holds where the rows of the tile before are there


def rolling_window(tiling: TiledStep, level: HopLevel, slot: TileBuffers, spans: Sequence[CSpan]) -> RollingWindow:
    """What the window of tile `counter` has that the one before it has not. `spans` is the whole window."""
    if slot.roll is None:
        raise ValueError(f"{slot.name} keeps no rows")
    roll, box = slot.roll, tiling.box
    stem, axis = tiling.names[slot.binding.operand], roll.axis
    names = axis_names(f"{stem}_{BEFORE.text}", len(spans))
    own = box.levels[tiling.nest.levels.index(level)]
    around = in_box_before(level.around(slot.copy.level), Name(own.variable))
    earlier = window(tiling.nest.access, slot.binding.operand, around, names)
    period = own.period(roll.loop - box.boxes.starts[-2] + 1)
    here, old = spans[axis], earlier[axis]
    later = box.later_trip(roll.loop, Name(own.variable))
    name = axis_names(f"{stem}_new", len(spans))[axis]
    whole = Struct("tw_range", (here.low, here.low + here.extent))
    done = Choice(later, old.low + old.extent, NOTHING)
    declared: tuple[Statement, ...] = (
        box.declare(own, BEFORE, own.tile - period),
        *([Declare(type="const tw_span", name=old.name, value=old.value)] if old.name else []),
        Declare(type="const tw_range", name=name, value=FunctionCall("tw_beyond", (whole, done))),
    )
    low, high = ends_of(Name(name))
    fresh = CSpan(low=low, extent=high - low, moved=True)
    return RollingWindow(
        declared=declared,
        new=tuple(fresh if at == axis else one for at, one in enumerate(spans)),
        stay=low - here.low,
        by=here.low - old.low,
        later=later,
    )


def in_box_before(box: CBox, own: Name) -> CBox:
    """The same ranges in the box of the tile before."""
    return {loop: (replaced(low, {own: BEFORE}), replaced(high, {own: BEFORE})) for loop, (low, high) in box.items()}


def rows_of(room: Sequence[int], layout: Layout, axis: int, item_bytes: int) -> tuple[Expression, ...]:
    """Blocks of rows, rows of a block, bytes of a row: how a buffer is laid out around the axis that moves."""
    position, ordered = layout.index(axis), [room[one] for one in layout]
    numbers = prod(ordered[:position]), room[axis], prod(ordered[position + 1 :]) * item_bytes
    return tuple(map(Number, numbers))
