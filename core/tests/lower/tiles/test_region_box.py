"""The boxes that the generated program works out for its tiles are those of `tile.boxes`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.region import Tiles
from tilewright.ir.programs.expressions import Name
from tilewright.lower.tiles.region_box import RegionBox, region_box
from tilewright.testing.one_step import vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import analysis_of_region


@pytest.fixture(name="box")
def _box(pools: Any) -> RegionBox:
    machine = ScheduledMachine(pools.plan.tiled.scheduled, vocabulary(), pools.plan.decisions)
    (region,) = pools.plan.tiled.regions
    return region_box(analysis_of_region(machine, region), region, "net_2_maxpool")


def at(reach: Any, tile: int) -> tuple[int, int]:
    low, high = np.broadcast_arrays(*reach)
    return int(low.flat[tile % low.size]), int(high.flat[tile % high.size])


def test_the_struct_has_what_moves_and_what_is_new(box: RegionBox) -> None:
    assert box.members == ("h", "lead1_1", "h_0", "new_h_0")
    assert box.needs == {(0, "h"): "h_0", (1, "_lead1"): "lead1_1"}
    assert box.runs == {(0, "h"): "new_h_0", (1, "_lead1"): "lead1_1", (2, "h"): "h"}


@pytest.mark.parametrize("tile", range(3))
def test_every_member_is_the_range_of_that_tile(pools: Any, box: RegionBox, value_of: Any, tile: int) -> None:
    (level,) = box.levels
    part = box.part(level)
    names: dict[str, Any] = {"t": tile}
    for one in part.body:
        names[one.name] = value_of(one.value, names)
    found = {name: (one.low, one.high) for name, one in vars(names["box"]).items()}
    boxes = box.boxes
    assert found == {
        "h": at(boxes.runs[2]["h"], tile),
        "lead1_1": at(boxes.needs[1][2], tile),
        "h_0": at(boxes.needs[0][2], tile),
        "new_h_0": at(boxes.runs[0]["h"], tile),
    }


def test_a_variable_has_the_box_of_another_tile(box: RegionBox) -> None:
    (level,) = box.levels
    assert str(box.declare(level).value) == "net_2_maxpool_tile(t)"
    before = box.declare(level, Name("before"), level.tile - 1)
    assert (before.name, str(before.value)) == ("before", "net_2_maxpool_tile(t - 1)")


def test_a_step_alone_has_its_own_loops(box: RegionBox) -> None:
    nest = box.nest(1)
    assert dict(nest.members) == {"_lead1": "lead1_1"}
    low, high = nest.box["_lead1"]
    assert (str(low), str(high)) == ("box.lead1_1.low", "box.lead1_1.high")
    assert nest.ranges["_lead1"] == ((0, 4), (2, 7), (5, 8))
    assert nest.ranges["_lead0"] == ((0, 4),)
    assert [str(end) for end in nest.box["_lead0"]] == ["0", "4"]


def test_a_later_trip_is_one_that_does_not_begin_at_the_beginning(box: RegionBox) -> None:
    assert str(box.later_trip(0, Name("box"))) == "box.h.low > 0"
    assert [str(end) for end in box.need(0, 2, Name("box"))] == ["box.h_0.low", "box.h_0.high"]
    assert [str(end) for end in box.need(0, 3, Name("box"))] == ["0", "4"], "all columns in every tile"


def test_a_level_of_one_tile_has_no_box(generate: Any, pools: Any) -> None:
    assert "net_2_maxpool_tile" in pools.functions
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    whole = replace(
        region,
        schedule=Tiles(hops=(replace(hop, nest=()),)),
        internal_values={value: replace(held, form="whole") for value, held in region.internal_values.items()},
    )
    graph = pools.plan.tiled.scheduled.bound.graph
    copies = {name: replace(copy, level=0, buffers=1) for name, copy in hop.copies.items()}
    whole = replace(whole, schedule=Tiles(hops=(replace(whole.hops[0], copies=copies),)))
    assert not [name for name in generate(graph, whole).functions if name.endswith("_tile")]
