"""Knows what a region costs when it is tiled as decided: the DMA core's and the cores' clocks, tile by tile.
Does not know which tiling is best, nor what a kernel or a transfer takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.plans.region import Region
from tilewright.tile.cost.copy_queues import CopyQueues, queues_of
from tilewright.tile.cost.footprint import largest_run, scratchpad_bytes
from tilewright.tile.cost.job_overlap import jobs_overlap
from tilewright.tile.cost.kernel_costs import job_and_finish
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE, Traffic, traffic_of
from tilewright.tile.space.fusion import RegionAnalysis, RegionStep
from tilewright.tile.space.spans import rows_of, unique_rows
from tilewright.tile.space.tiling_space import bound_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HopCost:
    """What one hop of a region costs. Cycles are estimates, bytes and counts exact."""

    tiles: int
    compute_cycles: float
    copy_cycles: float
    total_cycles: float  # with the overlap that the buffers allow
    in_bytes: int
    out_bytes: int
    bound_bytes: int  # if every element were copied once
    scratchpad_bytes: int  # of all tile buffers and scratch, alignment included


def region_costs(analysis: RegionAnalysis, region: Region) -> tuple[HopCost, ...]:
    """Of every hop, outermost first; what a hop takes is computation to the one before it."""
    if not region.hops:
        return ()
    boxes = boxes_of(analysis, region.hops, {value: held.form for value, held in region.internal_values.items()})
    return hop_costs(boxes, traffic_of(boxes), region, compute_cycles(boxes), bounds_of(analysis))


def bounds_of(analysis: RegionAnalysis) -> tuple[int, ...]:
    """For each hop the bytes that are copied if every element is so once."""
    hops = range(len(analysis.hops))
    return tuple(sum(bound_bytes(member.spaces[hop]) for member in analysis.members) for hop in hops)


def hop_costs(
    boxes: Boxes, traffic: Sequence[Sequence[Traffic]], region: Region, computes: Numbers, bounds: Sequence[int]
) -> tuple[HopCost, ...]:
    """The same, boxes, transfers and what `compute_cycles` and `bounds_of` say being known."""
    begin = _begun(boxes, traffic)
    play = _Clocks(boxes, traffic, computes)
    total, spent = play.visit(0, ()) + begin, play.spent
    last = len(boxes.hops) - 1
    return tuple(
        HopCost(
            tiles=_tiles(boxes, hop),
            compute_cycles=spent[hop] + (begin if hop == last else 0.0),
            copy_cycles=float(sum(crossing.cycles.sum() for crossing in here)),
            total_cycles=total if hop == 0 else spent[hop - 1],
            in_bytes=sum(crossing.size_bytes for crossing in here if not crossing.item.written),
            out_bytes=sum(crossing.size_bytes for crossing in here if crossing.item.written),
            bound_bytes=bounds[hop],
            scratchpad_bytes=scratchpad_bytes(boxes, traffic, region.sums, hop),
        )
        for hop, here in enumerate(traffic)
    )


def _begun(boxes: Boxes, traffic: Sequence[Sequence[Traffic]]) -> float:
    """What the steps of a region take once, however large its tiles are."""
    total, tiles = _beside_nothing(boxes), _tiles(boxes, len(boxes.hops) - 1)
    for number, member in enumerate(boxes.analysis.members):
        engine, kernel = member.space.engine, member.space.kernel
        total += engine.step_cycles + kernel.step_cycles
        if engine.code_cycles:
            copied = sum(crossing.number == number for here in traffic for crossing in here)
            total += engine.code_cycles(kernel, copied, tiles)
    return total


def _beside_nothing(boxes: Boxes) -> float:
    """Of the first job, while cores have nothing to do, or of what they do at the end: the less, where jobs overlap."""
    if not jobs_overlap(boxes):
        return 0.0
    each = [job_and_finish(member.space, largest_run(boxes, at)) for at, member in enumerate(boxes.analysis.members)]
    return min(each[0][0], each[0][1] + sum(cycles + finish for cycles, finish in each[1:]))


def altogether(costs: Sequence[HopCost]) -> HopCost:
    """The innermost hop's, with the time of all and the bytes of each."""
    return replace(
        costs[-1],
        total_cycles=costs[0].total_cycles,
        in_bytes=sum(cost.in_bytes for cost in costs),
        out_bytes=sum(cost.out_bytes for cost in costs),
        bound_bytes=sum(cost.bound_bytes for cost in costs),
    )


def _tiles(boxes: Boxes, hop: int) -> int:
    inside = tuple(range(boxes.starts[hop + 1], len(boxes.extents)))
    there = boxes.exists.any(axis=inside, keepdims=True)
    shape = tuple(1 if at in inside else trips for at, trips in enumerate(boxes.extents))
    return int(np.broadcast_to(there, shape).sum())


