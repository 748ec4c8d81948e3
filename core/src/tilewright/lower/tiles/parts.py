"""Knows the functions that bring and take the operands of one tiled step, which rows of a window stay in its buffer
from tile to tile, and what a function of a tile may name. Does not know what is computed (`compute`), nor in which
order functions are called (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilewright.ir.access.index_map import touched
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.programs.expressions import Choice, Expression, Field, FunctionCall, Name, Number, Struct
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import Declare, PartCall, Statement
from tilewright.ir.programs.subexpressions import replaced
from tilewright.ir.tensors.layout import Layout
from tilewright.lower.operands.c_boxes import NOTHING, CBox, CSpan, axis_names, ends_of, lows, window
from tilewright.lower.operands.operand_bindings import OperandBinding
from tilewright.lower.operands.scope import declared, names_of, spans_declared, used
from tilewright.lower.tiles.region_box import BEFORE
from tilewright.lower.tiles.strided_copies import CopyEnd, window_copy
from tilewright.lower.tiles.strided_copies import extents_of as copy_extents
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import (
    OperandLocation,
    TileBuffers,
    TiledStep,
    extent_ranges,
    unsupported_tile,
)
from tilewright.tile.cost.tile_boxes import new_rows
from tilewright.tile.memory_path import strided_copy


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
        new=tuple(fresh if at == axis else span for at, span in enumerate(spans)),
        stay=low - here.low,
        by=here.low - old.low,
        later=later,
    )


def in_box_before(box: CBox, own: Name) -> CBox:
    """The same ranges in the box of the tile before."""
    return {loop: (replaced(low, {own: BEFORE}), replaced(high, {own: BEFORE})) for loop, (low, high) in box.items()}


def rows_of(shape: Sequence[int], layout: Layout, axis: int, item_bytes: int) -> tuple[Expression, ...]:
    """Blocks of rows, rows of a block, bytes of a row: how a buffer is laid out around the axis that moves."""
    position, ordered = layout.index(axis), [shape[index] for index in layout]
    numbers = prod(ordered[:position]), shape[axis], prod(ordered[position + 1 :]) * item_bytes
    return tuple(map(Number, numbers))


SLOT = Parameter(type="tw_slot *", name="slot")


def call_part(part: Part, arguments_by_name: Mapping[str, Expression], tile: Expression = NOTHING) -> PartCall:
    """A call from a function that has variables of the same names, but for those in `arguments_by_name`."""
    arguments = tuple(arguments_by_name.get(parameter.name, parameter.variable) for parameter in part.parameters)
    return PartCall(role=part.role, function=part.function, arguments=arguments, tile=tile)


def move_part(tiling: TiledStep, at: int, slot: TileBuffers) -> Part:
    """Starts the transfers of one operand's window, or of what is new of it."""
    level, binding = tiling.nest.levels[at], slot.binding
    box = level.around(slot.copy.level)
    outer, inner = tiling.internal_value(binding, at), tiling.internal_value(binding, at + 1)
    spans = (
        whole_spans(binding.shape)
        if slot.whole
        else window(tiling.nest.access, binding.operand, box, span_names(tiling, binding))
    )
    rolling = rolling_window(tiling, level, slot, spans) if slot.roll else None
    moved = rolling.new if rolling else spans
    target = distance(tiling, binding, moved, box, inner, slot.whole) if rolling or slot.borrowed else NOTHING
    statements: tuple[Statement, ...] = (
        Declare(
            type="const uint8_t *const" if not binding.written else "uint8_t *const",
            name="far",
            value=outer.address + distance(tiling, binding, moved, box, outer, slot.whole),
        ),
        *_copy(tiling, at, slot, (outer, inner), moved, target),
    )
    if rolling:
        statements = (*declared(rolling.declared, statements), *statements)
    body = (*boxes_declared(tiling, level, statements, spans), *spans_declared(spans, statements), *statements)
    role = "store" if binding.written else "fetch"
    verb = "Takes" if binding.written else "Brings"
    where = f"{'to' if binding.written else 'from'} {outer.memory}"
    what = "what is new of " if slot.roll else ""
    return Part(
        role="store" if binding.written else "fetch",
        function=named(tiling, f"{role}_{tiling.names[binding.operand]}", level),
        comment=(f"{verb} {what}{binding.operand}{'' if slot.resident else f' of tile {level.counter}'} {where}.",),
        parameters=(*used(scope(tiling, level, (outer.parameter,)), body), SLOT),
        body=body,
    )


def whole_spans(shape: Sequence[int]) -> tuple[CSpan, ...]:
    """All of a value."""
    return tuple(CSpan(low=NOTHING, extent=Number(extent)) for extent in shape)


