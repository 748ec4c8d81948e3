"""The buffers that regions add to those of values: where they are, and for how long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.region import Region, Tiles
from tilewright.ir.plans.stages import Buffer
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import vocabulary, with_kernel
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import analysis_of_region, not_together, padded, persistent_buffers, region_buffers


def test_tile_buffers_are_alive_where_the_last_step_stands(pools: Any) -> None:
    found = list(region_buffers(pools.machine, [pools.region]))
    assert [one.name for one in found] == ["a.X@l1#0", "c.Y@l1#0", "a.Y@l1#0", "b.Y@l1#0"]
    assert {(one.first, one.last, one.memories, one.kind) for one in found} == {(2, 2, ("l1",), "tile")}
    assert all(one.align == pools.machine.grain("l1") for one in found)


def test_a_step_in_one_piece_has_its_scratch_at_home(pools: Any) -> None:
    bound = with_kernel(pools.machine.bound, "b", scratch_bytes=lambda tile: 20, parallel=())
    machine = ScheduledMachine(replace(pools.machine.scheduled, bound=bound), vocabulary(), pools.machine.decisions)
    (scratch,) = region_buffers(machine, [Region(steps=(name,)) for name in "abc"])
    assert (scratch.name, scratch.kind, scratch.size_bytes) == ("b.scratch", "scratch", 20)
    assert (scratch.first, scratch.last, scratch.memories, scratch.align) == (1, 1, ("l2",), 8)


def test_what_stays_inside_has_no_buffer_and_what_is_read_lives_until_the_end(pools: Any) -> None:
    machine = pools.machine
    values = {one.name: one for one in persistent_buffers(machine.scheduled.buffers, machine, [pools.region])}
    assert set(values) == {"x", "c:0"}
    assert values["x"].last == 2
    two = [Region(steps=("a", "b"), schedule=Tiles(hops=pools.region.hops)), Region(steps=("c",))]
    assert {one.name: one.last for one in persistent_buffers(machine.scheduled.buffers, machine, two)}["x"] == 1
    alone = [Region(steps=(name,)) for name in "abc"]
    assert list(persistent_buffers(machine.scheduled.buffers, machine, alone)) == list(machine.scheduled.buffers)


def test_steps_that_cannot_be_one_region_say_why(pools: Any) -> None:
    with pytest.raises(TilewrightError) as caught:
        analysis_of_region(pools.machine, Region(steps=("a", "b"), schedule=Tiles(hops=())))
    assert (caught.value.code, caught.value.exit_code) == ("TW4042", Exit.DOES_NOT_FIT)
    assert "only where values can stay in a scratchpad" in caught.value.message
    assert caught.value.where == "group 'a', 'b'"
    assert not_together([], "so it is").where == ""


def test_a_buffer_has_room_for_what_copies_move_more_unless_it_is_the_caller_s() -> None:
    lines = replace(CLUSTER, copies=tuple(replace(path, align=16) for path in CLUSTER.copies))
    buffer = Buffer(name="x", kind="input", size_bytes=20, align=16, first=0, last=0, memories=("l2",))
    assert padded(buffer, lines).size_bytes == 32
    assert padded(buffer, CLUSTER) is buffer
    assert padded(replace(buffer, memories=()), lines).size_bytes == 20
