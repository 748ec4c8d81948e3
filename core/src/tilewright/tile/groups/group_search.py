"""Knows how the tiles of several steps together are found: sizes of the sink's loops, forms of inner values, buffers.
Does not know which steps are tried together.

One loop of the sink is cut, any that reaches the steps before it; where no tile of one loop fits, two. A reduction of
the sink may be the loop: then the steps before it compute a part of what it adds up. Few sizes are tried, each a good
deal smaller than the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product

from tilewright.ir.plans.region import Copy, Cut, Form, Hop, Region, key_of
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.footprint import scratchpad_bytes
from tilewright.tile.cost.job_overlap import may_overlap
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC, ROUNDED
from tilewright.tile.cost.region_cost import HopCost, altogether, bounds_of, compute_cycles, hop_costs
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.cost.traffic import Traffic, crossings_of
from tilewright.tile.groups.group_bounds import cut_loops, least_bytes, split_loops
from tilewright.tile.groups.nest_costs import GroupNests, Nest, NestCosts, hops_with, region_of, with_copies
from tilewright.tile.space.fusion import RegionAnalysis, whole_hops
from tilewright.tile.space.tiling_space import sizes

_MOST_LOOPS = 2  # that are cut
_MANY, _FEW = 10, 4  # sizes tried of the innermost loop, and of one around it


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTiling:
    """A tiling of a group, and what it costs."""

    region: Region
    cost: HopCost


def region_with(analysis: RegionAnalysis, nest: Sequence[Cut], forms: Mapping[str, Form]) -> Region:
    """The region with these cuts on the last hop: whatever is copied is so as seldom as one buffer allows."""
    return region_of(with_copies(boxes_of(analysis, hops_with(analysis, nest), forms)), forms)


def best_groups(
    analysis: RegionAnalysis,
    buffering: Buffering,
    weights: Sequence[float] = (0.0,),
    most_cycles: float = float("inf"),
    nests: GroupNests | None = None,
) -> tuple[GroupTiling, ...]:
    """For each weight the tiling with the lowest score; nothing where none fits, or none computes in `most_cycles`.

    A weight is what moving as much again as must be moved is worth, as a part of the time: 0.0 is the fastest tiling.
    `nests` are those of groups of equal steps, whose names `analysis` has; None: none are known.
    """
    best: dict[float, GroupTiling] = {}
    nests = nests or GroupNests(analysis)
    if least_bytes(analysis, split=bool(split_loops(analysis))) <= analysis.available_bytes():
        bounds = bounds_of(analysis)
        for outer in outer_hops(analysis, buffering):
            _GroupSearch(analysis, buffering, weights, most_cycles, bounds, outer, best, nests).look()
    return tuple(best[weight] for weight in weights) if best else ()


@dataclass(slots=True)
class _GroupSearch:
    """The best tilings so far, by weight."""

    analysis: RegionAnalysis
    buffering: Buffering
    weights: Sequence[float]
    most_cycles: float
    bounds: tuple[int, ...]  # see `bounds_of`
    outer: tuple[Hop, ...]  # the hops before the last
    best: dict[float, GroupTiling]
    known: GroupNests

    def look(self) -> None:
        """Try nests of the last hop."""
        analysis, loops, reductions = self.analysis, cut_loops(self.analysis), split_loops(self.analysis)
        most = _MOST_LOOPS if self.most_cycles == float("inf") else 1  # more calls take too long to be worth it
        if not reductions or least_bytes(analysis) <= analysis.available_bytes():
            self.try_nests([()])
            for count in range(1, min(len(loops), most) + 1):
                for order in permutations(loops, count):
                    self.try_nests(self.nests(order))
                if self.best:
                    break
        for reduction in reductions:
            self.try_parts(reduction, loops)
        if not any(member.live_out for member in analysis.members[:-1]):
            for nest in dict.fromkeys(tiling.region.hops[-1].nest for tiling in self.best.values()):
                if nest:  # in one tile nothing is computed again
                    self.try_nest(nest, "recomputed")

    def try_parts(self, reduction: str, loops: Sequence[str]) -> None:
        """Price nests that cut a reduction of the sink; where none fits, such as cut another loop around it, too."""
        if not self.smallest_fits((*loops, reduction)):
            return
        parts = [Cut(reduction, size) for size in self.quick_sizes(reduction)]
        self.try_nests((part,) for part in parts)
        for loop in () if self.best or self.most_cycles < float("inf") else loops:
            for size in _spread(self.sizes(loop), _FEW):
                self.try_nests((Cut(loop, size), part) for part in parts)

    def try_nests(self, nests: Iterable[Nest]) -> None:
        """Price nests of smaller and smaller tiles, until two in a row take too long."""
        slow = 0
        for nest in nests:
            slow = slow + 1 if self.try_nest(nest, "rolling") else 0
            if slow > 1:
                return

    def try_nest(self, nest: Nest, form: Form) -> bool:
        """Price one nest; whether it takes too long to compute, however much room there is."""
        costs = self.costs(nest, form)
        room = self.analysis.available_bytes() - costs.held_bytes  # for what is copied
        if room < 0 or not costs.sound:
            return False
        worst = max((score(tiling.cost, weight) for weight, tiling in self.best.items()), default=self.most_cycles)
        if costs.computing >= worst:
            return True
        room -= costs.copied_bytes
        if room < 0 or not costs.legal or self._beaten(costs):
            return False
        boxes, traffic = replace(costs.copied, analysis=self.analysis), costs.traffic
        if self.buffering != "single":
            boxes, traffic = _doubled(boxes, traffic, room)
        computes = costs.computes
        if may_overlap(self.analysis):
            computes = compute_cycles(boxes)  # its jobs overlap with what the cores do if its copies have two buffers
        region = region_of(boxes, costs.forms, costs.sums)
        cost = altogether(hop_costs(boxes, traffic, region, computes, self.bounds))
        for weight in self.weights:
            if weight not in self.best or score(cost, weight) < score(self.best[weight].cost, weight):
                self.best[weight] = GroupTiling(region=region, cost=cost)
        return False

    def _beaten(self, costs: NestCosts) -> bool:
        """Whether what was found before is better, were all behind the computation but what comes first and goes last,
        or all behind the copies.
        """
        moved, least = costs.moved_bytes / max(sum(self.bounds), 1), costs.least_cycles * ROUNDED
        return all(
            weight in self.best and _score(least, moved, weight) >= score(self.best[weight].cost, weight)
            for weight in self.weights
        )

    def nests(self, loops: Sequence[str]) -> Iterator[Nest]:
        """The last loop in many sizes, those around it in a few; largest tiles first."""
        if not self.smallest_fits(loops):
            return
        *outer, last = loops
        for around in product(*(_spread(self.sizes(loop), _FEW) for loop in outer)):
            yield from ((*map(Cut, outer, around), Cut(last, size)) for size in _spread(self.sizes(last), _MANY))

    def costs(self, nest: Nest, form: Form) -> NestCosts:
        """With these cuts on the last hop."""
        return self.known.nest(self.outer, nest, form)

    def sizes(self, loop: str) -> Sequence[int]:
        """Of a loop of the sink, from two tiles on; largest first."""
        return part_sizes(self.analysis, loop, self.outer)

    def quick_sizes(self, loop: str) -> list[int]:
        """Those of which no smaller one takes less time to compute: steps before the sink, whose channels these are,
        take some numbers of them much better than others. Largest first.
        """
        result, least = list[int](), float("inf")
        for size in reversed(self.sizes(loop)):
            computes = self.costs((Cut(loop, size),), "rolling").computing
            if computes < least:
                result, least = [size, *result], computes
        return result

    def smallest_fits(self, loops: Sequence[str]) -> bool:
        """Whether there is room where these loops are cut as small as can be."""
        multiples = self.analysis.sink.space.kernel.multiples
        nest = tuple(Cut(loop, multiples.get(loop, 1)) for loop in loops)
        costs = self.costs(nest, "rolling")
        return costs.held_bytes + costs.copied_bytes <= self.analysis.available_bytes()


def score(cost: HopCost, weight: float) -> float:
    """Cycles, a little dearer the more is moved."""
    return _score(cost.total_cycles, (cost.in_bytes + cost.out_bytes) / max(cost.bound_bytes, 1), weight)


def _score(cycles: float, moved: float, weight: float) -> float:
    return cycles * (1 + weight * min(moved, MOST_TRAFFIC))


def _spread(choices: Sequence[int], most: int) -> list[int]:
    """Some of these sizes: first and last, and between them each a good deal smaller than the one before."""
    if len(choices) <= 2:
        return list(choices)
    ratio = (choices[-1] / choices[0]) ** (1 / (most - 1))
    result = [choices[0]]
    for size in choices[1:-1]:
        if size <= result[-1] * ratio * 1.01 and size > choices[-1] / ratio * 0.99:
            result.append(size)
    return [*result, choices[-1]]


def _doubled(
    boxes: Boxes, traffic: Sequence[Sequence[Traffic]], left: float
) -> tuple[Boxes, tuple[tuple[Traffic, ...], ...]]:
    """Two buffers for what is copied more than once, best gain per byte first while any of `left` bytes are there."""
    *outer, last = traffic
    grain = boxes.analysis.grains[-1]
    sizes_each = [align_up(crossing.tile_bytes, grain) for crossing in last]
    gains = [
        (crossing.cycles.size - 1) * float(crossing.cycles.max()) / max(size, 1) * crossing.own
        for crossing, size in zip(last, sizes_each, strict=True)
    ]
    chosen = list(last)
    for at in sorted(range(len(last)), key=lambda at: -gains[at]):
        if gains[at] > 0 and sizes_each[at] <= left:
            chosen[at] = replace(last[at], copy=replace(last[at].copy, buffers=2))
            left -= sizes_each[at]
    hop = replace(boxes.hops[-1], copies={crossing.key: crossing.copy for crossing in chosen})
    return replace(boxes, hops=(*boxes.hops[:-1], hop)), (*map(tuple, outer), tuple(chosen))


def outer_hops(analysis: RegionAnalysis, buffering: Buffering) -> Iterator[tuple[Hop, ...]]:
    """The hops before the last. Where whole values have no room there, and it is one hop, for each loop of the sink
    the largest tiles that have, in two buffers and in one.
    """
    whole = whole_hops(analysis)
    if _fits(analysis, whole):
        yield whole
    elif len(whole) == 1:
        for loop in cut_loops(analysis):
            for buffers in (1,) if buffering == "single" else (2, 1):
                hops = (_in_tiles(analysis, Cut(loop, size), buffers) for size in part_sizes(analysis, loop, ()))
                fitting = next((hop for hop in hops if _fits(analysis, (hop,))), None)
                if fitting is not None:
                    yield (fitting,)


def part_sizes(analysis: RegionAnalysis, loop: str, outer: Sequence[Hop]) -> Sequence[int]:
    """Of a loop of the sink, from two parts on, inside the parts that the hops `outer` make of it; largest first."""
    space = analysis.sink.space
    around = (cut.size for hop in outer for cut in hop.nest if cut.loop == loop)
    return sizes(min((space.extents[loop], *around)), space.kernel.multiples.get(loop, 1))[1:]


def _in_tiles(analysis: RegionAnalysis, cut: Cut, buffers: int) -> Hop:
    """The first hop with one loop cut: what does not move with it is copied once."""
    hop = analysis.hops[0]
    boxes = boxes_of(analysis, (Hop(outer=hop.outer, inner=hop.inner, nest=(cut,)), *_last(analysis)))
    copies = {}
    for number, member in enumerate(analysis.members):
        for item in member.spaces[0].copied:
            level = min(boxes.copy_level_of(number, item.name), 1)
            copies[key_of(member.step.name, item.name)] = Copy(level=level, buffers=buffers if level else 1)
    return Hop(outer=hop.outer, inner=hop.inner, nest=(cut,), copies=copies)


def _last(analysis: RegionAnalysis) -> tuple[Hop]:
    """The last hop in one tile."""
    return (Hop(outer=analysis.hops[-1].outer, inner=analysis.hops[-1].inner),)


def _fits(analysis: RegionAnalysis, outer: tuple[Hop, ...]) -> bool:
    """Whether there is room on the way for what crosses these hops."""
    if not outer:
        return True
    boxes = boxes_of(analysis, (*outer, *_last(analysis)))
    crossings = crossings_of(boxes)
    return not boxes.faults and all(
        scratchpad_bytes(boxes, crossings, {}, hop) <= analysis.available_bytes(hop) for hop in range(len(outer))
    )
