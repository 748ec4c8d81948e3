"""Knows how very many blocks are placed: several orders, each block at its lowest free offset, the best one kept.
Does not search. The placing is in C; where that was not built, or where a pool is more than blocks with one lifetime
each, the answer is None.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence

from tilewright.api.allocator import Block, Place, Pool, Problem

Placer = Callable[[Sequence[int]], list[int]]


def first_fit(problem: Problem, bounds: dict[str, int]) -> dict[str, Place] | None:
    """Every block in its first pool; None where that cannot be, or the pools are too small for it."""
    if problem.conflicts or problem.compatible:
        return None
    places: dict[str, Place] = {}
    for pool in problem.pools:
        inside = [block for block in problem.blocks if block.pools[0] == pool.name]
        if not inside:
            continue
        offsets = _lowest(pool, inside, bounds[pool.name])
        if offsets is None:
            return None
        for block, offset in zip(inside, offsets, strict=True):
            places[block.name] = Place(pool=pool.name, offset_bytes=offset)
    return places


def _lowest(pool: Pool, blocks: Sequence[Block], bound: int) -> list[int] | None:
    if pool.reserved or any(len(block.lifetimes) != 1 or block.fixed_offset is not None for block in blocks):
        return None
    place = _placer(blocks)
    if place is None:
        return None
    best: list[int] = []
    peak = -1
    for order in _orders(blocks):
        offsets = place(order)
        height = max(offset + block.size_bytes for offset, block in zip(offsets, blocks, strict=True))
        if peak < 0 or height < peak:
            best, peak = offsets, height
        if peak <= bound:
            break
    return best if pool.capacity_bytes is None or peak <= pool.capacity_bytes else None


def _placer(blocks: Sequence[Block]) -> Placer | None:
    """What places these blocks in any order; None without the compiled extension."""
    try:
        from tilewright_minimalloc import _first_fit
    except ImportError:
        return None
    times = {time: number for number, time in enumerate(sorted({time for b in blocks for time in b.lifetimes[0]}))}
    sizes, aligns = _packed(b.size_bytes for b in blocks), _packed(b.align for b in blocks)
    firsts, lasts = (_packed(times[b.lifetimes[0][end]] for b in blocks) for end in (0, 1))

    def place(order: Sequence[int]) -> list[int]:
        found = array("q")
        found.frombytes(_first_fit.first_fit(len(times), sizes, aligns, firsts, lasts, _packed(order)))
        return found.tolist()

    return place


def _packed(numbers: Iterable[int]) -> bytes:
    return array("q", numbers).tobytes()


def _orders(blocks: Sequence[Block]) -> Iterable[list[int]]:
    """Largest first; then largest in bytes times time; then those that meet most others."""
    numbers = range(len(blocks))
    life = [last - first + 1 for ((first, last),) in (block.lifetimes for block in blocks)]
    yield sorted(numbers, key=lambda n: (-blocks[n].size_bytes, -life[n], n))
    yield sorted(numbers, key=lambda n: (-blocks[n].size_bytes * life[n], n))
    births = sorted(block.lifetimes[0][0] for block in blocks)
    deaths = sorted(block.lifetimes[0][1] for block in blocks)
    met = [bisect_right(births, b.lifetimes[0][1]) - bisect_left(deaths, b.lifetimes[0][0]) for b in blocks]
    yield sorted(numbers, key=lambda n: (-met[n], -blocks[n].size_bytes, n))
