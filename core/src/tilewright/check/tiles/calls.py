"""Knows which calls a region makes: what each of its steps computes in every tile, and which parts of its internal
values are stored then. Does not know copies, buffers or bytes, and shares no arithmetic with what finds tilings.

Tiles are the points of a grid with one axis for each cut of the flat nest. Bounds are arrays over that grid, of
extent 1 along the cuts that do not move them: what follows from an axis is worked out once for all tiles that share
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tilewright.check.tiles.checked_plan import BackingOperand
from tilewright.ir.access.index import Axis, Index, Term, bare_loop, mentions
from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.machines.kernel import Kernel, Matched
from tilewright.ir.plans.region import Cut, Region
from tilewright.ir.rounding import ceil_div

Integers = npt.NDArray[np.int64]


class Bounds(NamedTuple):
    """Half-open ranges, one for each tile. Where `high` is not above `low` there is nothing."""

    low: Integers
    high: Integers

    def moved_by(self) -> set[int]:
        """The cuts that move them."""
        return {at for end in self for at, extent in enumerate(end.shape) if extent > 1}

    def hull(self, copy_level: int) -> Bounds:
        """One range for all tiles that share the first `copy_level` cuts."""
        if all(cut < copy_level for cut in self.moved_by()):
            return self
        inside = tuple(range(copy_level, self.low.ndim))
        return Bounds(self.low.min(axis=inside, keepdims=True), self.high.max(axis=inside, keepdims=True))

    def joined(self, other: Bounds) -> Bounds:
        """From the lower of both begins to the higher end."""
        return Bounds(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def clipped(self, extent: int) -> Bounds:
        """The same inside an operand's axis."""
        high = np.minimum(np.maximum(self.high, 0), extent)
        return Bounds(np.minimum(np.maximum(self.low, 0), high), high)

    def later(self, cut: int) -> Bounds:
        """In the first trip of a cut all of it, in later ones only what the trip before did not reach."""
        low, high = np.broadcast_arrays(*self)
        done = np.roll(high, 1, axis=cut)
        np.moveaxis(done, cut, 0)[0] = low.min(initial=0)
        return Bounds(np.maximum(low, done), high)

    def falls(self, cut: int) -> bool:
        """Whether a trip of the cut begins below the one before it."""
        low = np.broadcast_arrays(*self)[0]
        return bool((np.diff(low, axis=cut) < 0).any())

    @property
    def most(self) -> int:
        """The longest of the ranges."""
        return max(0, int((self.high - self.low).max()))

    def everything(self, extent: int) -> bool:
        """Whether they are all of an axis, in the only tile that there is of them."""
        return not self.moved_by() and int(self.low.min()) <= 0 and int(self.high.max()) >= extent


Runs = Mapping[str, Bounds]  # loop -> its range in each tile
Windows = tuple[Bounds, ...]  # by axis of an operand


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStep:
    """One step of the region."""

    name: str
    number: int  # in the schedule
    engine: str
    site: Matched
    kernel: Kernel
    access: Access
    operands: tuple[BackingOperand, ...]

    @property
    def outputs(self) -> tuple[BackingOperand, ...]:
        """What it writes."""
        return tuple(item for item in self.operands if item.written)

    @property
    def loops(self) -> tuple[str, ...]:
        """By axis of its only output the loop that is the index; "" for none."""
        return tuple(map(bare_loop, self.axes(self.outputs[0].name)))

    def axes(self, operand: str) -> tuple[Axis, ...]:
        """By axis of an operand its index; nothing where the access is no index map."""
        return self.access.axes[operand] if isinstance(self.access, MapAccess) else ()

    def whole(self) -> dict[str, Bounds]:
        """The whole ranges of all loops, in every tile."""
        return {loop.name: everything(loop.extent) for loop in self.access.loops}

    def windows(self, item: BackingOperand, runs: Runs) -> Windows:
        """What runs reach of an operand, positions outside of it included."""
        if isinstance(self.access, MapAccess):
            return tuple(_reached(axis, runs) for axis in self.axes(item.name))
        spans = self.access.window(item.name, {loop.name: (0, loop.extent) for loop in self.access.loops})
        return tuple(Bounds(np.array(span.low), np.array(span.high)) for span in spans)


