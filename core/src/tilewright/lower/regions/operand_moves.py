"""Knows how one operand is moved at one level: the slot of a tile, the first and the last tile of a window, the wait,
and the functions in which the cores move rows that stay to the start of their buffer. Does not know the other
operands, nor the order in which things happen (`pipeline`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.programs.expressions import (
    ALWAYS,
    NEVER,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Reference,
    all_of,
    equal,
    less,
    quotient,
    remainder,
)
from tilewright.ir.programs.program import Part
from tilewright.ir.programs.statements import Charge, CopyWait, If, KernelCall, Mark, Statement
from tilewright.ir.programs.subexpressions import replaced
from tilewright.lower.operands.c_boxes import window
from tilewright.lower.operands.scope import declared, spans_declared, used
from tilewright.lower.tiles.parts import boxes_declared, call_part, named, rolling_window, rows_of, scope, span_names
from tilewright.lower.tiles.region_box import BEFORE
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import OperandLocation, TileBuffers, TiledStep
from tilewright.tile.cost.region_cost import moved_cycles
from tilewright.tile.cost.tile_boxes import new_rows
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE

FIRST = Number(0)  # tile


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandMove:
    """One operand at one level, and how to move it."""

    slot: TileBuffers
    part: Part
    level: HopLevel
    keep: Part | None = None  # of a rolling window: moves the rows that stay, before the part that is new is brought

    @property
    def period(self) -> Expression:
        """Tiles from one window to the next."""
        return self.level.period(self.slot.copy.level)

    @property
    def span(self) -> int:
        """Buffers of the operand."""
        return len(self.slot.buffers)

    def element(self, tile: Expression, ahead: int = 0) -> Expression:
        """The slot of the window that `tile` belongs to, or of the one `ahead` windows later."""
        array = Name(self.slot.name)
        if self.span == 1 or self.slot.resident:
            return Element(array, FIRST)
        window = quotient(tile, self.period) if tile != FIRST else FIRST
        return Element(array, remainder(window + ahead % self.span, self.span))

    def bytes(self, tile: Expression, ahead: int = 0) -> Expression:
        """The buffer of that slot."""
        return Field(self.element(tile, ahead), "bytes")

    def later(self, tile: Expression, windows: int) -> Expression:
        """The tile that many windows later."""
        return tile + self.period * windows

    def start(self, tile: Expression, ahead: int = 0) -> Statement:
        """Starts its transfers: of `tile`, or `ahead` windows later."""
        later = self.later(tile, ahead)
        arguments = {"slot": Reference(self.element(tile, ahead)), self.level.counter: later}
        return call_part(self.part, arguments, later)

    def wait(self, tile: Expression, ahead: int = 0) -> Statement:
        """Waits for the transfers of its slot."""
        code = FunctionCall("tw_arrived", (Reference(self.element(tile, ahead)),))
        return CopyWait(transfer=self.slot.name, code=code, outgoing=self.slot.binding.written)

    @property
    def stays(self) -> bool:
        """The slot's bytes hold data during all tiles: they are marked before the first and after the last."""
        return self.slot.resident or self.keep is not None

    def mark(self, event: str, tile: Expression, ahead: int = 0) -> tuple[Statement, ...]:
        """The slot's bytes begin or end to hold data; who holds a value in them says so itself."""
        statement = Mark(
            event="live" if event == "live" else "dead",
            buffer=self.slot.buffers[0],
            pointer=self.bytes(tile, ahead),
            size_bytes=self.slot.size_bytes,
        )
        return () if self.slot.borrowed else (statement,)

    def exists(self, tile: Expression, ahead: int) -> Expression:
        """Holds where there is a window `ahead` windows after that of `tile`; there is one of the first tile."""
        later = self.later(tile, ahead)
        return ALWAYS if later == FIRST else less(later, self.level.total)

    def first(self, tile: Expression) -> Expression:
        """Holds for the first tile of a window."""
        return equal(remainder(tile, self.period), 0)

    def last(self, tile: Expression) -> Expression:
        """Holds for the last tile of a window."""
        return equal(remainder(tile + 1, self.period), 0)


