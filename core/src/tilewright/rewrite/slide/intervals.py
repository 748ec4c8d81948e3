"""Knows sets of positions on an axis, as sorted half-open intervals. Does not know what is at these positions."""

from __future__ import annotations

from collections.abc import Iterable

Interval = tuple[int, int]  # half-open


def joined(intervals: Iterable[Interval], largest_gap: int = 0) -> tuple[Interval, ...]:
    """The same positions in as few intervals as possible, those too that lie in gaps of at most `largest_gap`."""
    result: list[Interval] = []
    for low, high in sorted(interval for interval in intervals if interval[0] < interval[1]):
        if result and low - result[-1][1] <= largest_gap:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def without(interval: Interval, hole: Interval) -> tuple[Interval, ...]:
    """`interval` but for the positions of `hole`, which lies inside it."""
    parts = ((interval[0], hole[0]), (hole[1], interval[1]))
    return tuple((low, high) for low, high in parts if low < high)


def size(intervals: Iterable[Interval]) -> int:
    """How many positions these are."""
    return sum(high - low for low, high in intervals)
