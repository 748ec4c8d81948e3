"""Knows how blocks that never die are divided among pools: each pool as full as it can be, the next one takes the rest.
Does not know lifetimes. What has a demanded offset is for an allocator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tilewright.allocate.in_order import pack_in_order
from tilewright.ir.allocation import Block, Place, Pool, Problem
from tilewright.ir.rounding import align_up

_MOST_CELLS = 1 << 28  # blocks times sizes that are looked at exactly; what is larger goes in by size first


def packed_by_preference(problem: Problem) -> dict[str, Place] | None:
    """Every block in the earliest of its pools that it has a part in filling; None where an offset is demanded.

    A pool that too many blocks prefer keeps those that together take most of it. The others go on to their next pool;
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


def fullest(sizes: Sequence[int], room: int) -> set[int]:
    """Numbers of the sizes with the largest sum that is not above `room`; of equals, those that come first.

    Exact for up to some 268 million blocks times bytes; above that, the largest sizes that fit go in first.
    """
    waiting = sorted(range(len(sizes)), key=lambda number: (-sizes[number], number))
    chosen: set[int] = set()
    while len(waiting) * room > _MOST_CELLS:
        largest = waiting.pop(0)
        if sizes[largest] <= room:
            chosen.add(largest)
            room -= sizes[largest]
    return chosen | _subset(sizes, sorted(waiting), room)


def _subset(sizes: Sequence[int], numbers: Sequence[int], room: int) -> set[int]:
    """The same of some numbers: sums that can be had are bits, one row for each number more."""
    inside = (1 << room + 1) - 1 if room >= 0 else 0
    rows = [inside & 1]
    for number in reversed(numbers):
        rows.append(rows[-1] | (rows[-1] << sizes[number] & inside))
    left, chosen = rows[-1].bit_length() - 1, set[int]()
    for number, row in zip(numbers, reversed(rows[:-1]), strict=True):
        if sizes[number] <= left and row >> (left - sizes[number]) & 1:
            chosen.add(number)
            left -= sizes[number]
    return chosen


def _too_many(pool: Pool, inside: Sequence[Block], choice: dict[str, int]) -> list[Block]:
    """Those that leave the pool, so that as many bytes as possible can stay."""
    if pool.capacity_bytes is None or not inside:
        return []
    start = max((high for _, high in pool.reserved), default=0)
    bound = [block for block in inside if choice[block.name] + 1 == len(block.pools)]
    free = [block for block in inside if choice[block.name] + 1 < len(block.pools)]
    whole = {block.name: align_up(block.size_bytes, block.align) for block in inside}
    start = align_up(start, max(block.align for block in inside))
    room = pool.capacity_bytes - start - sum(whole[block.name] for block in bound)
    if room >= sum(whole[block.name] for block in free):
        return []
    ways = [_kept(free, whole, room, 0)]
    slack = max(inside, key=_last)
    spare = whole[slack.name] - slack.size_bytes
    if slack in bound:
        ways = [_kept(free, whole, room, spare)]
    elif spare:
        others = [block for block in free if block is not slack]
        ways.append([slack, *_kept(others, whole, room - whole[slack.name], spare)])
        ways = [way for way in ways if sum(whole[block.name] for block in way) <= room + spare]
    best = {block.name for block in max(ways, key=lambda way: sum(block.size_bytes for block in way))}
    return [block for block in free if block.name not in best]


def _kept(blocks: Sequence[Block], whole: dict[str, int], room: int, spare: int) -> list[Block]:
    """The last block in the pool need not be rounded up: it saves `spare`."""
    numbers = fullest([whole[block.name] for block in blocks], room + spare)
    return [block for number, block in enumerate(blocks) if number in numbers]


def _coarsest_first(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Largest alignment first, so that each begins where the one before it ends, rounded up; last in each pool the one
    behind which the largest gap would be."""
    last = {pool: max((b for b in blocks if b.pools[0] == pool), key=_last) for pool in {b.pools[0] for b in blocks}}
    rest = (block for block in blocks if block is not last[block.pools[0]])
    return (*sorted(rest, key=lambda block: -block.align), *(last[pool] for pool in sorted(last)))


def _last(block: Block) -> tuple[int, int]:
    """How well it does as the last block of a pool: nothing is lost in front of it, most is saved behind it."""
    return -block.align, -block.size_bytes % block.align
