"""Knows blocks that take bytes of others as bodies: a chain of such blocks, all at fixed distances, is one body. A
body is placed before everything else, where quick orders find space for the other blocks, and fixed there. Does not
know longer distances (`aliased_packing` does), nor how the other blocks are placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tilewright.allocate.aliases.aliased_packing import AliasedBuffers
from tilewright.allocate.best_fit import BestFit, quickly_packed
from tilewright.allocate.packing.lower_bound import MOST_MEETINGS, count_of_meetings, lower_bounds, neighbours
from tilewright.allocate.packing.packing import Yard, prepare, with_offsets
from tilewright.allocate.solving import clash, unaligned
from tilewright.check.allocations.allocation import peaks
from tilewright.errors import usage_error
from tilewright.ir.plans.allocation import Block, Budget, Place, Problem, Solution
from tilewright.ir.rounding import align_up

_MOST_SIZES = 6  # of blocks that a body may lie on, for each of its blocks

Body = Mapping[str, int]  # block -> bytes from the start of the body


def with_bodies(problem: Problem, aliases: Sequence[AliasedBuffers]) -> Problem:
    """The problem with the offsets of all bodies, and the pairs that may overlap. What has no block is elsewhere.

    Raises TilewrightError TW5002 (exit 2) where pinned offsets are at another distance.
    """
    names = {block.name for block in problem.blocks}
    present = [alias for alias in aliases if {alias.taker, alias.giver} <= names]
    every = free = _Placed(problem)
    for body in _bodies(present):
        every = _lowest(every.problem, body, present)
    return (every if len(present) < 2 else min((every, _some(free, present)), key=_peak)).problem


class _Placed:
    """A problem, and everything where quick orders place it in pools without an end: worked out once, if asked for.

    `like` is prepared with the same blocks, of which other offsets may be fixed.
    """

    def __init__(self, problem: Problem, like: Yard | None = None) -> None:
        self.problem, self.like = problem, like

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """By block; none where that is not possible."""
        if self.like is None:
            return BestFit().solve(_endless(self.problem), Budget(work=0)).places
        yard = with_offsets(self.like, _endless(self.problem))
        packing, _ = quickly_packed(yard)
        return {} if clash(yard, packing) else packing.places(yard.problem)

    @cached_property
    def peak(self) -> float:
        """Infinite where pinned blocks are over each other, and no alias says that they may."""
        used = peaks(self.problem, Solution(status="feasible", places=self.places)) if self.places else {}
        return sum(used.values()) if self.places else float("inf")


def _peak(placed: _Placed) -> float:
    return placed.peak


def _some(placed: _Placed, aliases: Sequence[AliasedBuffers]) -> _Placed:
    """The problem with only those bodies that lower the blocks alive with them, tried one after the other."""
    for body in _bodies(aliases):
        candidates = (placed, _lowest(placed.problem, body, aliases))
        placed = min(candidates, key=lambda candidate: (candidate.peak, _peak_beside(candidate, body)))
    return placed


def _bodies(aliases: Sequence[AliasedBuffers]) -> Iterator[Body]:
    """Chains: a block that takes bytes may lose bytes to the next one."""
    givers, links = {alias.giver for alias in aliases}, {alias.taker: alias for alias in aliases}
    for last in (alias for alias in aliases if alias.taker not in givers):
        body, link = {last.taker: 0}, links.get(last.taker)
        while link is not None:
            body[link.giver] = body[link.taker] + link.lead_bytes
            link = links.get(link.giver)
        lowest_at = min(body.values())
        yield {name: at - lowest_at for name, at in body.items()}


def _lowest(problem: Problem, body: Body, aliases: Sequence[AliasedBuffers]) -> _Placed:
    """The problem with the body at the start from which everything together is lowest, as quick orders place it."""
    pairs = tuple((alias.taker, alias.giver) for alias in aliases if alias.taker in body)
    starts = [*_starts(problem, body)]
    like = prepare(_endless(_free(problem, body, pairs))) if len(starts) > 1 and _is_one_pool(problem) else None
    candidates = [_Placed(_fixed(problem, body, start, pairs), like) for start in starts]
    if len(candidates) == 1:
        return candidates[0]
    floor = sum(lower_bounds(_endless(_free(problem, body, pairs))).values())  # wherever the body begins
    return _first_lowest(candidates, floor)


def _first_lowest(candidates: Sequence[_Placed], floor: int) -> _Placed:
    """No candidate is lower than the floor: candidates after one that meets it are not placed."""
    best = candidates[0]
    for candidate in candidates[1:]:
        if best.peak <= floor:
            break
        best = min(best, candidate, key=_peak)
    return best


def _free(problem: Problem, body: Body, pairs: Sequence[tuple[str, str]]) -> Problem:
    """Without offsets for the body."""
    blocks = (replace(block, fixed_offset=None) if block.name in body else block for block in problem.blocks)
    return replace(problem, blocks=tuple(blocks), compatible=(*problem.compatible, *pairs))


def _is_one_pool(problem: Problem) -> bool:
    """Whether quick orders place everything as one part, and every pair that is alive at once can be listed."""
    alone = len({block.pools for block in problem.blocks}) == 1 == len(problem.blocks[0].pools)
    return alone and unaligned(problem) is None and count_of_meetings(problem) <= MOST_MEETINGS


def _fixed(problem: Problem, body: Body, start: int, pairs: Sequence[tuple[str, str]]) -> Problem:
    """With the body where it begins at `start`."""
    blocks = (
        replace(block, fixed_offset=start + body[block.name]) if block.name in body else block
        for block in problem.blocks
    )
    return replace(problem, blocks=tuple(blocks), compatible=(*problem.compatible, *pairs))


def _endless(problem: Problem) -> Problem:
    return replace(problem, pools=tuple(replace(pool, capacity_bytes=None) for pool in problem.pools))


def _peak_beside(placed: _Placed, body: Body) -> float:
    """The peak of the blocks that are alive together with any block of the body."""
    if not placed.places:
        return float("inf")
    beside = (block for member, meeting in _met(placed.problem, body) for block in (member, *meeting))
    return max(placed.places[block.name].offset_bytes + block.size_bytes for block in beside)


def _met(problem: Problem, body: Body) -> Iterator[tuple[Block, list[Block]]]:
    """The blocks of a body, each with all that are alive together with it."""
    meetings = neighbours(replace(problem, compatible=(), conflicts=()))
    for block, others in zip(problem.blocks, meetings, strict=True):
        if block.name in body:
            yield block, [problem.blocks[other] for other in others]


def _starts(problem: Problem, body: Body) -> Iterator[int]:
    """Where a pin wants the body; else the lowest place, and behind what its blocks meet: one of these, or all."""
    blocks = {block.name: block for block in problem.blocks}
    demanded = {fixed - at for name, at in body.items() if (fixed := blocks[name].fixed_offset) is not None}
    if len(demanded) > 1:
        raise usage_error(
            "TW5002",
            f"the pinned places of {', '.join(map(repr, body))} cannot be kept: they are at another distance "
            "than line buffering demands, where one takes bytes of the other",
            fix=("change or remove the pins of offsets",),
        )
    if demanded:
        yield demanded.pop()
        return
    met = [*_met(problem, body)]
    obstacles = [*_obstacles(met, body)]
    grain = max(blocks[name].align for name in body)
    yield from sorted({_clear(obstacles, grain, max(start, 0)) for start in (0, *_behind(met, body))})


def _behind(met: Sequence[tuple[Block, Sequence[Block]]], body: Body) -> Iterator[int]:
    """Starts with which one of the body's blocks lies on the largest of what it meets, or on all of that."""
    for block, meeting in met:
        others = [other for other in meeting if other.name not in body]
        sizes = sorted((other.size_bytes for other in others), reverse=True)
        for first in sorted({first for first, _ in block.lifetimes} | {last for _, last in block.lifetimes}):
            sizes.append(
                sum(other.size_bytes for other in others if any(low <= first <= high for low, high in other.lifetimes))
            )
        yield from (size - body[block.name] for size in {*sizes[:_MOST_SIZES], *sizes[-2:]})


def _obstacles(met: Sequence[tuple[Block, Sequence[Block]]], body: Body) -> Iterator[tuple[int, int]]:
    """Starts, from the first to before the last, with which a block of the body is where something fixed is."""
    for block, others in met:
        at = body[block.name]
        for other in others:
            if other.fixed_offset is not None:
                yield other.fixed_offset - at - block.size_bytes + 1, other.fixed_offset - at + other.size_bytes


def _clear(obstacles: Sequence[tuple[int, int]], grain: int, start: int) -> int:
    """The lowest start from there on that leaves everything that is fixed alone."""
    start = align_up(start, grain)
    while (end := max((end for first, end in obstacles if first <= start < end), default=start)) > start:
        start = align_up(end, grain)
    return start
