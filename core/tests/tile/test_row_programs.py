"""Which steps are computed by rows together: the front of bytes against cycles."""

from __future__ import annotations

import pytest

from tilewright.allocate.overlays import overlaid_buffers
from tilewright.check.tiling import check_tiles
from tilewright.ir.decisions import Decisions
from tilewright.ir.stages import Tiled
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory, row_network
from tilewright.tile.row_buffers import row_cycles
from tilewright.tile.row_programs import row_programs
from tilewright.tile.stage import tile
from tilewright.tile.step_spaces import ScheduledMachine
from tilewright.tile.strategies import StepTiler

SEEDS = range(30)


def shared_bytes(tiled: Tiled, step: int) -> int:
    """What buffers that take others' bytes take less of them, at a step."""
    sizes, total = {one.name: one for one in tiled.buffers}, 0
    for one in overlaid_buffers(tiled):
        taker, giver = sizes[one.taker], sizes[one.giver]
        if taker.first <= step <= giver.last:
            total += min(giver.size_bytes, taker.size_bytes - one.lag_bytes)
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_the_front_falls_in_bytes_and_begins_with_layers(seed: int) -> None:
    front = row_programs(on_one_memory(row_network(seed, vocabulary()).graph)).front()
    sizes = [one.size_bytes for one in front]
    assert sizes == sorted(set(sizes), reverse=True)
    assert all(segment.rows == 0 for segment in front[0].segments)
    assert [one.cycles for one in front] == sorted(one.cycles for one in front)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_division_is_sound_and_takes_what_it_says(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    programs = row_programs(machine)
    for division in programs.front():
        regions = programs.regions(division)
        tiler = StepTiler(name="auto", summary="")
        tiled = tile(machine.scheduled, vocabulary(), tiler, Decisions(tiles=regions))
        assert check_tiles(tiled, vocabulary()) == ()
        live = [
            sum(one.size_bytes for one in tiled.buffers if one.kind != "constant" and one.first <= at <= one.last)
            - shared_bytes(tiled, at)
            for at in range(len(machine.scheduled.steps))
        ]
        assert max(live) <= division.size_bytes <= max(live) + 4 * len(tiled.buffers)
        for segment in division.segments:
            if segment.rows:
                region = regions[machine.scheduled.steps[segment.last].name]
                assert region.rows is not None
                assert row_cycles(machine, region, region.rows) == pytest.approx(segment.cycles)


def test_a_value_that_is_pinned_to_a_memory_exists() -> None:
    machine = on_one_memory(row_network(0, vocabulary()).graph)
    programs = row_programs(machine)
    held = [value for region in programs.regions(programs.front()[-1]).values() for value in region.inner]
    decisions = Decisions(memories=dict.fromkeys(held, "ram"))
    pinned = row_programs(ScheduledMachine(machine.scheduled, vocabulary(), decisions))
    for division in pinned.front():
        for region in pinned.regions(division).values():
            assert set(held).isdisjoint(region.held)
