"""Knows how to place blocks that never die: each after the one before it, in the first of its memories with room.
Does not know lifetimes, and does not look for the best order.
"""

from __future__ import annotations

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem
from tilewright.ir.rounding import align_up


def pack_in_order(problem: Problem) -> dict[str, Place]:
    """Every block after the one before it, in the first candidate pool with room, else in the last one."""
    pools = {pool.name: pool for pool in problem.pools}
    taken = {
        pool.name: [*pool.reserved, *(_demanded(block) for block in problem.blocks if _is_in(block, pool))]
        for pool in problem.pools
    }
    cursor = dict.fromkeys(pools, 0)
    places: dict[str, Place] = {}
    for block in problem.blocks:
        name, offset = block.pools[0], block.fixed_offset or 0
        for name in block.pools if block.fixed_offset is None else ():
            offset = _clear(block, cursor[name], taken[name])
            capacity = pools[name].capacity_bytes
            if capacity is None or offset + block.size_bytes <= capacity:
                break
        if block.fixed_offset is None:
            cursor[name] = offset + block.size_bytes
        places[block.name] = Place(pool=name, offset_bytes=offset)
    return places


def _is_in(block: Block, pool: Pool) -> bool:
    return block.fixed_offset is not None and block.pools[0] == pool.name


def _demanded(block: Block) -> tuple[int, int]:
    low = block.fixed_offset or 0
    return low, low + block.size_bytes


def _clear(block: Block, at_least: int, taken: list[tuple[int, int]]) -> int:
    offset = align_up(at_least, block.align)
    for low, high in sorted(taken):
        if offset < high and low < offset + block.size_bytes:
            offset = align_up(high, block.align)
    return offset
