"""Outputs over what their regions read: every distance that is too short is found, in the region and in the plan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from row_networks import on_one_memory, row_network
from tilewright.allocate import allocate
from tilewright.allocate.aliases.aliased_buffers import aliased_buffers_of
from tilewright.allocate.best_fit import BestFit
from tilewright.check.plans.plan import plan_faults
from tilewright.check.tiling import check_tiles
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import LineBuffer, LineBuffers, Region
from tilewright.ir.plans.stages import Tiled
from tilewright.schedule import schedule
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.alias_chains import Distance
from tilewright.tile.line_buffers.aliases import distance_backward, overlay_of
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import line_buffer_search, overlaid_steps, region_of
from tilewright.tile.line_buffers.segments import RowSchedule, calls_of, overlaid_step, whole_step
from tilewright.tile.line_buffers.signatures import StepSignatures
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

SEEDS = range(12)


@cache
def cases() -> tuple[tuple[Tiled, Region, str], ...]:
    """Plans of random networks, each of their regions whose output is over something, and that output."""
    found = []
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        programs = line_buffer_search(machine)
        for division in programs.front():
            decisions = Decisions(tiles=programs.regions(division))
            tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
            for region, rows in tiled.line_buffered:
                found.extend((tiled, region, value) for value, buffer in rows.buffers.items() if buffer.aliases)
    return tuple(found)


@cache
def steps_alone() -> tuple[tuple[Tiled, Region, str], ...]:
    """Plans with one step alone by rows, its output as near to what it is over as may be: forward, and backward."""
    found = []
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        lives = Lifetimes(LineBufferAnalysis(machine))
        for step in range(lives.beyond):
            for segment in overlaid_step(StepSignatures(lives), step):
                calls = calls_of(lives, segment)
                overlay, value = overlay_of(lives, calls), lives.steps.at(step).output.value
                assert overlay is not None
                sizes = [lives.buffer_of(name).size_bytes for name in (overlay.aliases, value)]
                behind = sizes[0] - sizes[1] + distance_backward(lives, calls, overlay.aliases)
                for distance in (None, Distance(size_bytes=behind, backward=True)):
                    region = region_of(lives, segment, distance)
                    decisions = Decisions(tiles={region.name: region})
                    tiler = StepTiler(name="auto", summary="")
                    found.append((tile(machine.scheduled, vocabulary(), tiler, decisions), region, value))
    return tuple(found)


def schedule_of(region: Region) -> LineBuffers:
    """Its calls, and what it holds."""
    assert region.line_buffers is not None
    return region.line_buffers


def buffer_of(region: Region, value: str) -> LineBuffer:
    """Where the value is kept."""
    return schedule_of(region).buffers[value]


def with_buffer(tiled: Tiled, region: Region, value: str, buffer: LineBuffer) -> Tiled:
    """The same plan, the value kept there."""
    buffers = {**schedule_of(region).buffers, value: buffer}
    return with_region(tiled, replace(region, schedule=replace(schedule_of(region), buffers=buffers)))


def with_region(tiled: Tiled, other: Region) -> Tiled:
    """The same plan with another region in the place of the one of its name."""
    return replace(
        tiled, groups=tuple(replace(one, region=other) if one.name == other.name else one for one in tiled.groups)
    )


def grain(tiled: Tiled, region: Region, value: str) -> int:
    """What distances are multiples of."""
    storage, buffers = tiled.scheduled.storage, {one.name: one for one in tiled.buffers}
    return max(buffers[storage[name].buffer].align for name in (value, buffer_of(region, value).aliases))


@pytest.mark.slow
def test_there_are_distances_to_try() -> None:
    lags = [buffer_of(region, value).distance_bytes for _, region, value in cases()]
    assert len(lags) > 20
    assert {0} < set(lags)


@pytest.mark.slow
def test_a_shorter_distance_is_found() -> None:
    for tiled, region, value in cases():
        held = buffer_of(region, value)
        if held.distance_bytes:
            less = replace(held, distance_bytes=held.distance_bytes - grain(tiled, region, value))
            faults = check_tiles(with_buffer(tiled, region, value, less), vocabulary())
            assert any("has taken" in fault for fault in faults), (region.name, held)


@pytest.mark.slow
def test_steps_alone_go_forward_and_backward_and_a_row_nearer_is_found() -> None:
    """Backward, columns at the end of a row that nobody reads may be taken, which is not made use of."""
    found: dict[bool, list[bool]] = {True: [], False: []}
    for tiled, region, value in steps_alone():
        assert check_tiles(tiled, vocabulary()) == ()
        held, rows, tensor = (
            buffer_of(region, value),
            schedule_of(region),
            tiled.scheduled.bound.graph.tensors[value],
        )
        less = held.distance_bytes - max(tensor.size_bytes // tensor.shape[2], grain(tiled, region, value))
        if less >= 0:
            faults = check_tiles(with_buffer(tiled, region, value, replace(held, distance_bytes=less)), vocabulary())
            found[rows.backward].append(any("has taken" in fault for fault in faults))
    assert len(found[False]) > 10 and all(found[False])
    assert len(found[True]) > 10 and sum(found[True]) > 0.9 * len(found[True])


@pytest.mark.slow
def test_a_plan_with_rows_that_go_backward_is_as_far_apart_as_they_say() -> None:
    tried = 0
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        programs, divisions = overlaid_steps(machine, float("inf"))
        decisions = Decisions(tiles=programs.regions(divisions[-1]) if divisions else {})
        tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
        plan = allocate(tiled, decisions, BestFit())
        assert plan_faults(plan, vocabulary()) == ()
        for region in tiled.regions:
            if region.line_buffers is not None and region.line_buffers.backward:
                (value,) = region.internal_values
                more = replace(
                    buffer_of(region, value),
                    distance_bytes=buffer_of(region, value).distance_bytes + grain(tiled, region, value),
                )
                other = replace(plan, tiled=with_buffer(tiled, region, value, more))
                assert any("while it is read" in fault for fault in plan_faults(other, vocabulary()))
                tried += 1
    assert tried > 3


def test_only_a_step_that_is_alone_goes_backward() -> None:
    for tiled, region, _ in cases()[:3]:
        assert region.line_buffers is not None and len(region.steps) > 1
        backward = replace(region, schedule=replace(region.line_buffers, backward=True))
        groups = tuple(replace(one, region=backward) if one.name == region.name else one for one in tiled.groups)
        faults = check_tiles(replace(tiled, groups=groups), vocabulary())
        assert any("only a step that is alone" in fault for fault in faults)


def test_rows_never_take_bytes_as_one_call_may() -> None:
    """A kernel that may overwrite what it reads has read all of that when it is done, not row by row."""
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        lives = Lifetimes(LineBufferAnalysis(machine))
        for value in machine.scheduled.in_place:
            (at,) = (at for at in range(lives.beyond) if lives.steps.at(at).output.value == value)
            if lives.steps.at(at).cannot:
                continue
            region = region_of(lives, replace(whole_step(lives, at), row_schedule=RowSchedule()))
            decisions = Decisions(tiles={region.name: region})
            tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
            faults = plan_faults(allocate(tiled, decisions, BestFit()), vocabulary())
            assert any(f"'{value}' overwrites" in fault for fault in faults)
            return
    raise AssertionError("no network has such a step")


def test_an_output_in_place_is_over_nothing() -> None:
    """Decisions for values that are apart, on a schedule in which they are not."""
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        apart = Decisions(in_place=dict.fromkeys(machine.scheduled.in_place, ""))
        other = ScheduledMachine(schedule(machine.bound, vocabulary(), apart), vocabulary(), apart)
        programs, divisions = overlaid_steps(other, float("inf"))
        for region in (region for one in divisions for region in programs.regions(one).values()):
            (value,) = region.internal_values
            storage = machine.scheduled.storage
            if storage[value].buffer == storage[buffer_of(region, value).aliases].buffer:
                tiler = StepTiler(name="auto", summary="")
                tiled = tile(machine.scheduled, vocabulary(), tiler, Decisions(tiles={region.name: region}))
                assert any("cannot be over" in fault for fault in check_tiles(tiled, vocabulary()))
                return
    raise AssertionError("no network has such a step")


def test_what_cannot_be_is_said() -> None:
    tiled, region, value = cases()[0]
    held = buffer_of(region, value)
    inner = next(iter(region.unmaterialised))
    for wrong in (replace(held, aliases=inner), replace(held, aliases="nothing"), replace(held, distance_bytes=-4)):
        faults = check_tiles(with_buffer(tiled, region, value, wrong), vocabulary())
        assert any("cannot be over" in fault for fault in faults)
    for other in (value, inner):
        swapped = replace(buffer_of(region, other), aliases=region.steps[0] if other == inner else "")
        faults = check_tiles(with_buffer(tiled, region, other, swapped), vocabulary())
        assert any("as only the region's output can be" in fault for fault in faults)
    rolling = {**region.internal_values, value: replace(region.internal_values[value], form="rolling")}
    faults = check_tiles(with_region(tiled, replace(region, internal_values=rolling)), vocabulary())
    assert any("as no line-buffered region" in fault for fault in faults)


def test_an_output_is_over_no_value_in_its_own_buffer() -> None:
    for tiled, region, value in cases():
        storage = tiled.scheduled.storage
        shared = replace(tiled.scheduled, storage={**storage, value: storage[buffer_of(region, value).aliases]})
        faults = check_tiles(replace(tiled, scheduled=shared), vocabulary())
        assert any("which is in its own buffer" in fault for fault in faults), region.name


@pytest.mark.parametrize("number", range(6))
def test_a_plan_keeps_the_distance_and_another_one_is_found(number: int) -> None:
    tiled, region, value = [case for case in cases() if buffer_of(case[1], case[2]).distance_bytes][number]
    plan = allocate(tiled, Decisions(tiles={one.name: one for one in tiled.regions if one.line_buffers}), BestFit())
    assert plan_faults(plan, vocabulary()) == ()
    taker = tiled.scheduled.storage[value].buffer
    (one,) = [one for one in aliased_buffers_of(tiled) if one.taker == taker]
    places, step = dict(plan.placements), grain(tiled, region, value)
    assert places[one.taker].offset_bytes + one.lead_bytes == places[one.giver].offset_bytes
    places[taker] = replace(places[taker], offset_bytes=places[taker].offset_bytes + step)
    assert any("while it is read" in fault for fault in plan_faults(replace(plan, placements=places), vocabulary()))