def path_of(tiling: TiledStep, slot: TileBuffers, outer: OperandLocation) -> CopyPath:
    """The copy path that the operand takes. TilewrightError TW4041 where there is none."""
    ends = (outer.memory, slot.level.hop.inner)
    ends = ends[::-1] if slot.binding.written else ends
    for path in tiling.platform.copies:
        if (path.source, path.target) == ends:
            return path
    raise unsupported_tile(tiling.step, f"target '{tiling.platform.name}' has no copy from {ends[0]} to {ends[1]}")


def scope(tiling: TiledStep, level: HopLevel | None, bases: Iterable[Parameter]) -> list[Parameter]:
    """What a part may name: boxes of the levels outside its own, its tile, addresses."""
    struct, levels = tiling.nest.struct, tiling.nest.levels
    outside = levels[: levels.index(level)] if level else ()
    outer = [Parameter(type=struct, name=outer_level.variable) for outer_level in outside]
    return [*outer, *([Parameter(type="int32_t", name=level.counter)] if level and level.moving else []), *bases]


def named(tiling: TiledStep, what: str, level: HopLevel | None) -> str:
    single = level is None or len(tiling.nest.levels) == 1
    return f"{tiling.function}_{what}" if single or level is None else f"{tiling.function}_{what}_{level.hop.inner}"


def boxes_declared(
    tiling: TiledStep, level: HopLevel, body: Sequence[Statement], spans: Sequence[CSpan]
) -> tuple[Statement, ...]:
    """The declaration of the level's own box, where anything names it."""
    windows = [Declare(type="const tw_span", name=span.name, value=span.value) for span in spans]
    if not level.moving or level.variable not in names_of([*body, *windows]):
        return ()
    return (tiling.box.declare(tiling.box.levels[tiling.nest.levels.index(level)]),)


def _copy(
    tiling: TiledStep,
    at: int,
    slot: TileBuffers,
    ends: tuple[OperandLocation, OperandLocation],
    spans: Sequence[CSpan],
    target: Expression,
) -> tuple[Statement, ...]:
    binding, item, (outer, inner) = slot.binding, slot.binding.dtype.size_bytes, ends
    ranges = _copied_ranges(tiling, at, slot)
    pointer = Field(SLOT.variable, "bytes", arrow=True) + target
    here = CopyEnd(pointer=pointer, strides=inner.strides, regions=inner.ranges)
    there = CopyEnd(pointer=Name("far"), strides=outer.strides, regions=outer.ranges)
    whole = touched(tiling.nest.access, binding.operand)
    path, shape = path_of(tiling, slot, outer), binding.shape
    steps = (1,) * len(shape) if slot.whole else strided_copy(whole, shape, binding.layout, item, path)
    here, there = here.every(steps), there.every(steps)
    sides = (here, there) if binding.written else (there, here)
    return window_copy(*sides, copy_extents(spans, ranges, steps), item, path, slot=SLOT.variable, name=slot.name)


def _copied_ranges(tiling: TiledStep, at: int, slot: TileBuffers) -> tuple[tuple[int, int], ...]:
    """The least and most positions along each axis that are copied at once."""
    if slot.whole:
        return tuple((extent, extent) for extent in slot.binding.shape)
    ranges = extent_ranges(tiling.nest, slot.binding, tiling.nest.levels[at].ranges_around(slot.copy.level))
    if slot.roll is None:
        return ranges
    boxes, roll = tiling.box.boxes, slot.roll
    windows = boxes.windows(tiling.number, slot.binding.operand, boxes.starts[at] + slot.copy.level)
    low, high = new_rows(windows[roll.axis], roll.loop)
    new = int((high - low).min()), int((high - low).max())
    return tuple(new if axis == roll.axis else least_and_most for axis, least_and_most in enumerate(ranges))


def distance(
    tiling: TiledStep,
    binding: OperandBinding,
    spans: Sequence[CSpan],
    box: CBox,
    location: OperandLocation,
    whole: bool = False,
) -> Expression:
    """Bytes from the element that `location` begins with to the first of the window over `box`."""
    total: Expression = NOTHING
    own = (NOTHING,) * len(spans) if whole else lows(tiling.nest.access, binding.operand, box)
    for span, low, origin, stride in zip(spans, own, location.origin, location.strides, strict=True):
        if low != origin or span.moved:
            total = total + (span.low - origin) * stride
    return total


def span_names(tiling: TiledStep, binding: OperandBinding) -> list[str]:
    return axis_names(tiling.names[binding.operand], len(binding.shape))
