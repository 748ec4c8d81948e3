"""Calls that the checker works out for all tiles at once, against going through the tiles one by one with marks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.bind import bind
from tilewright.check.tiling_calls import Calls, CheckedStep, Ends, calls_of, run_faults
from tilewright.check.tiling_operands import CheckedPlan, operands_of
from tilewright.ir.decisions import Decisions
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Graph
from tilewright.ir.index import mentions
from tilewright.ir.regions import Cut, HeldValue, Hop, Region
from tilewright.ir.rounding import ceil_div
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.stage import tile
from tilewright.tile.whole import WholeTiler

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
        tiled=tiled, operators=vocabulary(), nodes={}, numbers={}, buffers={one.name: one for one in tiled.buffers}
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


def drawn(draw: random.Random, parts: tuple[CheckedStep, ...]) -> Region:
    """Loops of the last step cut on two hops, anyhow, and values held anyhow."""
    loops = {loop.name: loop.extent for loop in parts[-1].access.loops if loop.extent > 1}
    hops = []
    for far, near in (("l3", "l2"), ("l2", "l1")):
        names = draw.sample(sorted(loops), draw.randint(0, 2))
        nest = tuple(Cut(name, draw.randint(1, loops[name])) for name in names)
        loops |= dict(nest)
        hops.append(Hop(far=far, near=near, nest=nest))
    held = {
        part.outputs[0].value: HeldValue(memory="l1", form=draw.choice(["rolling", "rolling", "recomputed", "whole"]))
        for part in parts[:-1]
    }  # fmt: skip
    return Region(steps=STEPS, hops=tuple(hops), order="tiles", held=held)


@dataclass
class Player:
    """Goes through the tiles in order. What it finds is by tile and step."""

    region: Region
    parts: tuple[CheckedStep, ...]
    missing: int = 0  # elements that were read and not there
    marks: dict[str, npt.NDArray[np.bool_]] = field(default_factory=dict)  # what buffers of values have
    needed: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    run: dict[str, Ranges] = field(default_factory=dict)  # of the last call, by step
    runs: dict[tuple[tuple[int, ...], str], Ranges] = field(default_factory=dict)

    def play(self) -> None:
        flat = [cut for hop in self.region.hops for cut in hop.nest]
        before: tuple[int, ...] | None = None
        for at, sink in tiles(self.parts[-1], flat):
            self.run[self.parts[-1].name] = sink
            for number in reversed(range(len(self.parts) - 1)):
                moving = [self._moving(number, axis) for axis in range(4)]
                if before is None or any(at[cut] != before[cut] for axis in moving for cut in axis):
                    self._again(self.parts[number], at, moving)
            for part in self.parts:
                self._call(part, self.run[part.name])
                self.runs[at, part.name] = self.run[part.name]
            before = at

    def _again(self, part: CheckedStep, at: tuple[int, ...], moving: list[set[int]]) -> None:
        """The counters have moved a step: what it runs now, and what it has still."""
        value, shape = part.outputs[0].value, part.outputs[0].shape
        form, inmost = self.region.held[value].form, len(self.region.hops[0].nest)
        need = [(0, extent) for extent in shape] if form == "whole" else self._need(value, shape)
        run = {loop.name: (0, loop.extent) for loop in part.access.loops}
        run |= dict(zip(part.loops, need, strict=True))
        kept = np.zeros(shape, bool)
        loops = [cut for axis in moving for cut in axis if cut >= inmost] if form == "rolling" else []
        if loops and at[max(loops)] > 0:
            (axis,) = (axis for axis, cuts in enumerate(moving) if max(loops) in cuts)
            run[part.loops[axis]] = max(need[axis][0], self.needed[value][axis][1]), need[axis][1]
            inside = tuple(slice(*ends) for ends in need)
            kept[inside] = self.marks[value][inside]
        self.marks[value], self.needed[value], self.run[part.name] = kept, need, run

    def _need(self, value: str, shape: tuple[int, ...]) -> list[tuple[int, int]]:
        found = []
        for axis, extent in enumerate(shape):
            ends = []
            for part, name in readers(self.parts, value):
                index = part.axes(name)[axis].index
                assert index is not None
                first = index.at({loop: low for loop, (low, _) in self.run[part.name].items()})
                ends.append((first, index.at({loop: high - 1 for loop, (_, high) in self.run[part.name].items()}) + 1))
            high = min(max(0, *(end for _, end in ends)), extent)
            found.append((min(max(0, min(first for first, _ in ends)), high), high))
        return found

    def _moving(self, number: int, axis: int) -> set[int]:
        """The cuts that move an axis of what a step writes, through all that reads it."""
        part = self.parts[number]
        if number == len(self.parts) - 1:
            return {at for at in self._cuts() if self._cuts()[at] == part.loops[axis]}
        if self.region.held[part.outputs[0].value].form == "whole":
            return set()
        found: set[int] = set()
        for reader, name in readers(self.parts, part.outputs[0].value):
            index = reader.axes(name)[axis].index
            for position, loop in enumerate(reader.loops):
                if loop and mentions(index, loop):
                    found |= self._moving(self.parts.index(reader), position)
        return found

    def _cuts(self) -> dict[int, str]:
        sizes = {loop.name: loop.extent for loop in self.parts[-1].access.loops}
        found = {}
        for at, (loop, size) in enumerate(cut for hop in self.region.hops for cut in hop.nest):
            if size < sizes[loop]:
                found[at] = loop
            sizes[loop] = min(size, sizes[loop])
        return found

    def _call(self, part: CheckedStep, run: Ranges) -> None:
        if any(low >= high for low, high in run.values()):
            return
        for item in part.operands:
            inside = tuple(slice(span.low, span.high) for span in part.access.window(item.name, run))
            if item.value in self.marks and not item.written:
                self.missing += int((~self.marks[item.value][inside]).sum())
            elif item.value in self.marks:
                self.marks[item.value][inside] = True


def readers(parts: tuple[CheckedStep, ...], value: str) -> Iterator[tuple[CheckedStep, str]]:
    for part in parts:
        yield from ((part, item.name) for item in part.operands if item.value == value and not item.written)


def tiles(sink: CheckedStep, flat: list[Cut]) -> Iterator[tuple[tuple[int, ...], Ranges]]:
    extents = {loop.name: loop.extent for loop in sink.access.loops}
    for at in product(*(range(ceil_div(extents[loop], size)) for loop, size in flat)):
        ranges = {name: (0, extent) for name, extent in extents.items()}
        for trip, (loop, size) in zip(at, flat, strict=True):
            low, high = ranges[loop]
            ranges[loop] = low + trip * size, min(low + (trip + 1) * size, high)
        if all(low < high for low, high in ranges.values()):
            yield at, ranges


def at_tile(ends: Ends, at: tuple[int, ...]) -> tuple[int, int]:
    low, high = np.broadcast_arrays(*ends)
    point = tuple(min(trip, extent - 1) for trip, extent in zip(at, low.shape, strict=True)) if low.ndim else ()
    return int(low[point]), int(high[point])


@pytest.mark.parametrize("seed", range(40))
def test_calls_are_those_of_every_tile(seed: int) -> None:
    draw = random.Random(seed)
    parts = parts_of(network(draw))
    region = drawn(draw, parts)
    calls: tuple[Calls, ...] = calls_of(region, parts)
    player = Player(region=region, parts=parts)
    player.play()
    assert (player.missing == 0) == (tuple(run_faults(region, calls)) == ())
    assert player.missing == 0
    for (at, name), run in player.runs.items():
        one = calls[STEPS.index(name)]
        assert {loop: at_tile(ends, at) for loop, ends in one.runs.items()} == run, (at, name)
