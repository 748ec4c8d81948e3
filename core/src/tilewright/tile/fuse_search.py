"""Knows how the tiles of several steps together are found: sizes of the sink's loops, what is kept, buffers.
Does not know which steps are tried together.

One loop of the sink is cut, any that reaches the steps before it; where no tile of one loop fits, two. Few sizes are
tried, each a good deal smaller than the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

from tilewright.decisions import GroupTile, HopTile, TileCopy
from tilewright.index import mentions
from tilewright.tile.cost import HopCost
from tilewright.tile.fuse import Chain, copy_key
from tilewright.tile.fuse_boxes import Boxes, Mode, boxes_of
from tilewright.tile.fuse_cost import Traffic, compute_cycles, cost_of, near_bytes, traffic_of
from tilewright.tile.space import sizes
from tilewright.tile.tiler import Buffering

MOST_TRAFFIC = 2.0  # times what must be moved: beyond, only time counts
_MOST_LOOPS = 2  # that are cut
_MANY, _FEW = 12, 4  # sizes tried of the innermost loop, and of one around it
_MODES: tuple[Mode, ...] = ("slide", "recompute")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroup:
    """A tiling of a group, and what it costs."""

    tile: GroupTile
    cost: HopCost


def tile_of(
    chain: Chain, ends: tuple[str, str], nest: Sequence[tuple[str, int]], inner: Mapping[str, Mode]
) -> GroupTile:
    """The tiling with these cuts: whatever travels does so as seldom as one buffer allows."""
    copies = _copies(chain, boxes_of(chain, nest, inner))
    return GroupTile(hops=(HopTile(far=ends[0], near=ends[1], nest=tuple(nest), copies=copies),), inner=dict(inner))


def best_groups(
    chain: Chain,
    ends: tuple[str, str],
    buffering: Buffering,
    weights: Sequence[float] = (0.0,),
    most_cycles: float = float("inf"),
) -> tuple[FoundGroup, ...]:
    """For each weight the tiling with the lowest score; nothing where none fits, or none computes in `most_cycles`.

    A weight is what moving as much again as must be moved is worth, as a part of the time: 0.0 is the fastest tiling.
    """
    best: dict[float, FoundGroup] = {}
    loops = _rows(chain)
    most = _MOST_LOOPS if most_cycles == float("inf") else 1  # more calls take too long to be worth looking for
    for count in range(min(len(loops), most) + 1):
        for nest in (nest for order in permutations(loops, count) for nest in _nests(chain, order)):
            for mode in _MODES[: 1 if not nest else None]:
                inner: dict[str, Mode] = dict.fromkeys(chain.inner, mode)
                boxes = boxes_of(chain, nest, inner)
                if boxes.faults:
                    continue
                worst = max((score(one.cost, weight) for weight, one in best.items()), default=most_cycles)
                found = _found(chain, boxes, ends, nest, inner, buffering, worst)
                if found is None:
                    continue
                for weight in weights:
                    if weight not in best or score(found.cost, weight) < score(best[weight].cost, weight):
                        best[weight] = found
        if best and count:
            break
    return tuple(best[weight] for weight in weights) if best else ()


def score(cost: HopCost, weight: float) -> float:
    """Cycles, a little dearer the more is moved."""
    moved = (cost.in_bytes + cost.out_bytes) / max(cost.bound_bytes, 1)
    return cost.total_cycles * (1 + weight * min(moved, MOST_TRAFFIC))


def _rows(chain: Chain) -> list[str]:
    """Loops of the sink that may be cut and reach a step before it."""
    sink = chain.sink
    cuts = {loop.name for loop in sink.space.cuts}
    read = [axis.index for operand in sink.inside for axis in sink.access.axes[operand]]
    ordered = [sink.loops[axis] for axis in sink.output.layout]
    return [loop for loop in ordered if loop in cuts and any(mentions(index, loop) for index in read)]


def _nests(chain: Chain, loops: Sequence[str]) -> Iterator[tuple[tuple[str, int], ...]]:
    """The last loop in every size worth trying, those around it in single trips; the whole step where none is cut."""
    space = chain.sink.space
    if not loops:
        yield ()
        return
    multiples = space.kernel.multiples
    if not _smallest_fits(chain, loops):
        return
    *outer, last = loops
    tried = {
        loop: _spread(sizes(space.extents[loop], multiples.get(loop, 1))[1:], _FEW if loop in outer else _MANY)
        for loop in loops
    }
    for around in product(*(tried[loop] for loop in outer)):
        yield from ((*zip(outer, around, strict=True), (last, size)) for size in tried[last])


def _smallest_fits(chain: Chain, loops: Sequence[str]) -> bool:
    """Whether there is room where these loops are cut as small as can be."""
    if chain.room_bytes is None:
        return True
    multiples = chain.sink.space.kernel.multiples
    nest = tuple((loop, multiples.get(loop, 1)) for loop in loops)
    boxes = boxes_of(chain, nest, dict.fromkeys(chain.inner, "slide"))
    resident = sum(
        -(-item.item_bytes * prod(boxes.room(number, item.name, boxes.depth_of(number, item.name))) // chain.grain)
        * chain.grain
        for number, member in enumerate(chain.members)
        for item in member.space.travellers
    )
    return resident + near_bytes(chain, boxes, ()) <= chain.room_bytes


def _spread(choices: Sequence[int], most: int) -> list[int]:
    """Some of these sizes: first and last, and between them each a good deal smaller than the one before."""
    if len(choices) <= 2:
        return list(choices)
    ratio = (choices[-1] / choices[0]) ** (1 / (most - 1))
    found = [choices[0]]
    for size in choices[1:-1]:
        if size <= found[-1] * ratio * 1.01 and size > choices[-1] / ratio * 0.99:
            found.append(size)
    return [*found, choices[-1]]


def _found(
    chain: Chain,
    boxes: Boxes,
    ends: tuple[str, str],
    nest: Sequence[tuple[str, int]],
    inner: Mapping[str, Mode],
    buffering: Buffering,
    most: float,
) -> FoundGroup | None:
    """The tiling with these cuts and buffers as there is room; None where it does not fit or cannot be the best."""
    room = float("inf") if chain.room_bytes is None else float(chain.room_bytes)
    if near_bytes(chain, boxes, ()) > room or not _multiples(chain, boxes):
        return None
    if compute_cycles(chain, boxes).sum() >= most:
        return None
    copies = _copies(chain, boxes)
    traffic = tuple(traffic_of(chain, boxes, copies))
    if near_bytes(chain, boxes, traffic) > room or not _legal(traffic):
        return None
    if buffering != "single":
        copies = _doubled(chain, boxes, traffic, room)
        traffic = tuple(traffic_of(chain, boxes, copies))
    hop = HopTile(far=ends[0], near=ends[1], nest=tuple(nest), copies=copies)
    return FoundGroup(tile=GroupTile(hops=(hop,), inner=dict(inner)), cost=cost_of(chain, boxes, traffic))


def _copies(chain: Chain, boxes: Boxes) -> dict[str, TileCopy]:
    return {
        copy_key(member.step.name, item.name, len(chain.members)): TileCopy(depth=boxes.depth_of(number, item.name))
        for number, member in enumerate(chain.members)
        for item in member.space.travellers
    }


def _doubled(chain: Chain, boxes: Boxes, traffic: Sequence[Traffic], room: float) -> dict[str, TileCopy]:
    """Two buffers for what travels more than once, best gain per byte first while there is room."""
    left = room - near_bytes(chain, boxes, traffic)
    chosen = {id(one): one.copy for one in traffic}
    gains = {id(one): (len(one.moves) - 1) * max(one.cycles) / max(one.buffer_bytes(chain.grain), 1) for one in traffic}
    for one in sorted(traffic, key=lambda one: -gains[id(one)]):
        size = one.buffer_bytes(chain.grain)
        if len(one.moves) > 1 and size <= left:
            chosen[id(one)] = replace(one.copy, buffers=2)
            left -= size
    steps = len(chain.members)
    return {copy_key(one.member.step.name, one.item.name, steps): chosen[id(one)] for one in traffic}


def _legal(traffic: Sequence[Traffic]) -> bool:
    return all(one.item.aligned_offset and all(move.legal(one.item.path) for move in one.moves) for one in traffic)


def _multiples(chain: Chain, boxes: Boxes) -> bool:
    """Whether every step is called with trips that its kernel takes."""
    for member, runs in zip(chain.members, boxes.runs, strict=True):
        for loop, grain in member.space.kernel.multiples.items():
            if grain > 1 and loop in runs:
                low, high = runs[loop]
                extent = member.space.extents[loop]
                if (low % grain).any() or ((high % grain) * (high != extent)).any():
                    return False
    return True
