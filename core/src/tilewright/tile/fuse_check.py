"""Knows whether the tiling of several steps together is sound, by running it tile after tile over marks for elements.
Does not know how such tilings are made, and shares no arithmetic with what makes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from math import prod

import numpy as np
import numpy.typing as npt

from tilewright.access import Access, MapAccess, Span, Window
from tilewright.decisions import HopTile, TileCopy
from tilewright.graph import Node
from tilewright.index import Axis, Index, bare_loop, mentions
from tilewright.kernel import Kernel
from tilewright.operands import kernel_access
from tilewright.stages import Group
from tilewright.tile.check_operands import HomeOperand, Plan, copy_path_of, operands_of, slices, transfer_fault

Ranges = dict[str, tuple[int, int]]  # loop -> half-open range of its trips
_Marks = npt.NDArray[np.bool_]


@dataclass(slots=True, kw_only=True)
class _Step:
    """One step of the group. `moving` are the positions in the nest of the loops that move what it computes."""

    node: Node
    kernel: Kernel
    access: Access
    operands: tuple[HomeOperand, ...]
    output: HomeOperand
    axes: tuple[str, ...]  # of the output: the loop that is its index
    moving: tuple[int, ...] = ()
    moved: tuple[set[int], ...] = ()  # the same for each axis of the output
    run: Ranges = field(default_factory=dict)  # of the last call
    need: tuple[tuple[int, int], ...] = ()  # by axis of the output, in the tile that is running
    room: list[int] = field(default_factory=list)
    held: _Marks = field(default_factory=lambda: np.zeros(0, bool))  # elements that its buffer holds


def group_faults(plan: Plan, group: Group) -> Iterator[str]:
    """What is wrong with a group of several steps, cheap things first."""
    check = _GroupCheck(plan, group)
    form = tuple(check.form_faults())
    yield from form
    if form:
        return
    yield from dict.fromkeys(check.run_faults())
    yield from check.buffer_faults()


class _GroupCheck:
    def __init__(self, plan: Plan, group: Group) -> None:
        self.plan, self.group = plan, group
        self.bound = plan.tiled.scheduled.bound
        self.steps = [self._step(plan.nodes[name]) for name in group.steps]
        self.made = {step.output.value: step for step in self.steps}
        self.number = plan.numbers.get(group.name, -1)
        self.outside = {f"{one.node.name}.{item.name}": item for one in self.steps for item in self._outside(one)}
        self.windows: dict[tuple[str, str], dict[tuple[int, ...], list[Window]]] = {}

    def _step(self, node: Node) -> _Step:
        operator, kernel = self.plan.operators[node.op], self.bound.bindings[node.name].kernel
        access = kernel_access(operator, kernel, self.bound.graph.site(node))
        operands = operands_of(self.plan, node)
        output = next(item for item in operands if item.written)
        axes = access.axes[output.name] if isinstance(access, MapAccess) else ()
        return _Step(
            node=node, kernel=kernel, access=access, operands=operands, output=output, axes=tuple(map(bare_loop, axes))
        )

    # --- form

    def form_faults(self) -> Iterator[str]:
        """Steps, loops, sizes, depths and names that mean something."""
        tile, sink = self.group.tile, self.steps[-1]
        if not tile.hops or sink.node.name != self.group.name:
            yield "it goes over no hop, or is not named after its last step"
            return
        yield from (
            f"step '{one.node.name}' has no index map" for one in self.steps if not one.axes and one.output.shape
        )
        yield from self._inner_faults()
        yield from self._nest_faults(tile.hops[-1])
        for hop in tile.hops:
            yield from self._copy_faults(hop)
        for before, after in pairwise(tile.hops):
            if before.nest or any(copy.buffers != 1 for copy in before.copies.values()):
                yield f"what goes to '{before.near}' is cut, or has several buffers"
            if before.near != after.far:
                yield f"it goes to '{before.near}', and on from '{after.far}'"
            values = [self.outside[key].value for key in before.copies if key in self.outside]
            yield from (f"'{value}' goes to '{before.near}' twice" for value in set(values) if values.count(value) > 1)

    def _copy_faults(self, hop: HopTile) -> Iterator[str]:
        for key, copy in hop.copies.items():
            if key not in self.outside:
                yield f"there is no operand '{key}' to copy"
            if not 0 <= copy.depth <= len(hop.nest) or copy.buffers < 1 or copy.mode != "box":
                yield f"{key} travels at depth {copy.depth} into {copy.buffers} buffers as {copy.mode}"

    def _inner_faults(self) -> Iterator[str]:
        """Inner values are exactly what the steps before the sink write, and nobody else reads them."""
        graph, names = self.bound.graph, set(self.group.steps)
        if sorted(self.group.tile.inner) != sorted(step.output.value for step in self.steps[:-1]):
            yield "its inner values are not those that its steps, the last excepted, write"
        for step in self.steps[:-1]:
            value = step.output.value
            outside = [node.name for node in graph.nodes if value in node.inputs and node.name not in names]
            if outside or value in graph.outputs:
                yield f"'{value}' is needed outside"
            if any(extent > 1 and not loop and axis.index is not None for loop, axis, extent in self._axes(step)):
                yield f"'{value}' is not written with one loop to each axis"
        sink = self.steps[-1].output
        for step in self.steps:
            for item in self._outside(step):
                if not item.written and item.buffer == sink.buffer and self._overlap(item, sink):
                    yield f"'{sink.value}' is stored over '{item.value}', which the group reads"

    def _axes(self, step: _Step) -> Iterator[tuple[str, Axis, int]]:
        if isinstance(step.access, MapAccess):
            yield from zip(step.axes, step.access.axes[step.output.name], step.output.shape, strict=True)

    @staticmethod
    def _overlap(one: HomeOperand, other: HomeOperand) -> bool:
        ends = [item.offset_bytes + item.item_bytes * prod(item.shape) for item in (one, other)]
        return one.offset_bytes < ends[1] and other.offset_bytes < ends[0]

    def _nest_faults(self, hop: HopTile) -> Iterator[str]:
        sink = self.steps[-1]
        loops = {loop.name: loop for loop in sink.access.loops}
        if len({name for name, _ in hop.nest}) != len(hop.nest):
            yield "a loop is cut twice"
        for name, size in hop.nest:
            if name not in loops:
                yield f"there is no loop '{name}' to cut"
            elif size < 1 or (size < loops[name].extent and loops[name].kind != "parallel"):
                yield f"loop '{name}' is a {loops[name].kind} loop and cannot be cut into tiles of {size} trips"

    def _outside(self, step: _Step) -> Iterator[HomeOperand]:
        """Operands that come from outside the group, or leave it."""
        for item in step.operands:
            if item.value not in self.made or item.value == self.steps[-1].output.value:
                yield item

    # --- tiles

    def run_faults(self) -> Iterator[str]:
        """Every tile in order: elements read are there, nothing leaves its operand, each output is computed once."""
        hop = self.group.tile.hops[-1]
        sink = self.steps[-1]
        extents = {loop.name: loop.extent for loop in sink.access.loops}
        sizes = [min(size, extents[name]) for name, size in hop.nest]
        trips = [range(-(-extents[name] // size)) for (name, _), size in zip(hop.nest, sizes, strict=True)]
        self._find_moving(hop, [len(count) for count in trips])
        counts = np.zeros(sink.output.shape, np.int32)
        before: tuple[int, ...] | None = None
        for tile in product(*trips):
            ranges: Ranges = {name: (0, extent) for name, extent in extents.items()}
            for (name, _), size, trip in zip(hop.nest, sizes, tile, strict=True):
                ranges[name] = (trip * size, min((trip + 1) * size, extents[name]))
            runs = self._runs(ranges, tile, before)
            for number, step in enumerate(self.steps):
                yield from self._run(step, runs[number], tile)
            counts[slices(self._window(sink, sink.output.name, ranges))] += 1
            before = tile
        if not (counts == 1).all():
            yield f"an element of the output is computed {int(counts[counts != 1][0])} times"

    def _find_moving(self, hop: HopTile, trips: Sequence[int]) -> None:
        """For every axis of what a step writes the loops of the nest that reach it, through those that read it."""
        by_loop: list[dict[str, set[int]]] = [{} for _ in self.steps]
        by_loop[-1] = {name: {at} for at, (name, _) in enumerate(hop.nest) if trips[at] > 1}
        for number in reversed(range(len(self.steps) - 1)):
            step = self.steps[number]
            whole = self.group.tile.inner[step.output.value] == "whole"
            step.moved = tuple(set() if whole else self._moved(step, axis, by_loop) for axis in range(len(step.axes)))
            by_loop[number] = {loop: moved for loop, moved in zip(step.axes, step.moved, strict=True) if loop}
            step.moving = tuple(sorted({at for moved in by_loop[number].values() for at in moved}))

    def _moved(self, step: _Step, axis: int, by_loop: Sequence[Mapping[str, set[int]]]) -> set[int]:
        found: set[int] = set()
        for at, reader, item in self._readers(step):
            index = _index(reader, item, axis)
            found.update(*(moved for name, moved in by_loop[at].items() if mentions(index, name)))
        return found

    def _readers(self, step: _Step) -> Iterator[tuple[int, _Step, HomeOperand]]:
        for number, reader in enumerate(self.steps):
            for item in reader.operands:
                if item.value == step.output.value and not item.written:
                    yield number, reader, item

    def _runs(self, sink: Ranges, tile: tuple[int, ...], before: tuple[int, ...] | None) -> list[Ranges]:
        """What every step computes, from the sink back; nothing where it has done so. Buffers are made ready."""
        runs: list[Ranges] = [{loop.name: (0, loop.extent) for loop in step.access.loops} for step in self.steps]
        self.steps[-1].run = runs[-1] = dict(sink)
        for number in reversed(range(len(self.steps) - 1)):
            step = self.steps[number]
            mode = self.group.tile.inner[step.output.value]
            if before is not None and all(tile[at] == before[at] for at in step.moving):
                runs[number] = {}
                continue
            done, whole = step.need, tuple((0, extent) for extent in step.output.shape)
            step.need = whole if mode == "whole" else self._need(step)
            kept = mode == "slide" and bool(step.moving) and tile[step.moving[-1]] > 0
            for axis, loop in enumerate(step.axes):
                low, high = step.need[axis]
                slides = kept and step.moving[-1] in step.moved[axis]
                if loop:
                    runs[number][loop] = (max(low, done[axis][1]) if slides else low, high)
            step.run = runs[number]
            step.held = self._left(step) if kept else np.zeros(step.output.shape, bool)
        return runs

    def _need(self, step: _Step) -> tuple[tuple[int, int], ...]:
        """Hull of what the readers read, by axis, clipped. A call of no trips keeps what the next one begins with."""
        found = []
        for axis, extent in enumerate(step.output.shape):
            low, high = extent, 0
            for _, reader, item in self._readers(step):
                index = _index(reader, item, axis)
                first, end = (0, extent) if index is None else _ends(index, reader.run)
                low, high = min(low, first), max(high, end)
            high = min(max(high, 0), extent)
            found.append((min(max(low, 0), high), high))
        return tuple(found)

    def _left(self, step: _Step) -> _Marks:
        """What is still in the buffer once its rows have moved: what was there and is needed again."""
        marks = np.zeros(step.output.shape, bool)
        inside = tuple(slice(low, high) for low, high in step.need)
        marks[inside] = step.held[inside]
        return marks

    def _run(self, step: _Step, run: Ranges, tile: tuple[int, ...]) -> Iterator[str]:
        """One call: what it reads must be there; what it writes is there afterwards."""
        key = f"step '{step.node.name}'"
        if not run and step.access.loops:
            return
        empty = any(low >= high for low, high in run.values())
        if empty:
            return
        for item in self._outside(step):
            window, copy = self._window(step, item.name, run), self._copy(step, item)
            yield from (f"{key}: {fault}" for fault in self._reach_faults(step, item, window))
            held = self.windows.setdefault((step.node.name, item.name), {})
            held.setdefault(tile[: copy.depth] if copy else tile, []).append(window)
        for loop, (low, high) in run.items():
            grain = step.kernel.multiples.get(loop, 1)
            extent = next(one.extent for one in step.access.loops if one.name == loop)
            if low % grain or (high % grain and high != extent):
                yield f"{key}: trips {low}..{high} of loop '{loop}' are no multiple of {grain}"
        for item in step.operands:
            if item.value in self.made and not item.written:
                window = self._window(step, item.name, run)
                yield from (f"{key}: {fault}" for fault in self._reach_faults(step, item, window))
                if not self.made[item.value].held[slices(window)].all():
                    yield f"{key}: an element of '{item.value}' is read that is not there"
        if step is not self.steps[-1]:
            window = self._window(step, step.output.name, run)
            if any(span.low < low or span.high > high for span, (low, high) in zip(window, step.need, strict=True)):
                yield f"{key}: it writes beyond its buffer"
            step.held[slices(window)] = True
            extents = [high - low for low, high in step.need]
            step.room = list(map(max, step.room, extents)) if step.room else extents

    def _window(self, step: _Step, operand: str, run: Ranges) -> Window:
        return step.access.window(operand, run)

    def _reach_faults(self, step: _Step, item: HomeOperand, window: Window) -> Iterator[str]:
        axes = step.access.axes[item.name] if isinstance(step.access, MapAccess) else ()
        for axis, span, extent in zip(axes, window, item.shape, strict=True):
            if span.extent and not 0 <= span.low < span.high <= extent:
                yield f"a tile of {item.name} reaches {span.low}..{span.high} of {extent}"
            if (span.before or span.after) and not axis.padded:
                yield f"a tile reads {item.name} outside, where there is no padding"

    # --- buffers and copies

    def buffer_faults(self) -> Iterator[str]:
        """Tile buffers that are there, large enough and alive; transfers that the engine takes."""
        *outer, hop = self.group.tile.hops
        places = {item.value: (item.memories, item.offset_bytes) for item in self.outside.values()}
        for crossing in outer:
            yield from self._crossing_faults(crossing, places)
        for step in self.steps[:-1]:
            size = step.output.item_bytes * prod(step.room)
            yield from self._tile_buffer(f"{step.node.name}.{step.output.name}@{hop.near}#0", size, hop.near)
        for step in self.steps:
            for item in self._outside(step):
                yield from self._alive(item)
                copy = self._copy(step, item)
                if copy is not None:
                    memories, offset = places[item.value]
                    moved = replace(item, memories=memories, offset_bytes=offset)
                    yield from self._copied(hop, step, moved, copy)

    def _crossing_faults(self, hop: HopTile, places: dict[str, tuple[tuple[str, ...], int]]) -> Iterator[str]:
        """What goes to a memory on the way does so whole, and is found there from then on."""
        for key in hop.copies:
            item = self.outside[key]
            memories, offset = places[item.value]
            yield from self._tile_buffer(f"{key}@{hop.near}#0", item.item_bytes * prod(item.shape), hop.near)
            whole = tuple(Span(low=0, high=extent) for extent in item.shape)
            for memory in memories:
                path = copy_path_of(self.bound.platform, memory, hop.near, item.written)
                fault = transfer_fault(item, whole, path, (item.shape, item.shape, offset)) if path else ""
                if path is None or fault:
                    yield fault or f"nothing copies {item.name} between '{memory}' and '{hop.near}'"
            places[item.value] = ((hop.near,), 0)

    def _copied(self, hop: HopTile, step: _Step, item: HomeOperand, copy: TileCopy) -> Iterator[str]:
        held = [_hull(windows) for windows in self.windows[step.node.name, item.name].values()]
        room = tuple(max(window[axis].extent for window in held) for axis in range(len(item.shape)))
        for number in range(copy.buffers):
            name = f"{step.node.name}.{item.name}@{hop.near}#{number}"
            yield from self._tile_buffer(name, item.item_bytes * prod(room), hop.near)
        if item.written:
            counts = np.zeros(item.shape, np.int32)
            for window in held:
                counts[slices(window)] += 1
            if not (counts == 1).all():
                yield f"an element of '{item.value}' is stored {int(counts[counts != 1][0])} times"
        for memory in item.memories:
            path = copy_path_of(self.bound.platform, memory, hop.near, item.written)
            if path is None:
                yield f"nothing copies {item.name} between '{memory}' and '{hop.near}'"
                continue
            sides = (item.shape, room, item.offset_bytes)
            faults = (transfer_fault(item, window, path, sides) for window in held)
            yield from [fault for fault in faults if fault][:1]

    def _alive(self, item: HomeOperand) -> Iterator[str]:
        buffer = self.plan.buffers.get(item.buffer)
        if buffer is None or not buffer.first <= self.number <= buffer.last:
            yield f"'{item.value}' is not alive where the group runs"

    def _tile_buffer(self, name: str, needed: int, near: str) -> Iterator[str]:
        buffer = self.plan.buffers.get(name)
        if buffer is None or buffer.kind != "tile" or buffer.memories != (near,):
            yield f"tile buffer '{name}' is not there, or not in memory '{near}'"
        elif buffer.size_bytes < needed:
            yield f"tile buffer '{name}' has {buffer.size_bytes} B, its largest tile {needed} B"
        elif not buffer.first <= self.number <= buffer.last:
            yield f"tile buffer '{name}' is not alive where the group runs"

    def _copy(self, step: _Step, item: HomeOperand) -> TileCopy | None:
        copies: Mapping[str, TileCopy] = self.group.tile.hops[-1].copies
        return copies.get(f"{step.node.name}.{item.name}")


def _index(reader: _Step, item: HomeOperand, axis: int) -> Index | None:
    return reader.access.axes[item.name][axis].index if isinstance(reader.access, MapAccess) else None


def _ends(index: Index, run: Ranges) -> tuple[int, int]:
    """The first position, and one after the last, that trips from the lowest to the highest reach."""
    first = index.at({loop: low for loop, (low, _) in run.items()})
    return first, index.at({loop: high - 1 for loop, (_, high) in run.items()}) + 1


def _hull(windows: Sequence[Window]) -> Window:
    return tuple(
        Span(low=min(span.low for span in spans), high=max(span.high for span in spans))
        for spans in zip(*windows, strict=True)
    )
