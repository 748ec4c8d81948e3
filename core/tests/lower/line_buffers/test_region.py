"""Steps computed row by row, on this machine under sanitizers: every output is what the reference says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, RowNetwork, on_one_memory, row_network
from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region, RepeatedCalls
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.runner import Job
from tilewright.ir.programs.statements import For
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.lower.line_buffers.region import call_schedule_table
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.runners.host import HostRunner
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.partition import overlaid_steps
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile
from tilewright.transform import LIFETIMES, transform

SEEDS = range(8)
BUILT = [*SEEDS[:4], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[4:])]  # as C, with sanitizers


@dataclass(frozen=True, slots=True)
class Compiled:
    """A network, its plan, and the program."""

    network: RowNetwork
    plan: Allocated
    program: Program

    @property
    def regions(self) -> list[Region]:
        """By rows."""
        return [region for region in self.plan.tiled.regions if region.line_buffers is not None]


def planned(network: RowNetwork, optimize: Optimize) -> Allocated:
    """The plan on one memory."""
    planner = portable_planner(optimize=optimize)
    return Fitting(planner=planner).plan(planner.bind(network.graph, ONE_MEMORY))


def compiled(seed: int) -> Compiled:
    """A network in the least memory."""
    network = row_network(seed, vocabulary())
    plan = planned(network, "ram")
    program = transform(lower(plan, vocabulary(), "net"), (LIFETIMES,), ("lifetimes",), {})
    return Compiled(network, plan, program)


@pytest.mark.slow
@pytest.mark.parametrize("seed", BUILT)
def test_rows_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    made = compiled(seed)
    job = Job(
        artifact=emit(made.program, EmitOptions(const_format="c")),
        plan=made.plan,
        prefix="net",
        input_sets=(made.network.feeds, made.network.feeds),
        sanitize=True,
    )
    result = HostRunner().run(job, tmp_path)
    expected = run(made.network.graph, made.network.feeds, vocabulary())
    for outputs in result.outputs:
        for name, array in outputs.items():
            np.testing.assert_array_equal(array, expected[name])


def overlaid_network(network: RowNetwork) -> Allocated:
    """Every step alone, outputs over what their steps read as far as that helps."""
    machine = on_one_memory(network.graph)
    programs, divisions = overlaid_steps(machine, float("inf"))
    decisions = Decisions(tiles=programs.regions(divisions[-1]) if divisions else {})
    tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
    return allocate(tiled, decisions, BestFit())


def ran(plan: Allocated, network: RowNetwork, folder: Path) -> bool:
    """Whether every output is the reference's."""
    artifact = emit(lower(plan, vocabulary(), "net"), EmitOptions(const_format="c"))
    job = Job(artifact=artifact, plan=plan, prefix="net", input_sets=(network.feeds, network.feeds), sanitize=True)
    expected = run(network.graph, network.feeds, vocabulary())
    outputs = HostRunner().run(job, folder).outputs
    return all(np.array_equal(array, expected[name]) for one in outputs for name, array in one.items())


@pytest.mark.slow
@pytest.mark.parametrize("seed", BUILT)
def test_outputs_over_what_their_steps_read_are_what_the_reference_says(seed: int, tmp_path: Path) -> None:
    network = row_network(seed, vocabulary())
    assert ran(overlaid_network(network), network, tmp_path)


