"""What a plan tells: one note of each kind that there is something to say of, warnings first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.ir.decisions import Recomputation
from tilewright.ir.stages import Allocated
from tilewright.plan.plan_notes import plan_notes
from tilewright.testing.one_step import vocabulary


def told(plan: Allocated) -> list[str]:
    return [note.code for note in plan_notes(plan, vocabulary())]


def test_each_kind_of_note_once_and_warnings_first(planned: Callable[..., Allocated]) -> None:
    plan = planned("ram")
    assert told(plan) == ["TW5036"]
    again = replace(plan.decisions, recomputed=(Recomputation(value="some:0", readers=("later",)),))
    assert told(replace(plan, decisions=again)) == ["TW5036", "TW5037"]
    over = [replace(pool, soft=True, limit_bytes=pool.used_bytes - 1) for pool in plan.pools]
    assert told(replace(plan, pools=tuple(over), decisions=again))[-2:] == ["TW5036", "TW5037"]
    assert "TW5031" in told(replace(plan, pools=tuple(over)))[:-1]
