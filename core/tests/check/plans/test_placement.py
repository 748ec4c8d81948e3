"""Where buffers may be: a plan with one of them moved, resized or of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tilewright.check.plans.placement import placement_faults
from tilewright.ir.plans.stages import Allocated, Placement


def faults(plan: Allocated) -> list[str]:
    return list(placement_faults(plan))


def moved(plan: Allocated, buffer: str, offset: int, memory: str = "ram") -> Allocated:
    return replace(plan, placements={**plan.placements, buffer: Placement(memory=memory, offset_bytes=offset)})


def with_buffer(plan: Allocated, name: str, **changes: Any) -> Allocated:
    buffers = tuple(replace(one, **changes) if one.name == name else one for one in plan.tiled.buffers)
    return replace(plan, tiled=replace(plan.tiled, buffers=buffers))


def with_memory(plan: Allocated, name: str, **changes: Any) -> Allocated:
    bound = plan.tiled.scheduled.bound
    memories = tuple(replace(one, **changes) if one.name == name else one for one in bound.platform.memories)
    bound = replace(bound, platform=replace(bound.platform, memories=memories))
    return replace(plan, tiled=replace(plan.tiled, scheduled=replace(plan.tiled.scheduled, bound=bound)))


def without(plan: Allocated, buffer: str) -> Allocated:
    return replace(plan, placements={name: one for name, one in plan.placements.items() if name != buffer})


@pytest.fixture(name="plan")
def _plan(toy: Any) -> Allocated:
    """Values in 30 bytes of `ram`, and ten constant bytes behind the header in `flash`."""
    plan: Allocated = toy.plan(toy.graph())
    return plan


def test_a_sound_plan_has_no_faults(plan: Allocated) -> None:
    assert faults(plan) == []
    assert faults(with_memory(plan, "ram", size_bytes=30)) == []


WRONG: dict[str, Callable[[Allocated], Allocated]] = {
    "buffer 'turned' has no place": lambda plan: without(plan, "turned"),
    "buffer 'turned' may not be in memory 'flash'": lambda plan: moved(plan, "turned", 64, "flash"),
    "buffer 'turned' may not be in memory 'nowhere'": lambda plan: moved(
        with_buffer(plan, "turned", memories=("nowhere",)), "turned", 0, "nowhere"
    ),
    "buffer 'turned' starts at -4 of memory 'ram'": lambda plan: moved(plan, "turned", -4),
    "buffer '/bias.B' starts at 12 of memory 'flash'": lambda plan: moved(plan, "/bias.B", 12, "flash"),
    "buffer 'turned' at 10 of memory 'ram' is not aligned to 4": lambda plan: moved(plan, "turned", 10),
    "buffer 'turned' at 0 of memory 'ram' is not aligned to 32": lambda plan: moved(
        with_buffer(plan, "turned", align=32), "turned", 0
    ),
    "buffer 'biased' ends at 30, memory 'ram' at 29": lambda plan: with_memory(plan, "ram", size_bytes=29),
    "buffers '/bias.B' and 'more' share bytes of memory flash": lambda plan: moved(
        replace(plan, tiled=replace(plan.tiled, buffers=(*plan.tiled.buffers, constant(plan, "more")))),
        "more", 24, "flash"
    ),
}  # fmt: skip


def constant(plan: Allocated, name: str) -> Any:
    return replace(next(one for one in plan.tiled.buffers if one.kind == "constant"), name=name)


@pytest.mark.parametrize("fault", WRONG)
def test_one_thing_that_is_wrong_is_named(plan: Allocated, fault: str) -> None:
    assert fault in faults(WRONG[fault](plan))


def test_the_callers_buffers_need_no_place(toy: Any) -> None:
    assert faults(toy.plan(toy.graph(), io="user")) == []


def test_what_the_application_places_is_not_ours_to_judge(plan: Allocated) -> None:
    theirs = with_memory(plan, "ram", managed_by="application")
    assert faults(moved(theirs, "turned", -4)) == []


def test_a_soft_limit_may_be_exceeded(plan: Allocated) -> None:
    assert faults(with_memory(plan, "ram", size_bytes=29, soft=True)) == []


def test_nothing_is_where_something_lasts(plan: Allocated) -> None:
    state = with_buffer(plan, "turned", kind="state")
    assert faults(state) == [], "state is an array of its own"
    two = with_buffer(state, "biased", kind="state")
    assert faults(moved(two, "biased", 8)) == ["buffers 'biased' and 'turned' share bytes of the state"]
    assert faults(moved(two, "biased", 20)) == []


def test_arrays_of_a_memory_fit_together(plan: Allocated) -> None:
    """30 bytes of values and, from the next multiple of 16 on, 18 of state."""
    state = with_buffer(plan, "turned", kind="state")
    assert faults(with_memory(state, "ram", size_bytes=32 + 18)) == []
    assert faults(with_memory(state, "ram", size_bytes=32 + 17)) == [
        "memory 'ram' has arrays of 50 B together, and 49 B"
    ]


def test_state_is_in_one_memory(plan: Allocated) -> None:
    both = with_buffer(with_buffer(plan, "turned", kind="state"), "biased", kind="state", memories=("flash",))
    assert "the state is in several memories" in faults(moved(both, "biased", 64, "flash"))


def test_an_empty_constant_may_be_anywhere(plan: Allocated) -> None:
    assert faults(moved(with_buffer(plan, "/bias.B", size_bytes=0), "/bias.B", 0, "flash")) == []
