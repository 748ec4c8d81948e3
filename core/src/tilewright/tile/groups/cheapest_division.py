"""Knows what the cheapest division of steps into segments scores, where the score of a segment is dear to work out but
is known to be at least something. Does not know what a segment is scored by.

The cheapest division by what is known so far is followed: its segments are worked out, until all of them are. Most
segments never are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.tile.cost.lower_bounds import ROUNDED

Score = Callable[[int, int], float]  # of the steps from one on, so many


@dataclass(frozen=True, slots=True, kw_only=True)
class DivisionBounds:
    """What the best division scores, and what the steps behind each number of them score at least."""

    total: float
    rest: Sequence[float]

    def may_win(self, before: float, least: float, end: int) -> bool:
        """Whether a segment that scores at least `least` and ends there may be of a best division, behind steps that
        score `before`.
        """
        return (before + least + self.rest[end]) * ROUNDED <= self.total


def cheapest_division(steps: int, longest: int, least: Score, exact: Score, limit: float) -> DivisionBounds | None:
    """The bounds, in segments of at most `longest` steps; None where every one scores `limit` or more,
    but for rounding.

    `exact` is asked for as few segments as can be; `least` is at most `exact`.
    """
    known: dict[tuple[int, int], float] = {}
    while True:
        rest, counts = _followed(steps, longest, lambda first, count: known.get((first, count), least(first, count)))
        if rest[0] * ROUNDED >= limit:
            return None
        first, unknown = 0, list[tuple[int, int]]()
        while first < steps:
            unknown.extend([(first, counts[first])] if (first, counts[first]) not in known else [])
            first += counts[first]
        if not unknown:
            return DivisionBounds(total=rest[0], rest=rest)
        known.update({segment: exact(*segment) for segment in unknown})


def _followed(steps: int, longest: int, score: Score) -> tuple[list[float], list[int]]:
    """From each step on: the least score of the rest, and how many steps the first segment of it has."""
    rest, counts = [0.0] * (steps + 1), [1] * steps
    for first in range(steps - 1, -1, -1):
        result = [score(first, count) + rest[first + count] for count in range(1, min(longest, steps - first) + 1)]
        rest[first] = min(result)
        counts[first] = result.index(rest[first]) + 1
    return rest, counts
