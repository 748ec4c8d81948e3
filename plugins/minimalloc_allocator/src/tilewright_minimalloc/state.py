"""Knows what the search knows at one moment: how low each open block can still be, and how to take that back.
Does not know which choice is good, nor what follows from one beyond its neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from tilewright.api import align_up
from tilewright_minimalloc.instance import Instance

_WORD = (1 << 64) - 1


class State:
    """Mutable on purpose: a search steps through millions of states. Every change is written down in `trail`."""

    __slots__ = (
        "allowance", "block_count", "capacity", "cuts", "failures", "floor", "instance", "key", "last", "linear", "low",
        "neighbours", "offset", "open", "options", "queue", "queued", "rest", "starting", "terms", "trail", "twin",
    )  # fmt: skip

    def __init__(self, instance: Instance, capacity: int) -> None:
        count, sections = len(instance.sizes), len(instance.sections)
        self.instance, self.capacity, self.block_count = instance, capacity, count
        self.open = [set(members) for members in instance.sections]
        self.rest = [sum(instance.sizes[block] for block in members) for members in instance.sections]
        self.floor, self.options, self.failures = [0] * sections, [0] * sections, [0] * sections
        self.low = [self.clear_from(block, 0) for block in range(count)]
        self.offset = [-1] * count  # of blocks that are placed
        self.last = [span[-1] for span in instance.spans]
        self.linear = all(span[-1] - span[0] == len(span) - 1 for span in instance.spans)
        self.starting: list[list[int]] = [[] for _ in range(sections)]
        self.cuts = [0] * sections  # open blocks that are in this section or before and after it
        for block, span in enumerate(instance.spans):
            self.starting[span[0]].append(block)
            for cut in range(span[0], span[-1]):
                self.cuts[cut] += 1
        self.neighbours = [self._neighbours(block) for block in range(count)]
        alike: dict[object, int] = {}
        kinds = zip(instance.sizes, instance.aligns, instance.spans, instance.obstacles, strict=True)
        self.twin = [alike.setdefault(kind, block) for block, kind in enumerate(kinds)]
        self.terms: list[dict[int, int]] = [{} for _ in range(count)]
        self.key = 0
        self.allowance = 0  # sections whose sums may still be worked out before the next choice
        self.queue: deque[int] = deque()
        self.queued = bytearray(sections)
        self.trail: list[tuple[int, int, int]] = []  # (block, low, 0) or (-1 - section, floor, options), as they were

    def _neighbours(self, block: int) -> tuple[int, ...]:
        result = {other for section in self.instance.spans[block] for other in self.instance.sections[section]}
        result.discard(block)
        return tuple(sorted(result))

    def clear_from(self, block: int, offset: int) -> int:
        """The lowest offset from `offset` on that is aligned and not in an obstacle."""
        align, size = self.instance.aligns[block], self.instance.sizes[block]
        offset = align_up(offset, align)
        for low, high in self.instance.obstacles[block]:
            if offset < high and low < offset + size:
                offset = align_up(high, align)
        return offset

    def term(self, block: int) -> int:
        """128 random bits for this block at its lowest offset."""
        low, known = self.low[block], self.terms[block]
        if low not in known:
            first = _mixed((low + 0x9E3779B97F4A7C15 * (block + 1)) & _WORD)
            known[low] = first | _mixed((first + 0xD1B54A32D192ED03) & _WORD) << 64
        return known[low]

    def touch(self, sections: Iterable[int]) -> None:
        """Something changed in `sections`."""
        queued = self.queued
        for section in sections:
            if not queued[section]:
                queued[section] = 1
                self.queue.append(section)

    def drop_queue(self) -> None:
        """Forget what was touched."""
        for section in self.queue:
            self.queued[section] = 0
        self.queue.clear()

    def lift(self, block: int, to: int) -> bool:
        """`block` is at `to` or higher. False when it then does not fit.

        A section is touched only where its floor can change, or where the block is so high that the one-machine bound
        can: up to there, lifting it makes no schedule longer.
        """
        instance = self.instance
        if instance.aligns[block] > 1 or instance.obstacles[block]:
            to = self.clear_from(block, to)
        if to + instance.sizes[block] > self.capacity:
            return False
        before = self.low[block]
        self.trail.append((block, before, 0))
        self.key ^= self.term(block)
        self.low[block] = to
        self.key ^= self.term(block)
        room, floor, rest, queued = self.capacity - to, self.floor, self.rest, self.queued
        for section in instance.spans[block]:
            if not queued[section] and (before <= floor[section] or rest[section] > room):
                queued[section] = 1
                self.queue.append(section)
        return True

    def set_floor(self, section: int, floor: int, options: int) -> None:
        """The lowest offset in `section`, and how many open blocks have it."""
        if floor != self.floor[section] or options != self.options[section]:
            self.trail.append((-1 - section, self.floor[section], self.options[section]))
            self.floor[section], self.options[section] = floor, options

    def place(self, block: int, at: int) -> bool:
        """Put `block` at `at`, its neighbours above it. False when one of them then does not fit."""
        instance, low, offset = self.instance, self.low, self.offset
        size, span = instance.sizes[block], instance.spans[block]
        offset[block] = at
        self.key ^= self.term(block)
        for section in span:
            self.rest[section] -= size
            self.open[section].discard(block)
        for cut in range(span[0], span[-1]):
            self.cuts[cut] -= 1
        self.touch(span)
        top = at + size
        for other in self.neighbours[block]:
            if offset[other] < 0 and low[other] < top and not self.lift(other, top):
                return False
        return True

    def take_back(self, trail: int, placed: int) -> None:
        """Undo everything since `trail` was that long, and the placement of block `placed` (-1: of none)."""
        low, floor, options = self.low, self.floor, self.options
        while len(self.trail) > trail:
            what, value, count = self.trail.pop()
            if what >= 0:
                low[what] = value
            else:
                floor[-1 - what], options[-1 - what] = value, count
        if placed < 0:
            return
        span = self.instance.spans[placed]
        for section in span:
            self.rest[section] += self.instance.sizes[placed]
            self.open[section].add(placed)
        for cut in range(span[0], span[-1]):
            self.cuts[cut] += 1
        self.offset[placed] = -1


def _mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)
