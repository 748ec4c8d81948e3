"""Knows what was found for a binding before, and which limits of memories change nothing about it.
Does not know any question.

Where a plan does not fit, the same is planned for many limits. Tiles are cut for the memories that are copied into,
ways by rows for none; what all the others have is a question for the allocator alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Binding, Bound

_MOST = 8  # that are kept

Answer = TypeVar("Answer")


def boundless(platform: Platform, but: Collection[str] = ()) -> Platform:
    """The same with no limit on any memory `but` those. Not settled: it stands for all its limits, nothing is planned
    with it.
    """
    return replace(
        platform,
        memories=tuple(one if one.name in but else replace(one, size_bytes=None) for one in platform.memories),
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
        for one in self.kept:
            if one.bindings is bound.bindings and one.question == question:
                return one.answer
        return None

    def keep(self, answer: Answer, bound: Bound, *question: object) -> Answer:
        """`answer`, for the next one who asks."""
        self.kept.appendleft(_Known(bindings=bound.bindings, question=question, answer=answer))
        return answer
