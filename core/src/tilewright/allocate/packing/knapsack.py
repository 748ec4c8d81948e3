"""Knows how blocks that never die are divided among pools: each pool as full as it can be, the next one takes the rest.
Does not know lifetimes. What has a demanded offset is for an allocator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.allocate.in_order import pack_in_order
from tilewright.allocate.packing.fullest import Load, fullest, joined
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem
from tilewright.ir.rounding import align_up


def packed_by_preference(problem: Problem) -> dict[str, Place] | None:
    """Every block in the earliest of its pools that it has a part in filling; None where an offset is demanded.

    A pool that too many blocks prefer keeps those that together are most bytes. The others go on to their next pool;
    those that have none stay, even beyond its end.
    """
    if any(block.fixed_offset is not None for block in problem.blocks):
        return None
    choice = {block.name: 0 for block in problem.blocks}
    crowded = True
    while crowded:
        crowded = False
        for pool in problem.pools:
            inside = [block for block in problem.blocks if block.pools[choice[block.name]] == pool.name]
            sent = _too_many(pool, inside, choice)
            choice.update({block.name: choice[block.name] + 1 for block in sent})
            crowded = crowded or bool(sent)
    settled = tuple(replace(block, pools=(block.pools[choice[block.name]],)) for block in problem.blocks)
    return pack_in_order(replace(problem, blocks=_coarsest_first(settled)))


def _too_many(pool: Pool, inside: Sequence[Block], choice: dict[str, int]) -> list[Block]:
    """Those that leave the pool, so that as many bytes as possible can stay."""
    if pool.capacity_bytes is None or not inside:
        return []
    finest, coarsest = min(block.align for block in inside), max(block.align for block in inside)
    room = pool.capacity_bytes - align_up(max((high for _, high in pool.reserved), default=0), coarsest)
    bound = [block for block in inside if choice[block.name] + 1 == len(block.pools)]
    free = [block for block in inside if choice[block.name] + 1 < len(block.pools)]
    loads = [_load(block, finest) for block in free]
    stay = fullest(loads, room, joined([_load(block, finest) for block in bound]))
    return [block for number, block in enumerate(free) if number not in stay]


def _load(block: Block, finest: int) -> Load:
    """Rounded up to where one that is aligned alike may follow; only one of the finest is ever the last."""
    whole = align_up(block.size_bytes, block.align)
    spare = whole - block.size_bytes if block.align == finest else 0
    return Load(size_bytes=block.size_bytes, whole_bytes=whole, spare_bytes=spare)


def _coarsest_first(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Largest alignment first, so that each begins where the one before it ends, rounded up; last in each pool the one
    behind which the largest gap would be."""
    last = {pool: max((b for b in blocks if b.pools[0] == pool), key=_last) for pool in {b.pools[0] for b in blocks}}
    rest = (block for block in blocks if block is not last[block.pools[0]])
    return (*sorted(rest, key=lambda block: -block.align), *(last[pool] for pool in sorted(last)))


def _last(block: Block) -> tuple[int, int]:
    """How well it does as the last block of a pool: nothing is lost in front of it, most is saved behind it."""
    return -block.align, -block.size_bytes % block.align
