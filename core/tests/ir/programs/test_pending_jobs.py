"""Jobs are waited for, and nobody touches their bytes before: programs in which that is not so are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from engine_plans import branches

from tilewright.ir.programs.pending_jobs import StepText, job_fault
from tilewright.ir.programs.program import Program, StepCode
from tilewright.ir.programs.statements import (
    Barrier,
    ByteRange,
    If,
    KernelCall,
    KernelWait,
    PartCall,
    Statement,
    replaced,
    statements_in,
)
from tilewright.lower import lower

X, Y, Z = (ByteRange(buffer=name, offset_bytes=0, size_bytes=8) for name in "xyz")
START = KernelCall(kernel="k", code=None, reads=(X,), writes=(), awaited=True)  # type: ignore[arg-type]
WAIT = KernelWait(kernel="k", code=None)  # type: ignore[arg-type]


def step(name: str, *body: Statement, outputs: tuple[ByteRange, ...] = ()) -> StepText:
    return StepText(name=name, body=body, parts={"part": (WAIT,)}, outputs=outputs)


def call(reads: ByteRange, writes: ByteRange) -> KernelCall:
    return KernelCall(kernel="other", code=None, reads=(reads,), writes=(writes,))  # type: ignore[arg-type]


JOB = step("job", START, outputs=(Y,))


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([step("job", START, WAIT)], ""),
        ([JOB, step("later", call(X, Z), WAIT)], ""),
        ([JOB, step("later", PartCall(role="pipeline", function="part", arguments=(), tile=None), call(Y, X))], ""),  # type: ignore[arg-type]
        ([JOB, step("later", If(condition=None, body=(WAIT,)), call(Y, X))], ""),  # type: ignore[arg-type]
        ([JOB], "step 'job' starts a job of kernel 'k', and waits for none"),
        ([JOB, step("later", call(Y, Z), WAIT)], "step 'later' reads buffer 'y' before a job of kernel 'k'"),
        ([JOB, step("later", call(Z, X), WAIT)], "step 'later' writes buffer 'x' before a job"),
        ([JOB, step("later", call(Z, Y), WAIT)], "step 'later' writes buffer 'y' before a job"),
        ([JOB, step("later", call(replace(Y, offset_bytes=8), Z), WAIT)], ""),
    ],
)  # fmt: skip
def test_jobs_are_followed_from_step_to_step(steps: list[StepText], fault: str) -> None:
    found = job_fault(steps)
    assert found.startswith(fault) and bool(found) == bool(fault)


@pytest.fixture(scope="module", name="program")
def _program() -> Program:
    plan = branches()
    return lower(plan.allocated, plan.registry.operators, "net")


def with_step(program: Program, name: str, change: Callable[[tuple[Statement, ...]], tuple[Statement, ...]]) -> Program:
    """One step's statements changed, of which none is counted: what is left to see is who touches what."""

    def changed(code: StepCode) -> StepCode:
        parts = tuple(replace(part, body=change(part.body)) for part in code.parts)
        return replace(code, parts=parts, body=change(code.body), waits=())

    return replace(program, steps=tuple(changed(code) if code.step == name else code for code in program.steps))


def without_waits(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return replaced(body, lambda one: () if isinstance(one, KernelWait) else (one,))


def test_a_deferred_wait_that_is_dropped_is_missed(program: Program) -> None:
    dropped = with_step(program, "two", without_waits)
    with pytest.raises(
        ValueError, match=r"'two' writes buffer 'job.Y@l1#0' before a job of kernel 'made.clip' of step 'job'"
    ):
        dropped.verify()
    pairs = zip(dropped.steps, program.steps, strict=True)
    counted = replace(dropped, steps=tuple(replace(code, waits=old.waits) for code, old in pairs))
    with pytest.raises(ValueError, match=r"step 'two' waits for a job of kernel 'made.clip' 0 times, not 1"):
        counted.verify()


def test_an_end_that_is_dropped_is_missed(program: Program) -> None:
    """Nothing of the job is left but its start, so that its results are not complete."""
    two = next(code for code in program.steps if code.step == "two")
    bare = replace(two, body=two.body[:-1], waits=())
    with pytest.raises(
        ValueError, match=r"step 'both' reads buffer 'y' before a job of kernel 'made.clip' of step 'job'"
    ):
        replace(program, steps=tuple(bare if code is two else code for code in program.steps)).verify()


def test_an_end_behind_a_reader_is_missed(program: Program) -> None:
    """It moves to the step that reads its results, behind that: where its bytes are others'."""
    two, both = (next(code for code in program.steps if code.step == name) for name in ("two", "both"))
    ending = tuple(part for part in two.parts if "clip" in part.function)
    bare = replace(two, body=two.body[:-1], parts=two.parts[: -len(ending)], waits=())
    late = replace(both, body=(*both.body, two.body[-1]), parts=(*both.parts, *ending))
    changed = {"two": bare, "both": late}
    with pytest.raises(ValueError, match=r"step 'both' uses buffer 'job\.\S*, which is not alive then"):
        replace(program, steps=tuple(changed.get(code.step, code) for code in program.steps)).verify()


def test_barriers_of_the_end_are_counted(program: Program) -> None:
    two = next(code for code in program.steps if code.step == "two")
    (end,) = [part for part in two.parts if part.function.endswith("_end")]
    assert [one for one in statements_in(end.body) if isinstance(one, Barrier)]
    parts = tuple(replace(part, body=without_barriers(part.body)) if part is end else part for part in two.parts)
    changed = replace(
        program, steps=tuple(replace(code, parts=parts) if code is two else code for code in program.steps)
    )
    with pytest.raises(ValueError, match="step 'two' waits for the other cores"):
        changed.verify()


def without_barriers(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return replaced(body, lambda one: () if isinstance(one, Barrier) else (one,))
