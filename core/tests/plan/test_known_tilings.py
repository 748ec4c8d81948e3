"""Tiles that are known: of the same schedule, binding and way to tile, whatever the limits of memories beside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.ir.platform import Memory
from tilewright.ir.stages import Allocated, Bound
from tilewright.plan.known_tilings import KnownTilings, boundless
from tilewright.plan.remedies import with_memories

Planned = Callable[..., Allocated]


def test_other_limits_have_the_same_tiles(planned: Planned) -> None:
    plan = planned()
    tiled, decisions, known = plan.tiled, plan.decisions, KnownTilings()
    small = replace(tiled.scheduled, bound=with_memories(tiled.scheduled.bound, {"ram": 7}))
    platform = boundless(tiled.scheduled.bound.platform)
    assert known.keep(tiled, platform, "how", decisions) is tiled
    found = known.found(small, boundless(small.bound.platform), "how", decisions)
    assert found is not None and found.groups is tiled.groups
    assert found.scheduled.bound.platform.memory("ram").size_bytes == 7


def test_what_tiles_depend_on_makes_others(planned: Planned) -> None:
    plan = planned()
    scheduled, decisions, known = plan.tiled.scheduled, plan.decisions, KnownTilings()
    platform = boundless(scheduled.bound.platform)
    known.keep(plan.tiled, platform, "how", decisions)
    again: Bound = replace(scheduled.bound, bindings=dict(scheduled.bound.bindings))
    other = replace(platform, memories=(*platform.memories, Memory(name="more", size_bytes=None)))
    assert known.found(scheduled, platform, "how", decisions) is not None
    assert known.found(replace(scheduled, bound=again), platform, "how", decisions) is None
    assert known.found(scheduled, other, "how", decisions) is None
    assert known.found(scheduled, platform, "otherwise", decisions) is None
    assert known.found(scheduled, platform, "how", replace(decisions, offsets={"x": 0})) is None
    assert known.found(replace(scheduled, in_place={"x": "y"}), platform, "how", decisions) is None


def test_limits_that_matter_are_kept(planned: Planned) -> None:
    platform = with_memories(planned().tiled.scheduled.bound, {"ram": 7}).platform
    assert boundless(platform, but=("ram",)).memory("ram").size_bytes == 7
    assert boundless(platform).memory("ram").size_bytes is None
