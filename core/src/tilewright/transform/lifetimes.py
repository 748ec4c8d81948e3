"""Knows the pass `lifetimes`: marks where every buffer begins and ends to hold data, for sanitizers and debuggers.
Does not know what the marks do: tile buffers and what else is in the scratchpad are told to `tw_rt`; for all others
they are the macros TW_LIVE and TW_DEAD, empty unless the application defines them. In a program for a team of cores
only the DMA core runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tilewright.ir.plans.stages import comes_and_goes
from tilewright.ir.programs.expressions import Expression, FunctionCall
from tilewright.ir.programs.program import CodePass, CodePassContext, Program, StepCode
from tilewright.ir.programs.statements import Barrier, Dead, If, Live, Mark, Statement, StepCall, replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marked:
    """A buffer in a pool, from byte `start` of `memory` on. Alive from step `first` to step `last`."""

    name: str
    memory: str
    start: int
    size_bytes: int
    first: int
    last: int
    pointer: Expression
    in_scratchpad: bool

    def live(self) -> Live:
        return Live(buffer=self.name, pointer=self.pointer, size_bytes=self.size_bytes, tile=self.in_scratchpad)

    def dead(self) -> Dead:
        return Dead(buffer=self.name, pointer=self.pointer, size_bytes=self.size_bytes, tile=self.in_scratchpad)

    def overlaps(self, other: _Marked) -> bool:
        ends = self.start + self.size_bytes, other.start + other.size_bytes
        return self.memory == other.memory and self.start < ends[1] and other.start < ends[0]


def _apply(program: Program, context: CodePassContext) -> Program:
    buffers, last = tuple(_buffers(program)), len(program.steps)
    arriving = _by_dma_core(
        (buffer.live() for buffer in buffers if buffer.in_scratchpad and buffer.first < 0), program.team
    )
    return replace(
        program,
        body=tuple(_with_marks(program.body, buffers, program.team)),
        before_inputs=(*program.before_inputs, *arriving, *([Barrier()] if arriving else [])),
        after_outputs=(
            *program.after_outputs,
            *_by_dma_core(
                (buffer.dead() for buffer in buffers if buffer.in_scratchpad and buffer.last == last), program.team
            ),
        ),
        steps=tuple(_with_tile_marks(step) for step in program.steps),
    )


def _with_tile_marks(step: StepCode) -> StepCode:
    """The step, its marks as calls of the runtime."""
    parts = tuple(replace(part, body=replaced(part.body, _visible_mark)) for part in step.parts)
    return replace(step, parts=parts, body=replaced(step.body, _visible_mark))


def _visible_mark(statement: Statement) -> tuple[Statement, ...]:
    if not isinstance(statement, Mark):
        return (statement,)
    kind = Live if statement.event == "live" else Dead
    return (kind(buffer=statement.buffer, pointer=statement.pointer, size_bytes=statement.size_bytes, tile=True),)


def _buffers(program: Program) -> Iterator[_Marked]:
    """A buffer that holds a graph input is alive from before the first step, one that holds an output never dies; where
    tiles come and go in the same bytes, from before the input is there until the caller has the output.
    """
    outputs = program.allocated.tiled.scheduled.bound.graph.outputs
    memories = {pool.memory for pool in program.pools}
    unmarked = ("state", "tile") if program.team else ("state",)  # tiles of a team are marked where they are used
    for buffer in program.allocated.tiled.buffers:
        place = program.allocated.placements.get(buffer.name)
        if place is None or place.memory not in memories or buffer.kind in unmarked or not buffer.size_bytes:
            continue
        yield _Marked(
            name=buffer.name,
            memory=place.memory,
            start=place.offset_bytes,
            size_bytes=buffer.size_bytes,
            first=-1 if buffer.kind == "input" else buffer.first,
            last=buffer.last if set(buffer.values).isdisjoint(outputs) else len(program.steps),
            pointer=program.address(buffer.name),
            in_scratchpad=program.team
            and comes_and_goes(buffer, place, program.allocated.tiled.scheduled.bound.platform),
        )


def _with_marks(body: tuple[Statement, ...], buffers: tuple[_Marked, ...], team: bool) -> Iterator[Statement]:
    for statement in body:
        if not isinstance(statement, StepCall):
            yield statement
            continue
        step = statement.step
        yield from _by_dma_core((buffer.live() for buffer in buffers if buffer.first == step), team)
        yield statement
        dead = [buffer for buffer in buffers if buffer.last == step]
        yield from _by_dma_core((buffer.dead() for buffer in dead), team)
        staying = (buffer for buffer in buffers if buffer.first <= step < buffer.last and not buffer.in_scratchpad)
        again = (buffer.live() for buffer in staying if any(buffer.overlaps(other) for other in dead))
        yield from _by_dma_core(again, team)


def _by_dma_core(marks: Iterable[Statement], team: bool) -> tuple[Statement, ...]:
    all_marks = tuple(marks)
    return (If(condition=FunctionCall("tw_rt_is_dma_core"), body=all_marks),) if team and all_marks else all_marks


LIFETIMES = CodePass(
    name="lifetimes",
    summary="mark where every buffer begins and ends to hold data (macros TW_LIVE and TW_DEAD)",
    apply=_apply,
    settings=(),
    before=("hooks",),
)
