"""Which tiles overlap with the jobs of an engine: those of its own step, and of cores' steps in one region with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from engine_plans import KERNEL, chained

from tilewright.deployment import Deployment
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.region import Copy
from tilewright.tile.cost.job_overlap import jobs_overlap, may_overlap
from tilewright.tile.cost.region_cost import compute_cycles
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import analysis_of_region


def boxes(plan: Deployment) -> Boxes:
    """Of the plan's only region."""
    allocated = plan.allocated
    machine = ScheduledMachine(allocated.tiled.scheduled, plan.registry.operators, allocated.decisions)
    (group,) = allocated.tiled.groups
    return boxes_of(analysis_of_region(machine, group.region), group.region.hops, group.region.forms)


def with_copy(one: Boxes, key: str, **changes: Any) -> Boxes:
    """The copy of an operand is another."""
    last = one.hops[-1]
    copies: dict[str, Copy] = {**last.copies, key: replace(last.copies[key], **changes)}
    return replace(one, hops=(*one.hops[:-1], replace(last, copies=copies)))


@pytest.fixture(scope="module", name="group")
def _group() -> Boxes:
    """A job, and one step of the cores behind it."""
    found = boxes(chained())
    assert len(found.analysis.members) == 2
    return found


def test_a_group_overlaps_where_what_the_jobs_read_has_two_buffers(group: Boxes) -> None:
    assert jobs_overlap(group)
    assert not jobs_overlap(with_copy(group, "job.X", buffers=1))
    assert not jobs_overlap(with_copy(group, "job.X", window="rolling"))
    assert jobs_overlap(with_copy(group, "job.X", buffers=1, level=0))
    assert jobs_overlap(with_copy(group, "one.Y", buffers=1))


def test_what_is_not_copied_yet_is_no_obstacle(group: Boxes) -> None:
    assert jobs_overlap(replace(group, hops=(replace(group.hops[-1], copies={}),)))


def test_one_tile_overlaps_with_nothing(group: Boxes) -> None:
    assert not jobs_overlap(replace(group, extents=(1,)))


def test_a_tile_without_a_job_is_no_overlap(group: Boxes) -> None:
    """The wait would be for one job too few."""
    runs = {loop: (low, high.copy()) for loop, (low, high) in group.runs[0].items()}
    for low, high in runs.values():
        high[-1] = low[-1]
    assert not jobs_overlap(replace(group, runs=(runs, *group.runs[1:])))


def with_kernel(one: Boxes, at: int, kernel: Kernel) -> Boxes:
    members = list(one.analysis.members)
    space = replace(members[at].space, kernel=kernel)
    members[at] = replace(members[at], spaces=(*members[at].spaces[:-1], space))
    return replace(one, analysis=replace(one.analysis, members=tuple(members)))


def test_kernels_that_keep_a_group_from_overlapping(group: Boxes) -> None:
    """A job that writes what others read; one of two steps with jobs; others with scratch."""
    other = group.analysis.members[1].space.kernel
    assert may_overlap(group.analysis)
    assert not may_overlap(with_kernel(group, 0, replace(KERNEL, finish=None)).analysis)
    assert not may_overlap(with_kernel(group, 1, replace(other, wait="join();")).analysis)
    calls = replace(group.analysis.members[1].calls, scratch={})
    scratch = with_kernel(group, 1, replace(other, scratch_bytes=lambda tile: 8))
    members = (scratch.analysis.members[0], replace(scratch.analysis.members[1], calls=calls))
    assert not jobs_overlap(replace(scratch, analysis=replace(scratch.analysis, members=members)))


def test_a_tile_takes_the_longer_of_job_and_cores_or_both(group: Boxes) -> None:
    beside, apart = compute_cycles(group), compute_cycles(with_copy(group, "job.X", buffers=1))
    assert (beside < apart).all()
    assert (2 * beside >= apart).all()
