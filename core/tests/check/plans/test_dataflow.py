"""Plans are played: whatever is lost, read where it is not, or written over what is still read, is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.check.plans.dataflow import Replay
from tilewright.ir.plans.region import InternalValue, LineBuffer, LineBuffers, Region, RepeatedCalls
from tilewright.ir.plans.stages import Allocated, Group, Placement, Storage
from tilewright.testing.one_step import with_kernel


def faults(toy: Any, plan: Allocated) -> list[str]:
    return list(Replay(plan, toy.operators).faults())


def moved(plan: Allocated, **offsets: int) -> Allocated:
    places = {name: Placement(memory="ram", offset_bytes=offset) for name, offset in offsets.items()}
    return replace(plan, placements={**plan.placements, **places})


def with_scheduled(plan: Allocated, **changes: Any) -> Allocated:
    return replace(plan, tiled=replace(plan.tiled, scheduled=replace(plan.tiled.scheduled, **changes)))


@pytest.fixture(name="plan")
def _plan(toy: Any) -> Allocated:
    """mfcc:0 -> biased -> turned -> again -> scores, ten bytes each, the last in place of nothing."""
    plan: Allocated = toy.plan(toy.graph())
    return moved(plan, **{"mfcc:0": 0, "biased": 12, "turned": 24, "again": 36, "scores": 48, "/turn.scratch": 60,
                          "/turn2.scratch": 60})  # fmt: skip


def test_a_sound_plan_keeps_everything(toy: Any, plan: Allocated) -> None:
    assert faults(toy, plan) == []
    assert faults(toy, toy.plan(toy.graph())) == []
    assert faults(toy, toy.plan(toy.graph(), io="user")) == []


def test_bytes_that_others_take_are_lost(toy: Any, plan: Allocated) -> None:
    """The output of step 0 over two bytes of its own input; and what step 1 needs under what step 0 writes."""
    assert faults(toy, moved(plan, biased=8)) == ["at step 0 '/bias' 'biased' overwrites 'mfcc:0' while it is read"]
    scratch = faults(toy, moved(plan, **{"/turn.scratch": 6}))
    assert scratch[0] == "at step 1 '/turn' 2 B of 'biased' are lost: byte 0 holds nothing, or scratch"
    after = faults(toy, moved(plan, **{"/turn2.scratch": 50}))
    assert after[-1].startswith("after the last step 8 B of 'scores' are lost: byte 2 holds")


def test_an_output_may_be_in_place_only_as_the_kernel_says(toy: Any, plan: Allocated) -> None:
    bound = with_kernel(plan.tiled.scheduled.bound, "/bias", in_place=lambda site: (("X", "Y"),))
    allowed = with_scheduled(plan, bound=bound, in_place={"biased": "mfcc:0"})
    assert faults(toy, moved(allowed, biased=0)) == []
    assert faults(toy, moved(allowed, biased=4)), "not exactly on top"
    undecided = with_scheduled(plan, bound=bound)
    assert faults(toy, moved(undecided, biased=0)), "nobody has decided it"
    unable = with_scheduled(plan, in_place={"biased": "mfcc:0"})
    assert faults(toy, moved(unable, biased=0)), "the kernel does not declare it"


def test_what_is_stored_nowhere_cannot_be_read(toy: Any, plan: Allocated) -> None:
    """A reader of a value without a place."""
    storage = {name: one for name, one in plan.tiled.scheduled.storage.items() if name != "biased"}
    scheduled = with_scheduled(plan, storage={**storage, "biased": Storage(buffer="turned")})
    assert any("'biased'" in fault or "'turned'" in fault for fault in faults(toy, scheduled))


def test_the_callers_input_is_his_again(toy: Any) -> None:
    """Nothing of the plan may be written to it."""
    plan = toy.plan(toy.graph(), io="user")
    storage = {**plan.tiled.scheduled.storage, "again": plan.tiled.scheduled.storage["mfcc:0"]}
    found = faults(toy, with_scheduled(plan, storage=storage))
    assert found == [
        "in the caller's memory, after the last step 10 B of 'mfcc:0' are lost: byte 0 holds part of 'again'"
    ]


def test_steps_that_are_tiled_together_run_where_the_last_one_stands(toy: Any, plan: Allocated) -> None:
    """What only they read needs no place; what they read has to be there until then."""
    group = Group(region=Region(steps=("/bias", "/turn")))
    rest = tuple(one for one in plan.tiled.groups if one.name not in group.steps)
    together = replace(plan, tiled=replace(plan.tiled, groups=(group, *rest)))
    assert faults(toy, moved(together, biased=24)) == [], "nobody reads 'biased' outside"
    over = faults(toy, moved(together, turned=4))
    assert over == ["at step 1 '/turn' 'turned' overwrites 'mfcc:0' while it is read"]


def rows(plan: Allocated, lag_bytes: int, *, backward: bool = False) -> Allocated:
    """The first step row by row, its output over its input."""
    buffer, calls = LineBuffer(aliases="mfcc:0", distance_bytes=lag_bytes), (RepeatedCalls((0,), 10),)
    order = LineBuffers(loops=("i",), extents=(1,), call_schedule=calls, buffers={"biased": buffer}, backward=backward)
    held = InternalValue(memory="ram", form="whole", live_out=True)
    group = Group(region=Region(steps=("/bias",), schedule=order, internal_values={"biased": held}))
    return replace(plan, tiled=replace(plan.tiled, groups=(group, *plan.tiled.groups[1:])))


@pytest.mark.parametrize(("biased", "lag_bytes", "sound"), [(0, 4, True), (0, 5, False), (4, 0, True), (5, 0, False)])
def test_rows_may_follow_what_they_replace(toy: Any, plan: Allocated, biased: int, lag_bytes: int, sound: bool) -> None:
    """The input at byte 4: the output begins `distance_bytes` before it."""
    assert (faults(toy, moved(rows(plan, lag_bytes), **{"mfcc:0": 4, "biased": biased})) == []) is sound


@pytest.mark.parametrize(("biased", "sound"), [(8, True), (7, False)])
def test_backward_they_end_behind_it(toy: Any, plan: Allocated, biased: int, sound: bool) -> None:
    backward = rows(plan, 4, backward=True)
    apart = {"turned": 24, "mfcc:0": 4, "biased": biased}
    assert (faults(toy, moved(backward, **apart)) == []) is sound
