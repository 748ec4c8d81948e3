"""Knows how much was planned, says when that is enough, and keeps what was found for a binding.
Does not know any question.

Work is counted, not timed: what is found is the same on every machine. A unit is about what one step takes to place.
Where a plan does not fit, the same is planned for many limits. Tiles are cut for the memories that are copied into,
line buffers for none; what all the others have is a question for the allocator alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Binding, Bound
from tilewright.tile.memory_path import hops_of

_PLACED = 1  # units of a step that is placed
_LISTED = 2  # of one in one piece, or in a line-buffered region that is decided
_SEARCHED = 5  # of one whose tiles, or whose rows, are looked for; for each hop
_TIMES, _LEAST = 2, 4_000  # of what was done before; but of a small network a few plans always
_MOST = 8  # that are kept
Answer = TypeVar("Answer")


def place_units(bound: Bound) -> int:
    """What it takes to place everything."""
    return _PLACED * len(bound.graph.nodes)


def tile_units(bound: Bound) -> int:
    """What it takes to tile every step."""
    return (_SEARCHED * len(hops_of(bound.platform)) or _LISTED) * len(bound.graph.nodes)


def line_buffer_units(bound: Bound) -> int:
    """What it takes to look for line-buffered plans."""
    return _SEARCHED * len(bound.graph.nodes)


class WorkDone(Exception):
    """So much was planned as may be."""


@dataclass(slots=True)
class Work:
    """Units that were spent on one question; and how many may be, None: any number."""

    spent: int = 0
    most: int | None = None
    first: int | None = None  # spent before there was a limit

    def begin(self) -> None:
        """With another question."""
        self.spent, self.most, self.first = 0, None, None

    def spend(self, units: int) -> None:
        """Before something is done. WorkDone where that would be too much."""
        if self.most is not None and self.spent + units > self.most:
            raise WorkDone
        self.spent += units

    @contextmanager
    def limited(self, one_plan: int = 0) -> Iterator[None]:
        """Here, and wherever else there is a limit, twice as much may be done in all as was done without one: that
        counts as a plan at least, which takes `one_plan`.
        """
        if self.first is None:
            self.first = max(self.spent, one_plan)
        self.most = self.first + max(_LEAST, _TIMES * self.first)
        try:
            yield
        finally:
            self.most = None

    @contextmanager
    def unlimited(self) -> Iterator[None]:
        """Here as much may be done as it takes, and is counted: for one thing that there has to be an answer to."""
        most, self.most = self.most, None
        try:
            yield
        finally:
            self.most = most


def boundless(platform: Platform, but: Collection[str] = ()) -> Platform:
    """The same with no limit on any memory `but` those. Not settled: it stands for all its limits, nothing is planned
    with it.
    """
    return replace(
        platform,
        memories=tuple(
            memory if memory.name in but else replace(memory, size_bytes=None) for memory in platform.memories
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known(Generic[Answer]):
    bindings: Mapping[str, Binding]
    question: tuple[object, ...]
    answer: Answer


class PlanCache(Generic[Answer]):
    """The newest answers, and to what."""

    def __init__(self) -> None:
        self.kept: deque[_Known[Answer]] = deque(maxlen=_MOST)

    def found(self, bound: Bound, *question: object) -> Answer | None:
        """To a question equal to this one, about the same kernels; None where it is not known."""
        for known in self.kept:
            if known.bindings is bound.bindings and known.question == question:
                return known.answer
        return None

    def keep(self, answer: Answer, bound: Bound, *question: object) -> Answer:
        """`answer`, for the next one who asks."""
        self.kept.appendleft(_Known(bindings=bound.bindings, question=question, answer=answer))
        return answer
