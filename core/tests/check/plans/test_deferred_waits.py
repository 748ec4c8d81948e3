"""What runs beside a job is looked at byte by byte, whoever decided it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_plans import branches

from tilewright.check.plans.dataflow import Replay
from tilewright.check.plans.deferred_waits import deferred_faults
from tilewright.check.plans.plan import plan_faults
from tilewright.ir.plans.stages import Allocated
from tilewright.testing.one_step import vocabulary


@pytest.fixture(scope="module", name="plan")
def _plan() -> Allocated:
    plan = branches().allocated
    assert plan.tiled.scheduled.deferred == {"job": "two"}
    return plan


def with_scheduled(plan: Allocated, **changes: Any) -> Allocated:
    return replace(plan, tiled=replace(plan.tiled, scheduled=replace(plan.tiled.scheduled, **changes)))


def with_buffers(plan: Allocated, name: str, **changes: Any) -> Allocated:
    buffers = tuple(replace(one, **changes) if one.name == name else one for one in plan.tiled.buffers)
    return replace(plan, tiled=replace(plan.tiled, buffers=buffers))


def test_a_plan_as_it_was_made_is_right(plan: Allocated) -> None:
    assert plan_faults(plan, vocabulary()) == ()


def test_a_wait_behind_a_reader_is_found_twice(plan: Allocated) -> None:
    late = with_scheduled(plan, deferred={"job": "both"})
    found = list(deferred_faults(late))
    assert any("step 'both' touches 'y', while 'job' computes" in fault for fault in found)
    assert any("'y' are lost" in fault for fault in Replay(late, vocabulary()).faults())


def test_scratch_that_is_gone_too_early_is_found(plan: Allocated) -> None:
    early = with_buffers(plan, "job.scratch", last=1)
    (fault,) = deferred_faults(early)
    assert fault == "buffer 'job.scratch' of step 'job' is gone before its engine is waited for"


def test_values_in_the_bytes_of_a_job_are_found(plan: Allocated) -> None:
    """The output of a step beside it is moved over what the job reads, and then over its scratch."""
    own = {value: place.buffer for value, place in plan.tiled.scheduled.storage.items()}
    over = replace(plan, placements={**plan.placements, own["n"]: plan.placements[own["x"]]})
    assert any("'n', while 'job' computes with 'x' in the same bytes" in fault for fault in deferred_faults(over))
    scratch = replace(plan, placements={**plan.placements, own["n"]: plan.placements["job.scratch"]})
    assert any("in bytes of tiles or scratch of 'job'" in fault for fault in deferred_faults(scratch))


def test_other_things_that_cannot_be(plan: Allocated) -> None:
    found = list(deferred_faults(with_scheduled(plan, deferred={"one": "two", "both": "job"})))
    assert "step 'one' is waited for behind 'two', and starts no job" in found
    assert "step 'both' is waited for behind 'job', which is no later step" in found
    bound = plan.tiled.scheduled.bound
    shared = replace(bound, bindings={**bound.bindings, "two": replace(bound.bindings["two"], engine="npu")})
    found = list(deferred_faults(with_scheduled(plan, bound=shared)))
    assert "step 'two' runs on the engine that computes 'job'" in found