@dataclass(slots=False, kw_only=True)
class Calls:
    """All calls of one step. `need` is by axis of what it writes; of the sink it has none."""

    step: CheckedStep
    runs: dict[str, Bounds]
    need: Windows = ()
    faults: list[str] = field(default_factory=list)
    reached: dict[str, Windows] = field(default_factory=dict)  # by operand, once asked for

    def touched(self, item: BackingOperand) -> Windows:
        """What every call reaches of an operand: nothing where a loop is empty."""
        if item.name not in self.reached:
            self.reached[item.name] = self._touched(item)
        return self.reached[item.name]

    def _touched(self, item: BackingOperand) -> Windows:
        windows = list(self.step.windows(item, self.runs))
        for at, axis in enumerate(self.step.axes(item.name)):
            for is_idle in (is_idle for loop, is_idle in self.idle.items() if mentions(axis.index, loop)):
                windows[at] = Bounds(windows[at].low, np.where(is_idle, windows[at].low, windows[at].high))
        return tuple(windows)

    @cached_property
    def idle(self) -> dict[str, npt.NDArray[np.bool_]]:
        """The loops that are empty in some tiles, and in which."""
        none = {loop: ends.low >= ends.high for loop, ends in self.runs.items() if ends.moved_by()}
        return {loop: where for loop, where in none.items() if where.any()}

    def moved_by(self) -> set[int]:
        """The cuts whose tiles make it run again."""
        return {cut for ends in (*self.runs.values(), *self.need) for cut in ends.moved_by()}


def calls_of(region: Region, steps: Sequence[CheckedStep]) -> tuple[Calls, ...]:
    """The calls of every step, worked out from the sink backwards."""
    flat = [cut for hop in region.hops for cut in hop.nest]
    inmost = len(flat) - len(region.hops[-1].nest)
    calls = [Calls(step=steps[-1], runs=_sink_runs(steps[-1], flat))]
    for step in reversed(steps[:-1]):
        calls.insert(0, _calls(region, step, calls, inmost))
    return tuple(calls)


def _sink_runs(sink: CheckedStep, flat: Sequence[Cut]) -> dict[str, Bounds]:
    runs, sizes = sink.whole(), {loop.name: loop.extent for loop in sink.access.loops}
    for at, (loop, demanded) in enumerate(flat):
        around, most = runs[loop], sizes[loop]
        size = sizes[loop] = max(1, min(demanded, most))
        tiles = np.arange(max(1, ceil_div(most, size))).reshape([-1 if axis == at else 1 for axis in range(len(flat))])
        low = np.minimum(around.low + tiles * size, around.high)
        runs[loop] = Bounds(low, np.minimum(low + size, around.high))
    return runs


def _calls(region: Region, step: CheckedStep, behind: Sequence[Calls], inmost: int) -> Calls:
    """The calls of a step whose output the steps behind it read."""
    output = step.outputs[0]
    form = region.internal_values[output.value].form
    need = tuple(
        everything(extent) if form == "whole" or not loop else _need(output, axis, behind).clipped(extent)
        for axis, (loop, extent) in enumerate(zip(step.loops, output.shape, strict=True))
    )
    runs = {**step.whole(), **{loop: ends for loop, ends in zip(step.loops, need, strict=True) if loop}}
    calls = Calls(step=step, need=need, runs=runs)
    moved = [cut for ends in need for cut in ends.moved_by() if cut >= inmost]
    if form == "rolling" and moved:
        axis, fault = rolled(need, max(moved))
        calls.faults.extend([f"'{output.value}' cannot keep rows: {fault}"] if fault else [])
        runs[step.loops[axis]] = need[axis].later(max(moved))
    return calls


