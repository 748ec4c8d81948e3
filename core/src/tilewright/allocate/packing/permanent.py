"""Knows how blocks that never die are placed: each after the one before it, in the first of its memories with space;
and how they are divided among pools, so that each pool is as full as it can be and the next one takes the rest.
Does not know lifetimes. What has a demanded offset is divided by an allocator.

Which loads fill a pool best is a knapsack problem whose values are its weights, but for what rounding adds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem
from tilewright.ir.rounding import align_up

_MOST_CELLS = 1 << 28  # loads times sums that are looked at
_MOST_STATES = 1 << 12  # choices among loads that rounding makes larger
_BATCH = 8  # an eighth of the loads goes in by size where they are too many


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Bytes that want room: `whole_bytes` of it, less `spare_bytes` where it is the last one in it."""

    size_bytes: int
    whole_bytes: int
    spare_bytes: int = 0


NOTHING = Load(size_bytes=0, whole_bytes=0)

_State = tuple[int, int]  # bytes of room that are taken, and the largest spare
_States = Mapping[_State, tuple[int, int]]  # -> most bytes, and the loads as bits


def joined_loads(loads: Sequence[Load]) -> Load:
    """Several loads as one; the best of them is the last one."""
    return Load(
        size_bytes=sum(load.size_bytes for load in loads),
        whole_bytes=sum(load.whole_bytes for load in loads),
        spare_bytes=max((load.spare_bytes for load in loads), default=0),
    )


def fullest(loads: Sequence[Load], capacity: int, fixed_load: Load = NOTHING) -> set[int]:
    """Numbers of the loads of most bytes that take no more than `capacity`, beside
    `fixed_load`, which is there in any case.

    Exact for up to some 268 million loads times bytes; above that the largest go in first, and all count whole.
    """
    if (exact := surely_fullest(loads, capacity, fixed_load)) is not None:
        return exact
    capacity += fixed_load.spare_bytes - fixed_load.whole_bytes
    whole = [Load(size_bytes=load.whole_bytes, whole_bytes=load.whole_bytes) for load in loads]
    waiting, chosen = sorted(range(len(loads)), key=lambda number: (-whole[number].size_bytes, number)), set[int]()
    while (rest := surely_fullest([whole[number] for number in waiting], capacity)) is None:
        batch = 1 + len(waiting) // _BATCH
        for number in waiting[:batch]:
            if whole[number].size_bytes <= capacity:
                chosen.add(number)
                capacity -= whole[number].size_bytes
        waiting = waiting[batch:]
    return chosen | {waiting[place] for place in rest}


def surely_fullest(loads: Sequence[Load], capacity: int, fixed_load: Load = NOTHING) -> set[int] | None:
    """The same, or None where there is too much to look at to be sure."""
    even = [number for number, load in enumerate(loads) if load.whole_bytes == load.size_bytes]
    states = _states(loads, capacity, fixed_load)
    if not states:
        return None if states is None else set()
    unit = math.gcd(*(loads[number].size_bytes for number in even)) or 1
    units = {state: (capacity - state[0] + state[1]) // unit for state in states}
    if len(even) * max(units.values()) > _MOST_CELLS:
        return None
    rows = _sums([loads[number].size_bytes // unit for number in even], max(units.values()))
    best = max(states, key=lambda state: states[state][0] + unit * _most(rows[-1], units[state]))
    chosen = {number for number in range(len(loads)) if states[best][1] >> number & 1}
    left = _most(rows[-1], units[best])
    for number, row in zip(even, reversed(rows[:-1]), strict=True):
        size = loads[number].size_bytes // unit
        if size <= left and row >> (left - size) & 1:
            chosen.add(number)
            left -= size
    return chosen


def _states(loads: Sequence[Load], available_bytes: int, fixed_load: Load) -> _States | None:
    """What choices among the loads that rounding makes larger come to; None where these are too many."""
    odd = {number: load for number, load in enumerate(loads) if load.whole_bytes != load.size_bytes}
    beyond = available_bytes + max((load.spare_bytes for load in (fixed_load, *odd.values())), default=0)
    reached = {(fixed_load.whole_bytes, fixed_load.spare_bytes): (0, 0)}
    for number, load in odd.items():
        for (whole, spare), (size, chosen) in list(reached.items()):
            state = (whole + load.whole_bytes, max(spare, load.spare_bytes))
            if state[0] <= beyond and reached.get(state, (-1, 0))[0] < size + load.size_bytes:
                reached[state] = (size + load.size_bytes, chosen | 1 << number)
        if len(reached) > _MOST_STATES:
            return None
    return {state: kept for state, kept in reached.items() if state[0] - state[1] <= available_bytes}


def _sums(sizes: Sequence[int], most: int) -> list[int]:
    """Sums that can be had, as bits: of none of the sizes, of the last one, of the last two, and so on."""
    inside = (1 << most + 1) - 1
    rows = [1]
    for size in reversed(sizes):
        rows.append(rows[-1] | (rows[-1] << size & inside))
    return rows


def _most(sums: int, most: int) -> int:
    """The largest sum within the room."""
    return (sums & (1 << most + 1) - 1).bit_length() - 1


def pack_in_order(problem: Problem) -> dict[str, Place]:
    """Every block after the one before it, in the first candidate pool with room, else in the last one."""
    pools = {pool.name: pool for pool in problem.pools}
    taken = {pool.name: list(pool.reserved) for pool in problem.pools}
    for block in problem.blocks:
        if block.fixed_offset is not None:
            taken[block.pools[0]].append((block.fixed_offset, block.fixed_offset + block.size_bytes))
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


def _clear(block: Block, at_least: int, taken: list[tuple[int, int]]) -> int:
    offset = align_up(at_least, block.align)
    for low, high in sorted(taken):
        if offset < high and low < offset + block.size_bytes:
            offset = align_up(high, block.align)
    return offset


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
    available_bytes = pool.capacity_bytes - align_up(max((high for _, high in pool.reserved), default=0), coarsest)
    bound = [block for block in inside if choice[block.name] + 1 == len(block.pools)]
    free = [block for block in inside if choice[block.name] + 1 < len(block.pools)]
    loads = [_load(block, finest) for block in free]
    stay = fullest(loads, available_bytes, joined_loads([_load(block, finest) for block in bound]))
    return [block for number, block in enumerate(free) if number not in stay]


def _load(block: Block, finest: int) -> Load:
    """Rounded up to where a block of the same alignment may follow; only a block of the finest one is ever the last."""
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
