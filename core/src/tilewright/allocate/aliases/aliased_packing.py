"""Knows how to place blocks of which some may take bytes of others, with at least a distance between them. Does not
know why that is sound, nor what an allocator makes of the other blocks.

Every block goes to the lowest place that the blocks before it in an order leave free. Of two blocks that may overlap,
the one that has to begin first comes first in most orders: then the other one lies on it as low as it may.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import gcd
from operator import itemgetter

from tilewright.allocate.packing.lower_bound import neighbours
from tilewright.allocate.packing.orders import varied
from tilewright.ir.plans.allocation import Problem
from tilewright.ir.rounding import align_up

_MOST_PLACED = 40_000  # blocks, by one search
_MOST_IDLE = 400  # orders in a row that are no better
_BEFORE_RETURN = 40  # orders from a drifting one back to the best


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasedBuffers:
    """Buffer `taker` takes bytes of buffer `giver`, and begins at least `lead_bytes` before it: negative where it is
    behind. With `backward` it begins at most so many bytes before it. Where no byte is in both, anything goes.
    """

    taker: str
    giver: str
    lead_bytes: int
    backward: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasedPacking:
    """Where every block of some bytes begins, by its number, and where the highest ends."""

    order: tuple[int, ...]
    offsets: Mapping[int, int]
    peak: int


class AliasedYard:
    """A problem of one pool with aliases, prepared for many packings."""

    def __init__(self, problem: Problem, aliases: Sequence[AliasedBuffers]) -> None:
        self.problem, self.blocks = problem, problem.blocks
        self.numbers = {block.name: number for number, block in enumerate(problem.blocks)}
        self.pairs = [(self.numbers[alias.taker], self.numbers[alias.giver], alias) for alias in aliases]
        self.grain = gcd(*(block.align for block in self.blocks))
        free = replace(problem, compatible=())
        self.meetings = neighbours(free)
        self.gaps = self._gaps()
        self.fixed = {at: block.fixed_offset for at, block in enumerate(self.blocks) if block.fixed_offset is not None}
        self.movable = [at for at, block in enumerate(self.blocks) if block.size_bytes and block.fixed_offset is None]

    def _gaps(self) -> list[dict[int, tuple[int, int]]]:
        """By block, by another that it meets: it begins at most the first number of bytes after that one's start, or at
        least the second.
        """
        sizes = [block.size_bytes for block in self.blocks]
        gaps = [{other: (-sizes[at], sizes[other]) for other in met} for at, met in enumerate(self.meetings)]
        for taker, giver, alias in self.pairs:
            if giver not in gaps[taker]:
                continue
            if alias.backward:
                gaps[taker][giver] = -sizes[taker], min(-alias.lead_bytes, sizes[giver])
                gaps[giver][taker] = max(alias.lead_bytes, -sizes[giver]), sizes[taker]
            else:
                gaps[taker][giver] = max(-alias.lead_bytes, -sizes[taker]), sizes[giver]
                gaps[giver][taker] = -sizes[giver], min(alias.lead_bytes, sizes[taker])
        return gaps

    @cached_property
    def floor(self) -> int:
        """No placement takes less, whoever takes whose bytes: of what is there at once and may not overlap, the sum;
        of two that may, what they take together at least. All but the topmost count rounded up.
        """
        ends = [at + self.blocks[number].size_bytes for number, at in self.fixed.items()]
        taken: dict[int, list[int]] = {}  # block -> pairs in which it takes
        for number, (taker, _, _) in enumerate(self.pairs):
            taken.setdefault(taker, []).append(number)
        return max([*ends, *(self._together(alive, taken) for alive in self._alive())], default=0)

    def _alive(self) -> Iterator[set[int]]:
        """The blocks of some bytes that are there, at every moment at which one begins, in the order of time."""
        lifetimes = sorted((first, last, at) for at, block in enumerate(self.blocks) for first, last in block.lifetimes)
        alive: list[tuple[int, int, int]] = []
        for moment, begun in groupby(lifetimes, key=itemgetter(0)):
            alive = [*(lifetime for lifetime in alive if lifetime[1] >= moment), *begun]
            yield {at for _, _, at in alive if self.blocks[at].size_bytes}

    def _together(self, numbers: Iterable[int], taken: Mapping[int, Sequence[int]]) -> int:
        """What blocks that are there at once take at least."""
        sizes = {at: self.blocks[at].size_bytes for at in numbers}
        pairs = [self.pairs[pair] for at in sizes for pair in taken.get(at, ())]
        both = [(taker, giver, alias) for taker, giver, alias in pairs if giver in sizes]
        apart = [*self._apart(sizes, both)] if both else [*sizes.values()]
        rounded = [align_up(size, self.grain) for size in apart]
        return sum(rounded) - max((high - low for low, high in zip(apart, rounded, strict=True)), default=0)

    def _apart(self, sizes: Mapping[int, int], pairs: Sequence[tuple[int, int, AliasedBuffers]]) -> Iterator[int]:
        """Bytes of blocks that are there at once, and of two that may overlap as what both take at least: the largest
        first, and none that may overlap one of those before. What is left out of a longer chain may lie on what is
        counted. Plans have no such chains (`aliases` says why), so nothing is left out of theirs.
        """
        beside = {at: {at} for at in sizes}
        for taker, giver, _ in pairs:
            beside[taker].add(giver)
            beside[giver].add(taker)
        spans = [(self._span(sizes[taker], sizes[giver], alias), {taker, giver}) for taker, giver, alias in pairs]
        free = set(sizes)
        for size, members in sorted((*spans, *((size, {at}) for at, size in sizes.items())), key=_largest_first):
            if members <= free:
                free.difference_update(*(beside[at] for at in members))
                yield size

    @staticmethod
    def _span(taker: int, giver: int, alias: AliasedBuffers) -> int:
        """Bytes that the two take at least."""
        span = taker - alias.lead_bytes if alias.backward else giver + alias.lead_bytes
        return min(taker + giver, max(taker, giver, span))

    def too_near(self) -> AliasedBuffers | None:
        """Two whose pinned offsets are not far enough apart."""
        for taker, giver, alias in self.pairs:
            if taker in self.fixed and giver in self.fixed and giver in self.gaps[taker]:
                low, high = self.gaps[taker][giver]
                if self.fixed[giver] + low < self.fixed[taker] < self.fixed[giver] + high:
                    return alias
        return None

    def packed(self, order: Iterable[int]) -> AliasedPacking:
        """All blocks, one after the other."""
        order, offsets, blocks, gaps = tuple(order), dict(self.fixed), self.blocks, self.gaps
        peak = max((at + blocks[number].size_bytes for number, at in offsets.items()), default=0)
        for number in order:
            taken = sorted(
                (offsets[other] + low, offsets[other] + high)
                for other, (low, high) in gaps[number].items()
                if other in offsets
            )
            align, start = blocks[number].align, 0
            for low, high in taken:
                if start <= low:
                    break
                if high > start:
                    start = align_up(high, align)
            offsets[number] = start
            peak = max(peak, start + blocks[number].size_bytes)
        return AliasedPacking(order=order, offsets=offsets, peak=peak)

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Worth trying, each once."""
        chains, seen = self.chains(), set[tuple[int, ...]]()
        for plain in self._plain_orders():
            joined = tuple(dict.fromkeys(member for number in plain for member in chains.get(number, (number,))))
            for order in (joined, plain):
                if order not in seen:
                    seen.add(order)
                    yield order

    def _plain_orders(self) -> Iterator[tuple[int, ...]]:
        blocks = self.blocks
        size = [block.size_bytes for block in blocks]
        birth = [min((first for first, _ in block.lifetimes), default=0) for block in blocks]
        life = [sum(last - first + 1 for first, last in block.lifetimes) for block in blocks]
        weight = [sum(size[other] for other in met) for met in self.meetings]
        keys = (
            [(-size[at], birth[at]) for at in range(len(blocks))],
            [(-weight[at], -size[at]) for at in range(len(blocks))],
            [(-life[at], -size[at]) for at in range(len(blocks))],
            [(-size[at] * life[at], birth[at]) for at in range(len(blocks))],
            [(birth[at], -size[at]) for at in range(len(blocks))],
            [(-birth[at], -size[at]) for at in range(len(blocks))],
        )
        for key in keys:
            yield tuple(sorted(self.movable, key=lambda at: (key[at], at)))

    def chains(self) -> dict[int, tuple[int, ...]]:
        """By block that takes part, all that take bytes of one another, those that begin first at the beginning."""
        after: dict[int, list[int]] = {}
        joined: dict[int, list[int]] = {}
        for taker, giver, item in self.pairs:
            first, second = (giver, taker) if item.backward else (taker, giver)
            after.setdefault(second, []).append(first)
            group = [*dict.fromkeys((*joined.get(taker, [taker]), *joined.get(giver, [giver])))]
            joined.update(dict.fromkeys(group, group))
        movable, chains = set(self.movable), dict[int, tuple[int, ...]]()
        for number, group in joined.items():
            if number not in chains:
                sorted_group = tuple(member for member in self._sorted(sorted(group), after) if member in movable)
                chains.update(dict.fromkeys(group, sorted_group))
        return chains

    def _sorted(self, group: Sequence[int], after: Mapping[int, Sequence[int]]) -> list[int]:
        done = dict[int, None]()
        while len(done) < len(group):
            ready = [
                number
                for number in group
                if number not in done and all(other in done for other in after.get(number, ()))
            ]
            done.update(dict.fromkeys(ready or [number for number in group if number not in done]))
        return list(done)