def rolled(windows: Windows, cut: int) -> tuple[int, str]:
    """The axis along which rows stay from one trip of a cut to the next, and why they cannot ("" where they can).

    Whatever a trip needs is there, then: what begins no lower than before, and was there up to where the last ended.
    """
    axes = [axis for axis, ends in enumerate(windows) if cut in ends.moved_by()]
    if len(axes) != 1:
        return axes[0], f"axes {', '.join(map(str, axes))} of it move at once"
    if windows[axes[0]].falls(cut):
        return axes[0], "a tile begins before the one that it keeps rows of"
    return axes[0], ""


def _need(value: BackingOperand, axis: int, behind: Sequence[Calls]) -> Bounds:
    """Hull of what the readers reach at the starts and at the ends of their ranges."""
    reads = (
        _first_to_last(calls.step.axes(item.name)[axis], calls.runs)
        for calls in behind for item in calls.step.operands if item.value == value.value and not item.written
    )  # fmt: skip
    return reduce(Bounds.joined, reads)


@lru_cache(maxsize=256)
def everything(extent: int) -> Bounds:
    """All of an axis or a loop, in every tile."""
    return Bounds(np.array(0), np.array(extent))


# --- indices


def _first_to_last(axis: Axis, runs: Runs) -> Bounds:
    if axis.index is None:
        return everything(axis.extent)
    first = _at(axis.index, {loop: ends.low for loop, ends in runs.items()})
    return Bounds(first, _at(axis.index, {loop: ends.high - 1 for loop, ends in runs.items()}) + 1)


def _at(index: Index, values: Mapping[str, Integers]) -> Integers:
    """The value of an index at one trip of every loop."""
    total = np.array(index.offset)
    for term in index.terms:
        value = values[term.loop] if term.inner is None else _applied(term, _at(term.inner, values))
        total = total + value * term.coefficient
    return total


def _reached(axis: Axis, runs: Runs) -> Bounds:
    """Everything between the lowest and the highest value of an index."""
    if axis.index is None:
        return everything(axis.extent)
    loop = bare_loop(axis)
    if loop:
        return runs[loop]
    low, last = _range(axis.index, runs)
    return Bounds(low, last + 1)


def _range(index: Index, runs: Runs) -> tuple[Integers, Integers]:
    low = high = np.array(index.offset)
    for term in index.terms:
        if term.inner is None:
            first, last = runs[term.loop].low, runs[term.loop].high - 1
        else:
            first, last = _range(term.inner, runs)
            wraps = term.operation == "%" and first // term.by[0] != last // term.by[0]
            first, last = _applied(term, first), _applied(term, last)
            first, last = np.where(wraps, 0, first), np.where(wraps, (term.by or (1,))[0] - 1, last)
        if term.coefficient < 0:
            first, last = last, first
        low, high = low + first * term.coefficient, high + last * term.coefficient
    return low, high


def _applied(term: Term, value: Integers) -> Integers:
    if term.operation == "//":
        return value // term.by[0]
    if term.operation == "%":
        return value % term.by[0]
    low, high = term.by
    return np.clip(value, low, high)


# --- faults


def run_faults(region: Region, calls: Sequence[Calls]) -> Iterator[str]:
    """Reads of what is not there or outside its operand, multiples that are not kept, outputs not computed once."""
    made = {item.value: call for call in calls[:-1] for item in call.step.outputs}
    for call in calls:
        wrong = (*call.faults, *_grain_faults(call))
        for item in call.step.operands:
            if 0 in item.shape:
                continue
            windows = call.touched(item)
            wrong = (*wrong, *_reach_faults(call.step, item, windows))
            if not item.written and item.value in made and beyond(item.shape, windows, made[item.value].need):
                wrong = (*wrong, f"an element of '{item.value}' is read that is not there")
        yield from (f"step '{call.step.name}': {fault}" for fault in wrong)
    split = {loop for sums in region.sums.values() for loop in sums.loops}
    flat = [cut for hop in region.hops for cut in hop.nest]
    again = {at for at, cut in enumerate(flat) if cut.loop not in split} & calls[-1].moved_by()
    for item in calls[-1].step.outputs:
        yield from once_faults(item, calls[-1].touched(item), again, "computed")


