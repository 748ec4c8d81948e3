"""What a plan tells: one note of each kind that there is something to say of, warnings first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tilewright.ir.plans.decisions import Recomputation
from tilewright.ir.plans.stages import Allocated, Tiled
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.planning import plan_notes
from tilewright.testing.one_step import vocabulary


def softly(tiled: Tiled, limit_bytes: int) -> Tiled:
    """The same on a machine whose memory may be exceeded."""
    bound = tiled.scheduled.bound
    memories = tuple(replace(memory, size_bytes=limit_bytes, soft=True) for memory in bound.platform.memories)
    bound = replace(bound, platform=replace(bound.platform, memories=memories))
    return replace(tiled, scheduled=replace(tiled.scheduled, bound=bound))


def told(plan: Allocated) -> list[str]:
    return [note.code for note in plan_notes(plan, vocabulary())]


@pytest.mark.slow
def test_each_kind_of_note_once_and_warnings_first(planned: Callable[..., Allocated]) -> None:
    plan = planned("ram")
    assert told(plan) == ["TW5036"]
    again = replace(plan.decisions, recomputed=(Recomputation(value="some:0", readers=("later",)),))
    assert told(replace(plan, decisions=again)) == ["TW5036", "TW5037"]
    over = replace(plan, tiled=softly(plan.tiled, ram_bytes(plan) - 1), decisions=again)
    assert told(over) == ["TW5031", "TW5036", "TW5037"]
