"""Knows how to place very many blocks in little time and memory: each on top of whatever lies under its lifetime.
Does not know gaps: what is under the skyline is not used again.

A segment tree over time holds the skyline of every pool. The block that can lie lowest goes first; skylines only
rise, so a start that was computed earlier is a bound, and only some at the front of a heap are computed again.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Sequence
from itertools import chain

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution
from tilewright.ir.rounding import align_up

_PATIENCE = 30  # looks per block, on average, before the lowest of a few has to do
_LOOKS = 24  # those few


def stack(problem: Problem) -> Solution:
    """A valid plan in about n log n steps, for any number of blocks. One unit of work is one block looked at."""
    skylines = {pool.name: _Skyline(problem, pool) for pool in problem.pools}
    floors: dict[str, dict[str, int]] = {}  # block -> pool -> lowest offset that explicit conflicts leave
    partners: dict[str, list[str]] = {}
    for name, partner in problem.conflicts:
        partners.setdefault(name, []).append(partner)
        partners.setdefault(partner, []).append(name)
    places: dict[str, Place] = {}
    fixed = [block for block in problem.blocks if block.fixed_offset is not None]
    heap: list[tuple[int, int, int, int]] = []
    work = 0
    for block in fixed:
        if (home := _home_of_fixed(block, skylines, partners.get(block.name, ()))) is None:
            return Solution(status="unknown", reason=f"block '{block.name}' cannot be where it is demanded", work=work)
        _settle(block, home, skylines, places, partners, floors)
    for number, block in enumerate(problem.blocks):
        if block.fixed_offset is None:
            life = sum(last - first + 1 for first, last in block.lifetimes)
            heap.append((0, -life, -block.size_bytes, number))
    heapq.heapify(heap)
    patience = _PATIENCE * len(heap)
    while heap:
        lowest: list[tuple[int, int, int, int]] = []  # looked at afresh, lowest first
        while heap and (work < patience or len(lowest) < _LOOKS) and not (lowest and lowest[0] <= heap[0]):
            _, life, size, number = heapq.heappop(heap)
            block = problem.blocks[number]
            place = _home(block, skylines, floors.get(block.name, {}))
            work += 1
            if place is None:
                return Solution(status="unknown", reason=f"no room was found for block '{block.name}'", work=work)
            insort(lowest, (place.offset_bytes, life, size, number))
        block = problem.blocks[lowest[0][-1]]
        home = _home(block, skylines, floors.get(block.name, {}))
        if home is not None:
            _settle(block, home, skylines, places, partners, floors)
        for entry in lowest[1:]:
            heapq.heappush(heap, entry)
    return _verdict(problem, skylines, places, work)


def _verdict(problem: Problem, skylines: dict[str, _Skyline], places: dict[str, Place], work: int) -> Solution:
    bounds = lower_bounds(problem)
    proved = all(skylines[name].peak == bound for name, bound in bounds.items())
    proved = proved and all(places[block.name].pool == block.pools[0] for block in problem.blocks)
    return Solution(status="optimal" if proved else "feasible", places=places, work=work)


def _home(block: Block, skylines: dict[str, _Skyline], floor: dict[str, int]) -> Place | None:
    for name in block.pools:
        offset = skylines[name].lowest(block, floor.get(name, 0))
        if offset is not None:
            return Place(pool=name, offset_bytes=offset)
    return None


def _home_of_fixed(block: Block, skylines: dict[str, _Skyline], partners: Sequence[str]) -> Place | None:
    offset = block.fixed_offset or 0
    for name in block.pools:
        if skylines[name].admits(block, offset, partners):
            return Place(pool=name, offset_bytes=offset)
    return None


def _settle(
    block: Block,
    place: Place,
    skylines: dict[str, _Skyline],
    places: dict[str, Place],
    partners: dict[str, list[str]],
    floors: dict[str, dict[str, int]],
) -> None:
    places[block.name] = place
    if not block.size_bytes:
        return
    top = place.offset_bytes + block.size_bytes
    skylines[place.pool].raise_to(block, top)
    for partner in partners.get(block.name, ()):
        under = floors.setdefault(partner, {})
        under[place.pool] = max(under.get(place.pool, 0), top)


class _Skyline:
    """How high one pool is taken at every moment: range maximum and range raise, both logarithmic."""

    def __init__(self, problem: Problem, pool: Pool) -> None:
        moments = chain.from_iterable(interval for block in problem.blocks for interval in block.lifetimes)
        self.moment = {time: number for number, time in enumerate(sorted(set(moments)))}
        self.leaves = 1 << max(len(self.moment) - 1, 1).bit_length()
        self.most = [0] * (2 * self.leaves)  # highest anywhere below the node
        self.least = [0] * (2 * self.leaves)  # a height that all below the node have at least
        self.pool, self.peak = pool, 0
        self.fixed: list[tuple[int, int, Block]] = []

    def lowest(self, block: Block, floor: int) -> int | None:
        """The lowest offset on top of the skyline that is aligned, not reserved, inside the capacity; or None."""
        height = max((self._height(first, last) for first, last in block.lifetimes), default=0)
        offset = align_up(max(height, floor), block.align) if block.size_bytes else 0
        for low, high in sorted(self.pool.reserved):
            if block.size_bytes and offset < high and low < offset + block.size_bytes:
                offset = align_up(high, block.align)
        capacity = self.pool.capacity_bytes
        return offset if capacity is None or offset + block.size_bytes <= capacity else None

    def admits(self, block: Block, offset: int, partners: Sequence[str]) -> bool:
        """Whether a demanded offset is free of other demanded ones, reserved ranges, and the end of the pool.

        Blocks named in `partners` may not be overlapped even where they are never alive together.
        """
        end, capacity = offset + block.size_bytes, self.pool.capacity_bytes
        if offset < 0 or offset % block.align or (capacity is not None and end > capacity):
            return False
        if any(offset < high and low < end for low, high in self.pool.reserved):
            return False
        taken = any(
            low < end and offset < high and (other.name in partners or _meet(block, other))
            for low, high, other in self.fixed
        )
        self.fixed.append((offset, end, block))
        return not taken

    def raise_to(self, block: Block, top: int) -> None:
        """Nothing alive together with `block` comes to lie under `top` from now on."""
        self.peak = max(self.peak, top)
        for first, last in block.lifetimes:
            self._raise(1, 0, self.leaves - 1, (self.moment[first], self.moment[last]), top)

    def _height(self, first: int, last: int) -> int:
        low, high = self.moment[first] + self.leaves, self.moment[last] + self.leaves
        best = max(self._above(low), self._above(high))
        high += 1
        while low < high:
            if low & 1:
                best = max(best, self.most[low])
                low += 1
            if high & 1:
                high -= 1
                best = max(best, self.most[high])
            low, high = low >> 1, high >> 1
        return best

    def _above(self, leaf: int) -> int:
        best = 0
        while leaf:
            best, leaf = max(best, self.least[leaf]), leaf >> 1
        return best

    def _raise(self, node: int, low: int, high: int, span: Sequence[int], top: int) -> None:
        if span[1] < low or high < span[0]:
            return
        self.most[node] = max(self.most[node], top)
        if span[0] <= low and high <= span[1]:
            self.least[node] = max(self.least[node], top)
            return
        middle = (low + high) // 2
        self._raise(2 * node, low, middle, span, top)
        self._raise(2 * node + 1, middle + 1, high, span, top)


def _meet(block: Block, other: Block) -> bool:
    return any(f <= last and first <= g for f, g in block.lifetimes for first, last in other.lifetimes)
