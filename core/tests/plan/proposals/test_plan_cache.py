"""Answers that are known: to the same question about the same binding, whatever the limits of memories beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.ir.machines.platform import Memory
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.proposals.work import PlanCache, boundless
from tilewright.plan.suggestions import with_memories

Planned = Callable[..., Allocated]


def test_the_same_question_has_the_same_answer_whatever_the_limits(planned: Planned) -> None:
    bound, known = planned().tiled.scheduled.bound, PlanCache[list[int]]()
    small = with_memories(bound, {"ram": 7})
    answer = known.keep([1], bound, "how", boundless(bound.platform))
    assert known.found(small, "how", boundless(small.platform)) is answer


def test_another_question_or_binding_has_none(planned: Planned) -> None:
    bound, known = planned().tiled.scheduled.bound, PlanCache[int]()
    platform = boundless(bound.platform)
    known.keep(1, bound, "how", platform)
    other = replace(platform, memories=(*platform.memories, Memory(name="more", size_bytes=None)))
    assert known.found(bound, "otherwise", platform) is None
    assert known.found(bound, "how", other) is None
    assert known.found(bound, "how") is None
    assert known.found(replace(bound, bindings=dict(bound.bindings)), "how", platform) is None


def test_the_newest_answers_are_kept(planned: Planned) -> None:
    bound, known = planned().tiled.scheduled.bound, PlanCache[int]()
    for number in range(9):
        known.keep(number, bound, number)
    assert [known.found(bound, number) for number in range(9)] == [None, *range(1, 9)]


def test_limits_that_matter_are_kept(planned: Planned) -> None:
    platform = with_memories(planned().tiled.scheduled.bound, {"ram": 7}).platform
    assert boundless(platform, but=("ram",)).memory("ram").size_bytes == 7
    assert boundless(platform).memory("ram").size_bytes is None
