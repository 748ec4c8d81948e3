"""Calls that the checker works out for all tiles at once, against going through the tiles one by one with marks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.bind import bind
from tilewright.check.tiles.calls import Bounds, Calls, CheckedStep, calls_of, run_faults
from tilewright.check.tiles.checked_plan import CheckedPlan, ViewReaders, operands_of
from tilewright.ir.access.index import mentions
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Cut, Hop, InternalValue, Region, Tiles
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

Ranges = dict[str, tuple[int, int]]
STEPS = ("a", "b", "c", "d")


def network(draw: random.Random) -> Graph:
    """Two windows one after the other, beside a third, and their sum."""
    sketch = Sketch(operators=vocabulary())

    def conv(value: str, stride: int, name: str) -> str:
        taps = draw.choice([1, 2, 3])
        windows = {"kernel_shape": (taps, 3), "strides": (stride, 1), "dilations": (1, 1), "ceil_mode": 0}
        high = draw.randint(0, taps - 1)
        weights = sketch.constant(np.ones((2, 2, taps, 3), np.float32))
        return sketch.node(
            "Conv", (value, weights), {**windows, "pads": (high, 1, taps - 1 - high, 1), "group": 1}, name
        )

    x = sketch.input("x", DType.F32, (1, 2, draw.randint(6, 13), 5))
    a = conv(x, draw.choice([1, 2]), "a")
    b = conv(a, 1, "b")
    c = conv(a, 1, "c")
    return sketch.finish(sketch.node("Add", (b, c), name="d"))


def parts_of(graph: Graph) -> tuple[CheckedStep, ...]:
    bound = bind(graph, cluster(1 << 16), vocabulary(), portable_kernels(), Decisions())
    scheduled = schedule(bound, vocabulary(), Decisions(order=STEPS))
    tiled = tile(scheduled, vocabulary(), WholeTiler(), Decisions())
    plan = CheckedPlan(
        tiled=tiled, operators=vocabulary(), nodes={}, numbers={}, buffers={one.name: one for one in tiled.buffers},
        views={}, readers=ViewReaders(scheduled),
    )  # fmt: skip
    found = []
    for site in map(bound.site, bound.graph.nodes):
        kernel = bound.bindings[site.node.name].kernel
        access = bound.layers[site.node.name].access
        found.append(
            CheckedStep(
                name=site.node.name,
                number=len(found),
                engine="cluster",
                site=site,
                kernel=kernel,
                access=access,
                operands=operands_of(plan, site),
            )
        )
    return tuple(found)


def drawn(draw: random.Random, steps: tuple[CheckedStep, ...]) -> Region:
    """Loops of the last step cut on two hops, anyhow, and values held anyhow."""
    loops = {loop.name: loop.extent for loop in steps[-1].access.loops if loop.extent > 1}
    hops = []
    for far, near in (("l3", "l2"), ("l2", "l1")):
        names = draw.sample(sorted(loops), draw.randint(0, 2))
        nest = tuple(Cut(name, draw.randint(1, loops[name])) for name in names)
        loops |= dict(nest)
        hops.append(Hop(outer=far, inner=near, nest=nest))
    held = {
        step.outputs[0].value: InternalValue(
            memory="l1", form=draw.choice(["rolling", "rolling", "recomputed", "whole"])
        )
        for step in steps[:-1]
    }  # fmt: skip
    return Region(steps=STEPS, schedule=Tiles(hops=tuple(hops)), internal_values=held)


@dataclass
class Player:
    """Goes through the tiles in order. What it finds is by tile and step."""

    region: Region
    steps: tuple[CheckedStep, ...]
    missing: int = 0  # elements that were read and not there
    marks: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)  # what buffers of values have
    needed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    run: dict[str, Ranges] = field(default_factory=dict)  # of the last call, by step
    runs: dict[tuple[tuple[int, ...], str], Ranges] = field(default_factory=dict)

    def play(self) -> None:
        flat = [cut for hop in self.region.hops for cut in hop.nest]
        before: tuple[int, ...] | None = None
        for at, sink in tiles(self.steps[-1], flat):
            self.run[self.steps[-1].name] = sink
            for number in reversed(range(len(self.steps) - 1)):
                moving = [self._moving(number, axis) for axis in range(4)]
                if before is None or any(at[cut] != before[cut] for axis in moving for cut in axis):
                    self._again(self.steps[number], at, moving)
            for step in self.steps:
                self._call(step, self.run[step.name])
                self.runs[at, step.name] = self.run[step.name]
            before = at

    def _again(self, step: CheckedStep, at: tuple[int, ...], moving: list[set[int]]) -> None:
        """The counters have moved a step: what it runs now, and what it has still."""
        value, shape = step.outputs[0].value, step.outputs[0].shape
        form, inmost = self.region.internal_values[value].form, len(self.region.hops[0].nest)
        need = [(0, extent) for extent in shape] if form == "whole" else self._need(value, shape)
        run = {loop.name: (0, loop.extent) for loop in step.access.loops}
        run |= dict(zip(step.loops, need, strict=True))
        kept = np.zeros(shape, bool)
        loops = [cut for axis in moving for cut in axis if cut >= inmost] if form == "rolling" else []
        if loops and at[max(loops)] > 0:
            (axis,) = (axis for axis, cuts in enumerate(moving) if max(loops) in cuts)
            run[step.loops[axis]] = max(need[axis][0], self.needed[value][axis][1]), need[axis][1]
            inside = tuple(slice(*ends) for ends in need)
            kept[inside] = self.marks[value][inside]
        self.marks[value], self.needed[value], self.run[step.name] = kept, need, run

    def _need(self, value: str, shape: tuple[int, ...]) -> list[tuple[int, int]]:
        found = []
        for axis, extent in enumerate(shape):
            ends = []
            for step, name in readers(self.steps, value):
                index = step.axes(name)[axis].index
                assert index is not None
                first = index.at({loop: low for loop, (low, _) in self.run[step.name].items()})
                ends.append((first, index.at({loop: high - 1 for loop, (_, high) in self.run[step.name].items()}) + 1))
            high = min(max(0, *(end for _, end in ends)), extent)
            found.append((min(max(0, min(first for first, _ in ends)), high), high))
        return found

    def _moving(self, number: int, axis: int) -> set[int]:
        """The cuts that move an axis of what a step writes, through all that reads it."""
        step = self.steps[number]
        if number == len(self.steps) - 1:
            return {at for at in self._cuts() if self._cuts()[at] == step.loops[axis]}
        if self.region.internal_values[step.outputs[0].value].form == "whole":
            return set()
        found: set[int] = set()
        for reader, name in readers(self.steps, step.outputs[0].value):
            index = reader.axes(name)[axis].index
            for position, loop in enumerate(reader.loops):
                if loop and mentions(index, loop):
                    found |= self._moving(self.steps.index(reader), position)
        return found

    def _cuts(self) -> dict[int, str]:
        sizes = {loop.name: loop.extent for loop in self.steps[-1].access.loops}
        found = {}
        for at, (loop, size) in enumerate(cut for hop in self.region.hops for cut in hop.nest):
            if size < sizes[loop]:
                found[at] = loop
            sizes[loop] = min(size, sizes[loop])
        return found

    def _call(self, step: CheckedStep, run: Ranges) -> None:
        if any(low >= high for low, high in run.values()):
            return
        for item in step.operands:
            inside = tuple(slice(span.low, span.high) for span in step.access.window(item.name, run))
            if item.value in self.marks and not item.written:
                self.missing += int((~self.marks[item.value][inside]).sum())
            elif item.value in self.marks:
                self.marks[item.value][inside] = True


def readers(steps: tuple[CheckedStep, ...], value: str) -> Iterator[tuple[CheckedStep, str]]:
    for step in steps:
        yield from ((step, item.name) for item in step.operands if item.value == value and not item.written)


def tiles(sink: CheckedStep, flat: list[Cut]) -> Iterator[tuple[tuple[int, ...], Ranges]]:
    extents = {loop.name: loop.extent for loop in sink.access.loops}
    for at in product(*(range(ceil_div(extents[loop], size)) for loop, size in flat)):
        ranges = {name: (0, extent) for name, extent in extents.items()}
        for trip, (loop, size) in zip(at, flat, strict=True):
            low, high = ranges[loop]
            ranges[loop] = low + trip * size, min(low + (trip + 1) * size, high)
        if all(low < high for low, high in ranges.values()):
            yield at, ranges


def at_tile(ends: Bounds, at: tuple[int, ...]) -> tuple[int, int]:
    low, high = np.broadcast_arrays(*ends)
    point = tuple(min(trip, extent - 1) for trip, extent in zip(at, low.shape, strict=True)) if low.ndim else ()
    return int(low[point]), int(high[point])


@pytest.mark.parametrize("seed", range(40))
def test_calls_are_those_of_every_tile(seed: int) -> None:
    draw = random.Random(seed)
    steps = parts_of(network(draw))
    region = drawn(draw, steps)
    calls: tuple[Calls, ...] = calls_of(region, steps)
    player = Player(region=region, steps=steps)
    player.play()
    assert (player.missing == 0) == (tuple(run_faults(region, calls)) == ())
    assert player.missing == 0
    for (at, name), run in player.runs.items():
        one = calls[STEPS.index(name)]
        assert {loop: at_tile(ends, at) for loop, ends in one.runs.items()} == run, (at, name)


def layered(seed: int = 2) -> tuple[Region, tuple[CheckedStep, ...], tuple[Calls, ...]]:
    """Every value held whole, and rows of the last step cut: sound."""
    steps = parts_of(network(random.Random(seed)))
    rows = steps[-1].loops[2]
    held = {step.outputs[0].value: InternalValue(memory="l1", form="whole") for step in steps[:-1]}
    hops = (Hop(outer="l3", inner="l2"), Hop(outer="l2", inner="l1", nest=(Cut(rows, 2),)))
    region = Region(steps=STEPS, schedule=Tiles(hops=hops), internal_values=held)
    calls = calls_of(region, steps)
    assert tuple(run_faults(region, calls)) == ()
    return region, steps, calls


def with_run(calls: Sequence[Calls], at: int, loop: str, low: int, high: int) -> tuple[Calls, ...]:
    """The same, one loop of a step run from `low` to `high` in every tile, and what it writes there as believed."""
    one, axis = calls[at], calls[at].step.loops.index(loop)
    ends = Bounds(np.array(low).reshape((1,) * 6), np.array(high).reshape((1,) * 6))
    need = tuple(ends if number == axis else there for number, there in enumerate(one.need))
    changed = Calls(step=one.step, runs={**one.runs, loop: ends}, need=need)
    return (*calls[:at], changed, *calls[at + 1 :])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("end", ["first", "last"])
def test_a_row_that_is_not_computed_is_missed_by_who_reads_it(seed: int, end: str) -> None:
    region, steps, calls = layered(seed)
    value, rows = steps[0].outputs[0], steps[0].loops[2]
    extent = value.shape[2]
    low, high = (1, extent) if end == "first" else (0, extent - 1)
    found = tuple(run_faults(region, with_run(calls, 0, rows, low, high)))
    assert any(f"an element of '{value.value}' is read that is not there" in fault for fault in found)


def test_a_call_that_reads_outside_of_an_axis_without_padding_is_found() -> None:
    region, steps, calls = layered()
    rows, extent = steps[-1].loops[2], steps[-1].outputs[0].shape[2]
    found = tuple(run_faults(region, with_run(calls, 3, rows, 0, extent + 1)))
    assert any(f"reaches 0..{extent + 1} of {extent} on axis 2, where there is no padding" in fault for fault in found)


@pytest.mark.parametrize(
    ("low", "high", "fault"), [(0, 4, ""), (2, 6, ""), (1, 4, "1..4"), (0, 3, "0..3"), (3, 3, ""), (4, 5, "4..5")]
)
def test_trips_are_multiples_but_at_the_end(low: int, high: int, fault: str) -> None:
    region, steps, calls = layered()
    rows = steps[-1].loops[2]
    kernel = replace(steps[-1].kernel, multiples={rows: 2})
    one = with_run(calls, 3, rows, low, high)[3]
    alone = Calls(step=replace(one.step, kernel=kernel), runs=one.runs, need=one.need)
    wrong = [said for said in run_faults(region, (*calls[:3], alone)) if "no multiple" in said]
    assert wrong == ([f"step 'd': trips {fault} of loop '{rows}' are no multiple of 2"] if fault else [])
    extent = steps[-1].outputs[0].shape[2]
    ending = with_run((*calls[:3], alone), 3, rows, 0, extent)
    assert not any("no multiple" in said for said in run_faults(region, ending))


def test_an_element_that_is_computed_twice_or_never_is_found() -> None:
    region, steps, calls = layered()
    rows, extent = steps[-1].loops[2], steps[-1].outputs[0].shape[2]
    for low, high, times in ((0, extent - 1, 0), (1, extent, 0)):
        (said,) = (one for one in run_faults(region, with_run(calls, 3, rows, low, high)) if "computed" in one)
        assert said.endswith(f"is computed {times} times")
    columns = steps[-1].loops[3]
    short = with_run(calls, 3, columns, 0, steps[-1].outputs[0].shape[3] - 1)
    assert any("along axis 3" in fault and "computed 0 times" in fault for fault in run_faults(region, short))


def test_an_axis_is_whole_only_in_the_only_tile() -> None:
    one, many = np.zeros((1, 1)), np.zeros((3, 1))
    assert Bounds(one, one + 5).everything(5) and Bounds(one - 1, one + 6).everything(5)
    assert not Bounds(one + 1, one + 5).everything(5) and not Bounds(one, one + 4).everything(5)
    assert not Bounds(many, many + 5).everything(5)
