"""Knows which loads together take most of a room: a knapsack whose values are its weights, but for what rounding adds.
Does not know pools, nor where in them anything is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


def joined(loads: Sequence[Load]) -> Load:
    """Several loads as one; the best of them is the last one."""
    return Load(
        size_bytes=sum(load.size_bytes for load in loads),
        whole_bytes=sum(load.whole_bytes for load in loads),
        spare_bytes=max((load.spare_bytes for load in loads), default=0),
    )


def fullest(loads: Sequence[Load], capacity: int, held: Load = NOTHING) -> set[int]:
    """Numbers of the loads of most bytes that take no more than `room`, beside what is there (`held`) in any case.

    Exact for up to some 268 million loads times bytes; above that the largest go in first, and all count whole.
    """
    if (exact := surely_fullest(loads, capacity, held)) is not None:
        return exact
    capacity += held.spare_bytes - held.whole_bytes
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


def surely_fullest(loads: Sequence[Load], capacity: int, held: Load = NOTHING) -> set[int] | None:
    """The same, or None where there is too much to look at to be sure."""
    even = [number for number, load in enumerate(loads) if load.whole_bytes == load.size_bytes]
    states = _states(loads, capacity, held)
    if not states:
        return None if states is None else set()
    unit = math.gcd(*(loads[number].size_bytes for number in even)) or 1
    rooms = {state: (capacity - state[0] + state[1]) // unit for state in states}
    if len(even) * max(rooms.values()) > _MOST_CELLS:
        return None
    rows = _sums([loads[number].size_bytes // unit for number in even], max(rooms.values()))
    best = max(states, key=lambda state: states[state][0] + unit * _most(rows[-1], rooms[state]))
    chosen = {number for number in range(len(loads)) if states[best][1] >> number & 1}
    left = _most(rows[-1], rooms[best])
    for number, row in zip(even, reversed(rows[:-1]), strict=True):
        size = loads[number].size_bytes // unit
        if size <= left and row >> (left - size) & 1:
            chosen.add(number)
            left -= size
    return chosen


def _states(loads: Sequence[Load], room: int, held: Load) -> _States | None:
    """What choices among the loads that rounding makes larger come to; None where these are too many."""
    odd = {number: load for number, load in enumerate(loads) if load.whole_bytes != load.size_bytes}
    beyond = room + max((load.spare_bytes for load in (held, *odd.values())), default=0)
    found = {(held.whole_bytes, held.spare_bytes): (0, 0)}
    for number, load in odd.items():
        for (whole, spare), (size, chosen) in list(found.items()):
            state = (whole + load.whole_bytes, max(spare, load.spare_bytes))
            if state[0] <= beyond and found.get(state, (-1, 0))[0] < size + load.size_bytes:
                found[state] = (size + load.size_bytes, chosen | 1 << number)
        if len(found) > _MOST_STATES:
            return None
    return {state: kept for state, kept in found.items() if state[0] - state[1] <= room}


def _sums(sizes: Sequence[int], room: int) -> list[int]:
    """Sums that can be had, as bits: of none of the sizes, of the last one, of the last two, and so on."""
    inside = (1 << room + 1) - 1
    rows = [1]
    for size in reversed(sizes):
        rows.append(rows[-1] | (rows[-1] << size & inside))
    return rows


def _most(sums: int, room: int) -> int:
    """The largest sum within the room."""
    return (sums & (1 << room + 1) - 1).bit_length() - 1
