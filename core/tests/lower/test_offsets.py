"""What the beginning of every buffer is called: after the step that makes it, each name once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.lower.offsets import offset_names
from tilewright.testing.one_step import vocabulary


def test_a_buffer_is_called_after_the_first_step_that_writes_or_reads_it(toy: Any) -> None:
    assert offset_names(toy.plan(toy.graph()), toy.operators) == {
        "mfcc:0": "AT_IN_MFCC_0",
        "biased": "AT_0_Y",
        "/bias.B": "AT_0_B",
        "turned": "AT_1_Y",
        "/turn.scratch": "AT_1_SCRATCH",
        "again": "AT_2_Y",
        "scores": "AT_3_Y",
        "/turn2.scratch": "AT_3_SCRATCH",
    }


def test_what_is_not_ours_has_no_name(toy: Any) -> None:
    found = offset_names(toy.plan(toy.graph(), io="user"), toy.operators)
    assert "mfcc:0" not in found and "scores" not in found and "biased" in found
    memories = tuple(
        replace(one, managed_by="application") if one.name == "ram" else one for one in toy.platform.memories
    )
    placed = toy.plan(toy.graph(), platform=replace(toy.platform, memories=memories))
    assert set(offset_names(placed, toy.operators)) == {"/bias.B"}


def test_tile_buffers_are_named_by_memory_and_number(pools: Any) -> None:
    assert offset_names(pools.plan, vocabulary()) == {
        "x": "AT_IN_X",
        "c:0": "AT_2_Y",
        "a.X@l1#0": "AT_0_X_L1_0",
        "a.Y@l1#0": "AT_0_Y_L1_0",
        "b.Y@l1#0": "AT_1_Y_L1_0",
        "c.Y@l1#0": "AT_2_Y_L1_0",
        "c.Y@l1#1": "AT_2_Y_L1_1",
    }


def test_what_has_no_role_has_its_own_name_and_none_is_taken_twice(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    place = plan.placements["turned"]
    more = {**plan.placements, "other thing": place, "0 Y": place}
    found = offset_names(replace(plan, placements=more), toy.operators)
    assert found["other thing"].startswith("AT_OTHER_THING")
    assert len(set(found.values())) == len(found) == len(more)
