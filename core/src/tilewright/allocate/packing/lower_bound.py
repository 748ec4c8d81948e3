"""Knows which blocks may not share a byte, how little of a pool is needed at least, and how many bytes every plan has
in other pools than those that are preferred. Does not know any placement.

The bound of a pool is the heaviest set of blocks that all conflict with each other and may be in no other pool. Every
offset in such a set is a multiple of the set's common alignment, so all blocks but the topmost count rounded up.
Where such blocks may be in several pools, a pool must hold at least what the others together cannot.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tilewright.allocate.packing.permanent import Load, joined_loads, surely_fullest
from tilewright.ir.plans.allocation import Block, Pool, Problem, Solution
from tilewright.ir.plans.block_columns import columns_of
from tilewright.ir.rounding import align_up

MOST_MEETINGS = 1_000_000  # pairs of blocks alive at once, above which the core does not list them


def neighbours(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """For each block (by index) the blocks it conflicts with, ascending. Blocks of no bytes conflict with none."""
    index = {block.name: number for number, block in enumerate(problem.blocks)}
    met: list[list[int]] = [[] for _ in problem.blocks]
    alive: list[tuple[int, int]] = []  # (last, block) of intervals that may still meet a later one
    intervals = sorted(
        (first, last, number)
        for number, block in enumerate(problem.blocks)
        if block.size_bytes
        for first, last in block.lifetimes
    )
    for first, last, number in intervals:
        alive = [second_block for second_block in alive if second_block[0] >= first]
        met[number].extend(second_block for _, second_block in alive)
        for _, second_block in alive:
            met[second_block].append(number)
        alive.append((last, number))
    rows = [set(row) for row in met]
    for name, name_of_other in problem.compatible:
        first_block, second_block = index[name], index[name_of_other]
        rows[first_block].discard(second_block)
        rows[second_block].discard(first_block)
    for name, name_of_other in problem.conflicts:
        first_block, second_block = index[name], index[name_of_other]
        if problem.blocks[first_block].size_bytes and problem.blocks[second_block].size_bytes:
            rows[first_block].add(second_block)
            rows[second_block].add(first_block)
    return tuple(tuple(sorted(row - {number})) for number, row in enumerate(rows))


def count_of_meetings(problem: Problem) -> int:
    """How many pairs of lifetimes meet, and explicit conflicts: how long `neighbours` would be, without making it."""
    if (columns := columns_of(problem.blocks)) is not None:
        return columns.meetings() + len(problem.conflicts)
    births = sorted(first for block in problem.blocks for first, _ in block.lifetimes)
    deaths = sorted(last for block in problem.blocks for _, last in block.lifetimes)
    together = sum(bisect_right(births, last) for last in deaths) - sum(bisect_left(deaths, first) for first in births)
    return (together - len(births)) // 2 + len(problem.conflicts)


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
    """Sets of pools that are all the candidates of some block; and unions of such sets that have a pool in common."""
    sets = dict.fromkeys(frozenset(block.pools) for block in problem.blocks if len(set(block.pools)) > 1)
    joined: list[frozenset[str]] = []
    for names in sets:
        apart = [other for other in joined if not other & names]
        joined = [*apart, names.union(*(other for other in joined if other & names))]
    return (*sets, *joined)


def _left_over(
    problem: Problem, names: frozenset[str], conflicts: Sequence[Sequence[int]]
) -> Iterable[tuple[str, int]]:
    """For every pool of a set, what is alive at once of blocks for this set, less what the other pools can hold."""
    pools = [pool for pool in problem.pools if pool.name in names]
    free_by_pool = {pool.name: free_bytes(pool) for pool in pools}
    boundless = [name for name, available in free_by_pool.items() if available is None]
    open_to = boundless or list(free_by_pool)
    if len(boundless) > 1:
        return
    present = {i for i, block in enumerate(problem.blocks) if block.size_bytes and names.issuperset(block.pools)}
    weights = (
        sum(problem.blocks[number].size_bytes for number in clique) for clique in _cliques(problem, present, conflicts)
    )
    most = max(weights, default=0)
    for name in open_to:
        others = sum(available for other, available in free_by_pool.items() if other != name and available is not None)
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
    return len(aligns) < 2 and all(len(item.lifetimes) == 1 and not item.size_bytes % item.align for item in blocks)


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
    """A sweep over time: only sets of which a block dies next, since every other set is inside a later one."""
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


def bytes_away(problem: Problem, solution: Solution) -> int:
    """Bytes of blocks that are not in their first pool, those times two that are in the third."""
    return sum(
        block.size_bytes * block.pools.index(solution.places[block.name].pool)
        for block in problem.blocks
        if block.size_bytes
    )


def least_bytes_away(problem: Problem) -> int:
    """No plan has less: bytes that are alive at once and do not fit, at moments that share no block.

    0 for a problem with pieces (`within`), whose blocks overlap.
    """
    blocks = problem.blocks
    if problem.within or all(len(block.pools) == 1 for block in blocks):
        return 0
    moments = ((_crowded_out([blocks[i] for i in alive], problem), alive) for alive in sets_alive(problem))
    counted, least = set[int](), 0
    for away, alive in sorted(((away, alive) for away, alive in moments if away), reverse=True):
        if counted.isdisjoint(alive):
            counted.update(alive)
            least += away
    return least


def _crowded_out(blocks: Sequence[Block], problem: Problem) -> int:
    """Bytes of blocks alive at once that do not fit into their first pools, into their first two, and so on."""
    free_by_pool = {pool.name: free_bytes(pool) for pool in problem.pools}
    least = 0
    for depth in range(1, max((len(block.pools) for block in blocks), default=0)):
        free: dict[frozenset[str], list[Block]] = {}
        for block in blocks:
            if len(block.pools) > depth:
                free.setdefault(frozenset(block.pools[:depth]), []).append(block)
        for names, here in free.items():
            sizes = [free_by_pool[name] for name in names]
            bound = [block for block in blocks if names.issuperset(block.pools)]
            if (ends := [size for size in sizes if size is not None]) and len(ends) == len(sizes):
                least += _beyond(here, bound, ends)
    return least


def _beyond(free: Sequence[Block], bound: Sequence[Block], sizes: Sequence[int]) -> int:
    """Bytes of `free` for which several pools have no room beside `bound`; in each, one is the last."""
    grain = math.gcd(*(block.align for block in (*free, *bound)))
    loads, fixed_load = (
        [_whole_load(block, grain) for block in free],
        joined_loads([_whole_load(block, grain) for block in bound]),
    )
    size, all_of_it = sum(load.size_bytes for load in loads), joined_loads([*loads, fixed_load])
    available_bytes = sum(sizes) + (len(sizes) - 1) * all_of_it.spare_bytes
    if all_of_it.whole_bytes - all_of_it.spare_bytes <= available_bytes:
        return 0
    inside = surely_fullest(loads, available_bytes, fixed_load)
    if inside is None:
        return max(size - max(available_bytes - fixed_load.size_bytes, 0), 0)
    return size - sum(loads[number].size_bytes for number in inside)


def _whole_load(block: Block, grain: int) -> Load:
    whole = align_up(block.size_bytes, grain)
    return Load(size_bytes=block.size_bytes, whole_bytes=whole, spare_bytes=whole - block.size_bytes)
