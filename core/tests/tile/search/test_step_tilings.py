"""The tilings of each step: found once for equal layers and rooms, inside each other over several hops, and priced."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster, copy_path
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.region_cost import region_costs
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.step_tilings import StepTilings, copies_by_operand
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.step_spaces import tiled_alone
from tilewright.tile.tile_buffers import analysis_of_region

ROOM = 400  # bytes: of a sum of 6 x 8 floats, two rows of each of three operands


def nested(room_bytes: int) -> Platform:
    near = cluster(RUNTIME_BYTES + room_bytes)
    copies = (*near.copies, copy_path("l3", "l2"), copy_path("l2", "l3"))
    return replace(near, memories=(Memory(name="l3", size_bytes=None), *near.memories), copies=copies, backing="l3")


def sums(count: int, platform: Platform) -> ScheduledMachine:
    """Sums of 6 x 8 floats, one after the other."""
    sketch = Sketch(operators=vocabulary())
    y = sketch.input("x", DType.F32, (6, 8))
    z = sketch.input("z", DType.F32, (6, 8))
    for _ in range(count):
        y = sketch.node("Add", (y, z))
    bound = bind(sketch.finish(y), platform, vocabulary(), portable_kernels(), Decisions())
    apart = Decisions(in_place=dict.fromkeys((node.outputs[0] for node in bound.graph.nodes), ""))
    return ScheduledMachine(schedule(bound, vocabulary(), apart), vocabulary(), Decisions())


class Counted:
    """The best tiling of each space, and how often that was asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def __call__(self, space: Any, index: int, buffering: Any, tables: Any, beat: Any) -> Any:
        self.asked.append((index, space.available_bytes, bool(beat)))
        best = TilingSearch(space, buffering, tables).best(beat[0] if beat else None)
        return [best] if best else []


def tilings(machine: ScheduledMachine, find: Any = None, *, steady: bool = True, known: Any = None) -> StepTilings:
    request = TilingRequest(
        scheduled=machine.scheduled,
        operators=vocabulary(),
        decisions=machine.decisions,
        known={} if known is None else known,
    )
    return StepTilings(machine, find or Counted(), request, name="test", steady=steady)


def test_equal_layers_are_searched_once() -> None:
    find = Counted()
    found = tilings(sums(3, cluster(RUNTIME_BYTES + ROOM)), find)
    best = [found.tiling(index) for index in range(3)]
    assert all(one is not None and one.hops[0].nest == (Cut("_lead1", 3),) for one in best)
    assert [next(iter(one.hops[0].copies)) for one in best if one] == ["Add_0.A", "Add_1.A", "Add_2.A"]
    assert len([one for one in find.asked if not one[2]]) == 1


def test_what_was_found_holds_for_less_room_as_long_as_it_fits() -> None:
    """The best takes 384 of 400 bytes."""
    find = Counted()
    found = tilings(sums(1, cluster(RUNTIME_BYTES + ROOM)), find)
    first = found.tiling(0)
    assert found.tiling(0, taken={"l1": 16}) == first and len(find.asked) == 1
    less = found.tiling(0, taken={"l1": 17})
    assert less != first and len(find.asked) == 2
    assert found.tiling(0, taken={"l1": ROOM}) is None


def test_all_of_the_room_is_looked_at_first() -> None:
    """What is found there does for every smaller room that it fits in."""
    find = Counted()
    found = tilings(sums(1, cluster(RUNTIME_BYTES + ROOM)), find)
    first, *others = [found.tiling(0, taken={"l1": taken}) for taken in (16, 4, 8, 12, 0)]
    assert first is not None and all(other == first for other in others)
    assert [room for _, room, _ in find.asked] == [ROOM]


def test_whatever_was_asked_before_each_room_has_the_answer_of_a_search_of_its_own() -> None:
    machine = sums(1, cluster(RUNTIME_BYTES + ROOM))
    shared = tilings(machine)
    for taken in (0, 200, 100, 17, 16, 300, 250, 399, ROOM, ROOM + 1, 390):
        assert shared.tiling(0, taken={"l1": taken}) == tilings(machine).tiling(0, taken={"l1": taken}), taken