def when(condition: Expression, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """`body` where `condition` holds."""
    if condition == NEVER or not body:
        return ()
    return body if condition == ALWAYS else (If(condition=condition, body=body),)


def internal_rows_part(tiling: TiledStep) -> Iterator[Part]:
    """Moves the rows of a step's output that stay from the tile before."""
    box, number = tiling.box, tiling.number
    roll, (stays, _) = box.boxes.rolls[number], box.boxes.kept(number)
    if roll is None or not stays.any():
        return
    member, level = box.analysis.members[number], box.levels[-1]
    location = tiling.inner[member.output.name]
    loop = member.loops[roll.axis]
    need, run = box.need(number, roll.axis, box.variable(len(box.levels) - 1)), tiling.nest.box[loop]
    own = Name(level.variable)
    before = replaced(need[0], {own: BEFORE})
    most = int(stays.max())
    rows = rows_of(box.boxes.internal_rows(number), member.output.layout, roll.axis, member.output.item_bytes)
    cycles = moved_cycles(box.boxes, number) * most / max(1, member.space.engine.cores)
    period = level.period(roll.loop - box.boxes.starts[-2] + 1)
    body: tuple[Statement, ...] = (
        box.declare(level),
        If(
            condition=all_of(tiling.first(), box.later_trip(roll.loop, own)),
            body=(
                box.declare(level, BEFORE, level.tile - period),
                *_moved(location, rows, need[0] - before, run[0] - need[0], (round(cycles), most)),
            ),
        ),
    )
    yield Part(
        role="compute",
        function=f"{tiling.function}_keep",
        comment=(f"Moves what stays of {member.output.name} to the buffer's start: trips of loop {loop}.",),
        parameters=used(scope(tiling, tiling.nest.levels[-1], [location.parameter]), body),
        body=body,
    )


def window_rows_part(tiling: TiledStep, at: int, slot: TileBuffers) -> Part:
    """Moves the rows of a window that stay for the tile that comes."""
    level, binding = tiling.nest.levels[at], slot.binding
    location = tiling.internal_value(binding, at + 1)
    location = replace(location, parameter=replace(location.parameter, type="uint8_t *"))
    spans = window(tiling.nest.access, binding.operand, level.around(slot.copy.level), span_names(tiling, binding))
    rolling = rolling_window(tiling, level, slot, spans)
    most, cycles = _window_cycles(tiling, at, slot)
    rows = rows_of(slot.capacity, binding.layout, slot.roll.axis if slot.roll else 0, binding.dtype.size_bytes)
    calls = _moved(location, rows, rolling.by, rolling.stay, (cycles, most))
    inner = (*declared(rolling.declared, calls), *calls)
    moving: tuple[Statement, ...] = (If(condition=rolling.later, body=inner),)
    body = (*boxes_declared(tiling, level, moving, spans), *spans_declared(spans, moving), *moving)
    return Part(
        role="compute",
        function=named(tiling, f"keep_{tiling.names[binding.operand]}", level),
        comment=(f"Moves what stays of {binding.operand} in tile {level.counter} to the buffer's start.",),
        parameters=used(scope(tiling, level, [location.parameter]), body),
        body=body,
    )


def _window_cycles(tiling: TiledStep, at: int, slot: TileBuffers) -> tuple[int, int]:
    """The most rows of a window that stay, and the cycles that all cores take to move them."""
    boxes, roll = tiling.box.boxes, slot.roll
    if roll is None:
        return 0, 0
    low, high = boxes.windows(tiling.number, slot.binding.operand, boxes.starts[at] + slot.copy.level)[roll.axis]
    most = int((new_rows((low, high), roll.loop)[0] - low).max())
    row_bytes = slot.size_bytes / max(1, slot.capacity[roll.axis])
    cores = max(1, tiling.box.analysis.members[tiling.number].space.engine.cores)
    return most, round(most * row_bytes / MOVED_BYTES_PER_CYCLE / cores)


def _moved(
    location: OperandLocation, rows: Sequence[Expression], by: Expression, stay: Expression, cost: tuple[int, int]
) -> tuple[Statement, ...]:
    """The call, and what it takes: `cost` is the cycles of the most rows, and how many these are."""
    cycles, most = cost
    call = KernelCall(
        kernel="tw_keep",
        code=FunctionCall("tw_keep", (location.address, *rows, by, stay)),
        reads=location.ranges,
        writes=location.ranges,
    )
    return call, Charge(code=FunctionCall("tw_charge", (Number(cycles, unsigned=True), stay, Number(max(most, 1)))))
