"""Knows how rows of a window stay from tile to tile in the generated program: what is new, and what cores move.
Does not know when windows are brought, nor what computes on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from tilewright.ir.layout import Layout
from tilewright.ir.statements import Declare, Statement
from tilewright.lower.boxes import CBox, CSpan, window
from tilewright.lower.nest import HopLevel
from tilewright.lower.region_box import BEFORE
from tilewright.lower.sums import Sum, variable
from tilewright.lower.tile_buffers import TileBuffers, TiledStep

NEW = "_new"  # ends the name of the part of a window that is new


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingWindow:
    """`new` is what is copied of a window, `stay` how many rows of it were there, `by` how many rows they move."""

    declared: tuple[Statement, ...]
    new: tuple[CSpan, ...]
    stay: Sum
    by: Sum
    later: str  # C condition: the rows of the tile before are there


def rolling_window(tiling: TiledStep, level: HopLevel, slot: TileBuffers, spans: Sequence[CSpan]) -> RollingWindow:
    """What the window of tile `counter` has that the one before it has not. `spans` is the whole window."""
    if slot.roll is None:
        raise ValueError(f"{slot.name} keeps no rows")
    roll, box = slot.roll, tiling.box
    axis, names = roll.axis, [f"{tiling.names[slot.binding.operand]}_{at}_{BEFORE}" for at in range(len(spans))]
    own = box.levels[tiling.nest.levels.index(level)]
    earlier = window(
        tiling.nest.access, slot.binding.operand, in_box(level.around(slot.copy.level), own.variable), names
    )
    period = own.period(roll.loop - box.boxes.starts[-2] + 1)
    tile = f"{own.counter} - {period}" if " " not in period else f"{own.counter} - ({period})"
    here, old = spans[axis], earlier[axis]
    later = box.first_trip(roll.loop, f"{own.variable}.")
    name = f"{tiling.names[slot.binding.operand]}_{axis}{NEW}"
    done = f"{later} ? {old.low + old.extent} : 0"
    declared: tuple[Statement, ...] = (
        box.declare(own, BEFORE, tile),
        *([Declare(type="const tw_span", name=old.name, value=old.value)] if old.name else []),
        Declare(
            type="const tw_range",
            name=name,
            value=f"tw_beyond((tw_range){{{here.low}, {here.low + here.extent}}}, {done})",
        ),
    )
    fresh = CSpan(
        low=variable(f"{name}.low"),
        extent=variable(f"{name}.high") - variable(f"{name}.low"),
        before=Sum(),
        after=Sum(),
        name=name,
    )
    return RollingWindow(
        declared=declared,
        new=tuple(fresh if at == axis else one for at, one in enumerate(spans)),
        stay=variable(f"{name}.low") - here.low,
        by=here.low - old.low,
        later=later,
    )


def in_box(box: CBox, name: str) -> CBox:
    """The same ranges in the box of the tile before."""
    return {loop: (_renamed(low, name), _renamed(high, name)) for loop, (low, high) in box.items()}


def _renamed(value: Sum, name: str) -> Sum:
    terms = tuple((factor, text.replace(f"{name}.", f"{BEFORE}.", 1)) for factor, text in value.terms)
    return replace(value, terms=terms)


def rows_text(room: Sequence[int], layout: Layout, axis: int, item_bytes: int) -> str:
    """Blocks of rows, rows of a block, bytes of a row: how a buffer is laid out around the axis that moves."""
    position, ordered = layout.index(axis), [room[one] for one in layout]
    return f"{prod(ordered[:position])}, {room[axis]}, {prod(ordered[position + 1 :]) * item_bytes}"
