"""Every buffer of a pool is marked live before the first step that has it, and dead after the last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.stages import Placement
from tilewright.ir.programs.program import CodePassContext, Program
from tilewright.ir.programs.statements import Dead, If, Live, Mark, Statement, StepCall, statements_in
from tilewright.transform.lifetimes import LIFETIMES


def marked(program: Program) -> Program:
    return LIFETIMES.apply(program, CodePassContext(settings={}))


def events(body: Iterable[Statement]) -> Iterator[str]:
    """`+name` and `-name` around step numbers."""
    for one in statements_in(tuple(body)):
        if isinstance(one, (Live, Dead)):
            yield f"{'+' if isinstance(one, Live) else '-'}{one.buffer}"
        elif isinstance(one, StepCall):
            yield str(one.step)


def apart(program: Program) -> Program:
    """Every buffer in bytes of its own."""
    places = {
        name: Placement(memory=place.memory, offset_bytes=100 * at)
        for at, (name, place) in enumerate(program.allocated.placements.items())
    }
    return replace(program, allocated=replace(program.allocated, placements=places))


def test_buffers_live_from_their_first_step_to_their_last(toy: Any) -> None:
    """The input was there before, and the output stays."""
    assert list(events(marked(apart(toy.program(toy.graph()))).body)) == [
        "+biased", "0", "-mfcc:0",
        "+turned", "+/turn.scratch", "1", "-biased", "-/turn.scratch",
        "+again", "2", "-turned",
        "+scores", "+/turn2.scratch", "3", "-again", "-/turn2.scratch",
    ]  # fmt: skip


def test_what_lies_under_a_dead_buffer_is_told_again(toy: Any) -> None:
    """Four bytes of `turned` are in the scratch of the step that makes it."""
    program = toy.program(toy.graph())
    places = apart(program).allocated.placements
    start = places["turned"].offset_bytes - 4
    over = {**places, "/turn.scratch": Placement(memory="ram", offset_bytes=start)}
    found = list(events(marked(replace(program, allocated=replace(program.allocated, placements=over))).body))
    assert found[found.index("-/turn.scratch") + 1] == "+turned"


def test_the_callers_buffers_are_not_ours_to_mark(toy: Any) -> None:
    found = list(events(marked(toy.program(toy.graph(), io="user")).body))
    assert not any(event.endswith(("mfcc:0", "scores")) for event in found)


def test_pointers_and_sizes_are_those_of_the_plan(toy: Any) -> None:
    program = toy.program(toy.graph())
    marks = [one for one in statements_in(marked(program).body) if isinstance(one, (Live, Dead))]
    sizes = {buffer.name: buffer.size_bytes for buffer in program.allocated.tiled.buffers}
    assert all(one.size_bytes == sizes[one.buffer] and one.pointer == program.address(one.buffer) for one in marks)
    assert not any(one.tile for one in marks)


@pytest.mark.parametrize("team", [False, True])
def test_of_a_team_only_the_dma_core_marks(toy: Any, team: bool) -> None:
    body = marked(replace(toy.program(toy.graph()), team=team)).body
    assert any(isinstance(one, If) for one in body) is team
    assert any(isinstance(one, Live) for one in body) is not team


def test_marks_of_tiles_are_told_to_the_runtime(toy: Any) -> None:
    program = toy.program(toy.graph())
    pointer = program.address("turned")
    marks = tuple(Mark(event=event, buffer="t", pointer=pointer, size_bytes=8) for event in ("live", "dead"))
    steps = (replace(program.steps[0], body=marks), *program.steps[1:])
    live, dead = marked(replace(program, steps=steps)).steps[0].body
    assert live == Live(buffer="t", pointer=pointer, size_bytes=8, tile=True)
    assert dead == Dead(buffer="t", pointer=pointer, size_bytes=8, tile=True)
