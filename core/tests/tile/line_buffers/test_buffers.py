"""The buffers of regions by rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.machines.platform import Engine
from tilewright.ir.plans.region import Region
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffers import buffered_steps_of, line_buffers_of
from tilewright.tile.line_buffers.partition import LineBufferSearch, line_buffer_search
from tilewright.tile.machine import ScheduledMachine

SEED = 0


@pytest.fixture(name="programs", scope="module")
def _programs() -> LineBufferSearch:
    return line_buffer_search(on_one_memory(row_network(SEED, vocabulary()).graph))


@pytest.fixture(name="region", scope="module")
def _region(programs: LineBufferSearch) -> Region:
    return next(iter(programs.regions(programs.front()[-1]).values()))


def test_buffers_are_alive_where_the_last_step_stands(programs: LineBufferSearch, region: Region) -> None:
    assert region.line_buffers is not None
    buffers = list(line_buffers_of(programs.lifetimes.steps, region, region.line_buffers))
    at = programs.machine.numbers[region.name]
    assert {(one.first, one.last) for one in buffers} == {(at, at)}
    assert len({one.name for one in buffers}) == len(buffers)
    assert f"{region.name}.rows@ram#0" in {one.name for one in buffers}


def test_held_rows_take_what_they_are(programs: LineBufferSearch, region: Region) -> None:
    assert region.line_buffers is not None
    sizes = {one.name: one.size_bytes for one in line_buffers_of(programs.lifetimes.steps, region, region.line_buffers)}
    for one in buffered_steps_of(programs.lifetimes.steps, region)[:-1]:
        kept = region.line_buffers.buffers.get(one.output.value)
        assert kept is None or sizes[f"{one.step.name}.{one.output.name}@ram#0"] == kept.rows * one.row_bytes


def test_several_cores_are_refused(programs: LineBufferSearch, region: Region) -> None:
    bound = programs.machine.bound
    team = replace(bound, platform=replace(bound.platform, engines=(Engine(name="cpu", cores=4),)))
    machine = ScheduledMachine(
        replace(programs.machine.scheduled, bound=team), vocabulary(), programs.machine.decisions
    )
    with pytest.raises(ValueError, match="one core"):
        buffered_steps_of(LineBufferAnalysis(machine), region)


def test_other_loops_are_refused(programs: LineBufferSearch, region: Region) -> None:
    assert region.line_buffers is not None
    wrong = replace(region, schedule=replace(region.line_buffers, loops=("n",) * len(region.steps)))
    with pytest.raises(ValueError, match="along these loops"):
        buffered_steps_of(programs.lifetimes.steps, wrong)
