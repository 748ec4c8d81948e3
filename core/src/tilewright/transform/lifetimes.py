"""Knows the pass `lifetimes`: marks where every buffer begins and ends to hold data, for sanitizers and debuggers.
Does not know what the marks do: they are the macros TW_LIVE and TW_DEAD, empty unless the application defines them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tilewright.program import Dead, Live, Program, Statement, StepCall
from tilewright.stages import Buffer
from tilewright.transform.code_pass import CodePass, CodePassContext


def _apply(program: Program, context: CodePassContext) -> Program:
    bases = {pool.memory: pool.base for pool in program.pools}
    marked: dict[str, str] = {}
    buffers = []
    for buffer in program.allocated.tiled.buffers:
        place = program.allocated.placements.get(buffer.name)
        if place is None or place.memory not in bases or buffer.kind == "state" or not buffer.size_bytes:
            continue
        base = bases[place.memory]
        marked[buffer.name] = f"{base} + {place.offset_bytes}" if place.offset_bytes else base
        buffers.append(buffer)
    return replace(program, body=tuple(_marked(program.body, buffers, marked)))


def _marked(body: tuple[Statement, ...], buffers: list[Buffer], pointers: Mapping[str, str]) -> Iterator[Statement]:
    """A buffer that holds a graph input is live from the start; one that holds a graph output never dies."""
    for statement in body:
        if not isinstance(statement, StepCall):
            yield statement
            continue
        for buffer in buffers:
            if buffer.first == statement.step and buffer.kind != "input":
                yield Live(buffer=buffer.name, pointer=pointers[buffer.name], size_bytes=buffer.size_bytes)
        yield statement
        for buffer in buffers:
            if buffer.last == statement.step and buffer.kind != "output":
                yield Dead(buffer=buffer.name, pointer=pointers[buffer.name], size_bytes=buffer.size_bytes)


LIFETIMES = CodePass(
    name="lifetimes",
    summary="mark where every buffer begins and ends to hold data (macros TW_LIVE and TW_DEAD)",
    apply=_apply,
    before=("hooks",),
)