def beyond(shape: Sequence[int], windows: Windows, around: Windows) -> bool:
    """Whether a window reaches an element that is outside of what is around it."""
    inside = [ends.clipped(extent) for ends, extent in zip(windows, shape, strict=True)]
    return any(
        bool(((inner.low < inner.high) & ((inner.low < outer.low) | (inner.high > outer.high))).any())
        for inner, outer in zip(inside, around, strict=True)
    )


def _grain_faults(calls: Calls) -> Iterator[str]:
    extents = {loop.name: loop.extent for loop in calls.step.access.loops}
    for loop, grain in calls.step.kernel.multiples.items():
        if loop not in calls.runs or grain == 1:
            continue
        low, high = np.broadcast_arrays(*calls.runs[loop])
        wrong = (low < high) & ((low % grain != 0) | ((high % grain != 0) & (high != extents[loop])))
        if wrong.any():
            yield f"trips {low[wrong][0]}..{high[wrong][0]} of loop '{loop}' are no multiple of {grain}"


def _reach_faults(step: CheckedStep, item: BackingOperand, windows: Windows) -> Iterator[str]:
    axes = step.axes(item.name)
    for at, (ends, extent) in enumerate(zip(windows, item.shape, strict=True)):
        if (axes and axes[at].padded) or (ends.low.min() >= 0 and ends.high.max() <= extent):
            continue
        low, high = np.broadcast_arrays(*ends)
        outside = (low < high) & ((low < 0) | (high > extent))
        if outside.any():
            yield f"a tile of {item.name} reaches {low[outside][0]}..{high[outside][0]} of {extent} on axis {at}, " \
                  f"where there is no padding"  # fmt: skip


def once_faults(item: BackingOperand, windows: Windows, again: set[int], what: str) -> Iterator[str]:
    """Every element is in one window. `again`: the cuts in each of whose tiles there are windows."""
    axes = [ends.moved_by() for ends in windows]
    if sum(map(len, axes)) != len(set().union(*axes)):
        yield from _once_together(item, windows, what)
        return
    if again - set().union(*axes):
        yield f"elements of {item.name} are {what} several times"
        return
    for axis, (ends, extent) in enumerate(zip(windows, item.shape, strict=True)):
        if ends.everything(extent):
            continue
        low, high = (end.reshape(-1) for end in np.broadcast_arrays(*ends.clipped(extent)))
        counts = np.cumsum(np.bincount(low, minlength=extent + 1) - np.bincount(high, minlength=extent + 1))[:extent]
        if (counts != 1).any():
            wrong = int(np.flatnonzero(counts != 1)[0])
            yield f"element {wrong} along axis {axis} of {item.name} is {what} {counts[wrong]} times"
            return


def _once_together(item: BackingOperand, windows: Windows, what: str) -> Iterator[str]:
    """The same where a cut moves several axes at once: tile by tile."""
    counts = np.zeros(item.shape, np.int64)
    ends = np.broadcast_arrays(*(end for bounds in windows for end in bounds))
    for numbers in np.stack([end.reshape(-1) for end in ends], axis=1).tolist():
        counts[tuple(map(slice, numbers[::2], numbers[1::2]))] += 1
    if (counts != 1).any():
        wrong = tuple(int(at[0]) for at in np.nonzero(counts != 1))
        yield f"element {wrong} of {item.name} is {what} {int(counts[wrong])} times"
