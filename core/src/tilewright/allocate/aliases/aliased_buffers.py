"""Knows how buffers that take bytes of others, while these are read line by line, lie in an allocation problem. Does
not know why that is sound, nor how the other blocks are placed.

All blocks are packed at once, with at least the distance that line buffering demands between a taker and its giver
(`aliased_packing`). Where that takes more than the lower bound, there is a second candidate: chains at the shortest
distance, placed before everything else (`alias_bodies`). Whoever solves both takes the better plan.

In a plan, no three buffers that take bytes of one another are alive at once. A taker is born at the last step of its
region, at which its giver dies (`tile/line_buffers/aliases`); so the two meet at that step only. With A in the bytes
of B, and B in the bytes of C, B is read by the region of A, which begins after that of B has ended: C is dead before
A is born. And of two takers of the same giver, the later one is born where the giver dies, which happened at the
birth of the earlier one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.allocate.aliases.alias_bodies import with_bodies
from tilewright.allocate.aliases.aliased_packing import AliasedBuffers, AliasedYard, best_packing
from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.check.allocations.allocation import peaks
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.plans.allocation import Problem, Solution
from tilewright.ir.plans.stages import Tiled


def aliased_buffers_of(tiled: Tiled) -> Iterator[AliasedBuffers]:
    """The pairs of all line-buffered regions whose output takes bytes of a value that they read."""
    storage, sizes = tiled.scheduled.storage, {buffer.name: buffer.size_bytes for buffer in tiled.buffers}
    for _, schedule in tiled.line_buffered:
        for value, buffer in schedule.buffers.items():
            if buffer.aliases:
                taker, giver = storage[value].buffer, storage[buffer.aliases].buffer
                behind = sizes[taker] - sizes[giver] - buffer.distance_bytes
                lead = behind if schedule.backward else buffer.distance_bytes
                yield AliasedBuffers(taker=taker, giver=giver, lead_bytes=lead, backward=schedule.backward)


def with_aliases(problem: Problem, aliases: Sequence[AliasedBuffers]) -> tuple[Problem, ...]:
    """The problem with offsets for takers and givers, in one or two candidates, and the pairs that may overlap. Where a
    buffer has no block, its partner is placed alone. The first candidate has hints for the other blocks.

    Raises TilewrightError TW5002 (exit 2) where pinned offsets are too near.
    """
    names = {block.name for block in problem.blocks}
    present = [alias for alias in aliases if {alias.taker, alias.giver} <= names]
    if not present:
        return (problem,)
    if not _is_one_pool(problem):
        return (with_bodies(problem, present),)
    yard = AliasedYard(problem, present)
    if violated := yard.too_near():
        raise _pins_too_near(violated)
    packing = best_packing(yard)
    first = _placed(yard, packing.offsets)
    pinned = any(yard.blocks[at].fixed_offset is not None for pair in yard.pairs for at in pair[:2])
    return (first,) if pinned or packing.peak <= yard.floor else (first, with_bodies(problem, present))


def _is_one_pool(problem: Problem) -> bool:
    """Whether there is no choice of pools, and nothing reserved."""
    pools = {block.pools for block in problem.blocks}
    reserved = any(pool.reserved for pool in problem.pools)
    return len(pools) == 1 and len(next(iter(pools))) == 1 and not reserved and not problem.within


def _placed(yard: AliasedYard, offsets: Mapping[int, int]) -> Problem:
    pairs = tuple((alias.taker, alias.giver) for _, _, alias in yard.pairs)
    taking = {at for taker, giver, _ in yard.pairs for at in (taker, giver)}
    blocks = list(yard.blocks)
    for at, offset in offsets.items():
        fixed = at in taking or blocks[at].fixed_offset is not None
        blocks[at] = replace(blocks[at], fixed_offset=offset) if fixed else replace(blocks[at], hint=offset)
    return replace(yard.problem, blocks=tuple(blocks), compatible=(*yard.problem.compatible, *pairs))


def _pins_too_near(alias: AliasedBuffers) -> TilewrightError:
    return usage_error(
        "TW5002",
        f"the pinned places of '{alias.taker}' and '{alias.giver}' cannot be kept: "
        "they are nearer than line buffering demands, where one takes bytes of the other",
        fix=("change or remove the pins of offsets",),
    )


def chosen(aliases: Sequence[AliasedBuffers], problem: Problem) -> frozenset[str]:
    """The blocks of a problem whose offsets `with_aliases` chooses."""
    taking = {name for alias in aliases for name in (alias.taker, alias.giver)}
    return frozenset(block.name for block in problem.blocks if block.name in taking and block.fixed_offset is None)


def as_proved(problem: Problem, solution: Solution, chosen: Collection[str]) -> Solution:
    """The solution with the bounds and the status that it has among all plans, whatever was chosen."""
    if not chosen or solution.status not in ("optimal", "feasible"):
        return solution
    blocks = tuple(replace(block, fixed_offset=None) if block.name in chosen else block for block in problem.blocks)
    bounds = lower_bounds(replace(problem, blocks=blocks))
    met = all(used == bounds[name] for name, used in peaks(problem, solution).items())
    return replace(solution, bounds=bounds, status="optimal" if met else "feasible")
