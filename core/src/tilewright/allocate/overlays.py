"""Knows buffers that take bytes of others while these are read row by row: how they lie, in an allocation problem.
Does not know why that is sound, nor how the rest is placed.

The two are at a fixed distance. A chain of them is one body; bodies are placed before everything else, where quick
orders find room for the rest, and fixed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.bound import lower_bounds
from tilewright.allocate.conflicts import neighbours
from tilewright.check.allocation import peaks
from tilewright.errors import usage_error
from tilewright.ir.allocation import Block, Budget, Place, Problem, Solution
from tilewright.ir.dataclass import dataclass
from tilewright.ir.rounding import align_up
from tilewright.ir.stages import Tiled

_MOST_SIZES = 6  # of blocks that a body may lie on, for each of its blocks

Body = Mapping[str, int]  # block -> bytes from the start of the body


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaidBuffers:
    """Buffer `taker` takes bytes of buffer `giver`, and begins `lead_bytes` before it: negative where it is behind."""

    taker: str
    giver: str
    lead_bytes: int


def overlaid_buffers(tiled: Tiled) -> Iterator[OverlaidBuffers]:
    """Of all regions by rows whose output is over something that they read."""
    storage, sizes = tiled.scheduled.storage, {buffer.name: buffer.size_bytes for buffer in tiled.buffers}
    for region in tiled.regions:
        for value, held in region.held.items() if region.rows else ():
            if held.over and held.leaves:
                taker, giver = storage[value].buffer, storage[held.over].buffer
                behind = sizes[taker] - sizes[giver] - held.lag_bytes
                lead = behind if region.rows and region.rows.backward else held.lag_bytes
                yield OverlaidBuffers(taker=taker, giver=giver, lead_bytes=lead)


def with_overlays(problem: Problem, overlays: Sequence[OverlaidBuffers]) -> Problem:
    """The problem with the offsets of all bodies, and the pairs that may overlap. What has no block is elsewhere.

    Raises TilewrightError TW5002 (exit 2) where pinned offsets are at another distance.
    """
    names = {block.name for block in problem.blocks}
    present = [one for one in overlays if {one.taker, one.giver} <= names]
    every = free = _Placed(problem)
    for body in _bodies(present):
        every = _lowest(every.problem, body, present)
    return (every if len(present) < 2 else min((every, _some(free, present)), key=_peak)).problem


class _Placed:
    """A problem, and everything where quick orders place it in pools without an end: worked out once, if asked for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """By block; none where that is not possible."""
        return BestFit().solve(_endless(self.problem), Budget(work=0)).places

    @cached_property
    def peak(self) -> float:
        """Infinite where pinned blocks are over each other, and no overlay says that they may."""
        used = peaks(self.problem, Solution(status="feasible", places=self.places)) if self.places else {}
        return sum(used.values()) if self.places else float("inf")


def _peak(placed: _Placed) -> float:
    return placed.peak


def _some(placed: _Placed, overlays: Sequence[OverlaidBuffers]) -> _Placed:
    """Only with the bodies that make what lives with them lower, each in its turn."""
    for body in _bodies(overlays):
        ways = (placed, _lowest(placed.problem, body, overlays))
        placed = min(ways, key=lambda one: (one.peak, _peak_beside(one, body)))
    return placed


def chosen(overlays: Sequence[OverlaidBuffers], problem: Problem) -> frozenset[str]:
    """The blocks of a problem whose offsets `with_overlays` chooses."""
    taking = {name for one in overlays for name in (one.taker, one.giver)}
    return frozenset(block.name for block in problem.blocks if block.name in taking and block.fixed_offset is None)


def as_proved(problem: Problem, solution: Solution, chosen: Collection[str]) -> Solution:
    """The solution with the bounds and the status that it has among all plans, whatever was chosen."""
    if not chosen or solution.status not in ("optimal", "feasible"):
        return solution
    blocks = tuple(replace(one, fixed_offset=None) if one.name in chosen else one for one in problem.blocks)
    bounds = lower_bounds(replace(problem, blocks=blocks))
    met = all(used == bounds[name] for name, used in peaks(problem, solution).items())
    return replace(solution, bounds=bounds, status="optimal" if met else "feasible")


def _bodies(overlays: Sequence[OverlaidBuffers]) -> Iterator[Body]:
    """Chains: who takes bytes may lose others to the next one."""
    givers, links = {one.giver for one in overlays}, {one.taker: one for one in overlays}
    for last in (one for one in overlays if one.taker not in givers):
        body, link = {last.taker: 0}, links.get(last.taker)
        while link is not None:
            body[link.giver] = body[link.taker] + link.lead_bytes
            link = links.get(link.giver)
        lowest_at = min(body.values())
        yield {name: at - lowest_at for name, at in body.items()}


