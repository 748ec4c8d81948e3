"""Knows how to place blocks one after another into the gaps between those already placed.
Does not know which order is good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tilewright.allocate.packing.lower_bound import neighbours, pool_bound
from tilewright.ir.plans.allocation import Place, Problem
from tilewright.ir.rounding import align_up

Gap = Literal["first", "best"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Yard:
    """A problem prepared for many attempts: everything by index, worked out once."""

    problem: Problem
    conflicts: tuple[tuple[int, ...], ...]  # block -> blocks it may not share a byte with
    candidates: tuple[tuple[int, ...], ...]  # block -> pools it may be in and is aligned in, best first
    reserved: tuple[tuple[tuple[int, int], ...], ...]  # pool -> half-open byte ranges
    capacities: tuple[int | None, ...]
    floor: int  # no packing that gives every block its first candidate has a lower sum of peaks
    sizes: tuple[int, ...]  # by block
    settled: tuple[tuple[int, int], ...]  # by block: the pool and the offset that it has in every attempt, or -1

    @property
    def movable(self) -> tuple[int, ...]:
        """Blocks whose offset is open, in the problem's order; blocks of no bytes are not worth moving."""
        blocks = enumerate(self.problem.blocks)
        return tuple(index for index, block in blocks if block.size_bytes and block.fixed_offset is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packing:
    """One complete attempt. Lower `cost` is better: bytes beyond capacity, bytes times steps away from the preferred
    pool, sum of all peaks."""

    pools: tuple[int, ...]  # by block
    offsets: tuple[int, ...]  # by block
    peaks: tuple[int, ...]  # by pool
    cost: tuple[int, int, int]

    def places(self, problem: Problem) -> dict[str, Place]:
        """The attempt in the problem's names."""
        return {
            block.name: Place(pool=problem.pools[pool].name, offset_bytes=offset)
            for block, pool, offset in zip(problem.blocks, self.pools, self.offsets, strict=True)
        }


def prepare(problem: Problem) -> Yard:
    """Work out what every attempt needs. A block without an aligned candidate pool has no candidates."""
    index = {pool.name: number for number, pool in enumerate(problem.pools)}
    conflicts = neighbours(problem)
    candidates = tuple(
        tuple(index[name] for name in block.pools if problem.pools[index[name]].align % block.align == 0)
        for block in problem.blocks
    )
    preferred: list[list[int]] = [[] for _ in problem.pools]
    for number, pools in enumerate(candidates):
        if pools:
            preferred[pools[0]].append(number)
    bounds = [pool_bound(problem, pool, preferred[i], conflicts) for i, pool in enumerate(problem.pools)]
    return Yard(
        sizes=tuple(block.size_bytes for block in problem.blocks),
        settled=_settled(problem, conflicts, candidates),
        problem=problem,
        conflicts=conflicts,
        candidates=candidates,
        reserved=tuple(tuple(sorted(pool.reserved)) for pool in problem.pools),
        capacities=tuple(pool.capacity_bytes for pool in problem.pools),
        floor=sum(bounds),
    )


def with_offsets(yard: Yard, problem: Problem) -> Yard:
    """The same for `problem`, which has the same blocks and pools, and demands offsets for more of the blocks."""
    settled = _settled(problem, yard.conflicts, yard.candidates)
    ends = (offset + size for (_, offset), size in zip(settled, yard.sizes, strict=True) if size and offset >= 0)
    return replace(yard, problem=problem, settled=settled, floor=max((yard.floor, *ends)))


def _settled(
    problem: Problem, conflicts: Sequence[Sequence[int]], candidates: Sequence[Sequence[int]]
) -> tuple[tuple[int, int], ...]:
    """Where blocks are whose offset is demanded, or that have no bytes, whatever else is placed."""
    homes = [(-1, -1)] * len(problem.blocks)
    for index, block in enumerate(problem.blocks):
        if block.fixed_offset is not None:
            pool = _home_of_fixed(problem, index, candidates[index], [(i, *homes[i]) for i in conflicts[index]])
            homes[index] = pool, block.fixed_offset
        elif not block.size_bytes and candidates[index]:
            homes[index] = candidates[index][0], 0
    return tuple(homes)


Find = Callable[[Yard, int, int, Sequence[int], Sequence[int]], int]  # block, pool, pools and offsets so far -> offset


def pack(yard: Yard, order: Iterable[int], gap: Gap) -> Packing:
    """Place the fixed blocks, then the movable ones in `order`. A block that fits nowhere overflows its last pool."""
    return pack_where(yard, order, _first_gap if gap == "first" else _tightest_gap)


def pack_where(yard: Yard, order: Iterable[int], find: Find) -> Packing:
    """The same with any way of finding an offset."""
    pools, offsets = _begun(yard)
    for index in order:
        pools[index], offsets[index] = _home(yard, index, find, pools, offsets)
    return packing_of(yard, pools, offsets)


def pack_lower(yard: Yard, order: Iterable[int], gap: Gap, than: Packing) -> Packing:
    """See `pack`; `than` where that costs no more."""
    packing = _pack_under(yard, order, gap, than.cost[2])
    return than if packing is None or packing.cost >= than.cost else packing


def pack_no_worse(yard: Yard, order: Iterable[int], gap: Gap, than: Packing) -> Packing | None:
    """See `pack`; None where `than` costs less."""
    packing = _pack_under(yard, order, gap, than.cost[2] + 1)
    return None if packing is None or packing.cost > than.cost else packing


def _pack_under(yard: Yard, order: Iterable[int], gap: Gap, limit: int) -> Packing | None:
    """See `pack`. Of one pool, nothing more is placed once a block ends at the limit: its peak is all that it costs."""
    find, sizes, alone = (_first_gap if gap == "first" else _tightest_gap), yard.sizes, len(yard.capacities) == 1
    pools, offsets = _begun(yard)
    for index in order:
        pools[index], offsets[index] = _home(yard, index, find, pools, offsets)
        if alone and offsets[index] + sizes[index] >= limit:
            return None
    return packing_of(yard, pools, offsets)


def _begun(yard: Yard) -> tuple[list[int], list[int]]:
    """Pools and offsets before anything is placed in an order."""
    return [pool for pool, _ in yard.settled], [offset for _, offset in yard.settled]


def pack_at_hints(yard: Yard) -> Packing:
    """Every block at its hint where that is free, lowest hint first; then the others into the first gaps."""
    hints = [block.hint for block in yard.problem.blocks]
    return pack_where(yard, sorted(yard.movable, key=lambda index: (hints[index] is None, hints[index] or 0)), _hint)


def lowest_offset(yard: Yard, index: int, pool: int, at_least: int) -> int:
    """The lowest aligned offset not under `at_least` at which the block is clear of the reserved ranges."""
    block = yard.problem.blocks[index]
    offset = align_up(at_least, block.align)
    for low, high in yard.reserved[pool]:
        if offset < high and low < offset + block.size_bytes:
            offset = align_up(high, block.align)
    return offset


def _home(yard: Yard, index: int, find: Find, pools: Sequence[int], offsets: Sequence[int]) -> tuple[int, int]:
    size = yard.problem.blocks[index].size_bytes
    pool = offset = -1
    for pool in yard.candidates[index]:
        offset = find(yard, index, pool, pools, offsets)
        capacity = yard.capacities[pool]
        if capacity is None or offset + size <= capacity:
            break
    return pool, offset


def _home_of_fixed(
    problem: Problem, index: int, candidates: Sequence[int], neighbours: Sequence[tuple[int, int, int]]
) -> int:
    """The first candidate pool in which the demanded offset is free; the last one where it is free in none.
    `neighbours`: blocks that it may not share a byte with, the pool and the offset of each, or -1.
    """
    blocks, offset = problem.blocks, problem.blocks[index].fixed_offset or 0
    end, pool = offset + blocks[index].size_bytes, -1
    for pool in candidates:
        capacity, reserved = problem.pools[pool].capacity_bytes, problem.pools[pool].reserved
        taken = any(
            home == pool and at < end and offset < at + blocks[other].size_bytes for other, home, at in neighbours
        )
        taken = taken or (end > offset and any(low < end and offset < high for low, high in reserved))
        if not taken and (capacity is None or end <= capacity):
            break
    return pool


def _first_gap(yard: Yard, index: int, pool: int, pools: Sequence[int], offsets: Sequence[int]) -> int:
    """The lowest gap that holds the block; above everything where no gap does."""
    align, size = yard.problem.blocks[index].align, yard.sizes[index]
    offset = 0
    for low, high in _taken(yard, index, pool, pools, offsets):
        if offset + size <= low:
            return offset
        if high > offset:
            offset = align_up(high, align)
    return offset


def _hint(yard: Yard, index: int, pool: int, pools: Sequence[int], offsets: Sequence[int]) -> int:
    block, capacity = yard.problem.blocks[index], yard.capacities[pool]
    if block.hint is None or block.hint % block.align:
        return _first_gap(yard, index, pool, pools, offsets)
    end = block.hint + block.size_bytes
    taken = _taken(yard, index, pool, pools, offsets)
    if (capacity is not None and end > capacity) or any(low < end and block.hint < high for low, high in taken):
        return _first_gap(yard, index, pool, pools, offsets)
    return block.hint


def _tightest_gap(yard: Yard, index: int, pool: int, pools: Sequence[int], offsets: Sequence[int]) -> int:
    """The gap that leaves fewest bytes free above the block; above everything where no gap holds it."""
    align, size = yard.problem.blocks[index].align, yard.problem.blocks[index].size_bytes
    cursor, chosen, tightest = 0, -1, 0
    for low, high in _taken(yard, index, pool, pools, offsets):
        offset = align_up(cursor, align)
        if offset + size <= low and (chosen < 0 or low - offset < tightest):
            chosen, tightest = offset, low - offset
        cursor = max(cursor, high)
    return chosen if chosen >= 0 else align_up(cursor, align)


def _taken(yard: Yard, index: int, pool: int, pools: Sequence[int], offsets: Sequence[int]) -> list[tuple[int, int]]:
    """Byte ranges of the pool that the block may not use, lowest first."""
    sizes = yard.sizes
    taken = [(offsets[other], offsets[other] + sizes[other]) for other in yard.conflicts[index] if pools[other] == pool]
    taken.extend(yard.reserved[pool])
    taken.sort()
    return taken


def packing_of(yard: Yard, pools: Sequence[int], offsets: Sequence[int]) -> Packing:
    """The attempt that has every block where it is said to be."""
    peaks = [0] * len(yard.problem.pools)
    away = 0
    for size, candidates, pool, offset in zip(yard.sizes, yard.candidates, pools, offsets, strict=True):
        if size:
            peaks[pool] = max(peaks[pool], offset + size)
            away += size * candidates.index(pool)
    beyond = sum(
        max(0, peak - capacity) for peak, capacity in zip(peaks, yard.capacities, strict=True) if capacity is not None
    )
    return Packing(pools=tuple(pools), offsets=tuple(offsets), peaks=tuple(peaks), cost=(beyond, away, sum(peaks)))
