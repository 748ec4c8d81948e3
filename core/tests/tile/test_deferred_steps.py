"""A step that is waited for later is one tile; its bytes stay, others have less room, and what it hides is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_plans import KERNEL, branches

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.tile.deferred_steps import demand_deferrable, job_cycles, with_hidden
from tilewright.tile.machine import ScheduledMachine


def machine_of(plan: Deployment) -> ScheduledMachine:
    allocated = plan.allocated
    return ScheduledMachine(allocated.tiled.scheduled, plan.registry.operators, allocated.decisions)


def test_buffers_of_a_job_live_until_it_is_waited_for() -> None:
    tiled = branches().allocated.tiled
    assert tiled.scheduled.deferred == {"job": "two"}
    own = {buffer.name: (buffer.first, buffer.last) for buffer in tiled.buffers if buffer.name.startswith("job.")}
    assert set(own.values()) == {(0, 2)}
    assert "job.scratch" in own
    assert tiled.executed["job"] == 0
    assert tiled.completed == {"job": 2, "one": 1, "two": 2, "both": 3}


def test_steps_beside_a_job_have_the_room_that_it_leaves() -> None:
    machine = machine_of(branches())
    near = machine.platform.inner
    rooms = [machine.available_bytes(near, index) or 0 for index in range(4)]
    step = machine.scheduled.steps[0]
    assert rooms[0] == rooms[3]
    assert rooms[1] == rooms[2] == rooms[0] - machine.whole_bytes(step, near)
    assert machine.spared_bytes(near, 1, ["x"]) == 200
    assert machine.spared_bytes(near, 3, ["x"]) == 0


def test_such_steps_are_no_part_of_a_group() -> None:
    machine = machine_of(branches())
    assert [machine.apart(first, 2) for first in range(3)] == [True, False, True]


def test_what_others_hide_is_not_counted_twice() -> None:
    """A job of 4,040 cycles beside two steps, and one of 140 beside a longer step."""
    long, short = branches(), branches(engine_cycles=100.0)
    for plan in (long, short):
        groups = {group.name: group for group in plan.allocated.tiled.groups}
        beside = groups["one"].cycles + (groups["two"].cycles if plan is long else 0.0)
        assert groups["job"].hidden_cycles == pytest.approx(min(job_cycles(machine_of(plan), "job"), beside))
        again = with_hidden(machine_of(plan), plan.allocated.tiled.groups)
        assert again == plan.allocated.tiled.groups
    assert job_cycles(machine_of(short), "job") == 140.0


def test_a_step_in_several_tiles_is_refused() -> None:
    cut = branches(Decisions(deferred={"job": ""}), memory=1 << 10).allocated
    machine = machine_of(branches())
    tiles = {group.name: group.region for group in cut.tiled.groups}
    with pytest.raises(TilewrightError) as caught:
        demand_deferrable(machine, [tiles[name] for name in ("job", "one", "two", "both")])
    assert caught.value.code == "TW5076"
    assert "it is cut in several tiles" in caught.value.message


def test_what_fits_in_no_tile_alone_is_not_deferred() -> None:
    large = replace(KERNEL, scratch_bytes=lambda tile: 2 * (80 * tile.extent("i") + 8))
    assert branches(kernel=large).allocated.tiled.scheduled.deferred == {}
    with pytest.raises(TilewrightError) as caught:
        _ = branches(Decisions(deferred={"job": "two"}, order=("job", "one", "two", "both")), kernel=large).allocated
    assert "waited for behind a later step" in str(caught.value)
