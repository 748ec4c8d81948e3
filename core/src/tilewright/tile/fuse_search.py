"""Knows how the tiles of several steps together are found: sizes of the sink's loops, what is kept, buffers.
Does not know which steps are tried together.

One loop of the sink is cut, any that reaches the steps before it; where no tile of one loop fits, two. Few sizes are
tried, each a good deal smaller than the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from math import prod

from tilewright.access import Box
from tilewright.decisions import GroupTile, HopTile, TileCopy
from tilewright.index import mentions
from tilewright.tile.cost import HopCost
from tilewright.tile.floors import MOST_TRAFFIC
from tilewright.tile.fuse import Chain, Member, copy_key, outer_hops
from tilewright.tile.fuse_boxes import Boxes, Mode, boxes_of
from tilewright.tile.fuse_cost import Traffic, altogether, compute_cycles, hop_costs, near_bytes, traffic_of
from tilewright.tile.space import sizes
from tilewright.tile.tiler import Buffering

_MOST_LOOPS = 2  # that are cut
_MANY, _FEW = 10, 4  # sizes tried of the innermost loop, and of one around it

Nest = tuple[tuple[str, int], ...]


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
    hop = HopTile(far=ends[0], near=ends[1], nest=tuple(nest), copies=copies)
    return GroupTile(hops=(*outer_hops(chain), hop), inner=dict(inner))


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
    if chain.room_bytes is not None and _least_bytes(chain) > chain.room_bytes:
        return ()
    hunt = _Hunt(chain, ends, buffering, weights, most_cycles, outer_hops(chain))
    hunt.follow([()])
    loops = _rows(chain)
    most = _MOST_LOOPS if most_cycles == float("inf") else 1  # more calls take too long to be worth looking for
    for count in range(1, min(len(loops), most) + 1):
        for order in permutations(loops, count):
            hunt.follow(_nests(chain, order))
        if hunt.best:
            break
    for nest in dict.fromkeys(found.tile.hops[-1].nest for found in hunt.best.values()):
        hunt.look(nest, "recompute")
    return tuple(hunt.best[weight] for weight in weights) if hunt.best else ()


@dataclass(slots=True)
class _Hunt:
    """The best tilings so far, by weight."""

    chain: Chain
    ends: tuple[str, str]
    buffering: Buffering
    weights: Sequence[float]
    most_cycles: float
    outer: tuple[HopTile, ...]
    best: dict[float, FoundGroup] = field(default_factory=dict)

    def follow(self, nests: Iterable[Nest]) -> None:
        """Look at nests of smaller and smaller tiles, until two in a row take too long."""
        slow = 0
        for nest in nests:
            slow = slow + 1 if self.look(nest, "slide") else 0
            if slow > 1:
                return

    def look(self, nest: Nest, mode: Mode) -> bool:
        """Look at one nest; whether it takes too long to compute, with a room of any size."""
        chain, inner = self.chain, dict.fromkeys(self.chain.inner, mode)
        boxes = boxes_of(chain, nest, inner)
        room = float("inf") if chain.room_bytes is None else float(chain.room_bytes)
        if boxes.faults or near_bytes(chain, boxes, ()) > room or not _multiples(chain, boxes):
            return False
        worst = max((score(one.cost, weight) for weight, one in self.best.items()), default=self.most_cycles)
        if compute_cycles(chain, boxes).sum() >= worst:
            return True
        traffic = tuple(traffic_of(chain, boxes, _copies(chain, boxes)))
        if near_bytes(chain, boxes, traffic) > room or not _legal(traffic):
            return False
        if self.buffering != "single":
            traffic = _doubled(chain, boxes, traffic, room)
        found = FoundGroup(tile=self._tile(nest, inner, traffic), cost=altogether(hop_costs(chain, boxes, traffic)))
        for weight in self.weights:
            if weight not in self.best or score(found.cost, weight) < score(self.best[weight].cost, weight):
                self.best[weight] = found
        return False

    def _tile(self, nest: Nest, inner: Mapping[str, Mode], traffic: Sequence[Traffic]) -> GroupTile:
        steps = len(self.chain.members)
        copies = {copy_key(one.member.step.name, one.item.name, steps): one.copy for one in traffic}
        far, near = self.ends
        return GroupTile(hops=(*self.outer, HopTile(far=far, near=near, nest=nest, copies=copies)), inner=inner)


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


def _nests(chain: Chain, loops: Sequence[str]) -> Iterator[Nest]:
    """The last loop in many sizes, those around it in a few; largest tiles first."""
    space = chain.sink.space
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


def _least_bytes(chain: Chain) -> int:
    """Bytes that no tile gets by without: whatever the loops of `_rows` move counts for a single trip of theirs."""
    moved, total = [set[str]() for _ in chain.members], 0
    moved[-1].update(_rows(chain))
    least = [0] * len(chain.members)  # of the buffers of inner values
    for number, member in reversed(tuple(enumerate(chain.members))):
        for reader in member.readers:
            names = chain.members[reader.member].moves[reader.operand]
            moved[number].update(
                loop
                for loop, moving in zip(member.loops, names, strict=True)
                if loop and not moved[reader.member].isdisjoint(moving)
            )
        box = {loop.name: (0, 1 if loop.name in moved[number] else loop.extent) for loop in member.access.loops}
        for operand, maker in member.inside.items():
            size = _window_bytes(member, operand, box, chain.members[maker].output.item_bytes)
            least[maker] = max(least[maker], size)
        sizes = (_window_bytes(member, item.name, box, item.item_bytes) for item in member.space.travellers)
        total += sum(-(-size // chain.grain) * chain.grain for size in sizes)
    return total + sum(least)


def _window_bytes(member: Member, operand: str, box: Box, item_bytes: int) -> int:
    """Of an operand's window."""
    return item_bytes * prod(span.extent for span in member.access.window(operand, box))


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


def _copies(chain: Chain, boxes: Boxes) -> dict[str, TileCopy]:
    return {
        copy_key(member.step.name, item.name, len(chain.members)): TileCopy(depth=boxes.depth_of(number, item.name))
        for number, member in enumerate(chain.members)
        for item in member.space.travellers
    }


def _doubled(chain: Chain, boxes: Boxes, traffic: Sequence[Traffic], room: float) -> tuple[Traffic, ...]:
    """Two buffers for what travels more than once, best gain per byte first while there is room."""
    left = room - near_bytes(chain, boxes, traffic)
    sizes_each = [one.buffer_bytes(chain.grain) for one in traffic]
    gains = [
        (len(one.moves) - 1) * max(one.cycles) / max(size, 1) for one, size in zip(traffic, sizes_each, strict=True)
    ]
    chosen = list(traffic)
    for at in sorted(range(len(traffic)), key=lambda at: -gains[at]):
        if len(traffic[at].moves) > 1 and sizes_each[at] <= left:
            chosen[at] = replace(traffic[at], copy=replace(traffic[at].copy, buffers=2))
            left -= sizes_each[at]
    return tuple(chosen)


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