def compute_cycles(boxes: Boxes) -> Numbers:
    """Cycles of each tile: kernels of the steps that run in it, and rows moved; or its job, where that overlaps with
    what the cores do and takes longer; [trips].
    """
    cores, jobs, overlap = np.zeros(boxes.extents), np.zeros(boxes.extents), jobs_overlap(boxes)
    for number, member in enumerate(boxes.analysis.members):
        cycles, finish = _calls(boxes, number, member)
        finish = finish + _moved(boxes, number, member)
        if overlap and not number:
            jobs += cycles
        else:
            finish = finish + cycles
        at = tuple(
            slice(None) if axis < boxes.copy_level(number) else slice(0, 1) for axis in range(len(boxes.extents))
        )
        part = cores if number + 1 == len(boxes.analysis.members) else cores[(*at, ...)]
        part += np.broadcast_to(finish, part.shape)
    return np.maximum(cores, jobs) * boxes.exists


def _calls(boxes: Boxes, number: int, member: RegionStep) -> tuple[Numbers, Numbers]:
    """What the calls of a member take, and the cores to finish what they leave."""
    loops = boxes.runs[number]
    extents = [high - low for low, high in loops.values()]
    shape = np.broadcast_shapes((1,) * len(boxes.extents), *(extent.shape for extent in extents))
    unique, inverse = unique_rows(rows_of(extents, shape))
    each = np.array([_call(member, tuple(loops), tuple(row)) for row in unique.tolist()], np.float64)
    return each[inverse, 0].reshape(shape), each[inverse, 1].reshape(shape)


def _call(member: RegionStep, loops: tuple[str, ...], trips: tuple[int, ...]) -> tuple[float, float]:
    """One call with these trips of its loops; nothing where there is nothing to compute."""
    known = member.calls.cycles
    if trips not in known:
        extents = dict(zip(loops, trips, strict=True))
        known[trips] = job_and_finish(member.space, extents) if min(trips, default=1) > 0 else (0.0, 0.0)
    return known[trips]


def _moved(boxes: Boxes, number: int, member: RegionStep) -> Numbers:
    """What it takes the cores together to move the rows that stay."""
    stays, _ = boxes.kept(number)
    return stays.astype(np.float64) * (moved_cycles(boxes, number) / max(1, member.space.engine.cores))


def moved_cycles(boxes: Boxes, number: int) -> float:
    """What it takes one core to move one row of a member's output."""
    roll = boxes.rolls[number]
    if roll is None:
        return 0.0
    held = boxes.internal_rows(number)
    size = boxes.analysis.members[number].output.item_bytes * prod(held)
    return size / max(1, held[roll.axis]) / MOVED_BYTES_PER_CYCLE


@dataclass(slots=True)
class _Operand:
    """One copied operand during one visit of a hop: by window cycles, transfers and shifts, by tile the number of its
    window.
    """

    buffers: int
    queues: int
    cycles: list[float]
    transfers: list[int]
    shifts: list[float]
    window: list[int]
    first: list[bool]  # by tile: the window is new
    last: list[bool]  # by tile: the next one has another window, or there is none
    arrivals: list[float]


