"""The buffers that a region needs in its scratchpad, by name and size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, SplitReduction
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import with_kernel
from tilewright.tile.cost.footprint import largest_run, region_scratch, scratchpad_buffers, scratchpad_bytes
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.cost.traffic import traffic_of


def sizes(pools: Any, hop: Any, sums: Any = None) -> dict[str, int]:
    boxes = boxes_of(pools.analysis, (hop,), pools.region.forms)
    found = scratchpad_buffers(boxes, traffic_of(boxes), sums or {}, 0)
    return {one.name: one.size_bytes for one in found}


def test_what_is_copied_and_what_is_held_has_room_for_the_largest_tile(pools: Any) -> None:
    """Five rows of 32 bytes around three of the output."""
    (hop,) = pools.region.hops
    assert sizes(pools, hop) == {"a.X@l1#0": 160, "c.Y@l1#0": 96, "a.Y@l1#0": 160, "b.Y@l1#0": 160}


def test_two_buffers_are_two(pools: Any) -> None:
    (hop,) = pools.region.hops
    doubled = replace(hop, copies={**hop.copies, "c.Y": Copy(level=1, buffers=2)})
    assert {"c.Y@l1#0": 96, "c.Y@l1#1": 96}.items() <= sizes(pools, doubled).items()


def test_sums_have_an_accumulator_for_each_element_unless_the_output_has_them(pools: Any) -> None:
    """Half as wide as the output's floats: the tile's 24 elements."""
    (hop,) = pools.region.hops
    split = SplitReduction(loops=("y",), dtype=DType.I16)
    assert sizes(pools, hop, {"c": split})["c.acc@l1#0"] == 2 * 24
    assert "c.acc@l1#0" not in sizes(pools, hop, {"c": replace(split, in_output=True)})
    assert "c.acc@l1#0" not in sizes(pools, hop, {"a": split}), "of another step"


def test_every_buffer_is_counted_up_to_where_the_next_may_begin(pools: Any) -> None:
    boxes = pools.boxes
    assert scratchpad_bytes(boxes, traffic_of(boxes), {}, 0) == 160 + 96 + 160 + 160
    coarse = replace(boxes, analysis=replace(boxes.analysis, grains=(64,)))
    assert scratchpad_bytes(coarse, traffic_of(coarse), {}, 0) == 192 + 128 + 192 + 192


def test_an_outer_hop_has_only_what_is_copied_over_it(pools: Any) -> None:
    hop = pools.region.hops[0]
    boxes = boxes_of(pools.analysis, (hop,), pools.region.forms)
    nested = replace(boxes, hops=(hop, hop))
    names = [one.name for one in scratchpad_buffers(nested, traffic_of(boxes), {}, 0)]
    assert names == ["a.X@l1#0", "c.Y@l1#0"]


@pytest.mark.parametrize(("step", "bytes_each_row"), [("a", 10), ("b", 10)])
def test_scratch_is_that_of_the_neediest_step_in_its_largest_tile(pools: Any, step: str, bytes_each_row: int) -> None:
    """Four rows of `a` in the first tile; five of `b` in the second."""
    row = {"a": "h", "b": "_lead1"}[step]

    def scratch(tile: Any) -> int:
        low, high = tile.box[row]
        return bytes_each_row * (high - low)

    bound = with_kernel(pools.machine.bound, step, scratch_bytes=scratch, parallel=())
    boxes = pools.boxes
    number = ("a", "b").index(step)
    member = boxes.analysis.members[number]
    needy = replace(member.space, kernel=bound.bindings[step].kernel)
    changed = replace(member, spaces=(needy,), calls=type(member.calls)())
    members = tuple(changed if at == number else one for at, one in enumerate(boxes.analysis.members))
    boxes = replace(boxes, analysis=replace(boxes.analysis, members=members))
    assert largest_run(boxes, number)[row] == {"a": 4, "b": 5}[step]
    assert region_scratch(boxes) == bytes_each_row * {"a": 4, "b": 5}[step]
    names = [one.name for one in scratchpad_buffers(boxes, traffic_of(boxes), {}, 0)]
    assert names[-1] == "c.scratch"
