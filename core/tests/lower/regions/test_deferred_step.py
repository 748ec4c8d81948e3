"""A step whose engine is waited for later: its function ends with the start of the job, a later one with the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from engine_plans import KERNEL, branches

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.programs.program import Program, StepCode
from tilewright.ir.programs.statements import Barrier, CopyWait, If, Mark, PartCall, Raw, Statement
from tilewright.lower import lower

NO_SUMS = replace(KERNEL, finish=None, scratch_bytes=lambda tile: 0)


def lowered(kernel: Kernel = KERNEL) -> Program:
    plan = branches(kernel=kernel)
    assert plan.allocated.tiled.scheduled.deferred == {"job": "two"}
    return lower(plan.allocated, plan.registry.operators, "net")


def order(body: tuple[Statement, ...]) -> Iterator[str]:
    """Parts that are called, barriers, marks and waits for copies."""
    for statement in body:
        if isinstance(statement, If):
            yield from order(statement.body)
        if isinstance(statement, PartCall):
            yield statement.function.rpartition("clip_")[2]
        if isinstance(statement, (Barrier, CopyWait)):
            yield type(statement).__name__
        if isinstance(statement, Mark):
            yield f"{statement.event} {statement.buffer}"


def steps(program: Program) -> tuple[StepCode, StepCode]:
    named = {step.step: step for step in program.steps}
    return named["job"], named["two"]


@pytest.mark.parametrize("kernel", [KERNEL, NO_SUMS])
def test_the_step_ends_with_the_start(kernel: Kernel) -> None:
    first, later = steps(lowered(kernel))
    begun = [text for text in order(first.body) if "@" not in text]
    assert begun == ["fetch_x", "CopyWait", "Barrier", "start"]
    (end,) = [part for part in later.parts if part.function.endswith("_end")]
    call = later.body[-1]
    assert isinstance(call, PartCall)
    assert (call.function, len(call.arguments)) == (end.function, len(end.parameters))
    finished = ["Barrier", "finish"] if kernel.finish else []
    left = [text for text in order(end.body) if "@" not in text]
    assert left == ["wait", *finished, "Barrier", "store_y", "CopyWait"]


def test_marks_of_what_is_not_moved_name_places() -> None:
    _, later = steps(lowered())
    (end,) = [part for part in later.parts if part.function.endswith("_end")]
    marks = [str(text) for text in order(end.body) if "@" in text]
    assert marks == ["dead job.X@l1#0", "dead job.Y@l1#0"]
    assert not [statement for statement in end.body if isinstance(statement, Raw)]
    assert {parameter.name for parameter in end.parameters} == {"l1", "l2"}


def test_both_steps_say_so() -> None:
    first, later = steps(lowered())
    assert any("computed beside steps 1 to 2" in line for line in first.comment)
    (end,) = [part for part in later.parts if part.function.endswith("_end")]
    assert end.comment == ("Waits for the job of net_0_clip, and takes what it has left.",)
    assert dict(later.waits)["a job of kernel 'made.clip'"] == 1
    assert "a job of kernel 'made.clip'" not in dict(first.waits)
