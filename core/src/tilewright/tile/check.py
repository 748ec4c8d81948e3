"""Knows whether tilings are sound, by going through every tile: what it reads, writes, holds and copies.
Does not know any tiler, and trusts none: sizes, windows and limits are worked out here again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from tilewright.access import Access, MapAccess, Window
from tilewright.decisions import HopTile, TileCopy
from tilewright.index import mentions
from tilewright.kernel import Kernel
from tilewright.operands import kernel_access
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.stages import Group, Tiled
from tilewright.tile.check_operands import (
    HomeOperand,
    Plan,
    bytes_of,
    copy_path_of,
    operands_of,
    slices,
    transfer_fault,
)
from tilewright.tile.fuse_check import group_faults
from tilewright.tile.sums import SUMS, cut_reductions

Ranges = tuple[tuple[int, int], ...]  # of some loops, in a fixed order
_LATER = np.iinfo(np.int64).max


def check_tiles(tiled: Tiled, operators: Mapping[str, Operator]) -> tuple[str, ...]:
    """Everything that is wrong with the tilings of `tiled`; empty when nothing is."""
    found: list[str] = []
    plan = Plan(
        tiled=tiled,
        operators=operators,
        nodes={node.name: node for node in tiled.scheduled.bound.graph.nodes},
        buffers={buffer.name: buffer for buffer in tiled.buffers},
        numbers={step.name: number for number, step in enumerate(tiled.scheduled.steps)},
    )
    for group in tiled.groups:
        if not group.tile.hops:
            continue
        if len(group.steps) != 1:
            found.extend(f"group '{group.name}': {fault}" for fault in group_faults(plan, group))
            continue
        found.extend(f"step '{group.name}': {fault}" for fault in _StepCheck(plan, group).faults())
    return (*found, *_limit_faults(tiled))


def _limit_faults(tiled: Tiled) -> Iterator[str]:
    """Everything that can only be in a memory, and lives together, fits there beside the runtime."""
    platform = tiled.scheduled.bound.platform
    for memory in platform.memories:
        if memory.size_bytes is None or memory.managed_by == "application" or memory.kind == "const":
            continue
        room = memory.size_bytes - platform.runtime_bytes.get(memory.name, 0)
        confined = [buffer for buffer in tiled.buffers if buffer.memories == (memory.name,) and buffer.kind == "tile"]
        for step in sorted({buffer.first for buffer in confined}):
            used = sum(buffer.size_bytes for buffer in confined if buffer.first <= step <= buffer.last)
            if used > room:
                yield f"tiles of step {step} take {used} B of memory '{memory.name}', which has {room} B for them"


class _StepCheck:
    """One tiled step."""

    def __init__(self, plan: Plan, group: Group) -> None:
        self.tiled, self.group, self.tile = plan.tiled, group, group.tile
        bound = self.tiled.scheduled.bound
        self.platform: Platform = bound.platform
        node = plan.nodes[group.steps[0]]
        self.site, self.binding, operator = bound.graph.site(node), bound.bindings[node.name], plan.operators[node.op]
        self.kernel: Kernel = self.binding.kernel
        self.access: Access = kernel_access(operator, self.kernel, self.site)
        self.loops = {loop.name: loop for loop in self.access.loops}
        self.buffers, self.number = plan.buffers, plan.numbers[node.name]
        self.operands = operands_of(plan, node)
        self.sums = self.kernel.accumulates(self.site) if self._split() else None

    def faults(self) -> Iterator[str]:
        """What is wrong, cheap things first."""
        form = tuple(self._form_faults())
        yield from form
        if form:
            return  # tiles that make no sense cannot be gone through
        for operand in self.operands:
            yield from self._operand_faults(operand)
        yield from self._overwriting_faults()
        if self._split():
            yield from self._reduction_faults()

    def _form_faults(self) -> Iterator[str]:
        """Loops, sizes, depths and names that mean something."""
        names = {operand.name for operand in self.operands}
        around = {name: loop.extent for name, loop in self.loops.items()}
        for hop in self.tile.hops:
            cut = [name for name, _ in hop.nest]
            if len(set(cut)) != len(cut):
                yield f"a loop is cut twice on the hop to '{hop.near}'"
            for name, size in hop.nest:
                if name not in self.loops:
                    yield f"there is no loop '{name}' to cut"
                    return
                yield from self._cut_faults(name, size, around[name])
                around[name] = min(size, around[name])
            for name, copy in hop.copies.items():
                if name not in names:
                    yield f"there is no operand '{name}' to copy"
                if not 0 <= copy.depth <= len(hop.nest) or copy.buffers < 1:
                    yield f"{name} travels at depth {copy.depth} of {len(hop.nest)} into {copy.buffers} buffers"

    def _cut_faults(self, name: str, size: int, around: int) -> Iterator[str]:
        loop, grain = self.loops[name], self.kernel.multiples.get(name, 1)
        if size < 1 or (size < around and size % grain):
            yield f"tiles of {size} trips of loop '{name}' are no multiple of {grain}"
        if size >= around:
            return
        allowed = self.sums.loops if self.sums and loop.kind == "reduce" else ()
        if loop.kind != "parallel" and name not in allowed:
            yield f"loop '{name}' is a {loop.kind} loop and cannot be cut"
        if not isinstance(self.access, MapAccess):
            yield f"loop '{name}' is cut, though its windows are no index map"

    # --- windows

    def _ranges(self, depths: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
        """Every range of trips of each loop, where of each hop's nest only the first loops count."""
        found = {}
        for name, loop in self.loops.items():
            ranges = [(0, loop.extent)]
            for hop, depth in zip(self.tile.hops, depths, strict=True):
                size = dict(hop.nest[:depth]).get(name)
                if size is not None:
                    ranges = [(at, min(at + size, high)) for low, high in ranges for at in range(low, high, size)]
            found[name] = ranges
        return found

    def _tiles(self, operand: HomeOperand, depths: Sequence[int]) -> dict[Ranges, Window]:
        """The windows of an operand by the ranges of the loops that move it."""
        ranges = self._ranges(depths)
        moving = self._moving(operand)
        whole = {name: (0, loop.extent) for name, loop in self.loops.items()}
        return {
            chosen: self.access.window(operand.name, {**whole, **dict(zip(moving, chosen, strict=True))})
            for chosen in product(*(ranges[name] for name in moving))
        }

    def _moving(self, operand: HomeOperand) -> tuple[str, ...]:
        if not isinstance(self.access, MapAccess):
            return ()
        axes = self.access.axes[operand.name]
        return tuple(name for name in self.loops if any(mentions(axis.index, name) for axis in axes))

    def _full(self) -> list[int]:
        return [len(hop.nest) for hop in self.tile.hops]

    # --- one operand

    def _operand_faults(self, operand: HomeOperand) -> Iterator[str]:
        if 0 in operand.shape:
            return
        tiles = self._tiles(operand, self._full())
        yield from self._reach_faults(operand, tiles.values())
        if operand.written:
            yield from self._once_faults(operand, tiles.values(), "computed")
        room = operand.shape
        memories: tuple[str, ...] = operand.memories
        for position, hop in enumerate(self.tile.hops):
            copy = hop.copies.get(operand.name)
            if copy is None:
                continue
            depths = [*self._full()[:position], copy.depth, *(0 for _ in self.tile.hops[position + 1 :])]
            held = self._tiles(operand, depths)
            new_room = tuple(max(window[axis].extent for window in held.values()) for axis in range(len(operand.shape)))
            yield from self._holding_faults(operand, hop, tiles, held)
            yield from self._buffer_faults(operand, hop, copy, new_room)
            yield from self._copy_faults(operand, hop, held.values(), (memories, room, new_room, position == 0))
            if operand.written:
                yield from self._once_faults(operand, held.values(), f"stored from '{hop.near}'")
            room, memories = new_room, (hop.near,)

    def _reach_faults(self, operand: HomeOperand, windows: Iterable[Window]) -> Iterator[str]:
        """Windows inside the operand; outside only where the map says that padding is read."""
        axes = self.access.axes[operand.name] if isinstance(self.access, MapAccess) else ()
        for window in windows:
            for position, span in enumerate(window):
                if span.extent and not 0 <= span.low < span.high <= operand.shape[position]:
                    yield f"a tile of {operand.name} reaches {span.low}..{span.high} of axis {position}"
                    return
                if axes and (span.before or span.after) and not axes[position].padded:
                    yield f"a tile reads {operand.name} outside, where there is no padding"
                    return

    def _once_faults(self, operand: HomeOperand, windows: Iterable[Window], what: str) -> Iterator[str]:
        counts = np.zeros(operand.shape, np.int32)
        for window in windows:
            counts[slices(window)] += 1
        if not (counts == 1).all():
            wrong = tuple(int(index[0]) for index in np.nonzero(counts != 1))
            yield f"element {wrong} of {operand.name} is {what} {int(counts[wrong])} times"

    def _holding_faults(
        self, operand: HomeOperand, hop: HopTile, tiles: Mapping[Ranges, Window], held: Mapping[Ranges, Window]
    ) -> Iterator[str]:
        """The window of each tile lies in what its buffer holds."""
        ranges = [sorted({chosen[axis] for chosen in held}) for axis in range(len(self._moving(operand)))]
        for chosen, window in tiles.items():
            around = tuple(
                next((low, high) for low, high in options if low <= trip[0] and trip[1] <= high)
                for options, trip in zip(ranges, chosen, strict=True)
            )
            for inner, outer in zip(window, held[around], strict=True):
                if inner.extent and not outer.low <= inner.low <= inner.high <= outer.high:
                    yield f"a tile reads {operand.name} beyond what is in memory '{hop.near}'"
                    return

    def _buffer_faults(
        self, operand: HomeOperand, hop: HopTile, copy: TileCopy, room: tuple[int, ...]
    ) -> Iterator[str]:
        needed = operand.item_bytes * int(np.prod(room, dtype=np.int64))
        for number in range(copy.buffers):
            yield from self._buffer_fault(f"{self.group.name}.{operand.name}@{hop.near}#{number}", hop, needed)

    def _buffer_fault(self, name: str, hop: HopTile, needed: int) -> Iterator[str]:
        buffer = self.buffers.get(name)
        if buffer is None or buffer.kind != "tile" or buffer.memories != (hop.near,):
            yield f"tile buffer '{name}' is not there, or not in memory '{hop.near}'"
        elif buffer.size_bytes < needed:
            yield f"tile buffer '{name}' has {buffer.size_bytes} B, its largest tile {needed} B"
        elif not buffer.first <= self.number <= buffer.last:
            yield f"tile buffer '{name}' is not alive in its step"

    def _copy_faults(
        self,
        operand: HomeOperand,
        hop: HopTile,
        windows: Iterable[Window],
        ends: tuple[tuple[str, ...], tuple[int, ...], tuple[int, ...], bool],
    ) -> Iterator[str]:
        """Every transfer within the limits of its path, wherever the operand may be placed."""
        memories, far_room, near_room, first = ends
        paths = [(memory, copy_path_of(self.platform, memory, hop.near, operand.written)) for memory in memories]
        for memory, path in paths:
            if path is None:
                yield f"nothing copies {operand.name} between '{memory}' and '{hop.near}'"
        usable = {path for _, path in paths if path is not None}
        offset = operand.offset_bytes if first else 0
        for path in sorted(usable, key=lambda path: (path.source, path.target)):
            for window in windows:
                fault = transfer_fault(operand, window, path, (far_room, near_room, offset))
                if fault:
                    yield fault
                    break

    # --- reductions that are cut

    def _split(self) -> tuple[str, ...]:
        """The reductions that any hop cuts."""
        extents = {name: loop.extent for name, loop in self.loops.items()}
        return tuple(name for hop in self.tile.hops for name in cut_reductions(self.access, hop.nest, extents))

    def _reduction_faults(self) -> Iterator[str]:
        """Every tile of an output is begun, goes on and is finished before the next; each pair of an element of the
        output and a term of its sum is in one tile."""
        hop, outputs = self.tile.hops[-1], [operand for operand in self.operands if operand.written]
        if self._split() != cut_reductions(self.access, hop.nest, {n: loop.extent for n, loop in self.loops.items()}):
            yield f"a reduction is cut on another hop than that to '{hop.near}'"
            return
        if len(outputs) != 1 or self.sums is None:
            yield "a reduction is cut, and there is more than one output"
            return
        ranges = self._ranges(self._full())
        names, reductions = [name for name, _ in hop.nest], self._split()
        volume = int(np.prod([self.loops[name].extent for name in reductions]))
        position = {name: at for at, name in enumerate(names)}
        done: dict[Ranges, int] = {}  # tile of the output -> terms summed so far
        under_way: Ranges | None = None
        for chosen in product(*(ranges[name] for name in names)):
            tile = tuple(trips for name, trips in zip(names, chosen, strict=True) if name not in reductions)
            trips = [chosen[position[name]] for name in reductions]
            first = all(low == 0 for low, _ in trips)
            last = all(high == self.loops[n].extent for n, (_, high) in zip(reductions, trips, strict=True))
            before = done.get(tile, 0)
            if under_way not in (None, tile) or first != (before == 0):
                yield f"tiles of a reduction of {outputs[0].name} do not follow one another"
                return
            done[tile] = before + int(np.prod([high - low for low, high in trips]))
            if last != (done[tile] == volume):
                yield f"a sum of {outputs[0].name} has {done[tile]} of {volume} terms in its last tile"
                return
            under_way = None if last else tile
        yield from self._sums_faults(outputs[0], hop)

    def _sums_faults(self, output: HomeOperand, hop: HopTile) -> Iterator[str]:
        """The sums have room, and an output leaves when it is finished."""
        copy, reductions = hop.copies.get(output.name), self._split()
        if copy is not None and any(name in reductions for name, _ in hop.nest[: copy.depth]):
            yield f"{output.name} is stored before its sums are complete"
        windows = self._tiles(output, self._full()).values()
        largest = (max(window[axis].extent for window in windows) for axis in range(len(output.shape)))
        needed = (self.sums.dtype.size_bytes if self.sums else 0) * int(np.prod(list(largest)))
        yield from self._buffer_fault(f"{self.group.name}.{SUMS}@{hop.near}#0", hop, needed)

    # --- inputs whose bytes an output takes

    def _overwriting_faults(self) -> Iterator[str]:
        """No byte is fetched after it was stored to. Tiles are numbered in the order in which they run."""
        order = self._order()
        for one in self.operands:
            for other in self.operands:
                if one.written or not other.written or one.buffer != other.buffer or 0 in (*one.shape, *other.shape):
                    continue
                size = self.buffers[one.buffer].size_bytes
                fetched, stored = np.full(size, -1, np.int64), np.full(size, _LATER, np.int64)
                for chosen, window in self._outer_tiles(one):
                    fetched[bytes_of(one, window)] = order[chosen]
                for chosen, window in self._outer_tiles(other):
                    at = bytes_of(other, window)
                    stored[at] = np.minimum(stored[at], order[chosen])
                if (fetched > stored).any():
                    yield f"{one.name} is read where {other.name} has been stored"

    def _order(self) -> dict[Ranges, int]:
        """The number of each tile of the outermost hop, by its ranges in the order of the nest."""
        ranges = self._ranges([len(self.tile.hops[0].nest), *(0 for _ in self.tile.hops[1:])])
        names = [name for name, _ in self.tile.hops[0].nest]
        return {chosen: number for number, chosen in enumerate(product(*(ranges[name] for name in names)))}

    def _outer_tiles(self, operand: HomeOperand) -> Iterator[tuple[Ranges, Window]]:
        """Every fetch or store over the outermost hop, in order, with the tile at whose time it happens.

        A fetch happens at the first tile of its block, a store at the last; operands that are not copied are touched
        in every tile.
        """
        hop = self.tile.hops[0]
        copy = hop.copies.get(operand.name)
        depth = len(hop.nest) if copy is None else copy.depth
        ranges = self._ranges([len(hop.nest), *(0 for _ in self.tile.hops[1:])])
        names = [name for name, _ in hop.nest]
        whole = {name: (0, loop.extent) for name, loop in self.loops.items()}
        for chosen in product(*(ranges[name] for name in names[:depth])):
            end = -1 if operand.written else 0
            rest = tuple(ranges[name][end] for name in names[depth:])
            box = {**whole, **dict(zip(names, chosen, strict=False))}
            yield (*chosen, *rest), self.access.window(operand.name, box)
