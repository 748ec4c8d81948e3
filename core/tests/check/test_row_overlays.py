"""Outputs over what their regions read: every distance that is too short is found, in the region and in the plan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.overlays import overlaid_buffers
from tilewright.check.plan import plan_faults
from tilewright.check.tiling import check_tiles
from tilewright.ir.decisions import Decisions
from tilewright.ir.regions import HeldValue, Region
from tilewright.ir.stages import Tiled
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory, row_network
from tilewright.tile.row_programs import row_programs
from tilewright.tile.stage import tile
from tilewright.tile.strategies import StepTiler

SEEDS = range(12)


@cache
def cases() -> tuple[tuple[Tiled, Region, str], ...]:
    """Plans of random networks, each of their regions whose output is over something, and that output."""
    found = []
    for seed in SEEDS:
        machine = on_one_memory(row_network(seed, vocabulary()).graph)
        programs = row_programs(machine)
        for division in programs.front():
            decisions = Decisions(tiles=programs.regions(division))
            tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
            for region in tiled.regions:
                found.extend((tiled, region, value) for value, held in region.held.items() if held.over)
    return tuple(found)


def with_held(tiled: Tiled, region: Region, value: str, held: HeldValue) -> Tiled:
    """The same plan, the value held so."""
    other = replace(region, held={**region.held, value: held})
    return replace(
        tiled, groups=tuple(replace(one, region=other) if one.name == region.name else one for one in tiled.groups)
    )


def grain(tiled: Tiled, region: Region, value: str) -> int:
    """What distances are multiples of."""
    storage, buffers = tiled.scheduled.storage, {one.name: one for one in tiled.buffers}
    return max(buffers[storage[name].buffer].align for name in (value, region.held[value].over))


def test_there_are_distances_to_try() -> None:
    lags = [region.held[value].lag_bytes for _, region, value in cases()]
    assert len(lags) > 20
    assert {0} < set(lags)


def test_a_shorter_distance_is_found() -> None:
    for tiled, region, value in cases():
        held = region.held[value]
        if held.lag_bytes:
            less = replace(held, lag_bytes=held.lag_bytes - grain(tiled, region, value))
            faults = check_tiles(with_held(tiled, region, value, less), vocabulary())
            assert any("has taken" in fault for fault in faults), (region.name, held)


def test_what_cannot_be_is_said() -> None:
    tiled, region, value = cases()[0]
    held = region.held[value]
    inner = next(iter(region.inner))
    for wrong in (replace(held, over=inner), replace(held, over="nothing"), replace(held, lag_bytes=-4)):
        faults = check_tiles(with_held(tiled, region, value, wrong), vocabulary())
        assert any("cannot be over" in fault for fault in faults)
    for wrong in (replace(held, over=""), replace(held, form="rolling")):
        faults = check_tiles(with_held(tiled, region, value, wrong), vocabulary())
        assert any("as no region by rows" in fault for fault in faults)


def test_an_output_is_over_no_value_in_its_own_buffer() -> None:
    for tiled, region, value in cases():
        storage = tiled.scheduled.storage
        shared = replace(tiled.scheduled, storage={**storage, value: storage[region.held[value].over]})
        faults = check_tiles(replace(tiled, scheduled=shared), vocabulary())
        assert any("which is in its own buffer" in fault for fault in faults), region.name


@pytest.mark.parametrize("number", range(6))
def test_a_plan_keeps_the_distance_and_another_one_is_found(number: int) -> None:
    tiled, region, value = [case for case in cases() if case[1].held[case[2]].lag_bytes][number]
    plan = allocate(tiled, Decisions(tiles={one.name: one for one in tiled.regions if one.rows}), BestFit())
    assert plan_faults(plan, vocabulary()) == ()
    taker = tiled.scheduled.storage[value].buffer
    (one,) = [one for one in overlaid_buffers(tiled) if one.taker == taker]
    places, step = dict(plan.placements), grain(tiled, region, value)
    assert places[one.taker].offset_bytes + one.lag_bytes == places[one.giver].offset_bytes
    places[taker] = replace(places[taker], offset_bytes=places[taker].offset_bytes + step)
    assert any("while it is read" in fault for fault in plan_faults(replace(plan, placements=places), vocabulary()))
