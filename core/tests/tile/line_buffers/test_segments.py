"""Segments of steps: what each needs, that growing finds what one play of its own does, and which there are."""

from __future__ import annotations

import pytest

from row_networks import on_one_memory, row_network
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers import segments as row_segments
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.call_costs import CALL_CYCLES
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.partition import line_buffer_search
from tilewright.tile.line_buffers.segments import (
    RowSchedule,
    Segment,
    _grown,
    calls_of,
    overlaid_step,
    segments,
    segments_with_edges,
    simulated,
    simulated_cycles,
    whole_step,
)
from tilewright.tile.line_buffers.signatures import StepSignatures

SEEDS = range(20)


def lives_of(seed: int) -> Lifetimes:
    """Of a random network."""
    return Lifetimes(LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph)))


def all_segments(lives: Lifetimes) -> list[Segment]:
    """With every last step, as large as they like."""
    return [one for last in range(lives.beyond) for one in segments(StepSignatures(lives), last, 1 << 30)]


def kept_segments(lives: Lifetimes) -> list[Segment]:
    """The same in stripes whose edges are kept."""
    return [one for last in range(lives.beyond) for one in segments_with_edges(StepSignatures(lives), last, 1 << 30)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_segment_needs_what_it_needs_when_it_is_played_alone(seed: int) -> None:
    lives = lives_of(seed)
    for one in all_segments(lives):
        calls = calls_of(lives, one)
        assert one.row_schedule is not None
        (*_, last) = _grown(lives, calls, one.row_schedule, 1 << 30).segments
        assert last.first >= one.first
        if last.first == one.first:
            assert (last.size_bytes, last.cycles) == (one.size_bytes, pytest.approx(one.cycles))
        assert simulated_cycles(lives.steps, calls) == pytest.approx(one.cycles)


@pytest.mark.parametrize("seed", SEEDS)
def test_stripes_with_edges_need_what_they_need_alone(seed: int) -> None:
    lives = lives_of(seed)
    for one in kept_segments(lives):
        calls = calls_of(lives, one)
        assert one.row_schedule is not None
        *_, last = _grown(lives, calls, one.row_schedule, 1 << 30).segments
        assert last == one and one.recomputed_macs == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_every_step_of_a_segment_but_the_last_is_read_in_it(seed: int) -> None:
    lives = lives_of(seed)
    for one in all_segments(lives):
        values = [lives.steps.at(number).output.value for number in range(one.first, one.last)]
        read = {read.value for at in range(one.first, one.last + 1) for read in lives.steps.at(at).reads}
        assert read.issuperset(values)


@pytest.mark.parametrize("seed", SEEDS)
def test_none_is_larger_than_asked_for(seed: int) -> None:
    lives = lives_of(seed)
    sizes = sorted(one.size_bytes for one in all_segments(lives))
    for limit in sizes[:: max(1, len(sizes) // 4)]:
        found = [one for last in range(lives.beyond) for one in segments(StepSignatures(lives), last, limit)]
        assert all(one.size_bytes <= limit for one in found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_look_finds_what_a_long_one_does(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much memory there may be, and however few steps are looked at first."""
    limits, found = (64, 512, 4096, 1 << 30), []

    def looked() -> list[list[Segment]]:
        alike = StepSignatures(lives_of(seed))
        return [[*segments(alike, last, most, 2.0)] for last in range(alike.lifetimes.beyond) for most in limits]

    for few in (2, 3, 8):
        monkeypatch.setattr(row_segments, "_FEW_STEPS", few)
        found.append(looked())
    monkeypatch.setattr(row_segments, "_grown", lambda *asked: _grown(*asked)._replace(ended=False))
    assert found == 3 * [looked()]


def test_no_more_steps_are_played_than_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a long chain in little memory: a few before each last one."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 2, 6, 6))
    rows = {"kernel_shape": (3, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 0, 1, 0), "ceil_mode": 0}
    for _ in range(20):
        value = sketch.node("MaxPool", (value,), rows)
    lives, lengths = Lifetimes(LineBufferAnalysis(on_one_memory(sketch.finish(value)))), []
    monkeypatch.setattr(
        row_segments,
        "simulated",
        lambda lives, first, last, way: lengths.append(last - first + 1) or simulated(lives, first, last, way),
    )
    assert [*segments(StepSignatures(lives), 19, 800)]
    assert max(lengths) == 8


def test_a_step_alone_is_no_segment_of_several() -> None:
    lives = lives_of(3)
    programs = line_buffer_search(lives.machine)
    for step, ending in enumerate(programs.segments):
        assert ending[0] == whole_step(lives, step)
        assert all(one.row_schedule and one.first < one.last == step for one in ending[1:])


def test_a_chain_has_segments_from_every_step_to_every_later_one() -> None:
    """Six windows one after the other, each with the last rows of the one before."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 2, 24, 6))
    rows = {"kernel_shape": (3, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0}
    for _ in range(6):
        value = sketch.node("MaxPool", (value,), rows)
    lives = Lifetimes(LineBufferAnalysis(on_one_memory(sketch.finish(value))))
    for last in range(6):
        found = [
            one.first for one in segments(StepSignatures(lives), last, 1 << 30) if one.row_schedule == RowSchedule()
        ]
        assert found == list(reversed(range(last))), last
        assert all(one.last == last for one in segments(StepSignatures(lives), last, 1 << 30))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_read_from_outside_is_there_until_the_last_step(seed: int) -> None:
    lives = lives_of(seed)
    for one in all_segments(lives):
        steps = [lives.steps.at(number) for number in range(one.first, one.last + 1)]
        made = {step.output.value for step in steps}
        read = {lives.buffer_of(read.value).name for step in steps for read in step.reads if read.value not in made}
        assert one.size_bytes >= sum(lives.placed_bytes(lives.buffers[name]) for name in read)


def test_the_last_call_costs_what_is_left_for_it() -> None:
    lives = lives_of(3)
    for at in range(lives.beyond):
        for segment in overlaid_step(StepSignatures(lives), at):
            one, calls = lives.steps.at(at), calls_of(lives, segment)
            (member,) = calls.members
            trips = [min(member.extent, one.extent - done) for done in range(0, one.extent, member.extent)]
            cycles = sum(lives.steps.calls.cost(one, count)[0] + CALL_CYCLES for count in trips)
            assert len(trips) == member.calls
            assert simulated_cycles(lives.steps, calls) == segment.cycles == pytest.approx(cycles)


@pytest.mark.slow
def test_a_value_over_another_one_saves_the_bytes_that_they_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any overlay a segment takes so many bytes more, and never less."""
    saved = 0
    for seed in range(6):
        lives = lives_of(seed)
        for one in all_segments(lives):
            assert one.row_schedule is not None
            with monkeypatch.context() as changed:
                changed.setattr("tilewright.tile.line_buffers.aliases.Overlays.best", lambda _: None)
                *_, plain = _grown(lives, calls_of(lives, one), one.row_schedule, 1 << 30).segments
            if plain.first == one.first:
                assert plain.size_bytes >= one.size_bytes
                saved += plain.size_bytes - one.size_bytes
    assert saved > 0