class _Clocks:
    """A region's program on two clocks for each hop: the cores', and that of the copies, which move in queues."""

    def __init__(self, boxes: Boxes, traffic: Sequence[Sequence[Traffic]], computes: Numbers) -> None:
        self.boxes, self.traffic, self.computes = boxes, traffic, computes
        self.spent = [0.0] * len(boxes.hops)  # cycles of all tiles of a hop
        self._known: dict[tuple[int, bytes], tuple[float, tuple[float, ...]]] = {}

    def visit(self, hop: int, at: tuple[int, ...]) -> float:
        """Cycles of all tiles of a hop inside one tile of the hop before, from the first transfer to the last."""
        if not at:
            return self._visit(hop, at)
        key = hop, b"".join((self.computes[at].tobytes(), *self._slices(hop, at)))
        if key not in self._known:
            spent = tuple(self.spent)
            total = self._visit(hop, at)
            self._known[key] = total, tuple(now - then for now, then in zip(self.spent, spent, strict=True))
            return total
        total, more = self._known[key]
        self.spent = [left + right for left, right in zip(self.spent, more, strict=True)]
        return total

    def _slices(self, hop: int, at: tuple[int, ...]) -> list[bytes]:
        return [
            array[_within(at, array.shape)].tobytes()
            for here in self.traffic[hop:]
            for crossing in here
            for array in (crossing.cycles, crossing.numbers, crossing.shifts)
        ]

    def _visit(self, hop: int, at: tuple[int, ...]) -> float:
        start, end = self.boxes.starts[hop], self.boxes.starts[hop + 1]
        own = self.boxes.extents[start:end]
        deeper = tuple(range(end, len(self.boxes.extents)))
        there: npt.NDArray[np.bool_] = np.broadcast_to(self.boxes.exists, self.boxes.extents)
        tiles = np.flatnonzero(np.any(there, axis=deeper, keepdims=True)[at])
        if hop + 1 == len(self.boxes.hops):
            computes = self.computes[at].reshape(-1)[tiles].tolist()
        else:
            inside = [tuple(map(int, np.unravel_index(tile, own))) for tile in tiles] if own else [()]
            computes = [self.visit(hop + 1, (*at, *tile)) for tile in inside]
        self.spent[hop] += sum(computes)
        inputs, outputs = (
            [self._operand(traffic, own, tiles, at) for traffic in self.traffic[hop] if traffic.item.written is written]
            for written in (False, True)
        )
        spaces = [member.space for member in self.boxes.analysis.members]
        new_code = not all(space.kernel.code_stays for space in spaces)
        waiting = max(space.engine.code_waits for space in spaces) if new_code and not at else 0
        cores = spaces[-1].engine
        starts = (
            cores.copy_start_cycles if (new_code or not cores.dma_core) and hop + 1 == len(self.boxes.hops) else 0.0
        )
        clocks = _Simulation(starts, queues_of(traffic.item for traffic in self.traffic[hop]))
        return _simulated(clocks, computes, inputs, outputs, waiting=waiting, apart=cores.dma_core)

    def _operand(
        self, copies: Traffic, own: tuple[int, ...], tiles: npt.NDArray[np.intp], at: tuple[int, ...]
    ) -> _Operand:
        inside = prod(own[copies.copy.level :])
        windows = tiles // inside
        new = np.ones(len(windows), bool)
        new[1:] = windows[1:] != windows[:-1]
        numbers = np.cumsum(new) - 1
        picked = windows[new]
        cores = max(1, copies.member.space.engine.cores)
        return _Operand(
            buffers=copies.copy.buffers,
            queues=copies.item.path.queues,
            cycles=copies.cycles[_within(at, copies.cycles.shape)].reshape(-1)[picked].tolist(),
            transfers=copies.numbers[_within(at, copies.numbers.shape)].reshape(-1)[picked].tolist(),
            shifts=(copies.shifts[_within(at, copies.shifts.shape)].reshape(-1)[picked] / cores).tolist(),
            window=numbers.tolist(),
            first=new.tolist(),
            last=[*new[1:].tolist(), True],
            arrivals=[],
        )


def _within(at: tuple[int, ...], shape: Sequence[int]) -> tuple[int, ...]:
    """The place in an array whose axes may have one entry for all trips."""
    return tuple(0 if extent == 1 else trip for trip, extent in zip(at, shape, strict=False))


class _Simulation:
    """How far the cores and the copies are, while a copy `starts` for so long. Mutable, of one simulation."""

    def __init__(self, starts: float, queues: int) -> None:
        self.cores = 0.0
        self.copies = CopyQueues(queues)
        self.starts = starts

    def wait(self, until: float) -> None:
        """The cores do nothing before this."""
        self.cores = max(self.cores, until)

    def move(self, operand: _Operand, *, apart: bool = False) -> None:
        """The next copy of an operand, if there is one; cores wait while it is started, unless a core `apart` does."""
        if len(operand.arrivals) < len(operand.cycles):
            self.cores += 0.0 if apart else self.starts
            window = len(operand.arrivals)
            self.copies.start(self.cores, operand.cycles[window], operand.transfers[window], operand.queues)
            operand.arrivals.append(self.copies.arrival)


def _simulated(
    clocks: _Simulation,
    computes: Sequence[float],
    inputs: Sequence[_Operand],
    outputs: Sequence[_Operand],
    *,
    waiting: int,
    apart: bool,
) -> float:
    """Cycles from the first transfer to the last.

    What `waiting` first tiles execute comes after the copies that were started before it. Cores wait while a copy is
    started, unless a core `apart` does so while they compute.
    """
    for operand in inputs:
        clocks.move(operand)
    for number, compute in enumerate(computes):
        for operand in inputs:
            clocks.wait(operand.arrivals[operand.window[number]])
        for operand in outputs:
            before = operand.window[number] - operand.buffers
            if before >= 0 and operand.first[number]:
                clocks.wait(operand.arrivals[before])
        for operand in inputs:
            if operand.buffers > 1 and operand.first[number]:
                clocks.move(operand, apart=apart)
        if number < waiting:
            clocks.wait(clocks.copies.arrival)
        clocks.cores += compute
        for operand in inputs:
            if operand.buffers == 1 and operand.last[number] and len(operand.arrivals) < len(operand.cycles):
                clocks.cores += operand.shifts[len(operand.arrivals)]
                clocks.move(operand)
        for operand in outputs:
            if operand.last[number]:
                clocks.move(operand)
    return max(clocks.cores, clocks.copies.arrival)