def test_what_is_not_steady_is_searched_for_every_step_and_room() -> None:
    find = Counted()
    found = tilings(sums(2, cluster(RUNTIME_BYTES + ROOM)), find, steady=False)
    for index in range(2):
        found.tiling(index)
        found.tiling(index, taken={"l1": 8})
    assert [(index, room) for index, room, _ in find.asked] == [(0, 400), (0, 392), (1, 400), (1, 392)]


def test_results_are_kept_with_the_request() -> None:
    known: dict[Any, Any] = {}
    machine = sums(1, cluster(RUNTIME_BYTES + ROOM))
    again = Counted()
    one = tilings(machine, known=known).tiling(0)
    assert tilings(machine, again, known=known).tiling(0) == one
    assert again.asked == []


def test_a_pinned_tiling_is_the_only_one() -> None:
    machine = sums(1, cluster(RUNTIME_BYTES + ROOM))
    copies = {f"Add_0.{name}": Copy(level=1) for name in "ABY"}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("_lead1", 1),), copies=copies)
    pins = Decisions(tiles={"Add_0": Region(steps=("Add_0",), schedule=Tiles(hops=(hop,)))})
    found = tilings(ScheduledMachine(machine.scheduled, vocabulary(), pins))
    assert [[one.hop for one in way] for way in found.candidates(0)] == [[hop]]
    best = found.tiling(0)
    assert best is not None and best.hops == (hop,)


def test_a_price_is_what_its_calls_take() -> None:
    machine = sums(1, cluster(RUNTIME_BYTES + ROOM))
    best = tilings(machine).tiling(0)
    assert best is not None
    region = tiled_alone(machine, machine.scheduled.steps[0], best.hops)
    (cost,) = region_costs(analysis_of_region(machine, region), region)
    assert (best.cycles, best.moved_bytes, best.bound_bytes) == (cost.total_cycles, 3 * 192, 3 * 192)


def test_over_two_hops_one_tiling_is_inside_the_other() -> None:
    found = tilings(sums(1, nested(ROOM)))
    best = found.tiling(0)
    assert best is not None
    assert [(hop.outer, hop.inner) for hop in best.hops] == [("l3", "l2"), ("l2", "l1")]
    assert best.moved_bytes == 2 * 3 * 192


def test_a_step_that_touches_only_the_scratchpad_has_no_hop() -> None:
    found = tilings(sums(1, cluster(RUNTIME_BYTES + ROOM)))
    near = dict.fromkeys(("x", "z", "Add_0:0"), "l1")
    best = found.tiling(0, near)
    assert best is not None and best.moved_bytes == 0
    one_memory = tilings(sums(1, replace(cluster(ROOM), inner="", copies=()))).tiling(0)
    assert one_memory is not None and one_memory.hops == () and one_memory.cycles > 0


def test_what_blocks_a_step_is_the_hop_without_room() -> None:
    blocked = tilings(sums(1, cluster(RUNTIME_BYTES + 16))).blocked(0)
    assert blocked is not None
    assert (blocked.memories.inner, blocked.space.available_bytes) == ("l1", 16)
    assert tilings(sums(1, cluster(RUNTIME_BYTES + ROOM))).blocked(0) is None


@pytest.mark.parametrize(("depth", "room_bytes", "split"), [(8, 1 << 16, False), (200, 700, True)])
def test_reductions_are_cut_where_that_gains(depth: int, room_bytes: int, split: bool) -> None:
    inputs = [np.zeros((8, depth), np.float32), np.zeros((depth, 16), np.float32)]
    scheduled = one_step("Gemm", inputs, cluster(RUNTIME_BYTES + room_bytes), constants=(1,))
    best = tilings(ScheduledMachine(scheduled, vocabulary(), Decisions())).candidates(0)[-1]
    assert ("k" in dict(best[0].hop.nest)) is split


def test_copies_have_the_names_of_operands() -> None:
    hop = Hop(outer="l2", inner="l1", copies={"block.1.conv.X": Copy(level=1)})
    assert copies_by_operand(hop) == (("X", Copy(level=1)),)
