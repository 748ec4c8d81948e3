"""Chains of three networks, tiled together by force and run on the twin: exact, and never beyond the scratchpad.

Which groups pay is another matter (`core/tests/tile/test_grouping.py`); here every chain that can be a group is one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.runners.twin import RACE, TwinRunner
from tilewright.testing.cluster import CLUSTER, copy_path, registry_for
from tilewright.tile.groups.group_search import best_groups
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis, region_analysis
from tilewright.transform import transform

MOST_STEPS = 4


FARTHER = replace(
    CLUSTER,
    memories=(Memory(name="l3", size_bytes=None, access={"cluster": "none"}), *CLUSTER.memories),
    copies=(
        *(copy_path(source, target) for source, target in (("l3", "l2"), ("l2", "l3"), ("l2", "l1"), ("l1", "l2"))),
        copy_path("flash", "l2"),
    ),
    backing="l3",
)  # values live behind the backing memory, and constants come the same way


def joined(name: str, scratchpad_bytes: int, platform: Platform = CLUSTER) -> Deployment:
    """Layer by layer, except that every chain of up to four steps that can be a group and fits is one."""
    registry = registry_for(platform)
    options = Options(memory={"l1": scratchpad_bytes}, groups=1)
    alone = Deployment(network_file(name), platform.name, options, registry).allocated
    apart = dict.fromkeys(alone.tiled.scheduled.in_place, "")  # no output over what the group still reads
    pins = Decisions(in_place=apart, order=alone.decisions.order)
    free = Deployment(network_file(name), platform.name, replace(options, pins=pins), registry).scheduled
    machine = ScheduledMachine(free, registry.operators, pins)
    groups, at = [], 0
    while at < len(free.steps):
        count = next(count for count in range(MOST_STEPS, 0, -1) if count == 1 or _fits(machine, at, count))
        groups.append(tuple(step.name for step in free.steps[at : at + count]))
        at += count
    pins = replace(pins, groups=tuple(names for names in groups if len(names) > 1))
    return Deployment(network_file(name), platform.name, replace(options, pins=pins), registry)


def _fits(machine: ScheduledMachine, first: int, count: int) -> bool:
    steps = machine.scheduled.steps[first : first + count]
    chain = region_analysis(machine, first, steps) if len(steps) == count else ""
    return isinstance(chain, RegionAnalysis) and bool(best_groups(chain, "auto"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "near_kib"),
    [
        ("kws_int8", 16),
        ("resnet8_int8", 64),
        pytest.param("vww_int8", 16, marks=pytest.mark.long),
        pytest.param("kws_int8", 64, marks=pytest.mark.long),
        pytest.param("resnet8_int8", 16, marks=pytest.mark.long),
        pytest.param("vww_int8", 64, marks=pytest.mark.long),
    ],
)
def test_forced_groups_are_exact(name: str, near_kib: int, tmp_path: Path) -> None:
    plan = joined(name, near_kib << 10)
    groups = [group for group in plan.tiled.groups if len(group.steps) > 1]
    assert sum(len(group.steps) for group in groups) >= 6
    assert plan.worst_case_buffer_size["l1"] + CLUSTER.runtime_bytes["l1"] <= near_kib << 10
    job = job_of(name, plan)
    result = TwinRunner(seeds=(0, 2), modes=("lazy",)).run(job, tmp_path)
    hidden = {value for group in groups for value in group.region.internal_values}
    graph = plan.scheduled.bound.graph
    executed = [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) + len(hidden) == len(executed)
    estimate = sum(group.cycles for group in plan.tiled.groups)
    assert result.counts["cycles"] == pytest.approx(estimate, rel=0.05)


@pytest.mark.slow
def test_forced_groups_over_two_hops_are_exact(tmp_path: Path) -> None:
    plan = joined("kws_int8", 16 << 10, FARTHER)
    groups = [group for group in plan.tiled.groups if len(group.steps) > 1]
    assert sum(len(group.steps) for group in groups) >= 6
    assert all([hop.inner for hop in group.region.hops] == ["l2", "l1"] for group in groups)
    job = job_of("kws_int8", plan)
    result = TwinRunner(seeds=(0, 2), modes=("lazy", "eager")).run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(plan.scheduled.bound.graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert result.counts["cycles"] == pytest.approx(sum(group.cycles for group in plan.tiled.groups), rel=0.05)


def test_groups_without_races(tmp_path: Path) -> None:
    plan = joined("kws_int8", 16 << 10)
    job = job_of("kws_int8", plan)
    result = RACE.run(job, tmp_path)
    for value in plan.scheduled.bound.graph.outputs:
        assert value in result.outputs[0]


def job_of(name: str, plan: Deployment) -> Job:
    """With the marks of where tiles live."""
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    marked = transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",))
    with np.load(vectors_file(name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    return Job(
        artifact=emit(marked, EmitOptions()), plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True
    )