@pytest.mark.slow
def test_a_single_number_is_read_by_every_row(tmp_path: Path) -> None:
    """It has no axis, and so no rows: it is computed first, whole; the image that is multiplied with it has rows."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 1, 12, 6))
    weights = sketch.constant(np.ones((4, 1, 1, 1), np.float32))
    same = {"kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0,) * 4, "group": 1}
    wide = sketch.node("Conv", (x, weights), same)
    most = sketch.node("ReduceMax", (x,), {"axes": (0, 1, 2, 3), "keepdims": 0})
    total = sketch.node("ReduceSum", (sketch.node("Mul", (wide, most)),), {"axes": (1,), "keepdims": 0})
    feeds = {"x": np.random.default_rng(0).integers(-3, 4, (1, 1, 12, 6)).astype(np.float32)}
    network = RowNetwork(graph=sketch.finish(total), feeds=feeds)
    plan = planned(network, "ram")
    first, rows = plan.tiled.regions
    assert not first.line_buffers and rows.line_buffers and wide in rows.unmaterialised
    assert most not in rows.unmaterialised and ran(plan, network, tmp_path)


def chain() -> RowNetwork:
    """Three convolutions of 3 x 3 taps over 12 rows of 4."""
    chance, sketch = np.random.default_rng(1), Sketch(operators=vocabulary())
    y = sketch.input("x", DType.F32, (1, 1, 12, 4))
    for _ in range(3):
        w = sketch.constant(chance.integers(1, 5, (1, 1, 3, 3)).astype(np.float32))
        attributes = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "group": 1}
        y = sketch.node("Conv", (y, w), {**attributes, "pads": (1, 1, 1, 1)})
    feeds = {"x": chance.integers(1, 9, (1, 1, 12, 4)).astype(np.float32)}
    return RowNetwork(graph=sketch.finish(y), feeds=feeds)


@pytest.mark.slow
def test_outputs_a_row_too_near_are_wrong(tmp_path: Path) -> None:
    """Forward, and backward."""
    network = chain()
    plan = overlaid_network(network)
    assert ran(plan, network, tmp_path / "right")
    seen = set()
    for region in (region for region in plan.tiled.regions if region.line_buffers is not None):
        backward = region.line_buffers is not None and region.line_buffers.backward
        taker = plan.tiled.scheduled.storage[next(iter(region.internal_values))].buffer
        place = plan.placements[taker]
        nearer = replace(place, offset_bytes=place.offset_bytes + (-16 if backward else 16))
        moved = replace(plan, placements={**plan.placements, taker: nearer})
        assert not ran(moved, network, tmp_path / region.name)
        seen.add(backward)
    assert seen == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_never_take_more_than_layers(seed: int) -> None:
    network = row_network(seed, vocabulary())
    assert ram_bytes(planned(network, "ram")) <= ram_bytes(planned(network, "speed"))


@pytest.mark.slow
def test_most_of_these_networks_have_rows() -> None:
    assert sum(bool(compiled(seed).regions) for seed in SEEDS) >= len(SEEDS) // 2


def test_all_code_is_in_the_function_of_the_last_step() -> None:
    made = next(one for one in map(compiled, SEEDS) if one.regions)
    code = {step.step: step for step in made.program.steps}
    region = made.regions[0]
    assert all(not code[name].body and not code[name].parts for name in region.steps[:-1])
    assert len(code[region.name].parts) == len(region.steps)


@pytest.mark.slow
def test_a_step_alone_is_called_in_one_loop_and_several_by_a_table() -> None:
    met = set()
    for seed in SEEDS[:6]:
        network = row_network(seed, vocabulary())
        for plan in (overlaid_network(network), compiled(seed).plan):
            code = {step.step: step for step in lower(plan, vocabulary(), "net").steps}
            for region in plan.tiled.regions:
                if region.line_buffers is None or region.line_buffers.stripes is not None:
                    continue
                one, calls = code[region.name], len(region.line_buffers.calls)
                alone = len(region.steps) == 1
                met.add(alone)
                assert any("_order[" in text for text in one.declarations) is not alone
                assert any(f"{'alone' if alone else 'together'}, in {calls} calls" in line for line in one.comment)
                if alone:
                    _, _, loop = one.body
                    assert isinstance(loop, For) and str(loop.stop) == str(calls)
    assert met == {True, False}


def test_table_has_parts_with_their_turns_and_lengths() -> None:
    assert list(call_schedule_table((RepeatedCalls((0, 1), 3), RepeatedCalls((2,))))) == [3, 2, 0, 1, 1, 1, 2]


def test_table_cuts_what_is_too_long_for_a_byte() -> None:
    assert list(call_schedule_table((RepeatedCalls((7,), 300),))) == [255, 1, 7, 45, 1, 7]
    long = list(call_schedule_table((RepeatedCalls((1,) * 300, 1),)))
    assert (long[:2], long[257:259], len(long)) == ([1, 255], [1, 45], 304)
