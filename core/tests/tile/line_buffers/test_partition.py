"""Which steps are computed by rows together: the front of bytes against cycles."""

from __future__ import annotations

import pytest

from row_networks import on_one_memory, row_network
from tilewright.allocate import allocate
from tilewright.allocate.aliases.aliased_buffers import aliased_buffers_of
from tilewright.allocate.best_fit import BestFit
from tilewright.check.tiling import check_tiles
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Tiled
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffers import line_buffered_cycles
from tilewright.tile.line_buffers.lifetimes import CallCache
from tilewright.tile.line_buffers.partition import line_buffer_search, overlaid_steps
from tilewright.tile.line_buffers.segments import Segment, overlaid_step
from tilewright.tile.line_buffers.signatures import StepSignatures
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

SEEDS = range(30)


def shared_bytes(tiled: Tiled, step: int) -> int:
    """What buffers that take others' bytes take less of them, at a step."""
    sizes, total = {one.name: one for one in tiled.buffers}, 0
    for one in aliased_buffers_of(tiled):
        taker, giver = sizes[one.taker], sizes[one.giver]
        if taker.first <= step <= giver.last:
            first = one.lead_bytes  # of the giver, from the taker's start
            total += min(first + giver.size_bytes, taker.size_bytes) - max(first, 0)
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_the_front_falls_in_bytes_and_begins_with_layers(seed: int) -> None:
    front = line_buffer_search(on_one_memory(row_network(seed, vocabulary()).graph)).front()
    sizes = [one.size_bytes for one in front]
    assert sizes == sorted(set(sizes), reverse=True)
    assert all(one.row_schedule is None or one.row_schedule.stripes > 1 for one in front[0].segments)  # unread columns
    assert [one.cycles for one in front] == sorted(one.cycles for one in front)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_of_calls_changes_nothing(seed: int) -> None:
    machine, known = on_one_memory(row_network(seed, vocabulary()).graph), CallCache()
    first = line_buffer_search(machine, known=known)
    assert known.costs.calls
    count = len(known.costs.calls)
    assert line_buffer_search(machine, known=known).front() == first.front() == line_buffer_search(machine).front()
    assert len(known.costs.calls) == count


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_every_division_is_sound_and_takes_what_it_says(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    programs = line_buffer_search(machine)
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
            if segment.row_schedule:
                region = regions[machine.scheduled.steps[segment.last].name]
                assert region.line_buffers is not None
                assert line_buffered_cycles(LineBufferAnalysis(machine), region, region.line_buffers) == pytest.approx(
                    segment.cycles
                )


def test_a_value_that_is_pinned_to_a_memory_exists() -> None:
    machine = on_one_memory(row_network(0, vocabulary()).graph)
    programs = line_buffer_search(machine)
    held = [value for region in programs.regions(programs.front()[-1]).values() for value in region.unmaterialised]
    decisions = Decisions(memories=dict.fromkeys(held, "ram"))
    pinned = line_buffer_search(ScheduledMachine(machine.scheduled, vocabulary(), decisions))
    for division in pinned.front():
        for region in pinned.regions(division).values():
            assert set(held).isdisjoint(region.internal_values)


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_that_are_alone_take_less_and_less_and_no_plan_less_than_said(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    programs, divisions = overlaid_steps(machine, float("inf"))
    sizes = [one.size_bytes for one in divisions]
    assert sizes == sorted(set(sizes), reverse=True)
    for division in divisions[-2:]:
        assert [one.first for one in division.segments] == [one.last for one in division.segments]
        decisions = Decisions(tiles=programs.regions(division))
        tiled = tile(machine.scheduled, vocabulary(), StepTiler(name="auto", summary=""), decisions)
        assert check_tiles(tiled, vocabulary()) == ()
        assert programs.least_bytes(division) <= ram_bytes(allocate(tiled, decisions, BestFit())) + 64


def test_cycles_are_a_limit() -> None:
    machine = on_one_memory(row_network(5, vocabulary()).graph)
    _, every = overlaid_steps(machine, float("inf"))
    middle = every[len(every) // 2].cycles
    _, some = overlaid_steps(machine, middle)
    assert some and [one.cycles for one in some] == [one.cycles for one in every if one.cycles <= middle]


def test_bytes_that_a_step_cannot_do_with_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = on_one_memory(row_network(5, vocabulary()).graph)
    _, every = overlaid_steps(machine, float("inf"))
    least = every[-1].size_bytes
    assert overlaid_steps(machine, float("inf"), least)[1] == every
    asked: list[int] = []

    def nothing(alike: StepSignatures, step: int) -> tuple[Segment, ...]:
        asked.append(step)
        return ()

    monkeypatch.setattr("tilewright.tile.line_buffers.partition.overlaid_step", nothing)
    assert overlaid_steps(machine, float("inf"), least - 1)[1] == ()
    assert len(asked) == 1


def test_every_step_is_looked_at_once_for_outputs_over_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(alike: StepSignatures, step: int) -> tuple[Segment, ...]:
        asked.append(step)
        return overlaid_step(alike, step)

    monkeypatch.setattr("tilewright.tile.line_buffers.partition.overlaid_step", counted)
    rounds = 0
    for seed in SEEDS:
        asked.clear()
        _, divisions = overlaid_steps(on_one_memory(row_network(seed, vocabulary()).graph), float("inf"))
        assert len(asked) == len(set(asked))
        rounds = max(rounds, len(divisions))
    assert rounds > 1
