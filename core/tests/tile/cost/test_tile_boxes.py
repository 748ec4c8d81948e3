"""What every step of a region computes and holds in each tile: worked out backwards from the rows of the last one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Cut, Hop
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.tile_boxes import RollingAxis, boxes_of, new_rows, roll_along
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis, region_analysis


def rows(reach: Any) -> list[tuple[int, int]]:
    """First row and one after the last, by tile."""
    return list(zip(*(side.ravel().tolist() for side in reach), strict=True))


def test_rows_that_the_last_step_computes_are_those_that_it_was_cut_into(pools: Any) -> None:
    boxes = pools.boxes
    assert rows(boxes.runs[2]["h"]) == [(0, 3), (3, 6), (6, 8)]
    assert rows(boxes.runs[2]["w"]) == [(0, 4)], "a loop that is not cut is the same in every tile"
    assert (boxes.extents, boxes.tiles) == ((3,), 3)


def test_a_step_computes_what_its_readers_need_inside_the_image(pools: Any) -> None:
    """One row above and one below, and none beyond the edges."""
    assert rows(pools.boxes.runs[1]["_lead1"]) == [(0, 4), (2, 7), (5, 8)]


def test_of_rows_that_stay_only_new_ones_are_computed(pools: Any) -> None:
    boxes = pools.boxes
    assert rows(boxes.needs[0][2]) == [(0, 4), (2, 7), (5, 8)]
    assert rows(boxes.runs[0]["h"]) == [(0, 4), (4, 7), (7, 8)]
    assert boxes.rolls == (RollingAxis(0, 2), None, None)
    stays, moves = boxes.kept(0)
    assert (stays.tolist(), moves.tolist()) == ([0, 2, 2], [0, 2, 3])
    assert [one.tolist() for one in boxes.kept(1)] == [[0], [0]], "the clip keeps none"


def test_windows_are_hulls_of_what_the_loops_inside_touch(pools: Any) -> None:
    boxes = pools.boxes
    assert rows(boxes.windows(0, "X", 1)[2]) == [(0, 5), (3, 8), (6, 8)]
    assert rows(boxes.windows(0, "X", 0)[2]) == [(0, 8)]
    assert boxes.capacity(0, "X", 1) == (1, 2, 5, 4)
    assert boxes.internal_rows(0) == boxes.internal_rows(1) == (1, 2, 5, 4)
    assert rows(boxes.around(2, 0)["h"]) == [(0, 8)]


def test_a_copy_level_is_that_of_the_innermost_loop_that_moves_anything(pools: Any) -> None:
    hop = replace(pools.region.hops[0], nest=(Cut("h", 4), Cut("c", 1)))
    boxes = boxes_of(pools.analysis, (hop,), {})
    assert [boxes.copy_level(number) for number in range(3)] == [2, 2, 2]
    assert boxes.copy_level_of(0, "X") == 2
    uncut = boxes_of(pools.analysis, (replace(hop, nest=(Cut("c", 1), Cut("h", 8))),), {})
    assert uncut.copy_level_of(0, "X") == 1, "a loop of one trip moves nothing"
    assert boxes_of(pools.analysis, (replace(hop, nest=()),), {}).copy_level_of(0, "X") == 0


def test_where_windows_do_not_overlap_nothing_stays(pools: Any) -> None:
    """Channel by channel."""
    hop = replace(pools.region.hops[0], nest=(Cut("c", 1),))
    boxes = boxes_of(pools.analysis, (hop,), pools.region.forms)
    assert boxes.rolls[0] == RollingAxis(0, 1)
    stays, moves = boxes.kept(0)
    assert (stays.tolist(), moves.tolist()) == ([0, 0], [0, 0])
    assert rows(boxes.runs[0]["c"]) == [(0, 1), (1, 2)]


def test_what_only_an_outer_hop_moves_is_computed_in_every_visit_of_the_inner_one(pools: Any) -> None:
    hop = pools.region.hops[0]
    hops = (replace(hop, nest=(Cut("h", 4),)), replace(hop, nest=(Cut("w", 2), Cut("c", 1))))
    whole = boxes_of(pools.analysis, hops, {"a:0": "whole"})
    assert whole.copy_level(0) == 1, "once for each tile of the outer hop, though it is the same in all"
    assert boxes_of(pools.analysis, hops, {}).copy_level(0) == 3


def test_tiles_of_an_inner_hop_that_are_not_there_are_marked(pools: Any) -> None:
    """Eight rows in tiles of six, and these in tiles of two: three, and one."""
    hop = pools.region.hops[0]
    boxes = boxes_of(pools.analysis, (replace(hop, nest=(Cut("h", 6),)), replace(hop, nest=(Cut("h", 2),))), {})
    assert boxes.exists.tolist() == [[True, True, True], [True, False, False]]
    assert (boxes.tiles, boxes.starts, boxes.extents) == (4, (0, 1, 2), (2, 3))


def test_an_axis_that_is_read_whole_whatever_the_tile_is_the_same_in_all() -> None:
    """One channel added to two: the sum reads its only position in every tile."""
    sketch = Sketch(operators=vocabulary())
    one = sketch.node("Clip", (sketch.input("one", DType.F32, (1, 1, 8, 4)),), {"min": 0.0}, "a")
    graph = sketch.finish(sketch.node("Add", (sketch.input("two", DType.F32, (1, 2, 8, 4)), one), name="b"))
    bound = bind(graph, CLUSTER, vocabulary(), portable_kernels(), Decisions())
    plan = schedule(bound, vocabulary(), Decisions(in_place={"a:0": "", "b:0": ""}))
    analysis = region_analysis(ScheduledMachine(plan, vocabulary(), Decisions()), 0, plan.steps)
    assert isinstance(analysis, RegionAnalysis)
    boxes = boxes_of(analysis, (Hop(outer="l2", inner="l1", nest=(Cut("_lead1", 3),)),), {})
    assert [len(rows(need)) for need in boxes.needs[0]] == [1, 1, 3, 1]
    assert rows(boxes.needs[0][1]) == [(0, 1)]


@pytest.mark.parametrize(
    ("form", "faults"),
    [("rolling", 0), ("whole", 0), ("recomputed", 1)],
)
def test_what_leaves_is_computed_once(pools: Any, form: Any, faults: int) -> None:
    """Rows that are computed again by the next tile would be written again."""
    analysis = pools.analysis
    members = tuple(replace(one, live_out=True) if one.step.name == "a" else one for one in analysis.members)
    boxes = boxes_of(replace(analysis, members=members), pools.region.hops, {"a:0": form})
    assert len(boxes.faults) == faults
    assert all("'a:0'" in fault for fault in boxes.faults)


def reach(low: list[int], high: list[int]) -> Any:
    return np.array(low), np.array(high)


def test_rows_stay_along_one_axis_that_goes_forward() -> None:
    moving, still = reach([0, 2], [3, 5]), reach([0], [4])
    assert roll_along([still, moving], range(1)) == RollingAxis(0, 1)
    assert roll_along([still, still], range(1)) is None
    assert roll_along([moving, still], range(0)) is None, "not along a loop of another hop"
    assert roll_along([moving, moving], range(1)) == "it moves along several axes at once"
    assert roll_along([reach([2, 0], [5, 3])], range(1)) == "rows would be needed again that are gone"
    assert roll_along([reach([0, 0, 2], [3, 4, 5])], range(1)) == RollingAxis(0, 0), "it may stand still"


def test_new_rows_are_what_the_trip_before_did_not_have() -> None:
    assert rows(new_rows(reach([0, 2, 4, 4], [3, 5, 6, 5]), 0)) == [(0, 3), (3, 5), (5, 6), (5, 5)]
    assert rows(new_rows(reach([0, 5], [3, 8]), 0)) == [(0, 3), (5, 8)], "a gap is not filled"
    assert rows(new_rows(reach([0, 2], [3, 5]), 0)) == [(0, 3), (3, 5)]
    assert rows(new_rows(reach([0], [3]), 0)) == [(0, 3)], "of a single trip everything is new"