def _lowest(problem: Problem, body: Body, overlays: Sequence[OverlaidBuffers]) -> _Placed:
    """The problem with the body at the start from which everything together is lowest, as quick orders place it."""
    pairs = tuple((one.taker, one.giver) for one in overlays if one.taker in body)
    ways = [_Placed(_fixed(problem, body, start, pairs)) for start in _starts(problem, body)]
    return ways[0] if len(ways) == 1 else _first_lowest(ways, _floor(problem, body, pairs))


def _first_lowest(ways: Sequence[_Placed], floor: int) -> _Placed:
    """None is lower than the floor: those after one that is there are not placed."""
    best = ways[0]
    for way in ways[1:]:
        if best.peak <= floor:
            break
        best = min(best, way, key=_peak)
    return best


def _floor(problem: Problem, body: Body, pairs: Sequence[tuple[str, str]]) -> int:
    """Bytes of all pools that are needed, wherever the body begins."""
    blocks = (replace(one, fixed_offset=None) if one.name in body else one for one in problem.blocks)
    free = replace(problem, blocks=tuple(blocks), compatible=(*problem.compatible, *pairs))
    return sum(lower_bounds(_endless(free)).values())


def _fixed(problem: Problem, body: Body, start: int, pairs: Sequence[tuple[str, str]]) -> Problem:
    """With the body where it begins at `start`."""
    blocks = (replace(one, fixed_offset=start + body[one.name]) if one.name in body else one for one in problem.blocks)
    return replace(problem, blocks=tuple(blocks), compatible=(*problem.compatible, *pairs))


def _endless(problem: Problem) -> Problem:
    return replace(problem, pools=tuple(replace(pool, capacity_bytes=None) for pool in problem.pools))


def _peak_beside(placed: _Placed, body: Body) -> float:
    """Of what is there together with any block of the body."""
    if not placed.places:
        return float("inf")
    beside = (block for one, met in _met(placed.problem, body) for block in (one, *met))
    return max(placed.places[one.name].offset_bytes + one.size_bytes for one in beside)


def _met(problem: Problem, body: Body) -> Iterator[tuple[Block, list[Block]]]:
    """The blocks of a body, each with all that are alive together with it."""
    meetings = neighbours(replace(problem, compatible=(), conflicts=()))
    for one, others in zip(problem.blocks, meetings, strict=True):
        if one.name in body:
            yield one, [problem.blocks[other] for other in others]


def _starts(problem: Problem, body: Body) -> Iterator[int]:
    """Where a pin wants the body; else the lowest place, and behind what its blocks meet: one of these, or all."""
    blocks = {block.name: block for block in problem.blocks}
    demanded = {fixed - at for name, at in body.items() if (fixed := blocks[name].fixed_offset) is not None}
    if len(demanded) > 1:
        raise usage_error(
            "TW5002",
            f"the pinned places of {', '.join(map(repr, body))} cannot be kept: they are at another distance "
            "than rows demand, which take the bytes of rows",
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
    for one, every in met:
        others = [other for other in every if other.name not in body]
        sizes = sorted((other.size_bytes for other in others), reverse=True)
        for first in sorted({first for first, _ in one.lifetimes} | {last for _, last in one.lifetimes}):
            sizes.append(sum(other.size_bytes for other in others if _alive(other, first)))
        yield from (size - body[one.name] for size in {*sizes[:_MOST_SIZES], *sizes[-2:]})


def _obstacles(met: Sequence[tuple[Block, Sequence[Block]]], body: Body) -> Iterator[tuple[int, int]]:
    """Starts, from the first to before the last, with which a block of the body is where something fixed is."""
    for one, others in met:
        at = body[one.name]
        for other in others:
            if other.fixed_offset is not None:
                yield other.fixed_offset - at - one.size_bytes + 1, other.fixed_offset - at + other.size_bytes


def _clear(obstacles: Sequence[tuple[int, int]], grain: int, start: int) -> int:
    """The lowest start from there on that leaves everything that is fixed alone."""
    start = align_up(start, grain)
    while (end := max((end for first, end in obstacles if first <= start < end), default=start)) > start:
        start = align_up(end, grain)
    return start


def _alive(one: Block, step: int) -> bool:
    return any(first <= step <= last for first, last in one.lifetimes)
