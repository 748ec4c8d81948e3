"""Where segments in stripes are looked for: they lead to less memory, and nowhere else is looked."""

from __future__ import annotations

import pytest

from row_networks import on_one_memory, row_network
from tilewright.testing.one_step import vocabulary
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.bridges import _ends, _least_bytes, with_striped_segments
from tilewright.tile.line_buffers.lifetimes import Lifetimes
from tilewright.tile.line_buffers.segments import RowSchedule, Segment, segments, segments_with_edges, whole_step
from tilewright.tile.line_buffers.signatures import StepSignatures

SEEDS = range(20)


def lives_of(seed: int) -> Lifetimes:
    """Of a random network."""
    return Lifetimes(LineBufferAnalysis(on_one_memory(row_network(seed, vocabulary()).graph)))


def by_rows(lives: Lifetimes) -> list[tuple[Segment, ...]]:
    """By last step all segments without stripes."""
    whole = [whole_step(lives, step) for step in range(lives.beyond)]
    largest = max(one.size_bytes for one in whole)
    return [(one, *segments(StepSignatures(lives), step, largest)) for step, one in enumerate(whole)]


def segment(first: int, last: int, size_bytes: int) -> Segment:
    """Of so many bytes."""
    return Segment(first=first, last=last, row_schedule=RowSchedule(), size_bytes=size_bytes, cycles=0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_smaller_division_is_missed(seed: int) -> None:
    lives = lives_of(seed)
    found = by_rows(lives)
    most = _least_bytes(found) - 1
    every = [(*ending, *segments_with_edges(StepSignatures(lives), step, most)) for step, ending in enumerate(found)]
    assert _least_bytes(with_striped_segments(StepSignatures(lives), found)) == _least_bytes(every) <= most + 1


@pytest.mark.slow
def test_stripes_lead_to_less_memory_somewhere() -> None:
    before, after = list[int](), list[int]()
    for seed in SEEDS:
        lives = lives_of(seed)
        found = by_rows(lives)
        before.append(_least_bytes(found))
        after.append(_least_bytes(with_striped_segments(StepSignatures(lives), found)))
    assert sum(one < other for one, other in zip(after, before, strict=True)) >= 2


def test_the_least_is_that_of_the_best_way_through_all_steps() -> None:
    found = [(segment(0, 0, 5),), (segment(1, 1, 9), segment(0, 1, 8)), (segment(2, 2, 4), segment(1, 2, 6))]
    assert _least_bytes(found) == 6


def test_looked_for_is_where_the_way_back_ends() -> None:
    found = [(segment(0, 0, 9),), (segment(1, 1, 5),), (segment(2, 2, 9),), (segment(3, 3, 5),)]
    assert list(_ends(found, 8)) == [2, 3]
    assert list(_ends(found, 4)) == [3]
    assert list(_ends(found, 9)) == []
