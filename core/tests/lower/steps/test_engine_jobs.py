"""What the runtime is told of jobs: which engine, which bytes, and when they are everybody's again."""

from __future__ import annotations

from engine_plans import program

from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import JobStart, JobWait, KernelCall, KernelWait


def step_of(**how: bool) -> StepCode:
    (step,) = program(**how).steps
    return step


def test_a_job_owns_what_it_reads_and_its_part_of_the_scratch() -> None:
    step = step_of()
    (start,) = [one for one in step.statements if isinstance(one, JobStart)]
    text = str(start.code)
    assert text.startswith('tw_rt_engine_start(1u, "made.clip", ')
    assert "{(const uint8_t *)my_x, 1u, 0, 1, {" in text
    assert "{(const uint8_t *)scratch, 1u, 1, 1, {" in text
    assert "my_y" not in text


def test_without_a_finish_it_owns_the_outputs() -> None:
    (start,) = [one for one in step_of(finish=False).statements if isinstance(one, JobStart)]
    assert "{(const uint8_t *)my_y, 1u, 1, 1, {" in str(start.code)


def test_two_jobs_have_two_parts_of_the_scratch() -> None:
    (size,) = [buffer.size_bytes for buffer in program().allocated.tiled.buffers if buffer.kind == "scratch"]
    starts = [part for part in step_of().parts if part.function.endswith(("_start", "_finish"))]
    for part in starts:
        (pointer,) = [one for one in part.body[-1].body if getattr(one, "name", "") == "scratch"]
        assert f"({size // 2} * (t % 2))" in str(pointer.value)


def test_calls_and_waits_stand_beside_what_the_runtime_is_told() -> None:
    kinds = [type(one) for one in step_of().statements]
    assert kinds.index(KernelCall) + 1 == kinds.index(JobStart)
    assert kinds.index(KernelWait) + 1 == kinds.index(JobWait)
    calls = [one for one in step_of().statements if isinstance(one, KernelCall)]
    assert [call.awaited for call in calls] == [True, False]
