"""Every strategy's tiles through the checker, and what the strategies promise of each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from space_costs import space_cost
from tilewright.check.stages import verify_tiled
from tilewright.check.tiling import check_tiles
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, key_of
from tilewright.ir.plans.stages import Tiled
from tilewright.ir.plans.tiler import Buffering, TilingRequest
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.strategies import TILERS, StepTiler
from tilewright.tile.tile import tile

BY_NAME = {tiler.name: tiler for tiler in TILERS}
CONV: dict[str, Any] = {
    "op": "Conv",
    "inputs": [np.zeros((1, 8, 16, 16), np.float32), np.zeros((12, 8, 3, 3), np.float32)],
    "attributes": {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)},
    "constants": (1,),
}
SOFTMAX: dict[str, Any] = {"op": "Softmax", "inputs": [np.zeros((3, 400), np.float32)], "attributes": {"axis": 1}}


def tiled(layer: dict[str, Any], scratchpad_bytes: int, name: str = "cost", buffering: Buffering = "auto") -> Tiled:
    tiler: StepTiler = BY_NAME[name]
    return tile(schedule_on(layer, cluster(scratchpad_bytes)), vocabulary(), tiler, Decisions(), buffering, 7)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(layers(), st.sampled_from(["cost", "min", "max", "random-max"]), st.sampled_from([600, 1500, 4096, 65536]))
def test_tiles_of_every_strategy_are_sound(layer: dict[str, Any], name: str, scratchpad_bytes: int) -> None:
    for buffering in ("single", "double", "auto"):
        try:
            plan = tiled(layer, scratchpad_bytes, name, buffering)
        except TilewrightError as error:
            assert error.code == "TW5101" and error.exit_code is Exit.DOES_NOT_FIT
            continue
        verify_tiled(plan, vocabulary())
        used = sum(align_up(item.size_bytes, 8) for item in plan.buffers if item.kind == "tile")
        assert used <= scratchpad_bytes - RUNTIME_BYTES
        for group in plan.groups:
            for copy in group.region.hops[-1].copies.values():
                assert copy.buffers == 1 or (buffering != "single" and copy.level)


def test_some_steps_alone_take_what_they_take_among_all() -> None:
    tiler = BY_NAME["cost"]
    scheduled = schedule_on(CONV, cluster(8192))
    request = TilingRequest(scheduled=scheduled, operators=vocabulary(), decisions=Decisions(), longest=1)
    expected = {group.name: group.cycles for group in tiler.plan(request)}
    assert tiler.cycles_alone(request, expected) == expected and tiler.cycles_alone(request, ()) == {}
    small = replace(request, scheduled=schedule_on(CONV, cluster(RUNTIME_BYTES + 16)))
    with pytest.raises(TilewrightError) as error:
        tiler.cycles_alone(small, expected)
    assert error.value.code == "TW5101" and error.value.subject in expected
    one_memory = schedule_on(CONV, replace(cluster(8192), inner="", copies=()))
    assert tiler.cycles_alone(replace(request, scheduled=one_memory), expected) is None


@pytest.mark.slow
def test_the_search_finds_what_trying_everything_finds() -> None:
    """Within one percent of the best of every size, order, depth and number of buffers, all played exactly."""
    layer = {
        "op": "Conv",
        "inputs": [np.zeros((1, 2, 4, 1), np.float32), np.zeros((2, 2, 3, 1), np.float32)],
        "attributes": {"kernel_shape": (3, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 0, 1, 0)},
        "constants": (1,),
    }
    for scratchpad_bytes in (RUNTIME_BYTES + 112, RUNTIME_BYTES + 144):
        scheduled = schedule_on(layer, cluster(scratchpad_bytes))
        machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
        space = step_space(machine, 0, scheduled.steps[0], "l1")
        found = TilingSearch(space, "auto").best()
        assert found is not None
        mine = space_cost(space, found.on("node", ("l2", "l1"))).total_cycles
        names = [key_of("node", operand.name) for operand in space.copied]
        best = float("inf")
        for order in (("o", "h"), ("h", "o")):
            for sizes in product((1, 2), (1, 2, 4)):
                nest = tuple(Cut(name, dict(zip(("o", "h"), sizes, strict=True))[name]) for name in order)
                for choice in product(product(range(3), (1, 2)), repeat=len(names)):
                    copies = {n: Copy(level=d, buffers=b) for n, (d, b) in zip(names, choice, strict=True)}
                    hop = Hop(outer="l2", inner="l1", nest=nest, copies=copies)
                    cost = space_cost(space, hop)
                    if cost.scratchpad_bytes <= (space.available_bytes or 0):
                        best = min(best, cost.total_cycles)
        assert mine <= best * 1.01


@pytest.mark.slow
def test_smaller_memories_cost_more_time_and_take_less() -> None:
    cycles = [tiled(CONV, near).groups[0].cycles for near in (32768, 8192, 4096, 2048)]
    assert cycles == sorted(cycles)


def test_min_takes_the_least_and_max_has_the_fewest_tiles() -> None:
    def near(plan: Tiled) -> int:
        return sum(buffer.size_bytes for buffer in plan.buffers if buffer.kind == "tile")

    plans = {name: tiled(CONV, 8192, name) for name in ("cost", "min", "max", "random-max")}
    assert near(plans["min"]) == min(near(plan) for plan in plans.values())
    counts = {
        name: np.prod(
            [
                ceil_div({"o": 12, "h": 16, "w": 16, "c": 8}[loop], size)
                for loop, size in plan.groups[0].region.hops[0].nest
            ]
        )
        for name, plan in plans.items()
    }
    assert counts["max"] == min(counts.values())


def test_the_plan_is_what_the_search_of_each_step_finds() -> None:
    scheduled = schedule_on(CONV, cluster(16384))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    alone = TilingSearch(step_space(machine, 0, scheduled.steps[0], "l1"), "auto").best()
    assert alone is not None
    assert tiled(CONV, 16384).groups[0].region.hops[0] == alone.on("node", ("l2", "l1"))


def test_what_does_not_fit_names_the_layer_the_bytes_and_the_loop() -> None:
    with pytest.raises(TilewrightError) as caught:
        tiled(SOFTMAX, 2048)
    error = caught.value
    assert (error.code, error.exit_code) == ("TW5101", Exit.DOES_NOT_FIT)
    assert "3,200 B" in error.message and "1,792 B" in error.message
    assert "step 'node'" in error.where
    assert "axis 1 of X, 400 elements, cannot be cut: Softmax takes it whole" in error.details
    assert any(f"--memory l1={3200 + RUNTIME_BYTES} " in line for line in error.fix)
    tiled(SOFTMAX, 3200 + RUNTIME_BYTES)
    with pytest.raises(TilewrightError):
        tiled(SOFTMAX, 3199 + RUNTIME_BYTES)


def test_a_pinned_tiling_is_kept_and_a_pinned_value_is_not_copied() -> None:
    platform = cluster(16384)
    scheduled = schedule_on(CONV, platform)
    tiler = BY_NAME["cost"]
    pinned = tiled(CONV, 4096).groups[0].region
    resident = tile(scheduled, vocabulary(), tiler, Decisions(tiles={"node": pinned}))
    assert resident.groups[0].region == pinned
    near = tile(scheduled, vocabulary(), tiler, Decisions(memories={"in0": "l1"}))
    assert "node.X" not in near.groups[0].region.hops[0].copies
    assert check_tiles(near, vocabulary()) == ()