def _largest_first(span: tuple[int, set[int]]) -> tuple[int, int]:
    """Of equals two before one: a block alone never takes more."""
    size, members = span
    return -size, -len(members)


def best_packing(yard: AliasedYard) -> AliasedPacking:
    """The lowest of several orders, improved by moving what is at the peak, or in its way, to the front."""
    floor, best, placed = yard.floor, None, 0
    for order in yard.orders():
        packing = yard.packed(order)
        placed += len(packing.order)
        best = packing if best is None or packing.peak < best.peak else best
        if best.peak <= floor:
            return best
    return _improved(yard, best or yard.packed(()), floor, _MOST_PLACED - placed)


def _improved(yard: AliasedYard, best: AliasedPacking, floor: int, most: int) -> AliasedPacking:
    chance, idle, length = random.Random(0), 0, max(1, len(best.order))
    lowest_first = sorted(best.order, key=best.offsets.__getitem__)  # of equals in the order in which they were placed
    best = now = replace(best, order=tuple(lowest_first))
    for _ in range(most // length):
        if idle >= _MOST_IDLE or best.peak <= floor:
            break
        if idle % _BEFORE_RETURN == _BEFORE_RETURN - 1:
            now = best
        packing = yard.packed(_changed(yard, now, chance))
        idle += 1
        if packing.peak <= now.peak:
            now = packing
        if packing.peak < best.peak:
            best, idle = packing, 0
    return best


def _changed(yard: AliasedYard, packing: AliasedPacking, chance: random.Random) -> list[int]:
    order, blocks = packing.order, yard.blocks
    top = [at for at in order if packing.offsets[at] + blocks[at].size_bytes == packing.peak]
    movable = set(order)
    blamed = [at for at in dict.fromkeys(number for at in top for number in (at, *yard.meetings[at])) if at in movable]
    return varied(order, blamed, chance)
