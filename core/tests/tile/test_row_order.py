"""Orders of calls: everything is there when it is read, and no more is kept than is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from row_networks import on_one_memory, row_network
from tilewright.ir.dtypes import DType
from tilewright.ir.regions import Repeated
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile import row_order
from tilewright.tile.row_lives import RowLives
from tilewright.tile.row_order import Play, Plays, folded, follow, play
from tilewright.tile.row_step import RowStep
from tilewright.tile.row_steps import RowSteps

SEEDS = range(40)


def played(seed: int, rows: int) -> Play | None:
    """The largest part of a random network in which every step is read; None where there is none."""
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    steps = RowSteps(machine)
    chosen = [steps.at(index) for index in range(len(machine.scheduled.steps))]
    while chosen and not all(
        any(_reads(later, one) for later in chosen[at + 1 :]) for at, one in enumerate(chosen[:-1])
    ):
        chosen.pop()
    lives = RowLives(steps)
    leaving = {one.output.value: lives.leaves(one.index, len(chosen) - 1) for one in chosen}
    return play(chosen, [one.trips(rows) for one in chosen], leaving) if len(chosen) > 1 else None


def _read_later(steps: Sequence[RowStep]) -> bool:
    """Whether any of them reads the first one."""
    return any(_reads(later, steps[0]) for later in steps[1:])


def _reads(later: RowStep, one: RowStep) -> bool:
    return any(read.value == one.output.value for read in later.reads)


def brute_force(steps: Sequence[RowStep], trips: Sequence[int], calls: Sequence[int]) -> list[int]:
    """The most rows of every value between the first that any later call reads and the last one made.

    Every call is looked at with every later one. AssertionError where a call reads what is not there.
    """
    boxes = []
    made = [0] * len(steps)
    for number in calls:
        low, high = made[number], min(made[number] + trips[number], steps[number].extent)
        assert low < high, "a step is called when it has made everything"
        boxes.append((number, low, high))
        made[number] = high
    most = [0] * len(steps)
    for maker, one in enumerate(steps):
        done = 0
        for at, (number, _, high) in enumerate(boxes):
            windows = [
                (read.low[low], max(read.high[low:end]))
                for later, low, end in boxes[at:] for read in steps[later].reads if read.value == one.output.value
            ]  # fmt: skip
            there = done if one.axis is not None else one.rows * (done == one.extent)
            mine = [read for read in steps[number].reads if read.value == one.output.value]
            assert all(max(read.high[boxes[at][1] : high]) <= there for read in mine), "it reads what is not there"
            if number == maker:
                done = high
                first = min([low for low, _ in windows], default=done)
                most[maker] = max(most[maker], done - min(first, done) if one.axis is not None else one.rows)
    return most


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", [1, 3])
def test_every_call_finds_its_rows_and_no_row_is_kept_in_vain(seed: int, rows: int) -> None:
    found = played(seed, rows)
    if found is None:
        return
    steps, trips = [one.one for one in found.members], [one.trips for one in found.members]
    needed = brute_force(steps, trips, found.calls)
    for member, least in list(zip(found.members, needed, strict=True))[:-1]:
        assert least <= member.kept <= least + _waste(member.one, found), member.one.step.name


def _waste(one: RowStep, found: Play) -> int:
    """A reader that has come to its end still counts, as if it read on, while others read."""
    readers = [member.one for member in found.members if _reads(member.one, one)]
    return 0 if len(readers) < 2 and one.extent < 2**16 else one.rows


@pytest.mark.parametrize("seed", SEEDS)
def test_following_an_order_keeps_what_playing_it_kept(seed: int) -> None:
    found = played(seed, 1)
    if found is not None:
        again = follow([one.one for one in found.members], [one.trips for one in found.members], found.calls)
        assert [(one.kept, one.calls, one.made) for one in again.members] == [
            (one.kept, one.calls, one.made) for one in found.members
        ]


@given(st.lists(st.integers(0, 3), max_size=60))
@settings(max_examples=60, deadline=None)
def test_folding_changes_no_call(calls: list[int]) -> None:
    assert [one for part in folded(calls) for _ in range(part.times) for one in part.steps] == calls


def test_what_is_repeated_is_there_once() -> None:
    assert folded([9, *[0, 1, 2] * 5, 9]) == (Repeated((9,)), Repeated((0, 1, 2), 5), Repeated((9,)))
    assert folded([0, 1, 0, 1]) == (Repeated((0, 1, 0, 1)),)


@pytest.mark.parametrize("seed", range(10))
def test_what_was_played_before_is_the_same(seed: int) -> None:
    """With steps of other names and sizes as well, as long as they have the same rows."""
    first = played(seed, 1)
    if first is None:
        return
    steps, plays = [member.one for member in first.members], Plays()
    trips, leaving = [member.trips for member in first.members], {one.output.value: False for one in steps}
    found = [plays.play(steps, trips, leaving) for _ in range(2)]
    assert found[0] == found[1] == play(steps, trips, leaving)


def test_equal_steps_are_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain of equal layers, all parts of the same length; each was played, for every last step."""
    counts = list[int]()
    monkeypatch.setattr(row_order, "play", lambda *given: counts.append(len(given[0])) or play(*given))
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.I8, (1, 4, 16, 16))
    rows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    for _ in range(12):
        value = sketch.node("MaxPool", (value,), rows)
    steps = RowSteps(on_one_memory(sketch.finish(value)))
    plays, chosen = Plays(), [steps.at(index) for index in range(12)]
    for last in range(5, 11):  # the last of all has rows along the channels
        part = chosen[last - 5 : last + 1]
        leaving = {one.output.value: one is part[-1] for one in part}
        calls = plays.play(part, [1] * 6, leaving)
        assert [member.one for member in calls.members] == part
        assert calls == play(part, [1] * 6, leaving)
    assert counts == [6]


def test_a_step_that_departs_is_played_apart_from_an_equal_one_that_does_not() -> None:
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.I8, (1, 4, 16, 16))
    rows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    first = sketch.node("MaxPool", (value,), rows)
    branches = [sketch.node("MaxPool", (first,), rows) for _ in range(2)]
    ends = [sketch.node("MaxPool", (branch,), rows) for branch in branches]
    machine = on_one_memory(sketch.finish(*ends))
    steps = RowSteps(machine)
    by_value = {steps.at(number).output.value: steps.at(number) for number in range(len(machine.scheduled.steps))}
    kept = [by_value[name] for name in (first, *branches)]
    departing = [replace(one, departs=one is kept[1]) for one in kept]
    trips, leaving, plays = [1, 1, 1], {one.output.value: number > 0 for number, one in enumerate(kept)}, Plays()
    assert plays.play(kept, trips, leaving).calls == play(kept, trips, leaving).calls
    assert plays.play(departing, trips, leaving).calls == play(departing, trips, leaving).calls
    assert play(departing, trips, leaving).calls != play(kept, trips, leaving).calls
