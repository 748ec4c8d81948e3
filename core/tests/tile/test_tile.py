"""The `tile` stage: every buffer of a plan, and the memories that would do for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.check.stages import verify_tiled
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Group, Scheduled, Tiled
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.one_step import one_step, vocabulary, with_kernel
from tilewright.tile.strategies import StepTiler, WholeTiler
from tilewright.tile.tile import listed, tile

COST = StepTiler(name="cost", summary="")


def two_homes() -> Platform:
    """The cluster with a second memory beside l2 and a second one for constants."""
    base = cluster(1 << 14)
    more = (Memory(name="side", size_bytes=None), Memory(name="rom", size_bytes=None, kind="const"))
    ways = [("side", "l1"), ("l1", "side"), ("rom", "l1")]
    return replace(base, memories=(*base.memories, *more), copies=(*base.copies, *(copy_path(*way) for way in ways)))


def far_behind() -> Platform:
    """The cluster with a memory behind l2, where values live."""
    base = cluster(1 << 14)
    ways = [copy_path("l3", "l2"), copy_path("l2", "l3")]
    return replace(
        base, memories=(Memory(name="l3", size_bytes=None), *base.memories), copies=(*ways, *base.copies), backing="l3"
    )


def product(platform: Platform | None = None) -> Scheduled:
    inputs = [np.zeros((8, 200), np.float32), np.zeros((200, 16), np.float32)]
    return one_step("Gemm", inputs, platform or two_homes(), constants=(1,))


def memories(tiled: Tiled) -> dict[str, tuple[str, ...]]:
    return {buffer.name: buffer.memories for buffer in tiled.buffers if buffer.kind not in ("tile", "scratch")}


def test_values_and_constants_may_be_wherever_copies_lead_from() -> None:
    (weights,) = product().bound.constants
    assert memories(tile(product(), vocabulary(), COST, Decisions())) == {
        "in0": ("l2", "side"),
        "out0": ("l2", "side"),
        weights: ("flash", "rom"),
    }


def test_a_pin_adds_the_memory_that_it_names() -> None:
    pinned = memories(tile(product(), vocabulary(), COST, Decisions(memories={"in0": "l1", "out0": "side"})))
    assert pinned["in0"] == ("l2", "side", "l1")
    assert pinned["out0"] == ("l2", "side"), "it was there before"


def test_a_pin_on_the_way_to_the_scratchpad_leaves_no_other_memory() -> None:
    """Copies begin there: none leads past it."""
    pinned = tile(product(far_behind()), vocabulary(), COST, Decisions(memories={"in0": "l2", "out0": "l3"}))
    assert memories(pinned)["in0"] == ("l2",)
    assert memories(pinned)["out0"] == ("l3",)
    assert verify_tiled(pinned, vocabulary()) == pinned


def test_what_is_the_callers_is_not_placed() -> None:
    assert memories(tile(product(), vocabulary(), COST, Decisions(io={"in0": "user"})))["in0"] == ()


def test_what_is_resident_has_one_memory() -> None:
    groups = tuple(
        replace(group, region=replace(group.region, resident={"out0": "l1"}))
        for group in tile(product(), vocabulary(), COST, Decisions(memories={"out0": "l1"})).groups
    )
    assert memories(listed(product(), vocabulary(), groups, Decisions()))["out0"] == ("l1",)


def test_a_kernel_that_reads_where_a_value_lives_says_where() -> None:
    scheduled = product()
    bound = with_kernel(scheduled.bound, "node", memories={"A": ("side", "l2", "flash")})
    tiled = tile(replace(scheduled, bound=bound), vocabulary(), COST, Decisions())
    assert memories(tiled)["in0"] == ("side", "l2"), "of those that are written"
    assert "node.A" not in tiled.groups[0].region.hops[0].copies


def test_constants_last_and_their_elements_are_aligned() -> None:
    (weights,) = product().bound.constants
    tiled = tile(product(), vocabulary(), COST, Decisions())
    (buffer,) = (one for one in tiled.buffers if one.kind == "constant")
    assert (buffer.name, buffer.size_bytes, buffer.first, buffer.last) == (weights, 200 * 16 * 4, 0, 0)
    assert buffer.align >= 4


class Forgetful(WholeTiler):
    """Answers twice for every step."""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        return (Group(region=Region(steps=("node",))),) * 2


def test_a_tiler_covers_every_step_once() -> None:
    with pytest.raises(TilewrightError, match=r"tiler '.*': plan must return groups that have every step once"):
        tile(product(), vocabulary(), Forgetful(), Decisions())


def test_a_tiler_answers_with_groups() -> None:
    class Lost(Forgetful):
        def plan(self, request: TilingRequest) -> Any:
            return None

    with pytest.raises(TilewrightError, match=r"tiler '.*': plan must return a tuple, found None"):
        tile(product(), vocabulary(), Lost(), Decisions())


def test_a_tiler_is_asked_what_the_stage_was_asked() -> None:
    seen: list[Any] = []

    class Asked(StepTiler):
        def plan(self, request: TilingRequest) -> tuple[Group, ...]:
            seen.append(request)
            return super().plan(request)

    known: dict[Any, Any] = {}
    tile(product(), vocabulary(), Asked(name="cost", summary=""), Decisions(), "single", 7, 1, known)
    assert (seen[0].buffering, seen[0].seed, seen[0].longest) == ("single", 7, 1)
    assert seen[0].known is known
