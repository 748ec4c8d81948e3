"""How long values are needed: by which steps, and whether by anything else."""

from __future__ import annotations

import numpy as np
import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.machine import ScheduledMachine

SEEDS = range(12)


def chain() -> ScheduledMachine:
    """Clip, Clip, their sum, and a product with the second one; the first is an output, too."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 8, 4))
    one = sketch.node("Clip", (x,), {"min": 0.0})
    two = sketch.node("Clip", (one,), {"max": 4.0})
    both = sketch.node("Add", (one, two))
    return on_one_memory(sketch.finish(sketch.node("Mul", (both, two)), one))


def test_who_reads_a_value_first_and_who_needs_it_last() -> None:
    lives = Lifetimes(LineBufferAnalysis(chain()))
    assert list(lives.first_read) == [1, 2, 3, lives.beyond]
    assert list(lives.needed) == [lives.beyond, 3, 3, lives.beyond]
    assert [lives.is_live_out(step, 2) for step in range(4)] == [True, True, True, True]
    assert [lives.is_live_out(step, 3) for step in range(4)] == [True, False, False, True]


def test_a_view_needs_what_it_shows() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 2, 8, 4)),), {"min": 0.0})
    flat = sketch.node("Reshape", (x,), {"shape": (1, 64)})
    machine = on_one_memory(sketch.finish(sketch.node("Clip", (flat,), {"max": 4.0})))
    lives = Lifetimes(LineBufferAnalysis(machine))
    assert lives.needed[0] == lives.beyond


@pytest.mark.parametrize("seed", SEEDS)
def test_every_buffer_dies_once_and_lives_as_the_schedule_says(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    lives = Lifetimes(LineBufferAnalysis(machine))
    assert sorted(one.name for dead in lives.dying for one in dead) == sorted(lives.buffers)
    for step in range(lives.beyond):
        alive = [one for one in machine.scheduled.buffers if one.first <= step <= one.last]
        assert lives.alive(step) == sum(lives.placed_bytes(one) for one in alive)


def test_rows_lie_one_after_the_other_in_their_buffer() -> None:
    """(1, 2, 8, 4) of four bytes: rows are along the channels, the best axis of all values here."""
    lives = Lifetimes(LineBufferAnalysis(chain()))
    rows = lives.rows_of("x")
    assert rows is lives.rows_of("x")
    assert (rows.count, rows.step_bytes, [rows.begin(row) for row in (0, 1)]) == (2, 128, [0, 128])
    assert [rows.end(count) for count in (0, 1, 2, 3)] == [0, 128, 256, 256]


def test_what_is_the_callers_takes_nothing_and_what_is_pinned_is_not_ours() -> None:
    machine = chain()
    theirs = Lifetimes(
        LineBufferAnalysis(ScheduledMachine(machine.scheduled, vocabulary(), Decisions(io={"x": "user"})))
    )
    assert theirs.placed_bytes(theirs.buffer_of("x")) == 0
    assert "x" not in theirs.ours
    value = machine.nodes["Clip_1"].outputs[0]
    pinned = Lifetimes(
        LineBufferAnalysis(ScheduledMachine(machine.scheduled, vocabulary(), Decisions(memories={value: "ram"})))
    )
    assert pinned.pinned(1)
    assert not pinned.pinned(2)
    assert np.prod(machine.bound.graph.tensors[value].shape) * 4 == pinned.placed_bytes(pinned.buffer_of(value))
