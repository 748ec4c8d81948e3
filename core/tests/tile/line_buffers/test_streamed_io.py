"""Which step takes the rows of an input, and with which others it is computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from row_networks import ONE_MEMORY, row_network
from tilewright.bind import bind
from tilewright.ir.plans.decisions import Decisions
from tilewright.rewrite.insert_streamed_io import with_arrival
from tilewright.schedule import schedule
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.tile.line_buffers.partition import line_buffer_search
from tilewright.tile.line_buffers.streamed_io import arrivals, departures
from tilewright.tile.machine import ScheduledMachine

PUSHED = Decisions(io={"x": "push"})


def machine(seed: int) -> ScheduledMachine:
    graph = with_arrival(row_network(seed, vocabulary()).graph, "x")
    bound = bind(graph, ONE_MEMORY, vocabulary(), portable_kernels(), PUSHED)
    return ScheduledMachine(schedule(bound, vocabulary(), PUSHED), vocabulary(), PUSHED)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_one_that_reads_the_input(seed: int) -> None:
    made = machine(seed)
    assert arrivals(made.scheduled, PUSHED.io) == {"x:arrival": "x"}
    assert arrivals(made.scheduled, {"x": "user"}) == {} == departures(made.scheduled, PUSHED.io)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_computed_with_those_that_follow(seed: int) -> None:
    programs = line_buffer_search(machine(seed))
    number = programs.machine.numbers["x:arrival"]
    for division in programs.front():
        (one,) = [segment for segment in division.segments if segment.first <= number <= segment.last]
        assert one.row_schedule and one.last > number


def test_without_an_input_that_arrives_everything_can_be_in_one_piece() -> None:
    made = machine(0)
    plain = ScheduledMachine(made.scheduled, vocabulary(), replace(PUSHED, io={"x": "user"}))
    assert not any(segment.row_schedule for segment in line_buffer_search(plain).front()[0].segments)
