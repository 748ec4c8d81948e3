"""Random networks on machines whose copies move multiples of some bytes: the twin refuses every other transfer, and
every write outside of what a step owns; and outputs are what the operators' references say.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from random_chains import OPERATORS, random_chain, three_levels
from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import cluster
from tilewright.tile.strategies import StepTiler
from tilewright.transform import HOOKS, LIFETIMES, transform

KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}

pytestmark = pytest.mark.slow

RANDOMLY = settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def aligned(platform: Platform, draw: random.Random) -> Platform:
    """The same with copies that move multiples of 4 to 64 bytes, some at most 64 at once; not all alike."""
    copies = tuple(
        replace(
            path,
            align=draw.choice([4, 8, 16, 64]),
            dimensions=draw.randint(1, 3),
            max_bytes=draw.choice([path.max_bytes, 64]),
        )
        for path in platform.copies
    )
    memories = tuple(replace(memory, align=64) for memory in platform.memories)
    return replace(platform, memories=memories, copies=copies)


def planned(seed: int, platform: Platform, strategy: str) -> Any:
    tiler = StepTiler(name=cast("Literal['auto']", strategy), summary="")
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=tiler, allocator=BestFit(), pins=Decisions())
    return planner.plan(planner.bind(random_chain(seed), platform))


def demand_right(plan: Any, folder: Path) -> None:
    """Runs the plan's program on the twin."""
    graph = plan.tiled.scheduled.bound.graph
    program = transform(lower(plan, OPERATORS, "net"), (HOOKS, LIFETIMES), ["lifetimes"])
    artifact = emit(program, EmitOptions(generator="tilewright 0"))
    numbers = np.random.default_rng(7)
    inputs = {name: numbers.integers(-4, 5, graph.tensors[name].shape).astype(np.float32) for name in graph.inputs}
    job = Job(artifact=artifact, plan=plan, prefix="net", input_sets=(inputs,))
    (outputs,) = TwinRunner().run(job, folder).outputs
    expected = run(graph, inputs, OPERATORS)
    for name in graph.outputs:
        np.testing.assert_array_equal(outputs[name], expected[name], err_msg=name)


@given(st.integers(0, 10**9))
@RANDOMLY
def test_one_hop(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """With room for everything there is a plan, whatever the copies move."""
    draw = random.Random(seed)
    strategy, room = draw.choice(["auto", "min", "max", "random-max"]), draw.choice([2048, 4096, 1 << 16])
    try:
        plan = planned(seed, aligned(cluster(room), draw), strategy)
    except TilewrightError as error:
        assert error.code == "TW5101" and room < 1 << 16, error
        return
    demand_right(plan, tmp_path_factory.mktemp("one"))


@given(st.integers(0, 10**9))
@RANDOMLY
def test_two_hops(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    draw = random.Random(seed)
    platform, rooms = aligned(three_levels(), draw), draw.choice([(4096, 2048), (1 << 16, 2048), (1 << 16, 1 << 16)])
    try:
        plan = planned(seed, platform.resized(dict(zip(("l2", "l1"), rooms, strict=True))), "auto")
    except TilewrightError as error:
        assert error.code == "TW5101" and min(rooms) < 1 << 16, error
        return
    demand_right(plan, tmp_path_factory.mktemp("two"))
