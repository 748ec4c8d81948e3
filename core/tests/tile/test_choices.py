"""What a tiler of another package chooses from."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.choices import TileChoices
from tilewright.tile.strategies import StepTiler

NEAR = dict.fromkeys(("in0", "in1", "out0"), "l1")


def choices(room_bytes: int = 1 << 12, **decided: Any) -> TileChoices:
    """Of a sum of two 6 x 8 floats."""
    inputs = [np.zeros((6, 8), np.float32)] * 2
    scheduled = one_step("Add", inputs, cluster(RUNTIME_BYTES + room_bytes))
    return TileChoices(TilingRequest(scheduled=scheduled, operators=vocabulary(), decisions=Decisions(**decided)))


def test_more_scratchpad_is_taken_for_less_time() -> None:
    found = choices().tilings(0)
    size = [sum(buffer.size_bytes for buffer in one.buffers) for one in found]
    assert len(found) > 3
    assert min(size) < 64 and max(size) >= 3 * 192
    smallest, fastest = found[size.index(min(size))], min(found, key=lambda one: one.cycles)
    assert smallest.cycles > 3 * fastest.cycles
    assert {one.moved_bytes for one in found} == {3 * 192}


def test_nothing_where_nothing_fits_and_what_would() -> None:
    assert choices(16).tilings(0) == ()
    needs = choices(16).needs(0)
    assert needs is not None and needs.smallest == ({"A": 8, "B": 8, "Y": 8, "scratch": 0},)
    assert choices().needs(0) is None


def test_resident_values_are_not_copied() -> None:
    asked = choices()
    assert asked.touched(0) == ("in0", "in1", "out0")
    assert {one.name for one in asked.may_be_resident("l1")} <= set(asked.touched(0))
    (only,) = asked.tilings(0, NEAR)
    assert (only.moved_bytes, only.buffers) == (0, ())
    assert only.group.region.resident == {"out0": "l1"}, "what is written here"


def test_a_tiling_that_is_given_is_priced_as_one_that_was_found() -> None:
    asked = choices()
    best = min(asked.tilings(0), key=lambda one: one.cycles)
    assert asked.tiling(0, best.group.region.hops) == best


def test_the_quick_answer_is_that_of_the_built_in_tiler() -> None:
    asked = choices(400)
    assert asked.quick() == StepTiler(name="cost", summary="").plan(asked.request)


def test_a_pinned_tiling_is_the_only_one() -> None:
    (group,) = choices(100).quick()
    (only,) = choices(tiles={"node": group.region}).tilings(0)
    assert only.group.region == group.region


def test_memories_grains_and_pins() -> None:
    asked = choices(memories={"in0": "l1"})
    assert (asked.memories, asked.grain("l1")) == (("l1",), 8)
    (pinned,) = asked.pinned("l1")
    assert (pinned.name, asked.taken_bytes(pinned, "l1")) == ("in0", 192)
    assert asked.pinned("l2") == ()


def test_everything_of_a_plan_that_is_in_the_scratchpad() -> None:
    asked = choices(memories={"in0": "l1"})
    best = min(asked.tilings(0), key=lambda one: one.cycles)
    found = asked.scratchpad_buffers([best.group])
    assert {one.memories for one in found} == {("l1",)}
    assert {"in0"} < {one.name for one in found} and "in1" not in {one.name for one in found}


def test_one_step_has_nobody_to_be_tiled_with() -> None:
    asked = choices()
    (best,) = [min(asked.tilings(0), key=lambda one: one.cycles)]
    (group,) = asked.together([best.group])
    assert (group.steps, group.region.hops, group.offsets) == (("node",), best.group.region.hops, {})
