"""Orders of calls: everything is there when it is read, and no more is kept than is read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from row_networks import on_one_memory, row_network
from tilewright.ir.plans.region import RepeatedCalls
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers import call_schedule as row_order
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.call_schedule import Simulation, SimulationCache, run_length_encode, simulate, trace
from tilewright.tile.line_buffers.lifetimes import Lifetimes

SEEDS = range(40)


def played(seed: int, rows: int) -> Simulation | None:
    """The largest part of a random network in which every step is read; None where there is none."""
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    steps = LineBufferAnalysis(machine)
    chosen = [steps.at(index) for index in range(len(machine.scheduled.steps))]
    while chosen and not all(
        any(_reads(later, one) for later in chosen[at + 1 :]) for at, one in enumerate(chosen[:-1])
    ):
        chosen.pop()
    lives = Lifetimes(steps)
    leaving = {one.output.value: lives.is_live_out(one.index, len(chosen) - 1) for one in chosen}
    return simulate(chosen, [one.extent_of(rows) for one in chosen], leaving) if len(chosen) > 1 else None


def _read_later(steps: Sequence[BufferedStep]) -> bool:
    """Whether any of them reads the first one."""
    return any(_reads(later, steps[0]) for later in steps[1:])


def _reads(later: BufferedStep, one: BufferedStep) -> bool:
    return any(read.value == one.output.value for read in later.reads)


def brute_force(steps: Sequence[BufferedStep], trips: Sequence[int], calls: Sequence[int]) -> list[int]:
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", [1, 3])
def test_every_call_finds_its_rows_and_no_row_is_kept_in_vain(seed: int, rows: int) -> None:
    found = played(seed, rows)
    if found is None:
        return
    steps, trips = [one.step for one in found.members], [one.extent for one in found.members]
    needed = brute_force(steps, trips, found.calls)
    for member, least in list(zip(found.members, needed, strict=True))[:-1]:
        assert least <= member.kept <= least + _waste(member.step, found), member.step.step.name


def _waste(one: BufferedStep, found: Simulation) -> int:
    """A reader that has come to its end still counts, as if it read on, while others read."""
    readers = [member.step for member in found.members if _reads(member.step, one)]
    return 0 if len(readers) < 2 and one.extent < 2**16 else one.rows


@pytest.mark.parametrize("seed", SEEDS)
def test_following_an_order_keeps_what_playing_it_kept(seed: int) -> None:
    found = played(seed, 1)
    if found is not None:
        again = trace([one.step for one in found.members], [one.extent for one in found.members], found.calls)
        assert [(one.kept, one.calls, one.computed) for one in again.members] == [
            (one.kept, one.calls, one.computed) for one in found.members
        ]


@given(st.lists(st.integers(0, 3), max_size=60))
@settings(max_examples=60, deadline=None)
def test_folding_changes_no_call(calls: list[int]) -> None:
    assert [one for part in run_length_encode(calls) for _ in range(part.times) for one in part.steps] == calls


def test_what_is_repeated_is_there_once() -> None:
    assert run_length_encode([9, *[0, 1, 2] * 5, 9]) == (
        RepeatedCalls((9,)),
        RepeatedCalls((0, 1, 2), 5),
        RepeatedCalls((9,)),
    )
    assert run_length_encode([0, 1, 0, 1]) == (RepeatedCalls((0, 1, 0, 1)),)


@pytest.mark.parametrize("seed", range(10))
def test_what_was_played_before_is_the_same(seed: int) -> None:
    """With steps of other names and sizes as well, as long as they have the same rows."""
    first = played(seed, 1)
    if first is None:
        return
    steps, plays = [member.step for member in first.members], SimulationCache()
    trips, leaving = [member.extent for member in first.members], {one.output.value: False for one in steps}
    found = [plays.simulate(steps, trips, leaving) for _ in range(2)]
    assert found[0] == found[1] == simulate(steps, trips, leaving)


def test_equal_steps_are_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a chain of equal layers, all parts of the same length; each was played, for every last step."""
    counts = list[int]()
    monkeypatch.setattr(row_order, "simulate", lambda *given: counts.append(len(given[0])) or simulate(*given))
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.I8, (1, 4, 16, 16))
    rows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    for _ in range(12):
        value = sketch.node("MaxPool", (value,), rows)
    steps = LineBufferAnalysis(on_one_memory(sketch.finish(value)))
    plays, chosen = SimulationCache(), [steps.at(index) for index in range(12)]
    for last in range(5, 11):  # the last of all has rows along the channels
        part = chosen[last - 5 : last + 1]
        leaving = {one.output.value: one is part[-1] for one in part}
        calls = plays.simulate(part, [1] * 6, leaving)
        assert [member.step for member in calls.members] == part
        assert calls == simulate(part, [1] * 6, leaving)
    assert counts == [6]


def test_a_step_that_departs_is_played_apart_from_an_equal_one_that_does_not() -> None:
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.I8, (1, 4, 16, 16))
    rows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    first = sketch.node("MaxPool", (value,), rows)
    branches = [sketch.node("MaxPool", (first,), rows) for _ in range(2)]
    ends = [sketch.node("MaxPool", (branch,), rows) for branch in branches]
    machine = on_one_memory(sketch.finish(*ends))
    steps = LineBufferAnalysis(machine)
    by_value = {steps.at(number).output.value: steps.at(number) for number in range(len(machine.scheduled.steps))}
    kept = [by_value[name] for name in (first, *branches)]
    departing = [replace(one, departs=one is kept[1]) for one in kept]
    trips, leaving, plays = (
        [1, 1, 1],
        {one.output.value: number > 0 for number, one in enumerate(kept)},
        SimulationCache(),
    )
    assert plays.simulate(kept, trips, leaving).calls == simulate(kept, trips, leaving).calls
    assert plays.simulate(departing, trips, leaving).calls == simulate(departing, trips, leaving).calls
    assert simulate(departing, trips, leaving).calls != simulate(kept, trips, leaving).calls
