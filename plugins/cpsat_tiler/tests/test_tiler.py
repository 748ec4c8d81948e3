"""The tiler on the made-up cluster: never slower than `cost`, sound, the same twice, exact on the twin."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.api.testing import CLUSTER, RUNTIME_BYTES, cluster, copy_path, portable_kernels, vocabulary
from tilewright.bind import bind
from tilewright.check.stages import verify_allocated, verify_tiled
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled, Tiled
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.programs.runner import Job
from tilewright.ir.tensors.dtypes import DType
from tilewright.runners.twin import TwinRunner
from tilewright.schedule import schedule
from tilewright.testing.cluster import registry_for
from tilewright.tile.strategies import TILERS
from tilewright.tile.tile import tile
from tilewright_cpsat.tiler import CpsatTiler

CPSAT = CpsatTiler()
COST = next(tiler for tiler in TILERS if tiler.name == "cost")
DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_int8.onnx"


def tiled(
    scheduled: Scheduled,
    tiler: Any,
    buffering: Buffering = "auto",
    pins: Decisions | None = None,
    longest: int | None = None,
) -> Tiled:
    plan = tile(scheduled, vocabulary(), tiler, pins or Decisions(), buffering, 7, longest)
    verify_tiled(plan, vocabulary())
    return plan


def cycles(plan: Tiled) -> float:
    return sum(group.cycles for group in plan.groups)


def convolutions(count: int, scratchpad_bytes: int, channels: int = 8, pins: Decisions | None = None) -> Scheduled:
    """Float convolutions one after the other over 8 x 8 pixels."""
    tensors: dict[str, Tensor] = {}
    constants: dict[str, Any] = {}
    nodes = []

    def tensor(name: str, shape: tuple[int, ...]) -> str:
        tensors[name] = Tensor(name=name, dtype=DType.F32, shape=shape)
        return name

    value = tensor("x0", (1, channels, 8, 8))
    attributes = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    for index in range(count):
        weights = tensor(f"w{index}", (channels, channels, 3, 3))
        constants[weights] = np.full((channels, channels, 3, 3), index, np.float32)
        result = tensor(f"x{index + 1}", (1, channels, 8, 8))
        nodes.append(
            Node(name=f"conv{index}", op="Conv", inputs=(value, weights), outputs=(result,), attributes=attributes)
        )
        value = result
    graph = Graph(
        name="chain", inputs=("x0",), outputs=(value,), nodes=tuple(nodes), tensors=tensors, constants=constants
    )
    decisions = pins or Decisions()
    bound = bind(graph, cluster(scratchpad_bytes), vocabulary(), portable_kernels(), decisions)
    return schedule(bound, vocabulary(), decisions)


@settings(max_examples=25, deadline=None)
@given(layers(), st.sampled_from([600, 1500, 4096, 65536]), st.sampled_from(["single", "double", "auto"]))
def test_one_layer_is_never_slower(layer: dict[str, Any], scratchpad_bytes: int, buffering: Buffering) -> None:
    scheduled = schedule_on(layer, cluster(scratchpad_bytes))
    try:
        quick = tiled(scheduled, COST, buffering)
    except TilewrightError as error:
        with pytest.raises(TilewrightError) as caught:
            tiled(scheduled, CPSAT, buffering)
        assert caught.value.exit_code is Exit.DOES_NOT_FIT is error.exit_code
        return
    assert cycles(tiled(scheduled, CPSAT, buffering)) <= cycles(quick)


REPEATED = pytest.mark.long  # in 3,000 B nothing is joined: longest=None is the same problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("longest", "scratchpad_bytes"),
    [
        (None, 3000),
        (None, 9000),
        (1, 9000),
        (2, 9000),
        pytest.param(1, 3000, marks=REPEATED),
        pytest.param(2, 3000, marks=REPEATED),
    ],
)
def test_a_chain_is_never_slower_and_twice_the_same(scratchpad_bytes: int, longest: int | None) -> None:
    scheduled = convolutions(4, scratchpad_bytes)
    plan = tiled(scheduled, CPSAT, longest=longest)
    assert plan == tiled(scheduled, CPSAT, longest=longest)
    assert cycles(plan) <= cycles(tiled(scheduled, COST, longest=longest))
    joined = [bool(group.region.resident) for group in plan.groups]
    if longest == 1:
        assert not any(joined)
    if longest == 2:
        assert not any(one and other for one, other in pairwise(joined))


def test_what_stays_has_a_place_of_its_own() -> None:
    plan = tiled(convolutions(4, 9000), CPSAT)
    resident = [value for group in plan.groups for value in group.region.resident]
    assert resident
    sizes = {buffer.name: buffer for buffer in plan.buffers}
    places = [(sizes[name], offset) for group in plan.groups for name, offset in group.offsets.items()]
    assert set(resident) <= {buffer.name for buffer, _ in places}
    for at, (buffer, offset) in enumerate(places):
        assert offset % 8 == 0 and offset >= 0 and offset + buffer.size_bytes <= 9000 - RUNTIME_BYTES
        for other, place in places[:at]:
            apart = buffer.last < other.first or other.last < buffer.first
            assert apart or offset + buffer.size_bytes <= place or place + other.size_bytes <= offset
    assert {group.claim for group in plan.groups} == {"optimal"}


def test_pinned_tiles_stay_as_they_are() -> None:
    scheduled = convolutions(3, 6000)
    plan = tiled(scheduled, COST, longest=1)
    pinned = plan.groups[1]
    again = tiled(scheduled, CPSAT, pins=Decisions(tiles={pinned.name: pinned.region}))
    assert again.groups[1].region == pinned.region


def test_what_is_pinned_near_takes_its_room() -> None:
    pins = Decisions(memories={"x2": "l1"})
    plan = tiled(convolutions(4, 6000, pins=pins), CPSAT, pins=pins)
    readers = {group.name: group.region.hops[-1].copies for group in plan.groups}
    assert "conv1.Y" not in readers["conv1"] and "conv2.X" not in readers["conv2"]


@pytest.mark.slow
@pytest.mark.parametrize("scratchpad_bytes", [2048, 4096, 16384])
def test_exact_on_the_twin(scratchpad_bytes: int, tmp_path: Path) -> None:
    registry = registry_for(CLUSTER, tiler="cpsat")
    options = Options(memory={"l1": scratchpad_bytes}, tiler="cpsat")
    plan = Deployment(DIGITS, CLUSTER.name, options, registry)
    numbers = np.random.default_rng(3)
    inputs = {
        name: numbers.integers(-100, 100, tensor.shape).astype(tensor.dtype.numpy)
        for name, tensor in plan.inputs.items()
    }
    job = Job(artifact=plan.compile(), plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    result = TwinRunner().run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    places = {name: place.offset_bytes for name, place in plan.allocated.placements.items()}
    asked = {name: offset for group in plan.tiled.groups for name, offset in group.offsets.items()}
    assert asked and asked.items() <= places.items()
    assert plan.worst_case_buffer_size["l1"] + CLUSTER.runtime_bytes["l1"] <= scratchpad_bytes


def nested(scratchpad_bytes: int, middle_bytes: int) -> Platform:
    """Values live in a third memory, and are copied over the second."""
    base = cluster(scratchpad_bytes)
    return replace(
        base,
        memories=(
            Memory(name="l3", size_bytes=None),
            *(replace(one, size_bytes=middle_bytes) if one.name == "l2" else one for one in base.memories),
        ),
        copies=(*base.copies, copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("flash", "l2")),
        backing="l3",
    )


@pytest.mark.slow
def test_every_memory_on_the_way_has_its_places() -> None:
    platform = nested(3000, 4500)
    graph = convolutions(2, 3000).bound.graph
    scheduled = schedule(
        bind(graph, platform, vocabulary(), portable_kernels(), Decisions()), vocabulary(), Decisions()
    )
    plan = tiled(scheduled, CPSAT)
    assert cycles(plan) <= cycles(tiled(scheduled, COST))
    resident = {memory for group in plan.groups for memory in group.region.resident.values()}
    assert resident == {"l2"}, "a value of 2,048 B is too large for what tiles leave of 2,744 B"
    placed = allocate(plan, Decisions(), BestFit())
    verify_allocated(placed, vocabulary())
    asked = {name: offset for group in plan.groups for name, offset in group.offsets.items()}
    assert asked and all(placed.placements[name].offset_bytes == offset for name, offset in asked.items())


def test_pinned_groups_are_kept_and_placed() -> None:
    pins = Decisions(groups=(("conv1", "conv2"),))
    plan = tiled(convolutions(4, 9000, pins=pins), CPSAT, pins=pins)
    assert [group.steps for group in plan.groups] == [("conv0",), ("conv1", "conv2"), ("conv3",)]
    assert cycles(plan) <= cycles(tiled(convolutions(4, 9000, pins=pins), COST, pins=pins))
    placed = allocate(plan, pins, BestFit())
    verify_allocated(placed, vocabulary())
    tiles = {group.name: group.region for group in plan.groups}
    again = tiled(convolutions(4, 9000, pins=pins), CPSAT, pins=replace(pins, tiles=tiles))
    assert {group.name: group.region for group in again.groups} == tiles
    inside = [name for name in plan.groups[1].offsets if name.startswith("conv1.")]
    assert inside, "what stays inside the group has a place, too"
