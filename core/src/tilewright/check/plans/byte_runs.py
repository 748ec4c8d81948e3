"""Knows runs of numbered bytes: what a value is made of, and what a region of memory holds, in a few words each.
Does not know plans, values or who numbers bytes.

A run is so many bytes whose numbers follow each other. Numbers begin at 1; bytes that hold nothing of use have 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tilewright.check.plans.placement import ByteSpan

Run = tuple[int, int]  # bytes, number of the first of them; 0: nothing of use in any of them
Runs = tuple[Run, ...]


def joined(runs: Iterable[Run]) -> Runs:
    """The same bytes in as few runs as possible: equal bytes are equal runs."""
    merged: list[Run] = []
    for size, first in runs:
        if size and merged and follows(merged[-1], first):
            merged[-1] = (merged[-1][0] + size, merged[-1][1])
        elif size:
            merged.append((size, first))
    return tuple(merged)


def follows(run: Run, first: int) -> bool:
    """Whether a run that begins with the number `first` goes on where `run` ends."""
    size, begin = run
    return first == begin + size if begin else not first


def differences(runs: Runs, other: Runs) -> Iterator[tuple[int, int, int]]:
    """Where two lists of runs of the same length have other numbers: byte, how many bytes, what `runs` has there."""
    left, right, at = list(reversed(runs)), list(reversed(other)), 0
    while left and right:
        (mine, first), (theirs, wanted) = left.pop(), right.pop()
        size = min(mine, theirs)
        if first != wanted:
            yield at, size, first
        if mine > size:
            left.append((mine - size, first and first + size))
        if theirs > size:
            right.append((theirs - size, wanted and wanted + size))
        at += size


@dataclass(slots=True)
class Contents:
    """What every byte of every region holds."""

    _regions: dict[str, _Region] = field(default_factory=dict)

    def read(self, span: ByteSpan) -> Runs:
        """The runs in a span, as few as possible."""
        return joined(self._region(span).between(span.low, span.high))

    def write(self, span: ByteSpan, runs: Runs) -> None:
        """Put runs, of as many bytes as the span has, into it."""
        self._region(span).replace(span.low, span.high, runs)

    def clear(self, span: ByteSpan) -> None:
        """From here on nothing of use is in the span."""
        self._region(span).replace(span.low, span.high, ())

    def _region(self, span: ByteSpan) -> _Region:
        return self._regions.setdefault(span.region, _Region())


@dataclass(slots=True)
class _Region:
    """The runs of one region that hold something, in the order of their addresses; no two overlap."""

    lows: list[int] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def between(self, low: int, high: int) -> Iterator[Run]:
        """What is in [low, high), gaps included."""
        at = low
        for index in range(*self._touched(low, high)):
            start, (size, first) = self.lows[index], self.runs[index]
            begin, end = max(start, low), min(start + size, high)
            yield begin - at, 0
            yield end - begin, first + begin - start
            at = end
        yield high - at, 0

    def replace(self, low: int, high: int, runs: Runs) -> None:
        """Put `runs` at `low`; of what was in [low, high) nothing stays."""
        begin, end = self._touched(low, high)
        kept = [*self._before(begin, end, low), *_placed(low, runs), *self._behind(begin, end, high)]
        self.lows[begin:end] = [start for start, _ in kept]
        self.runs[begin:end] = [run for _, run in kept]

    def _touched(self, low: int, high: int) -> tuple[int, int]:
        """The half-open range of runs that have bytes in [low, high)."""
        begin = bisect_right(self.lows, low)
        if begin and self.lows[begin - 1] + self.runs[begin - 1][0] > low:
            begin -= 1
        return begin, max(begin, bisect_left(self.lows, high))

    def _before(self, begin: int, end: int, low: int) -> list[tuple[int, Run]]:
        """What the first touched run keeps in front of `low`."""
        if begin == end or self.lows[begin] >= low:
            return []
        start, (_, first) = self.lows[begin], self.runs[begin]
        return [(start, (low - start, first))]

    def _behind(self, begin: int, end: int, high: int) -> list[tuple[int, Run]]:
        """What the last touched run keeps from `high` on."""
        if begin == end:
            return []
        start, (size, first) = self.lows[end - 1], self.runs[end - 1]
        rest = start + size - high
        return [(high, (rest, first + high - start))] if rest > 0 else []


def _placed(low: int, runs: Runs) -> Iterator[tuple[int, Run]]:
    for size, first in runs:
        if first:
            yield low, (size, first)
        low += size
