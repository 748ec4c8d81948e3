"""Knows what a group of several steps costs when it is tiled as decided: memory, bytes moved, and time, tile by tile.
Does not know which tiling is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tilewright.decisions import GroupTile, TileCopy
from tilewright.tile.cost import HopCost, scratch_bytes, tile_cycles
from tilewright.tile.fuse import Chain, Member, copy_key
from tilewright.tile.fuse_boxes import Boxes, boxes_of
from tilewright.tile.space import Traveller, bound_bytes, unique_rows
from tilewright.tile.transfers import Transfers

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

MOVED_BYTES_PER_CYCLE = 4  # of one core that moves kept rows: a word read and written


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """One operand that travels, with all its transfers in order: one list of them for each window."""

    member: Member
    item: Traveller
    copy: TileCopy
    room: tuple[int, ...]
    moves: tuple[Transfers, ...]
    period: int  # tiles from one window to the next

    @property
    def size_bytes(self) -> int:
        """All bytes together."""
        return sum(move.size_bytes for move in self.moves)

    @property
    def cycles(self) -> list[float]:
        """Of each window."""
        return [move.cycles(self.item.path) for move in self.moves]

    def buffer_bytes(self, grain: int) -> int:
        """Of one tile buffer, up to where the next may begin."""
        return _up(self.item.item_bytes * prod(self.room), grain)


def group_costs(chain: Chain, tile: GroupTile) -> tuple[HopCost, ...]:
    """Of every hop, outermost first: play the program of the group, what the mover and the cores do, and who waits
    for whom. What crosses the hops before the last does so before everything else, or after it.
    """
    hop = tile.hops[-1]
    boxes = boxes_of(chain, hop.nest, tile.inner)
    return hop_costs(chain, boxes, tuple(traffic_of(chain, boxes, hop.copies)))


def group_cost(chain: Chain, tile: GroupTile) -> HopCost:
    """All hops together."""
    return altogether(group_costs(chain, tile))


def altogether(costs: Sequence[HopCost]) -> HopCost:
    """The innermost hop's, with the time of all and the bytes of each."""
    return replace(
        costs[-1],
        total_cycles=costs[0].total_cycles,
        in_bytes=sum(cost.in_bytes for cost in costs),
        out_bytes=sum(cost.out_bytes for cost in costs),
        bound_bytes=sum(cost.bound_bytes for cost in costs),
    )


def hop_costs(chain: Chain, boxes: Boxes, traffic: Sequence[Traffic]) -> tuple[HopCost, ...]:
    """The same as `group_costs`, boxes and transfers being known."""
    costs = [_innermost(chain, boxes, traffic)]
    for crossing in reversed(chain.outer):
        copying = sum(item.transfers.cycles(item.path) for item in crossing.items)
        inside = costs[0].total_cycles
        outer = HopCost(
            tiles=1,
            compute_cycles=inside,
            copy_cycles=copying,
            total_cycles=inside + copying,
            in_bytes=sum(item.size_bytes for item in crossing.items if not item.operand.written),
            out_bytes=sum(item.size_bytes for item in crossing.items if item.operand.written),
            bound_bytes=crossing.bound_bytes,
            near_bytes=crossing.near_bytes,
        )
        costs.insert(0, outer)
    return tuple(costs)


def _innermost(chain: Chain, boxes: Boxes, traffic: Sequence[Traffic]) -> HopCost:
    computes = compute_cycles(chain, boxes)
    beginning = sum(member.space.engine.step_cycles for member in chain.members)
    ways = {written: [one for one in traffic if one.item.written is written] for written in (False, True)}
    return HopCost(
        tiles=prod(boxes.trips),
        compute_cycles=float(computes.sum()) + beginning,
        copy_cycles=sum(sum(one.cycles) for one in traffic),
        total_cycles=_play(computes.tolist(), ways[False], ways[True]) + beginning,
        in_bytes=sum(one.size_bytes for one in ways[False]),
        out_bytes=sum(one.size_bytes for one in ways[True]),
        bound_bytes=sum(bound_bytes(member.space) for member in chain.members),
        near_bytes=near_bytes(chain, boxes, traffic),
    )


def near_bytes(chain: Chain, boxes: Boxes, traffic: Sequence[Traffic]) -> int:
    """Bytes of the near memory that the group takes: every buffer, and scratch."""
    travelling = sum(one.copy.buffers * one.buffer_bytes(chain.grain) for one in traffic)
    held = sum(_up(held_bytes(boxes, number), chain.grain) for number in range(len(chain.members) - 1))
    return travelling + held + _up(group_scratch(chain, boxes), chain.grain)


def held_bytes(boxes: Boxes, number: int) -> int:
    """Of the buffer of what a member computes."""
    return boxes.chain.members[number].output.item_bytes * prod(boxes.held(number))


def group_scratch(chain: Chain, boxes: Boxes) -> int:
    """As much as the neediest member takes."""
    return max(_scratch(member, largest_run(boxes, number)) for number, member in enumerate(chain.members))


def largest_run(boxes: Boxes, number: int) -> dict[str, int]:
    """The most trips of every loop of a member in any tile."""
    return {loop: int((high - low).max()) for loop, (low, high) in boxes.runs[number].items()}


