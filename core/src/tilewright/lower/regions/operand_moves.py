"""Knows how one operand is moved at one level: the slot of a tile, the first and the last tile of a window, the wait.
Does not know the other operands, nor the order in which things happen.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    equal,
    less,
    quotient,
    remainder,
)
from tilewright.ir.programs.program import Part
from tilewright.ir.programs.statements import CopyWait, If, Mark, Statement
from tilewright.lower.tiles.parts import call_part
from tilewright.lower.tiles.tile_nest import HopLevel
from tilewright.lower.tiles.tile_operands import TileBuffers

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
        given = {"slot": Reference(self.element(tile, ahead)), self.level.counter: later}
        return call_part(self.part, given, later)

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
        one = Mark(
            event="live" if event == "live" else "dead",
            buffer=self.slot.buffers[0],
            pointer=self.bytes(tile, ahead),
            size_bytes=self.slot.size_bytes,
        )
        return () if self.slot.borrowed else (one,)

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
