"""Knows what the cheapest division of steps into segments scores, where the score of a segment is dear to work out but
is known to be at least something. Does not know what a segment is scored by.

The cheapest division by what is known so far is followed: its segments are worked out, until all of them are. Most
segments never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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

    `exact` is asked for as few segments as can be, and `least`, which is at most `exact`, once for each.
    """
    division = _Division(steps, longest, least)
    while True:
        if division.rest[0] * ROUNDED >= limit:
            return None
        unknown = [segment for segment in division.followed() if segment not in division.known]
        if not unknown:
            return DivisionBounds(total=division.rest[0], rest=division.rest)
        division.learn({segment: exact(*segment) for segment in unknown})


class _Division:
    """The cheapest division by what is known so far: from each step on the least score of the rest, and how many steps
    the first segment of it has.
    """

    def __init__(self, steps: int, longest: int, least: Score) -> None:
        self.known: set[tuple[int, int]] = set()
        self.scores = [
            [least(first, count) for count in range(1, min(longest, steps - first) + 1)] for first in range(steps)
        ]
        self.rest, self.counts = [0.0] * (steps + 1), [1] * steps
        self._follow(steps - 1)

    def learn(self, scores: Mapping[tuple[int, int], float]) -> None:
        """What segments really score. Nothing changes from behind the last of them on."""
        self.known.update(scores)
        for (first, count), score in scores.items():
            self.scores[first][count - 1] = score
        self._follow(max(first for first, _ in scores))

    def followed(self) -> Iterator[tuple[int, int]]:
        """Its segments."""
        first = 0
        while first < len(self.counts):
            yield first, self.counts[first]
            first += self.counts[first]

    def _follow(self, last: int) -> None:
        """Divide again from each step up to this one on."""
        for first in range(last, -1, -1):
            result = [score + rest for score, rest in zip(self.scores[first], self.rest[first + 1 :], strict=False)]
            self.rest[first] = min(result)
            self.counts[first] = result.index(self.rest[first]) + 1
