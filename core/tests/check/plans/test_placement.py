"""Where buffers may be: a plan with one of them moved, resized or of another kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.plans import placement
from tilewright.check.plans.placement import placement_faults
from tilewright.ir.plans.stages import Allocated, Buffer, Placement


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


RANGES = st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(0, 4))
PLACE = Placement(memory="ram", offset_bytes=8)


@given(RANGES, RANGES)
def test_overlapping_is_sharing_a_byte(one: tuple[str, int, int], other: tuple[str, int, int]) -> None:
    kind = next(value for value in vars(placement).values() if isinstance(value, type) and "low" in dir(value))
    here, there = (kind(region=name, low=low, high=low + size) for name, low, size in (one, other))
    shared = set(range(here.low, here.high)) & set(range(there.low, there.high))
    assert here.overlaps(there) == there.overlaps(here)
    if here.low < here.high and there.low < there.high:
        assert here.overlaps(there) == (bool(shared) and here.region == there.region)


def test_what_lasts_is_apart_from_the_pool() -> None:
    kinds = ("activation", "tile", "constant", "state", "resident")
    buffers = (Buffer(name=kind, kind=kind, size_bytes=1, align=1, first=0, last=0) for kind in kinds)
    found = [placement.region(buffer, PLACE) for buffer in buffers]
    assert found == ["memory ram", "memory ram", "memory ram", "the state", "copies in ram"]


def test_who_is_alive_at_a_step() -> None:
    lives = {"a": ("tile", 0, 1), "b": ("scratch", 1, 1), "c": ("constant", 0, 9), "d": ("tile", 1, 3)}
    buffers = [
        Buffer(name=name, kind=kind, size_bytes=1, align=1, first=first, last=last)
        for name, (kind, first, last) in lives.items()
    ]
    found = placement.alive(buffers, "tile", "scratch")
    names = {step: "".join(buffer.name for buffer in alive) for step, alive in found.items()}
    assert names == {0: "a", 1: "abd", 2: "d", 3: "d"}
