"""Tilings that cut reductions: chosen where they gain, floors below what they cost, the best of all that there are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from random_layers import schedule_on
from space_costs import space_chain, space_cost, space_region
from tilewright.check.stages import verify_tiled
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, key_of
from tilewright.ir.plans.stages import Tiled
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.rounding import align_up
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import vocabulary
from tilewright.tile.choices import TileChoices
from tilewright.tile.cost import footprint
from tilewright.tile.cost.lower_bounds import least_copies, least_score, score_bounds
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.split_reductions import accumulator_bytes, is_split, splits
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace
from tilewright.tile.strategies import TILERS, StepTiler
from tilewright.tile.tile import tile

BY_NAME = {tiler.name: tiler for tiler in TILERS}


def conv(outputs: int, inputs: int, side: int, taps: int = 3, group: int = 1) -> dict[str, Any]:
    edge = taps // 2
    return {
        "op": "Conv",
        "inputs": [
            np.zeros((1, inputs, side, side), np.float32),
            np.zeros((outputs, inputs // group, taps, taps), np.float32),
        ],
        "attributes": {
            "kernel_shape": (taps, taps),
            "strides": (1, 1),
            "dilations": (1, 1),
            "pads": (edge,) * 4,
            "group": group,
        },
        "constants": (1,),
    }


MATMUL: dict[str, Any] = {"op": "MatMul", "inputs": [np.zeros((24, 300), np.float32), np.zeros((300, 20), np.float32)]}


def space_of(layer: dict[str, Any], scratchpad_bytes: int, *, split: bool) -> TilingSpace:
    scheduled = schedule_on(layer, cluster(scratchpad_bytes))
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    return step_space(machine, 0, scheduled.steps[0], "l1", split=split)


def tiled(layer: dict[str, Any], scratchpad_bytes: int, name: str = "cost") -> Tiled:
    tiler: StepTiler = BY_NAME[name]
    return tile(schedule_on(layer, cluster(scratchpad_bytes)), vocabulary(), tiler, Decisions())


@pytest.mark.parametrize("layer", [conv(32, 32, 8), conv(16, 64, 6), MATMUL], ids=["conv", "deep", "matmul"])
def test_parts_are_taken_where_they_gain_and_never_lose(layer: dict[str, Any]) -> None:
    taken = 0
    for scratchpad_bytes in (2048, 4096, 8192, 65536):
        plan = tiled(layer, scratchpad_bytes)
        verify_tiled(plan, vocabulary())
        (group,) = plan.groups
        space = space_of(layer, scratchpad_bytes, split=False)
        whole = TilingSearch(space, "auto").best()
        cut = splits(space.access, group.region.hops[0].nest)
        taken += cut
        if whole is not None:
            cycles = space_cost(space, whole.on("node", ("l2", "l1"))).total_cycles
            assert group.cycles <= cycles
            assert not cut or group.cycles < cycles or whole.score > least_score(space) * 1.05
    assert taken


def test_a_layer_near_its_least_is_not_cut() -> None:
    layer = conv(8, 8, 16)
    space = space_of(layer, 65536, split=False)
    assert not splits(space.access, tiled(layer, 65536).groups[0].region.hops[0].nest)


def test_a_depthwise_convolution_has_no_reduction_that_is_cut() -> None:
    assert space_of(conv(16, 16, 12, group=16), 2048, split=True).sums is None


@pytest.mark.parametrize("layer", [conv(12, 20, 6), MATMUL], ids=["conv", "matmul"])
def test_no_tiling_is_better_than_its_floor(layer: dict[str, Any]) -> None:
    for scratchpad_bytes in (1500, 6000):
        search = TilingSearch(space_of(layer, scratchpad_bytes, split=True), "auto")
        space = search.space
        fits = np.flatnonzero(is_split(space, search.points) & (search.least_bytes() <= search.available_bytes))
        points = search.points[fits]
        floor = score_bounds(space, points, least_copies(space, points, search.table))
        checked = 0
        for number, least in list(zip(fits.tolist(), floor.tolist(), strict=True))[::17]:
            found = search.at(number)
            if found is not None:
                checked += 1
                assert found.score >= least * (1 - 1e-9)
        assert checked


def test_sizes_of_sums_are_the_same_one_by_one_and_together() -> None:
    whole = space_of(conv(12, 20, 6), 4096, split=True)
    space = replace(whole, copied=tuple(item for item in whole.copied if not item.written))
    search = TilingSearch(space, "single")
    names = [loop.name for loop in search.space.cuts]
    together = accumulator_bytes(space, search.points, search.table).tolist()
    for row, size in list(zip(search.points.tolist(), together, strict=True))[::29]:
        nest = tuple(Cut(name, trips) for name, trips in zip(names, row, strict=True))
        hop = Hop(outer="l2", inner="l1", nest=nest)
        boxes = boxes_of(space_chain(whole, hop), (hop,))
        sums = space_region(space, hop).sums
        taken = footprint.scratchpad_bytes(boxes, ((),), sums, 0) - footprint.scratchpad_bytes(boxes, ((),), {}, 0)
        assert align_up(size, space.grain) == taken


def test_sums_of_the_type_of_the_output_are_in_its_own_tile() -> None:
    space = space_of(conv(12, 20, 6), 4096, split=True)
    search = TilingSearch(space, "auto")
    assert space.sums_in_output
    assert not accumulator_bytes(space, search.points, search.table).any()


@pytest.mark.slow
def test_the_search_finds_what_trying_everything_finds() -> None:
    """Within one percent of the best of every size, order, depth and number of buffers, all played exactly."""
    layer = {"op": "MatMul", "inputs": [np.zeros((4, 12), np.float32), np.zeros((12, 4), np.float32)]}
    space = space_of(layer, RUNTIME_BYTES + 160, split=True)
    found = TilingSearch(space, "auto").best()
    assert found is not None
    mine = space_cost(space, found.on("node", ("l2", "l1"))).total_cycles
    inner = next(loop.name for loop in space.cuts if loop.kind == "reduce")
    outer = [loop.name for loop in space.cuts if loop.kind != "reduce"]
    names = [key_of("node", item.name) for item in space.copied]
    written = next(key_of("node", item.name) for item in space.copied if item.written)
    best = float("inf")
    for order in ((*outer, inner), (*reversed(outer), inner)):
        for sizes in product((2, 4), (2, 4), (2, 3, 4, 6)):
            nest = tuple(map(Cut, order, sizes))
            for choice in product(product(range(4), (1, 2)), repeat=len(names)):
                copies = {n: Copy(level=d, buffers=b) for n, (d, b) in zip(names, choice, strict=True)}
                if copies[written].level == 3 or any(one.level == 0 and one.buffers == 2 for one in copies.values()):
                    continue
                hop = Hop(outer="l2", inner="l1", nest=nest, copies=copies)
                if fits(space, hop):
                    best = min(best, space_cost(space, hop).total_cycles)
    assert mine <= best * 1.01


def fits(space: TilingSpace, hop: Hop) -> bool:
    """Whether all buffers have room."""
    return space_cost(space, hop).scratchpad_bytes <= (space.available_bytes or 0)


def test_the_smallest_tiles_are_smaller_with_reductions_cut() -> None:
    layer = conv(8, 64, 8)
    used = {
        name: sum(align_up(one.size_bytes, 8) for one in tiled(layer, 65536, name).buffers if one.kind == "tile")
        for name in ("min", "max")
    }
    whole = TilingSearch(space_of(layer, 65536, split=False), "single").least_bytes().min()
    assert used["min"] < whole <= used["max"]


@pytest.mark.slow
def test_other_tilers_choose_from_tilings_in_parts_as_well() -> None:
    scheduled = schedule_on(conv(32, 32, 8), cluster(4096))
    request = TilingRequest(scheduled=scheduled, operators=vocabulary(), decisions=Decisions())
    access = space_of(conv(32, 32, 8), 4096, split=False).access
    tilings = TileChoices(request).tilings(0)
    cut = [one for one in tilings if splits(access, one.group.region.hops[0].nest)]
    assert cut and len(cut) < len(tilings)
    assert min(one.cycles for one in cut) == min(one.cycles for one in tilings)
    assert all(one.group.region.sums["node"].in_output for one in cut)
