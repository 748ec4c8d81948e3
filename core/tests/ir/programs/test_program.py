"""The memory map is verified on the tree, by something that does not know how it was made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import Placement
from tilewright.ir.programs.expressions import Number
from tilewright.ir.programs.program import CodePass, CodePassContext, Program
from tilewright.ir.programs.statements import ByteRange, CopyStart, For, Foreign, KernelCall, StepCall
from tilewright.transform import transform


def with_write(program: Program, step: int, region: ByteRange) -> Program:
    """The same program with another access, hidden in a loop."""
    call = KernelCall(kernel="k", code=Foreign(text="f();"), reads=(), writes=(region,))
    loop = For(variable="i", start=Number(0), stop=Number(2), step=Number(1), body=(call,))
    steps = list(program.steps)
    steps[step] = replace(steps[step], body=(*steps[step].body, loop))
    return replace(program, steps=tuple(steps))


def at(buffer: str, offset: int = 0, size: int = 10) -> ByteRange:
    return ByteRange(buffer=buffer, offset_bytes=offset, size_bytes=size)


FAULTS: dict[str, Callable[[Program], Program]] = {
    "not in the plan": lambda program: with_write(program, 0, at("nothing")),
    "leaves buffer": lambda program: with_write(program, 0, at("biased", 1)),
    "not alive": lambda program: with_write(program, 0, at("again")),
    "writes constant": lambda program: with_write(program, 0, at("/bias.B")),
    "does not call every step": lambda program: replace(program, body=(StepCall(step=0),)),
    "same function": lambda program: replace(program, steps=(program.steps[0],) * 4),
    "ends at byte": lambda program: replace(program, pools=(replace(program.pools[0], size_bytes=12),)),
    "in the header": lambda program: replace(
        program,
        allocated=replace(
            program.allocated,
            placements={**program.allocated.placements, "/bias.B": Placement(memory="flash", offset_bytes=8)},
        ),
    ),
}


@pytest.mark.parametrize("said", FAULTS)
def test_faults_are_named(toy: Any, said: str) -> None:
    broken = FAULTS[said](toy.program(toy.graph()))
    with pytest.raises(ValueError, match=said):
        broken.verify()


def test_inputs_of_the_caller_are_never_written(toy: Any) -> None:
    program = toy.program(toy.graph(), io="user")
    with pytest.raises(ValueError, match="in the caller's memory"):
        with_write(program, 0, at("mfcc:0")).verify()
    with_write(toy.program(toy.graph()), 0, at("mfcc:0")).verify()


def test_copies_are_accesses(toy: Any) -> None:
    program = toy.program(toy.graph())
    copy = CopyStart(transfer="t", code=Foreign(text="dma();"), source=at("biased"), target=at("biased", 4))
    step = replace(program.steps[0], body=(*program.steps[0].body, copy))
    with pytest.raises(ValueError, match="leaves buffer"):
        replace(program, steps=(step, *program.steps[1:])).verify()


def noting(name: str, log: list[tuple[str, dict[str, str]]], **more: Any) -> CodePass:
    def apply(program: Program, context: CodePassContext) -> Program:
        log.append((name, dict(context.settings)))
        return program

    return CodePass(name=name, summary="", apply=apply, **more)


def test_passes_run_in_the_order_that_they_ask_for_and_only_where_they_are_wanted(toy: Any) -> None:
    log: list[tuple[str, dict[str, str]]] = []
    first, last = noting("z-first", log, before=("a-last",)), noting("a-last", log)
    never, always = noting("never", log), noting("always", log, default=True, after=("a-last", "absent"))
    program = toy.program(toy.graph())
    changed = transform(program, (last, never, always, first), ("a-last", "z-first"))
    assert replace(changed, passes=()) == program and changed.passes == ("z-first", "a-last", "always")
    assert [name for name, _ in log] == ["z-first", "a-last", "always"]


def test_a_pass_has_the_settings_that_are_its_own(toy: Any) -> None:
    log: list[tuple[str, dict[str, str]]] = []
    passes = (noting("one", log, settings=("depth",)), noting("other", log))
    transform(toy.program(toy.graph()), passes, ("one", "other"), {"one": {"depth": "3"}})
    assert log == [("one", {"depth": "3"}), ("other", {})]
    with pytest.raises(TilewrightError):
        transform(toy.program(toy.graph()), passes, ("one",), {"one": {"width": "3"}})


def test_without_settings_there_are_none() -> None:
    assert CodePassContext().settings == {} and CodePassContext() == CodePassContext(settings={})
    made = noting("one", [])
    assert (made.default, made.after, made.before, made.settings) == (False, (), (), None)
    assert replace(made, default=True).default
