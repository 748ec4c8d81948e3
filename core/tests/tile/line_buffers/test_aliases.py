"""Outputs that take the bytes of rows that nobody reads any more: how far before them they have to begin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import LineBuffer, Region
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.aliases import distance_backward
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import line_buffer_search, region_of
from tilewright.tile.line_buffers.segments import RowSchedule, Segment, simulated
from tilewright.tile.machine import ScheduledMachine

SEEDS = range(30)


def regions(machine: ScheduledMachine) -> Iterator[Region]:
    """Of every division in the front."""
    programs = line_buffer_search(machine)
    for division in programs.front():
        yield from programs.regions(division).values()


def overlays(region: Region) -> list[LineBuffer]:
    """What is over something else."""
    schedule = region.line_buffers
    return [buffer for buffer in schedule.buffers.values() if buffer.aliases] if schedule else []


def two_convolutions(taps: int, wider: int) -> ScheduledMachine:
    """Over 12 x 4 positions, each with rows that are longer by `wider` on either side."""
    sketch = Sketch(operators=vocabulary())
    y, reach = sketch.input("x", DType.F32, (1, 1, 12, 4)), taps // 2
    for _ in range(2):
        w = sketch.constant(np.ones((1, 1, taps, 1), np.float32))
        attributes = {"kernel_shape": (taps, 1), "strides": (1, 1), "dilations": (1, 1), "group": 1}
        y = sketch.node("Conv", (y, w), {**attributes, "pads": (reach, wider, reach, wider)})
    return on_one_memory(sketch.finish(y))


@pytest.mark.parametrize(("taps", "wider"), [(1, 0), (3, 0), (1, 1), (3, 1), (5, 2)])
def test_lag_is_what_rows_that_are_longer_would_overtake(taps: int, wider: int) -> None:
    both = Segment(first=0, last=1, row_schedule=RowSchedule(), size_bytes=0, cycles=0.0)
    (buffer,) = overlays(region_of(Lifetimes(LineBufferAnalysis(two_convolutions(taps, wider))), both))
    # when row r is stored the first step reads from row r + 1 on, and has come to its end with row 11 - reach
    lag = (11 - taps // 2) * 4 * wider * 4
    assert (buffer.aliases, buffer.distance_bytes) == ("x", lag)


@pytest.mark.slow
def test_most_networks_have_an_output_over_what_is_read() -> None:
    found = [on_one_memory(row_network(seed, vocabulary()).graph) for seed in SEEDS]
    assert sum(any(overlays(region) for region in regions(machine)) for machine in found) >= len(SEEDS) // 2


@pytest.mark.parametrize("seed", SEEDS)
def test_who_takes_is_born_with_the_last_step_and_who_gives_dies_with_it(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    buffers, storage = {one.name: one for one in machine.scheduled.buffers}, machine.scheduled.storage
    for region in regions(machine):
        for value, held in region.line_buffers.buffers.items() if region.line_buffers else ():
            if held.aliases:
                taker, giver = buffers[storage[value].buffer], buffers[storage[held.aliases].buffer]
                assert giver.last <= machine.numbers[region.name] == taker.first
                assert held.distance_bytes < taker.size_bytes
                assert held.distance_bytes % max(taker.align, giver.align) == 0


@pytest.mark.parametrize("decisions", [Decisions(memories={"x": "ram"}), Decisions(io={"x": "user"})])
def test_what_is_pinned_or_the_callers_keeps_its_bytes(decisions: Decisions) -> None:
    machine = two_convolutions(3, 0)
    other = ScheduledMachine(schedule(machine.bound, vocabulary(), decisions), vocabulary(), decisions)
    assert not [one for region in regions(other) for one in overlays(region)]


def test_with_two_memories_for_values_each_keeps_its_bytes() -> None:
    machine = two_convolutions(3, 0)
    memories = (*machine.platform.memories, replace(machine.platform.memories[0], name="more"))
    bound = replace(machine.bound, platform=replace(machine.platform, memories=memories))
    other = ScheduledMachine(schedule(bound, vocabulary(), Decisions()), vocabulary(), Decisions())
    assert not [one for region in regions(other) for one in overlays(region)]


def test_an_output_of_the_network_is_never_overwritten() -> None:
    sketch = Sketch(operators=vocabulary())
    y = out = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 1, 12, 4)),), {"min": 0.0})
    for _ in range(2):
        w = sketch.constant(np.ones((1, 1, 3, 1), np.float32))
        attributes = {"kernel_shape": (3, 1), "strides": (1, 1), "dilations": (1, 1), "group": 1, "pads": (1, 0, 1, 0)}
        y = sketch.node("Conv", (y, w), attributes)
    machine = on_one_memory(sketch.finish(y, out))
    assert out not in [held.aliases for region in regions(machine) for held in overlays(region)]


@pytest.mark.parametrize("taps", [1, 3, 5])
@pytest.mark.parametrize("wider", [0, 1])
@pytest.mark.parametrize("rows", [1, 4])
def test_backward_every_row_that_is_read_is_before_what_is_stored(taps: int, wider: int, rows: int) -> None:
    """The first convolution alone, its last rows first: rows of 16 bytes become rows of 16 or 24."""
    lives = Lifetimes(LineBufferAnalysis(two_convolutions(taps, wider)))
    (output, given) = (lives.buffer_of(lives.steps.at(0).output.value), lives.buffer_of("x"))
    row_bytes = output.size_bytes // 12
    needed = [
        16 * min(end + taps // 2, 12) - given.size_bytes + output.size_bytes - row_bytes * max(end - rows, 0)
        for end in range(12, 0, -rows)
    ]
    found = distance_backward(lives, simulated(lives, 0, 0, RowSchedule(rows=rows)), "x")
    assert found == max(given.size_bytes - given.size_bytes, *needed, output.size_bytes - given.size_bytes)
