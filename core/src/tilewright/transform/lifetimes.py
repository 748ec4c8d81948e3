"""Knows the pass `lifetimes`: marks where every buffer begins and ends to hold data, for sanitizers and debuggers.
Does not know what the marks do: they are the macros TW_LIVE and TW_DEAD, empty unless the application defines them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tilewright.program import Dead, Live, Program, Statement, StepCall
from tilewright.transform.code_pass import CodePass, CodePassContext


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """A buffer in a pool, from byte `start` of `memory` on. Alive from step `first` to step `last`."""

    name: str
    memory: str
    start: int
    size_bytes: int
    first: int
    last: int
    pointer: str

    def live(self) -> Live:
        return Live(buffer=self.name, pointer=self.pointer, size_bytes=self.size_bytes)

    def dead(self) -> Dead:
        return Dead(buffer=self.name, pointer=self.pointer, size_bytes=self.size_bytes)

    def overlaps(self, other: _Marked) -> bool:
        ends = self.start + self.size_bytes, other.start + other.size_bytes
        return self.memory == other.memory and self.start < ends[1] and other.start < ends[0]


def _apply(program: Program, context: CodePassContext) -> Program:
    return replace(program, body=tuple(_with_marks(program.body, tuple(_buffers(program)))))


def _buffers(program: Program) -> Iterator[_Marked]:
    """A buffer that holds a graph input is alive from before the first step, one that holds an output never dies."""
    bases = {pool.memory: pool.base for pool in program.pools}
    for buffer in program.allocated.tiled.buffers:
        place = program.allocated.placements.get(buffer.name)
        if place is None or place.memory not in bases or buffer.kind == "state" or not buffer.size_bytes:
            continue
        base = bases[place.memory]
        yield _Marked(
            name=buffer.name,
            memory=place.memory,
            start=place.offset_bytes,
            size_bytes=buffer.size_bytes,
            first=-1 if buffer.kind == "input" else buffer.first,
            last=len(program.steps) if buffer.kind == "output" else buffer.last,
            pointer=f"{base} + {place.offset_bytes}" if place.offset_bytes else base,
        )


def _with_marks(body: tuple[Statement, ...], buffers: tuple[_Marked, ...]) -> Iterator[Statement]:
    for statement in body:
        if not isinstance(statement, StepCall):
            yield statement
            continue
        step = statement.step
        yield from (buffer.live() for buffer in buffers if buffer.first == step)
        yield statement
        dead = [buffer for buffer in buffers if buffer.last == step]
        yield from (buffer.dead() for buffer in dead)
        staying = (buffer for buffer in buffers if buffer.first <= step < buffer.last)
        yield from (buffer.live() for buffer in staying if any(buffer.overlaps(other) for other in dead))


LIFETIMES = CodePass(
    name="lifetimes",
    summary="mark where every buffer begins and ends to hold data (macros TW_LIVE and TW_DEAD)",
    apply=_apply,
    before=("hooks",),
)
