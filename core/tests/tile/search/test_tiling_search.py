"""What the search believes of a tiling, from tables by axis, is what its calls do when they are played one by one: all
of it where tiles are alike, but within 2 % where they have two buffers; else all but how much of computing and copying
is done at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from space_costs import space_cost
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.decisions import Decisions
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import vocabulary
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC, TRAFFIC
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.loop_orders import EstimatedTiling
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace, rolling_loops


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(layers(), st.integers(64, 4096), st.sampled_from(["single", "auto"]), st.booleans(), st.booleans())
def test_bytes_are_equal_and_cycles_too_where_tiles_are_alike(
    layer: dict[str, Any], room_bytes: int, buffering: Any, split: bool, rolls: bool
) -> None:
    scheduled = schedule_on(layer, cluster(RUNTIME_BYTES + room_bytes))
    if not scheduled.steps:
        return
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    step, way = scheduled.steps[0], machine.hops[0]
    space = step_space(machine, 0, step, way.inner, split=split)
    if not isinstance(space.access, MapAccess) or not any(item.written for item in space.copied):
        return
    if rolls:
        space = replace(space, rolls=rolling_loops(space))
    found = TilingSearch(space, buffering).best()
    if found is None:
        return
    played = space_cost(space, found.on(step.name, (way.outer, way.inner)))
    assert round(found.moved_bytes, 6) == played.in_bytes + played.out_bytes  # sums of averages
    assert found.used_bytes == played.scratchpad_bytes
    believed = found.cycles + space.engine.step_cycles
    if _are_alike(space, found, layer.get("attributes", {})):
        doubled = any(copy.buffers > 1 for copy in found.copies.values())  # who waits for whom is averaged, too
        assert believed == pytest.approx(played.total_cycles, rel=0.02 if doubled else 1e-9)
    # averages of unlike tiles tell everything but how much is done at the same time
    least, rounded = max(played.compute_cycles, played.copy_cycles), 1e-9 * believed
    assert believed >= least - rounded
    if not any(copy.window == "rolling" for copy in found.copies.values()):  # the cores move what stays
        assert believed <= played.compute_cycles + played.copy_cycles + rounded


def _are_alike(space: TilingSpace, found: EstimatedTiling, attributes: Mapping[str, Any]) -> bool:
    """Whether all tiles are of one size, and no window reaches over an edge: with strides, the last may end early."""
    clipped = any(attributes.get("pads", ())) or bool(attributes.get("ceil_mode", 0))
    clipped |= any(stride > 1 for stride in attributes.get("strides", ()))
    return not clipped and all(space.extents[cut.loop] % cut.size == 0 for cut in found.nest)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(layers(), st.integers(48, 1500), st.booleans())
def test_more_room_is_not_worse(layer: dict[str, Any], room_bytes: int, split: bool) -> None:
    """What is minimised, time and a little traffic, does not rise with the room; so time rises by no more than what the
    traffic saved is worth. Not for all layers there are: who has two buffers is settled greedily, so that time may
    double at worst. These are always the same layers.
    """
    before: EstimatedTiling | None = None
    for grown in range(6):
        scheduled = schedule_on(layer, cluster(RUNTIME_BYTES + round(room_bytes * 1.3**grown)))
        if not scheduled.steps:
            return
        machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
        space = step_space(machine, 0, scheduled.steps[0], machine.hops[0].inner, split=split)
        search = TilingSearch(space, "auto")
        found = search.best()
        if before is not None:
            assert found is not None
            assert found.score <= before.score * (1 + 1e-9)
            saved = 1 + TRAFFIC * min(before.moved_bytes / search.bound, MOST_TRAFFIC)
            assert found.cycles <= before.cycles * saved * (1 + 1e-9)
        before = found


def test_windows_that_keep_rows_move_what_was_believed() -> None:
    """Every tiling of a convolution whose rows stay, in a room in which they make a difference."""
    square = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    inputs = [np.zeros((1, 8, 17, 16), np.float32), np.zeros((12, 8, 3, 3), np.float32)]
    layer = {"op": "Conv", "attributes": {**square, "group": 1}, "inputs": inputs}
    scheduled = schedule_on(layer, cluster(RUNTIME_BYTES + 3000))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    step, way = scheduled.steps[0], machine.hops[0]
    space = step_space(machine, 0, step, way.inner)
    search = TilingSearch(replace(space, rolls=rolling_loops(space)), "auto")
    points = search.points[search.least_bytes() <= search.available_bytes]
    best = [found for order in search.ordered(points) if (found := order.best()) is not None]
    rolling = [found for found in best if any(copy.window == "rolling" for copy in found.copies.values())]
    assert len(rolling) > 3  # the best of each size and order of loops
    for found in rolling:
        played = space_cost(space, found.on(step.name, (way.outer, way.inner)))
        assert round(found.moved_bytes, 6) == played.in_bytes + played.out_bytes  # sums of averages
        assert found.used_bytes == played.scratchpad_bytes
        assert abs(found.cycles - played.total_cycles + space.engine.step_cycles) <= 0.02 * played.total_cycles


def test_what_a_kernel_takes_once_is_counted_once() -> None:
    """However many tiles a step has."""
    inputs = [np.zeros((48, 64), np.float32), np.zeros((64, 64), np.float32)]
    scheduled = schedule_on({"op": "MatMul", "attributes": {}, "inputs": inputs}, cluster(RUNTIME_BYTES + 6000))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    step, way = scheduled.steps[0], machine.hops[0]
    space = step_space(machine, 0, step, way.inner)
    later = replace(space, kernel=replace(space.kernel, step_cycles=1000.0))
    found = TilingSearch(space, "auto").best()
    assert found is not None
    played = [space_cost(one, found.on(step.name, (way.outer, way.inner))) for one in (space, later)]
    assert played[0].tiles > 1
    assert played[1].total_cycles - played[0].total_cycles == 1000
