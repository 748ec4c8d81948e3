"""Copies that move at the same time, in one, two and four queues: exact steps, the plan's clock and the twin's close
together in random tilings, too, and no more cycles the more queues there are.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.transform import transform

QUEUES = (1, 2, 4)
SLOWER = 8  # than those of the cluster: cores wait for copies
CLOCKS_APART = 0.03  # at most, of the estimate
RANDOMLY = settings(max_examples=4, deadline=None, phases=[Phase.generate])


def slow_copies(queues: int) -> Platform:
    """The cluster with a slow copy engine of so many queues."""

    def slow(path: CopyPath) -> CopyPath:
        return replace(path, queues=queues, cycles=lambda size, rows: SLOWER * path.cycles(size, rows))

    return replace(CLUSTER, copies=tuple(map(slow, CLUSTER.copies)))


def clocks(name: str, queues: int, options: Options) -> tuple[float, int]:
    """Cycles that the plan expects, and those of the twin, whose every step is exact."""
    platform, tiler = slow_copies(queues), options.tiler
    plan = Deployment(network_file(name), platform.name, options, registry_for(platform, tiler=tiler))
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    artifact = emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())
    with np.load(vectors_file(name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    job = Job(artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    with tempfile.TemporaryDirectory() as folder:
        result = TwinRunner(seeds=(2,)).run(job, Path(folder))
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert verdicts and [verdict.name for verdict in verdicts if not verdict.exact] == []
    return sum(group.cycles for group in plan.tiled.groups), result.counts["cycles"]


@pytest.mark.slow
@pytest.mark.parametrize("buffering", ["single", "double"])
def test_more_queues_are_faster_by_as_much_as_is_estimated(buffering: str) -> None:
    options = Options(memory={"l1": 16 << 10}, buffering=buffering)  # type: ignore[arg-type]
    found = [clocks("kws_int8", queues, options) for queues in QUEUES]
    for estimate, cycles in found:
        assert cycles == pytest.approx(estimate, rel=CLOCKS_APART)
    one, two, four = (cycles for _, cycles in found)
    assert two < 0.95 * one
    assert four < two


@pytest.mark.slow
@RANDOMLY
@given(st.integers(0, 10**6), st.integers(12, 40), st.sampled_from(QUEUES), st.sampled_from(["single", "auto"]))
def test_random_tilings_take_what_is_estimated(seed: int, near_kib: int, queues: int, buffering: str) -> None:
    options = Options(memory={"l1": near_kib << 10}, buffering=buffering, tiler="random-max", seed=seed)  # type: ignore[arg-type]
    estimate, cycles = clocks("kws_int8", queues, options)
    assert cycles == pytest.approx(estimate, rel=CLOCKS_APART)
