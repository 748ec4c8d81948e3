"""Knows how little a pool can possibly take: no placement of the problem has a lower peak.
Does not know any placement.

The bound of a pool is the heaviest set of blocks that all conflict with each other and can only be there. Every
offset in such a set is a multiple of the set's common alignment, so all blocks but the topmost count rounded up.
Where such blocks may be in several pools, a pool must hold at least what the others together cannot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tilewright.allocate.packing.conflicts import MOST_MEETINGS, count_of_meetings, neighbours
from tilewright.ir.plans.allocation import Block, Pool, Problem
from tilewright.ir.plans.block_columns import columns_of
from tilewright.ir.rounding import align_up


def lower_bounds(problem: Problem) -> dict[str, int]:
    """Bytes that every valid placement needs of each pool, counted from offset 0. Exact arithmetic, no search."""
    confined = {
        pool.name: [i for i, b in enumerate(problem.blocks) if b.pools == (pool.name,)] for pool in problem.pools
    }
    if (problem.conflicts or problem.compatible) and count_of_meetings(problem) > MOST_MEETINGS:
        alone = () if problem.compatible else problem.blocks  # what cannot be listed is left out of the argument
        return lower_bounds(replace(problem, blocks=alone, conflicts=(), compatible=()))
    conflicts = neighbours(problem) if problem.conflicts or problem.compatible else ()
    bounds = {pool.name: pool_bound(problem, pool, confined[pool.name], conflicts) for pool in problem.pools}
    for names in dict.fromkeys(_sets_of_pools(problem)):
        for name, bound in _left_over(problem, names, conflicts):
            bounds[name] = max(bounds[name], bound)
    return bounds


def sets_alive(problem: Problem) -> Iterable[list[int]]:
    """Sets of blocks of which no two may share a byte of a pool. None where pairs are too many to be listed."""
    present = {number for number, block in enumerate(problem.blocks) if block.size_bytes}
    if not problem.conflicts and not problem.compatible:
        return _alive_at_once(problem, present)
    return _cliques(problem, present, neighbours(problem)) if count_of_meetings(problem) <= MOST_MEETINGS else ()


def _sets_of_pools(problem: Problem) -> Iterable[frozenset[str]]:
    """Several pools that some blocks may be in and no others; and all that hang together by such blocks."""
    alike = dict.fromkeys(frozenset(block.pools) for block in problem.blocks if len(set(block.pools)) > 1)
    joined: list[frozenset[str]] = []
    for names in alike:
        apart = [other for other in joined if not other & names]
        joined = [*apart, names.union(*(other for other in joined if other & names))]
    return (*alike, *joined)


def _left_over(
    problem: Problem, names: frozenset[str], conflicts: Sequence[Sequence[int]]
) -> Iterable[tuple[str, int]]:
    """For every pool of a set, what is alive at once of blocks for this set, less what the other pools can hold."""
    pools = [pool for pool in problem.pools if pool.name in names]
    rooms = {pool.name: free_bytes(pool) for pool in pools}
    boundless = [name for name, room in rooms.items() if room is None]
    open_to = boundless or list(rooms)
    if len(boundless) > 1:
        return
    present = {i for i, block in enumerate(problem.blocks) if block.size_bytes and names.issuperset(block.pools)}
    weights = (
        sum(problem.blocks[number].size_bytes for number in clique) for clique in _cliques(problem, present, conflicts)
    )
    most = max(weights, default=0)
    for name in open_to:
        others = sum(room for other, room in rooms.items() if other != name and room is not None)
        yield name, max(most - others, 0)


def free_bytes(pool: Pool) -> int | None:
    """Bytes that blocks can have of a pool; None: without end."""
    if pool.capacity_bytes is None:
        return None
    taken = covered = 0
    for low, end in sorted(pool.reserved):
        high = min(end, pool.capacity_bytes)
        taken += max(high - max(low, covered), 0)
        covered = max(covered, high)
    return pool.capacity_bytes - taken


def pool_bound(problem: Problem, pool: Pool, members: Sequence[int], conflicts: Sequence[Sequence[int]]) -> int:
    """The same for one pool, given that the blocks `members` (by index) are all in it."""
    present = {number for number in members if problem.blocks[number].size_bytes}
    blocks = [problem.blocks[number] for number in present]
    if not conflicts and _are_plain(blocks):
        bound = _most_at_once(blocks)
    else:
        cliques = _cliques(problem, present, conflicts)
        bound = max((_stacked([problem.blocks[number] for number in clique]) for clique in cliques), default=0)
    peak = _around_reserved(bound, pool)
    for number in present:
        fixed = problem.blocks[number].fixed_offset
        if fixed is not None:
            peak = max(peak, fixed + problem.blocks[number].size_bytes)
    return peak


def _are_plain(blocks: Sequence[Block]) -> bool:
    """Whether every set of them takes the sum of its sizes: one lifetime each, and no byte to round up."""
    aligns = {block.align for block in blocks}
    return len(aligns) < 2 and all(len(one.lifetimes) == 1 and not one.size_bytes % one.align for one in blocks)


def _most_at_once(blocks: Sequence[Block]) -> int:
    """The sum of sizes at the fullest moment; lifetimes include both ends."""
    if (columns := columns_of(blocks)) is not None:
        return columns.most_at_once()
    change: dict[int, int] = {}
    for block in blocks:
        ((first, last),) = block.lifetimes
        change[first] = change.get(first, 0) + block.size_bytes
        change[last + 1] = change.get(last + 1, 0) - block.size_bytes
    return max(accumulate(change[moment] for moment in sorted(change)), default=0)


def _cliques(problem: Problem, present: set[int], conflicts: Sequence[Sequence[int]]) -> Iterable[list[int]]:
    """Sets of blocks that conflict pairwise: who is alive at once, and heavy sets grown where lifetimes say too
    little (explicit conflicts) or too much (compatible pairs)."""
    if not problem.compatible:
        yield from _alive_at_once(problem, present)
    if not problem.conflicts and not problem.compatible:
        return
    adjacent = {number: {other for other in conflicts[number] if other in present} for number in present}
    size = {number: problem.blocks[number].size_bytes for number in present}
    around = {number: sum(size[other] for other in adjacent[number]) + size[number] for number in present}
    for weight in (size, around):
        heaviest_first = sorted(present, key=lambda number: (-weight[number], number))
        rank = {number: at for at, number in enumerate(heaviest_first)}
        for seed in heaviest_first:
            yield _grown(seed, rank, adjacent)


def _alive_at_once(problem: Problem, present: set[int]) -> Iterable[list[int]]:
    """A sweep over time; only sets that somebody leaves next, others are inside a later one."""
    intervals = [(first, last, number) for number in present for first, last in problem.blocks[number].lifetimes]
    events = sorted([(first, 0, number) for first, _, number in intervals] + [(e, 1, n) for _, e, n in intervals])
    alive: dict[int, int] = {}
    grown = False
    for _, dies, number in events:
        if not dies:
            alive[number] = alive.get(number, 0) + 1
            grown = True
            continue
        if grown:
            yield list(alive)
            grown = False
        alive[number] -= 1
        if not alive[number]:
            del alive[number]


def _grown(seed: int, rank: Mapping[int, int], adjacent: dict[int, set[int]]) -> list[int]:
    """A set of pairwise conflicting blocks around `seed` that nothing can be added to; the first by rank come first."""
    clique, common = [seed], adjacent[seed]
    for number in sorted(common, key=rank.__getitem__):
        if number in common:
            clique.append(number)
            common = common & adjacent[number]
    return clique


def _stacked(blocks: Sequence[Block]) -> int:
    if not blocks:
        return 0
    grain = math.gcd(*(block.align for block in blocks))
    rounded = [align_up(block.size_bytes, grain) for block in blocks]
    slack = max(whole - block.size_bytes for whole, block in zip(rounded, blocks, strict=True))
    return sum(rounded) - slack


def _around_reserved(size_bytes: int, pool: Pool) -> int:
    """The lowest peak that leaves `size_bytes` outside the reserved ranges."""
    peak = size_bytes
    covered = 0
    for low, high in sorted(pool.reserved):
        start = max(low, covered)
        if size_bytes and start < peak and high > start:
            peak += high - start
        covered = max(covered, high)
    return peak
