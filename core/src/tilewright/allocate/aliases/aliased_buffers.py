"""Knows buffers that take bytes of others while these are read row by row: how they lie, in an allocation problem.
Does not know why that is sound, nor how the rest is placed.

Everything is packed at once, with at least the distance between the two that rows demand (`aliased_packing`). Where
that takes more than the least that can be, there is a second way: at the shortest distance, before everything else
(`alias_bodies`). Whoever solves both takes the better plan.

Of a plan no three that take bytes of one another are there at once. A taker is born at the last step of its region,
at which its giver dies (`tile/line_buffers/aliases`); so the two meet at that step only. With A over B over C, B is
read by the region of A, which begins after that of B has ended: C is dead before A is born. And of two that are over
the same one, the later is born where the giver dies, which was at the earlier one's birth.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.allocate.aliases.alias_bodies import with_bodies
from tilewright.allocate.aliases.aliased_packing import OverlaidBuffers, OverlaidYard, best_packing
from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.check.allocations.allocation import peaks
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.plans.allocation import Problem, Solution
from tilewright.ir.plans.stages import Tiled


def overlaid_buffers(tiled: Tiled) -> Iterator[OverlaidBuffers]:
    """Of all regions by rows whose output is over something that they read."""
    storage, sizes = tiled.scheduled.storage, {buffer.name: buffer.size_bytes for buffer in tiled.buffers}
    for _, schedule in tiled.line_buffered:
        for value, buffer in schedule.buffers.items():
            if buffer.aliases:
                taker, giver = storage[value].buffer, storage[buffer.aliases].buffer
                behind = sizes[taker] - sizes[giver] - buffer.distance_bytes
                lead = behind if schedule.backward else buffer.distance_bytes
                yield OverlaidBuffers(taker=taker, giver=giver, lead_bytes=lead, backward=schedule.backward)


def with_overlays(problem: Problem, overlays: Sequence[OverlaidBuffers]) -> tuple[Problem, ...]:
    """The problem with offsets for all that takes part in overlays, in one or two ways, and the pairs that may overlap;
    of what has no block the other is placed alone. The first way has hints for the rest.

    Raises TilewrightError TW5002 (exit 2) where pinned offsets are too near.
    """
    names = {block.name for block in problem.blocks}
    present = [one for one in overlays if {one.taker, one.giver} <= names]
    if not present:
        return (problem,)
    if not _is_one_pool(problem):
        return (with_bodies(problem, present),)
    yard = OverlaidYard(problem, present)
    if near := yard.too_near():
        raise _pins_too_near(near)
    packing = best_packing(yard)
    first = _placed(yard, packing.offsets)
    pinned = any(yard.blocks[at].fixed_offset is not None for pair in yard.pairs for at in pair[:2])
    return (first,) if pinned or packing.peak <= yard.floor else (first, with_bodies(problem, present))


def _is_one_pool(problem: Problem) -> bool:
    """Whether there is no choice of pools, and nothing reserved."""
    pools = {block.pools for block in problem.blocks}
    reserved = any(pool.reserved for pool in problem.pools)
    return len(pools) == 1 and len(next(iter(pools))) == 1 and not reserved and not problem.within


def _placed(yard: OverlaidYard, offsets: Mapping[int, int]) -> Problem:
    pairs = tuple((one.taker, one.giver) for _, _, one in yard.pairs)
    taking = {at for taker, giver, _ in yard.pairs for at in (taker, giver)}
    blocks = list(yard.blocks)
    for at, offset in offsets.items():
        fixed = at in taking or blocks[at].fixed_offset is not None
        blocks[at] = replace(blocks[at], fixed_offset=offset) if fixed else replace(blocks[at], hint=offset)
    return replace(yard.problem, blocks=tuple(blocks), compatible=(*yard.problem.compatible, *pairs))


def _pins_too_near(one: OverlaidBuffers) -> TilewrightError:
    return usage_error(
        "TW5002",
        f"the pinned places of '{one.taker}' and '{one.giver}' cannot be kept: they are nearer than rows demand, which "
        "take the bytes of rows",
        fix=("change or remove the pins of offsets",),
    )


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
