"""Knows whether what a region copies can arrive and be stored: windows, buffers, transfers, rows that stay from tile
to tile. Does not know what is computed, nor when backing buffers are read and written (`overwriting`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from operator import mul

import numpy as np

from tilewright.check.tiles.calls import Bounds, Calls, Windows, everything, once_faults, rolled
from tilewright.check.tiles.checked_plan import (
    BackingOperand,
    CheckedPlan,
    copy_path_of,
    core_scratch,
    grain_of,
    transfer_fault,
)
from tilewright.ir.machines.kernel import TileShape
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.plans.region import Copy, Hop, Region, key_of
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import strides

CopiedWindows = tuple[Windows, Windows]  # what is there of an operand, by axis, and what of it is copied


@dataclass(frozen=True, slots=True, kw_only=True)
class HopSide:
    """Where an operand's bytes are at one end of a hop: an array of `room`, whose first element is at `low`."""

    memories: tuple[str, ...]
    capacity: tuple[int, ...]
    window: Windows
    offset_bytes: int = 0
    behind_bytes: int | None = None  # for what copies move more, behind the array; None: as much as they do


@dataclass(frozen=True, slots=False, kw_only=True)
class Copies:
    """The copies of a region."""

    plan: CheckedPlan
    region: Region
    calls: Sequence[Calls]

    @property
    def number(self) -> int:
        """The step of the schedule where all of it is executed."""
        return self.calls[-1].step.number

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Of every cut of the flat nest."""
        return np.broadcast_shapes(*(ends.low.shape for ends in self.calls[-1].runs.values()))

    @cached_property
    def inner(self) -> set[str]:
        """Values that pass between its steps."""
        return {item.value for call in self.calls[:-1] for item in call.step.outputs}

    @cached_property
    def outside(self) -> tuple[tuple[Calls, BackingOperand], ...]:
        """Operands that come from outside, or leave."""
        leaving = {key for hop in self.region.hops for key in hop.copies}
        return tuple(
            (call, item)
            for call in self.calls for item in call.step.operands
            if 0 not in item.shape
            and (item.value not in self.inner or (item.written and key_of(call.step.name, item.name) in leaving))
        )  # fmt: skip

    def crosses(self, hop: Hop) -> bool:
        """Whether what goes over a hop does so for all that read it."""
        return not hop.nest and hop is not self.region.hops[-1]

    def crossing(self, hop: Hop, value: str) -> tuple[Calls, BackingOperand] | None:
        """The operand under which a value crosses a hop, for all that read it."""
        users = self._users(value) if self.crosses(hop) else ()
        return next(((call, item) for call, item in users if key_of(call.step.name, item.name) in hop.copies), None)

    def _users(self, value: str) -> Iterator[tuple[Calls, BackingOperand]]:
        return ((call, item) for call, item in self.outside if item.value == value and not item.written)

    def level(self, at: int, copy: Copy) -> int:
        """How many cuts of the flat nest are around the transfers of a copy."""
        return sum(len(hop.nest) for hop in self.region.hops[:at]) + copy.level

    def copied_windows(self, call: Calls, item: BackingOperand, at: int) -> CopiedWindows:
        """What is there of an operand in the buffers of a hop, and what of that every transfer brings or takes."""
        hop = self.region.hops[at]
        copy = hop.copies[key_of(call.step.name, item.name)]
        if item.value in self.inner and hop is self.region.hops[-1]:
            return call.need, call.touched(item)
        windows = _window(call, item, self.level(at, copy))
        if self.crosses(hop):
            windows = self._crossed(hop, (call, item), windows)
        elif not self.level(at, copy) and self._is_partial(item, hop, windows):
            return (all_of_it := tuple(everything(extent) for extent in item.shape)), all_of_it
        cut = self.rolling_cut(at, copy, windows)
        if cut is None:
            return windows, windows
        axis, _ = rolled(windows, cut)
        return windows, (*windows[:axis], windows[axis].later(cut), *windows[axis + 1 :])

    def _is_partial(self, item: BackingOperand, hop: Hop, windows: Windows) -> bool:
        """Whether a part of an input is copied once that its path cannot take: all of it is copied then."""
        ways = (
            copy_path_of(self.plan.platform, memory, hop.inner, written=False)
            for memory in (*item.memories[:1], hop.outer)
        )
        path = next((way for way in ways if way is not None), None)
        if path is None or path.align == 1 or item.written:
            return False
        extents, lows = [ends.most for ends in windows], [int(ends.low.min()) for ends in windows]
        first = sum(map(mul, lows, strides(item.shape, item.layout))) * item.item_bytes
        starts, shapes = [item.offset_bytes + first, 0], [item.shape, extents]
        return transfer_fault(item, extents, starts, shapes, path, behind_bytes=self._behind(item)) != ""

    def _crossed(self, hop: Hop, brought: tuple[Calls, BackingOperand], windows: Windows) -> Windows:
        """What crosses: at least all that anyone reads of it, and the whole where there is room for that."""
        call, item = brought
        buffer = self.plan.buffers.get(f"{key_of(call.step.name, item.name)}@{hop.inner}#0")
        if buffer is not None and buffer.size_bytes >= item.bytes_in(item.shape):
            return tuple(everything(extent) for extent in item.shape)
        copy_level = sum(len(outer.nest) for outer in self.region.hops[: self.region.hops.index(hop)])
        for other, same in () if item.written else self._users(item.value):
            windows = tuple(map(Bounds.joined, windows, _window(other, same, copy_level)))
        return windows

    def rolling_cut(self, at: int, copy: Copy, windows: Windows) -> int | None:
        """The innermost cut of a hop that moves a rolling window; None where none does."""
        copy_level = self.level(at, copy)
        moved = {cut for ends in windows for cut in ends.moved_by()}
        return (
            max(moved & set(range(copy_level - copy.level, copy_level)), default=None)
            if copy.window == "rolling"
            else None
        )

    # --- faults

    def faults(self) -> Iterator[str]:
        """Everything that is wrong with buffers and transfers."""
        yield from self._held_faults()
        for call, item in self.outside:
            yield from (self._prefix(call) + fault for fault in self._alive(item))
            yield from (self._prefix(call) + fault for fault in self._way(call, item))
        yield from self._sums_faults()
        yield from self._scratch_faults()

    def _prefix(self, call: Calls) -> str:
        return f"step '{call.step.name}': " if len(self.calls) > 1 else ""

    def _alive(self, item: BackingOperand) -> Iterator[str]:
        buffer = self.plan.buffers.get(item.buffer)
        if buffer is None or not buffer.first <= self.number <= buffer.last:
            yield f"'{item.value}' is not alive where the region runs"

    def _way(self, call: Calls, item: BackingOperand) -> Iterator[str]:
        """From the backing memory to the last buffer."""
        whole = tuple(everything(extent) for extent in item.shape)
        side = HopSide(
            memories=item.memories,
            capacity=item.shape,
            window=whole,
            offset_bytes=item.offset_bytes,
            behind_bytes=self._behind(item),
        )
        for at, hop in enumerate(self.region.hops):
            copy = hop.copies.get(key_of(call.step.name, item.name))
            shared = None if copy or item.written else self.crossing(hop, item.value)
            if shared is not None:
                side = _side(hop, self.copied_windows(*shared, at)[0])
            if copy is not None:
                there, moved = self.copied_windows(call, item, at)
                inner = _side(hop, there)
                yield from self._rolling_faults(call, item, self.rolling_cut(at, copy, there), there)
                yield from self._buffers(call, item, hop, inner)
                yield from self._transfers(item, hop, moved, (side, inner))
                if item.written:
                    yield from once_faults(item, moved, self._times(call, item, at), f"stored from '{hop.inner}'")
                side = inner

    def _behind(self, item: BackingOperand) -> int:
        """Bytes behind an operand in its buffer; of what is written, those in which no value is."""
        buffer, scheduled = self.plan.buffers.get(item.buffer), self.plan.tiled.scheduled
        end = item.offset_bytes + item.bytes_in(item.shape)
        if buffer is None:
            return 0
        inside = [(scheduled.storage[value].offset_bytes, value) for value in buffer.values]
        ends = [low + scheduled.bound.graph.tensors[value].size_bytes for low, value in inside]
        return 0 if item.written and max(ends, default=end) > end else buffer.size_bytes - end

    def _times(self, call: Calls, item: BackingOperand, at: int) -> set[int]:
        """The cuts in each of whose tiles an output is stored."""
        copy_level = self.level(at, self.region.hops[at].copies[key_of(call.step.name, item.name)])
        if item.value in self.inner and at == len(self.region.hops) - 1:
            copy_level = 1 + max(call.moved_by(), default=-1)
        return self.calls[-1].moved_by() & set(range(copy_level))

    def _rolling_faults(self, call: Calls, item: BackingOperand, cut: int | None, there: Windows) -> Iterator[str]:
        if cut is None:
            return
        axis, fault = rolled(there, cut)
        whole = call.step.access.window(item.name, {loop.name: (0, loop.extent) for loop in call.step.access.loops})
        if fault or whole[axis].step > 1:
            yield f"{item.name} cannot keep rows: {fault or f'of axis {axis} not every position is copied'}"

    def _buffers(self, call: Calls, item: BackingOperand, hop: Hop, inner: HopSide) -> Iterator[str]:
        key = key_of(call.step.name, item.name)
        if (
            item.value in self.inner and hop is self.region.hops[-1]
        ):  # it is stored from the buffer of the internal value
            if max(call.moved_by(), default=-1) >= self.level(len(self.region.hops) - 1, hop.copies[key]):
                yield f"'{item.value}' leaves at level {hop.copies[key].level}, and loops inside move it"
            return
        for number in range(hop.copies[key].buffers):
            name = f"{key}@{hop.inner}#{number}"
            needed = align_up(item.bytes_in(inner.capacity), grain_of(self.plan.platform, hop.inner))
            yield from self.plan.buffer_faults(name, hop.inner, needed, self.number)

    def _transfers(
        self, item: BackingOperand, hop: Hop, moved: Windows, sides: tuple[HopSide, HopSide]
    ) -> Iterator[str]:
        """Every transfer within the limits of its path, wherever the operand may be placed."""
        outer, inner = sides
        for memory in outer.memories:
            path = copy_path_of(self.plan.platform, memory, hop.inner, item.written)
            if path is None:
                yield f"nothing copies {item.name} between '{memory}' and '{hop.inner}'"
                continue
            capacities = (outer.capacity, inner.capacity)
            behind = path.align if outer.behind_bytes is None else outer.behind_bytes
            for extents, starts, last in _kinds(item, moved, sides, path):
                fault = transfer_fault(item, extents, starts, capacities, path, last=last, behind_bytes=behind)
                if fault:
                    yield fault
                    break

    def _held_faults(self) -> Iterator[str]:
        """The buffers of values that are held."""
        for call in self.calls[:-1]:
            for item in call.step.outputs:
                memory = self.region.internal_values[item.value].memory
                name = f"{key_of(call.step.name, item.name)}@{memory}#0"
                needed = item.bytes_in([ends.most for ends in call.need])
                yield from self.plan.buffer_faults(name, memory, needed, self.number)

    def _sums_faults(self) -> Iterator[str]:
        """The sums of a split reduction have room."""
        sink, hop = self.calls[-1], self.region.hops[-1]
        split = {cut.loop for cut in hop.nest if sink.runs[cut.loop].moved_by()}
        for step, sums in self.region.sums.items():
            if split.isdisjoint(sums.loops) or sums.in_output:
                continue
            shape = [ends.most for ends in sink.touched(sink.step.outputs[0])]
            needed = sums.dtype.size_bytes * prod(shape)
            yield from self.plan.buffer_faults(f"{step}.acc@{hop.inner}#0", hop.inner, needed, self.number)

    def _scratch_faults(self) -> Iterator[str]:
        """Scratch is where the region computes, and has room for that of every core in every tile."""
        name, inner = f"{self.region.name}.scratch", self.region.hops[-1].inner
        buffer = self.plan.buffers.get(name)
        if buffer is not None and (buffer.memories != (inner,) or not buffer.first <= self.number <= buffer.last):
            yield f"'{name}' is not alive in memory '{inner}' where the region runs"
        available_bytes = buffer.size_bytes if buffer is not None else 0
        for call in self.calls:
            needed = self._core_scratch(call)
            if needed > available_bytes:
                yield f"{self._prefix(call)}the cores need {needed} B of scratch together, and have {available_bytes} B"

    def _core_scratch(self, call: Calls) -> int:
        step, cut = call.step, {loop: ends.high - ends.low for loop, ends in call.runs.items() if ends.moved_by()}
        box = {loop: (0, ends.most) for loop, ends in call.runs.items()}
        largest = TileShape(site=step.site, access=step.access, box=box)
        return core_scratch(self.plan.platform, step.engine, step.kernel, largest, cut)


def _window(call: Calls, item: BackingOperand, copy_level: int) -> Windows:
    """What is reached of an operand in all tiles that share their first `copy_level` cuts."""
    runs = {loop: ends.hull(copy_level) for loop, ends in call.runs.items()}
    return tuple(ends.clipped(extent) for ends, extent in zip(call.step.windows(item, runs), item.shape, strict=True))


def _side(hop: Hop, window: Windows) -> HopSide:
    return HopSide(memories=(hop.inner,), capacity=tuple(ends.most for ends in window), window=window)


def _kinds(
    item: BackingOperand, moved: Windows, sides: tuple[HopSide, HopSide], path: CopyPath
) -> Iterator[tuple[list[int], list[int], bool]]:
    """Extents, where both sides begin, and whether the outer one ends there: one of all transfers of which the path
    takes either all or none.
    """
    if path.align == 1:
        yield [1] * len(moved), [0, 0], True  # every transfer is legal
        return
    steps = [[step * item.item_bytes for step in strides(side.capacity, item.layout)] for side in sides]
    by_axis = []
    for axis, (low, high) in enumerate(moved):
        begins = [
            (low - side.window[axis].low) * steps_of_side[axis] % path.align
            for side, steps_of_side in zip(sides, steps, strict=True)
        ]
        ends = high - sides[0].window[axis].low == sides[0].capacity[axis]
        rows = np.broadcast_arrays(np.maximum(high - low, 0), *begins, ends)
        by_axis.append(sorted(set(zip(*(row.reshape(-1).tolist() for row in rows), strict=True))))
    for chosen in product(*by_axis):
        outer = sides[0].offset_bytes + sum(row[1] for row in chosen)
        starts = [outer, sum(row[2] for row in chosen)]
        yield [row[0] for row in chosen], starts, all(row[3] for row in chosen)
