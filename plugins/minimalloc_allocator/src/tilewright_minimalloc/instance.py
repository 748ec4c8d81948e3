"""Knows one pool as integers: the blocks that can move, and the cliques of blocks that exclude each other.
Does not know names, other pools or any search.

Whatever is settled beforehand, reserved ranges and blocks at a fixed offset, becomes ranges where a block may not be,
block by block, so that the search meets only blocks that can move. Lengths are divided by what all of them share.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tilewright.api import align_up

Ranges = tuple[tuple[int, int], ...]  # half-open, ascending, apart from each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Blocks 0..n-1 of one pool. Two blocks exclude each other exactly when they share a section."""

    sizes: tuple[int, ...]  # in grains, at least 1
    aligns: tuple[int, ...]  # in grains
    obstacles: tuple[Ranges, ...]  # by block, in grains
    spans: tuple[tuple[int, ...], ...]  # by block, the sections it is in, ascending, at least one
    sections: tuple[tuple[int, ...], ...]  # by section, its blocks, ascending
    durations: tuple[int, ...]  # by block, of all its lifetimes; only good for ordering blocks
    grain: int  # bytes

    @property
    def floor(self) -> int:
        """Grains that no placement goes below: the heaviest section, around what is in the way of all of it."""
        return max((self._needed(members) for members in self.sections), default=0)

    def _needed(self, members: Sequence[int]) -> int:
        step = math.gcd(*(self.aligns[block] for block in members))
        around = sum(self.sizes[block] for block in members)
        common = self.obstacles[members[0]]
        if common and all(self.obstacles[block] == common for block in members):
            for low, high in common:
                around += high - low if low < around else 0
        if step == 1:
            return around
        whole = [align_up(self.sizes[block], step) for block in members]
        slack = max(up - self.sizes[block] for up, block in zip(whole, members, strict=True))
        return max(sum(whole) - slack, around)


def mirrored(instance: Instance) -> Instance:
    """The same problem seen from its end: sections in the opposite order. A placement of one is a placement of both."""
    last = len(instance.sections) - 1
    return replace(
        instance,
        sections=instance.sections[::-1],
        spans=tuple(tuple(last - section for section in reversed(span)) for span in instance.spans),
    )


def make_instance(
    sizes: Sequence[int],
    aligns: Sequence[int],
    obstacles: Sequence[Iterable[tuple[int, int]]],
    cliques: Sequence[Sequence[int]],
    durations: Sequence[int],
) -> Instance:
    """The instance of blocks (bytes) and cliques that cover every pair of blocks that exclude each other.

    Every offset worth trying is a sum of sizes on top of 0 or of an obstacle, aligned: a multiple of the grain.
    """
    covered = {block for clique in cliques for block in clique}
    sections = (*(tuple(sorted(clique)) for clique in cliques), *((b,) for b in range(len(sizes)) if b not in covered))
    ranges = [_joined(obstacle, align) for obstacle, align in zip(obstacles, aligns, strict=True)]
    ends = {high for result in ranges for _, high in result}
    grain = math.gcd(*sizes, *(align for align in aligns if align > 1), *ends) or 1
    spans: list[list[int]] = [[] for _ in sizes]
    for number, members in enumerate(sections):
        for block in members:
            spans[block].append(number)
    return Instance(
        sizes=tuple(size // grain for size in sizes),
        aligns=tuple(max(1, align // grain) for align in aligns),
        obstacles=tuple(tuple((low // grain, high // grain) for low, high in result) for result in ranges),
        spans=tuple(map(tuple, spans)),
        sections=sections,
        durations=tuple(durations),
        grain=grain,
    )


def _joined(ranges: Iterable[tuple[int, int]], align: int) -> Ranges:
    """Ascending, up to where an aligned block can begin, those that touch as one."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        end = align_up(high, align)
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        elif low < high:
            result.append((low, end))
    return tuple(result)


def cliques_in_time(lives: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, ...]]:
    """The largest sets of blocks alive at one time, in the order of time. `lives` are closed intervals, by block."""
    events = []
    for block, spans in enumerate(lives):
        for first, last in _merged(spans):
            events += [(first, 1, block), (last + 1, 0, block)]
    events.sort()
    alive: dict[int, None] = {}
    result: list[tuple[int, ...]] = []
    born = False
    for _, begins, block in events:
        if begins:
            alive[block] = None
            born = True
            continue
        if born:
            result.append(tuple(alive))
            born = False
        del alive[block]
    return result


def _merged(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    if len(spans) == 1:
        return spans
    result: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if result and first <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], last))
        else:
            result.append((first, last))
    return result
