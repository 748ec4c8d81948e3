"""Knows what follows from a choice: which blocks must go higher still, and when nothing can work any more.
Does not choose.

1. One machine: the open blocks of a section, each no lower than its lowest offset, must end by the capacity.
2. Whole blocks: a section without slack is filled without a gap, so a block in it can only be at a height that some
   of the blocks fitting below it add up to.
3. Tiles: a run of sections with one floor between higher ones is tiled, at that floor, by blocks that begin and end
   in the run. A block that is in no such tiling is not at the floor, and then it rests on something.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from tilewright_minimalloc.state import State

MOST_LEVELS = 4096  # grains of height up to which sums of sizes are worked out: a set of them is one integer


def propagate(state: State, begin: int, end: int) -> bool:
    """Everything that follows in the sections from `begin` to `end`. False when the state has no solution."""
    state.allowance = end - begin
    fine = _settle(state)
    while fine and state.linear:
        fine = all(_tile(state, left, right) for left, right in _niches(state, begin, end))
        if not state.queue:
            break
        fine = fine and _settle(state)
    state.drop_queue()
    return fine


def resting(state: State, block: int, wasted: Container[int] = ()) -> int | None:
    """The least offset of `block` if it is not at its lowest: on top of an open neighbour that is in its way there.

    `wasted` blocks are not at their lowest either. None: nothing can be in its way, so there is no need to move it.
    """
    low, size, offset = state.low, state.instance.sizes, state.offset
    floor = low[block]
    top = floor + size[block]
    lowest = None
    for other in state.neighbours[block]:
        start = low[other]
        if start >= top or offset[other] >= 0:
            continue
        if start == floor and other in wasted:
            start += 1
        if start < top and (lowest is None or start + size[other] < lowest):
            lowest = start + size[other]
    return lowest


def _settle(state: State) -> bool:
    queue, queued = state.queue, state.queued
    while queue:
        section = queue.popleft()
        queued[section] = 0
        if not _tighten(state, section):
            state.failures[section] += 1
            return False
    return True


def _tighten(state: State, section: int) -> bool:
    low, size = state.low, state.instance.sizes
    open_, room = state.open[section], state.capacity - state.rest[section]
    if not open_:
        return True
    lows = [low[block] for block in open_]
    floor = min(lows)
    if floor > room:
        return False
    state.set_floor(section, floor, lows.count(floor))
    highest = max(lows)
    if highest <= room:
        return True
    late = [block for block in open_ if low[block] > room]  # only these can make the schedule too long
    if highest + sum([size[block] for block in late]) > state.capacity:
        above = 0
        for start, length in sorted([(low[block], size[block]) for block in late], reverse=True):
            above += length
            if start + above > state.capacity:
                return False
    if floor < room or state.capacity - floor >= MOST_LEVELS:
        return True
    state.allowance -= 1
    return state.allowance < 0 or _lift_to_sums(state, floor, sorted((low[block], block) for block in open_))


def _lift_to_sums(state: State, floor: int, order: list[tuple[int, int]]) -> bool:
    """`order`: all open blocks of a section without slack, lowest first, with their lowest offsets."""
    size, height = state.instance.sizes, state.capacity - floor
    by_top = sorted(((low + size[block], block) for low, block in order), key=lambda entry: entry[0])
    added, sums = 0, 1
    for low, block in order:
        wanted = low - floor
        if 1 << added > height:  # so many blocks add up to nearly every height
            break
        if not wanted:
            continue
        while True:
            while added < len(by_top) and by_top[added][0] <= wanted + floor:
                sums |= sums << size[by_top[added][1]]
                added += 1
            above = sums >> wanted
            after = by_top[added][0] - floor if added < len(by_top) else height
            reached = wanted + (above & -above).bit_length() - 1 if above else after
            wanted = min(reached, after)
            if wanted < after or added == len(by_top):
                break
        if wanted >= height:
            return False
        if wanted + floor == low:
            continue
        if not state.lift(block, wanted + floor):
            return False
        _move_up(by_top, added, block, state.low[block] + size[block])
    return True


def _move_up(by_top: list[tuple[int, int]], added: int, block: int, top: int) -> None:
    """Keep the order after `block` was lifted. One already added stands on itself: sums too many do no harm."""
    at = next((at for at in range(added, len(by_top)) if by_top[at][1] == block), None)
    if at is None:
        return
    while at + 1 < len(by_top) and by_top[at + 1][0] < top:
        by_top[at] = by_top[at + 1]
        at += 1
    by_top[at] = (top, block)


def _niches(state: State, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of sections with one floor that have no lower neighbour."""
    rest, floor = state.rest, state.floor
    left = begin
    while left < end:
        if not rest[left]:
            left += 1
            continue
        right, level = left + 1, floor[left]
        while right < end and rest[right] and floor[right] == level:
            right += 1
        if (left == begin or not rest[left - 1] or floor[left - 1] > level) and (
            right == end or not rest[right] or floor[right] > level
        ):
            yield left, right
        left = right


def _tile(state: State, begin: int, end: int) -> bool:
    """Lift the blocks at the floor of a niche that are in no tiling of it. False where there is no tiling."""
    floor, offset, low, last = state.floor[begin], state.offset, state.low, state.last
    full = state.capacity - floor
    tiles = [
        [block for block in state.starting[section] if offset[block] < 0 and low[block] == floor]
        for section in range(begin, end)
    ]
    reached = bytearray(end - begin + 1)
    reached[0] = 1
    for at, blocks in enumerate(tiles):
        if reached[at]:
            if state.rest[begin + at] < full:
                reached[at + 1] = 1
            for block in blocks:
                reached[last[block] + 1 - begin] = 1
    if not reached[-1]:
        state.failures[begin] += 1
        return False
    leads = bytearray(end - begin + 1)
    leads[-1] = 1
    for at in range(end - begin - 1, -1, -1):
        empty = state.rest[begin + at] < full and leads[at + 1]
        leads[at] = bool(empty) or any(leads[last[block] + 1 - begin] for block in tiles[at])
    for at, blocks in enumerate(tiles):
        for block in blocks:
            if reached[at] and leads[last[block] + 1 - begin]:
                continue
            to = resting(state, block)
            if to is None or not state.lift(block, to):
                state.failures[begin + at] += 1
                return False
    return True