def traffic_of(chain: Chain, boxes: Boxes, copies: Mapping[str, TileCopy]) -> Iterator[Traffic]:
    """Every operand that is copied, in the order of the steps."""
    for number, member in enumerate(chain.members):
        for item in member.space.travellers:
            copy = copies.get(copy_key(member.step.name, item.name, len(chain.members)))
            if copy is not None:
                yield _traffic(boxes, number, item, copy)


def _traffic(boxes: Boxes, number: int, item: Traveller, copy: TileCopy) -> Traffic:
    extents = [high - low for low, high in boxes.windows(number, item.name, copy.depth)]
    room = tuple(int(extent.max()) for extent in extents)
    shape = tuple(trips if position < copy.depth else 1 for position, trips in enumerate(boxes.trips))
    columns = [np.broadcast_to(extent, shape).reshape(-1).tolist() for extent in extents]
    known: dict[tuple[int, ...], Transfers] = {}
    moves = []
    for key in zip(*columns, strict=True) if columns else [()] * prod(shape):
        if key not in known:
            known[key] = item.transfers(key, room)
        moves.append(known[key])
    return Traffic(
        member=boxes.chain.members[number],
        item=item,
        copy=copy,
        room=room,
        moves=tuple(moves),
        period=prod(boxes.trips[copy.depth :]),
    )


def compute_cycles(chain: Chain, boxes: Boxes) -> Numbers:
    """Cycles that the cores take for each tile, in order: kernels of the steps that run in it, and rows moved."""
    total = np.zeros(boxes.trips)
    for number, member in enumerate(chain.members):
        total = total + _runs(boxes, number, _calls(boxes, number, member) + _moved(boxes, number, member))
    return total.reshape(-1)


def _runs(boxes: Boxes, number: int, cycles: Numbers) -> Numbers:
    """Cycles only in those tiles in which the member runs: the first of those that it computes the same for."""
    found = np.zeros(boxes.trips)
    at = tuple(slice(None) if axis < boxes.depth(number) else slice(0, 1) for axis in range(len(boxes.trips)))
    found[at] = np.broadcast_to(cycles, found[at].shape)
    return found


def _calls(boxes: Boxes, number: int, member: Member) -> Numbers:
    loops = boxes.runs[number]
    extents = np.broadcast_arrays(*(high - low for low, high in loops.values()))
    shape = extents[0].shape if extents else (1,) * len(boxes.trips)
    rows = np.stack([extent.reshape(-1) for extent in extents], 1) if extents else np.zeros((1, 0), np.int64)
    unique, inverse = unique_rows(rows)
    each = [
        tile_cycles(member.space, dict(zip(loops, row, strict=True))) if min(row, default=1) > 0 else 0.0
        for row in unique.tolist()
    ]
    return np.array(each, np.float64)[inverse].reshape(shape)


def _moved(boxes: Boxes, number: int, member: Member) -> Numbers:
    """What it takes the cores together to move the rows that stay."""
    stays, _ = boxes.kept(number)
    return stays.astype(np.float64) * (moved_cycles(boxes, number) / max(1, member.space.engine.cores))


def moved_cycles(boxes: Boxes, number: int) -> float:
    """What it takes one core to move one row of a member's output."""
    slide = boxes.slides[number]
    if slide is None:
        return 0.0
    held = boxes.held(number)
    return held_bytes(boxes, number) / max(1, held[slide[1]]) / MOVED_BYTES_PER_CYCLE


def _play(computes: Sequence[float], inputs: Sequence[Traffic], outputs: Sequence[Traffic]) -> float:
    """Cycles from the first transfer to the last, on two clocks: the cores' and the copy engine's."""
    cores = engine = 0.0
    arrivals: dict[int, list[float]] = {id(one): [] for one in (*inputs, *outputs)}
    cycles = {id(one): one.cycles for one in (*inputs, *outputs)}

    def move(one: Traffic) -> None:
        nonlocal engine
        done = arrivals[id(one)]
        if len(done) < len(one.moves):
            engine = max(engine, cores) + cycles[id(one)][len(done)]
            done.append(engine)

    for one in inputs:
        move(one)
    for number, compute in enumerate(computes):
        for one in inputs:
            cores = max(cores, arrivals[id(one)][number // one.period])
        for one in outputs:
            before = number // one.period - one.copy.buffers
            if before >= 0 and number % one.period == 0:
                cores = max(cores, arrivals[id(one)][before])
        for one in inputs:
            if one.copy.buffers > 1 and number % one.period == 0:
                move(one)
        cores += compute
        for one in inputs:
            if one.copy.buffers == 1 and (number + 1) % one.period == 0:
                move(one)
        for one in outputs:
            if (number + 1) % one.period == 0:
                move(one)
    return max(cores, engine)


def _scratch(member: Member, extents: Mapping[str, int]) -> int:
    space = member.space
    _, size = scratch_bytes(space.kernel, space.site, space.access, extents, space.engine.cores)
    return size


def _up(size: int, grain: int) -> int:
    return -(-size // grain) * grain
