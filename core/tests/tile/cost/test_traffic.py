"""What a region copies, transfer by transfer, and what that takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.ir.plans.region import Copy
from tilewright.testing.cluster import copy_cycles
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE, crosses_whole, crossings_of, traffic_of
from tilewright.tile.space.step_spaces import step_space


def test_windows_are_copied_tile_by_tile(pools: Any) -> None:
    """Two channels of 4, 5 and 2 rows of 16 bytes, with a gap between them; the output in 3, 3 and 2 rows."""
    ((x, y),) = traffic_of(pools.boxes)
    assert (x.key, x.sizes.tolist(), x.tile_bytes, x.size_bytes) == ("a.X", [160, 160, 64], 160, 384)
    assert x.cycles.tolist() == [copy_cycles(size, 2) for size in (160, 160, 64)]
    assert (y.key, y.sizes.tolist(), y.tile_bytes, y.size_bytes) == ("c.Y", [96, 96, 64], 96, 256)
    assert x.own and y.own and x.legal and y.legal
    assert not x.shifts.any()


def test_what_is_resident_is_copied_once(pools: Any) -> None:
    (hop,) = pools.region.hops
    whole = boxes_of(pools.analysis, (replace(hop, copies={"a.X": Copy(level=0)}),), pools.region.forms)
    ((x,),) = traffic_of(whole)
    assert (x.sizes.tolist(), x.capacity) == (256, (1, 2, 8, 4))


def test_a_rolling_window_copies_new_rows_and_moves_the_others(pools: Any) -> None:
    """Of the windows 0-5, 3-8 and 6-8: five rows, then three, then none; two rows of two channels stay each time."""
    (hop,) = pools.region.hops
    rolling = {**hop.copies, "a.X": Copy(level=1, window="rolling")}
    again = boxes_of(pools.analysis, (replace(hop, copies=rolling),), pools.region.forms)
    ((x, _),) = traffic_of(again)
    assert x.sizes.tolist() == [5 * 32, 3 * 32, 0]
    assert x.shifts.tolist() == [0, 2 * 32 / MOVED_BYTES_PER_CYCLE, 2 * 32 / MOVED_BYTES_PER_CYCLE]
    assert x.fault == "" and x.roll is not None and x.roll.axis == 2


def test_what_cannot_keep_rows_says_why(pools: Any) -> None:
    (hop,) = pools.region.hops
    wrong = {"a.X": Copy(level=0, window="rolling"), "c.Y": Copy(level=1, window="rolling")}
    boxes = boxes_of(pools.analysis, (replace(hop, copies=wrong),), pools.region.forms)
    ((x, y),) = crossings_of(boxes)
    assert (x.fault, y.fault) == (
        "X cannot keep rows: no loop moves it",
        "Y cannot keep rows: it is written, or copied with gaps",
    )


def test_a_value_that_is_held_leaves_from_where_it_is(pools: Any) -> None:
    """It has the room that the steps inside need, and no tile buffer for the transfer."""
    analysis = pools.analysis
    space = step_space(pools.machine, 0, analysis.members[0].step, "l1")
    leaving = replace(analysis.members[0], live_out=True, spaces=(space,))
    both = replace(analysis, members=(leaving, *analysis.members[1:]))
    hop = replace(pools.region.hops[0], copies={**pools.region.hops[0].copies, "a.Y": Copy(level=1)})
    ((_, y, _),) = traffic_of(boxes_of(both, (hop,), pools.region.forms))
    assert (y.key, y.own, y.capacity) == ("a.Y", False, (1, 2, 5, 4))
    assert y.sizes.tolist() == [4 * 32, 3 * 32, 1 * 32], "what is computed in each tile"


def test_values_cross_an_outer_hop_whole_where_nothing_is_cut_on_it(pools: Any) -> None:
    (hop,) = pools.region.hops
    analysis = replace(pools.analysis, hops=pools.analysis.hops * 2)
    members = tuple(replace(one, spaces=one.spaces * 2) for one in analysis.members)
    outer = replace(hop, nest=(), copies={"a.X": Copy(level=0)})
    boxes = boxes_of(replace(analysis, members=members), (outer, hop), pools.region.forms)
    assert (crosses_whole(boxes, 0), crosses_whole(boxes, 1)) == (True, False)
    last = boxes_of(replace(analysis, members=members), (outer, replace(hop, nest=())), pools.region.forms)
    assert not crosses_whole(last, 1), "in the scratchpad everybody has what he needs of it"
    (x,), _ = traffic_of(boxes)
    assert np.prod(x.capacity) * 4 == x.size_bytes == 256
