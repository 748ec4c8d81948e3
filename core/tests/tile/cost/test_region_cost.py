"""The two clocks of a region, the cores' and that of the copies, against sums that are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.region import Copy, Cut, Region, Tiles
from tilewright.testing.cluster import CALL_CYCLES, copy_cycles
from tilewright.tile.cost.region_cost import (
    altogether,
    bounds_of,
    compute_cycles,
    hop_costs,
    moved_cycles,
    region_costs,
)
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE, traffic_of
from tilewright.tile.space.fusion import RegionAnalysis

IN = [copy_cycles(size, 2) for size in (160, 160, 64)]
OUT = [copy_cycles(size, 2) for size in (96, 96, 64)]


def played(pools: Any, computes: list[float], **copies: Copy) -> Any:
    """The region's three tiles where the cores take so long for each."""
    (hop,) = pools.region.hops
    changed = {f"{key[0]}.{key[1]}": copy for key, copy in copies.items()}
    boxes = boxes_of(pools.analysis, (replace(hop, copies={**hop.copies, **changed}),), pools.region.forms)
    region = replace(pools.region, internal_values={})
    (cost,) = hop_costs(boxes, traffic_of(boxes), region, np.array(computes), bounds_of(boxes.analysis))
    return cost


def in_queues(pools: Any, queues: int, **changes: Any) -> Any:
    """The same where the copies of all operands move in so many queues."""

    def widened(space: Any) -> Any:
        copied = (replace(item, path=replace(item.path, queues=queues, **changes)) for item in space.copied)
        return replace(space, copied=tuple(copied))

    members = tuple(replace(member, spaces=tuple(map(widened, member.spaces))) for member in pools.analysis.members)
    return SimpleNamespace(analysis=replace(pools.analysis, members=members), region=pools.region)


def test_with_one_buffer_each_nothing_overlaps(pools: Any) -> None:
    """A window is fetched when the one before was used, and an output written when the one before has left."""
    cost = played(pools, [1000.0, 1000.0, 1000.0])
    assert cost.copy_cycles == sum(IN) + sum(OUT)
    assert cost.total_cycles == 3000 + sum(IN) + sum(OUT)
    assert (cost.tiles, cost.in_bytes, cost.out_bytes) == (3, 384, 256)


def test_with_two_buffers_the_next_window_comes_meanwhile(pools: Any) -> None:
    two = Copy(level=1, buffers=2)
    cost = played(pools, [1000.0, 1000.0, 1000.0], aX=two, cY=two)
    assert cost.total_cycles == IN[0] + 3000 + OUT[2]


def test_in_two_queues_a_window_comes_while_a_result_leaves(pools: Any) -> None:
    """With one buffer each, the next window and the result are under way together; the cores wait for both."""
    pools = in_queues(pools, 2)
    cost = played(pools, [1000.0, 1000.0, 1000.0])
    assert cost.copy_cycles == sum(IN) + sum(OUT)
    assert cost.total_cycles == IN[0] + 3000 + max(IN[1], OUT[0]) + max(IN[2], OUT[1]) + OUT[2]
    two = Copy(level=1, buffers=2)
    slow = played(pools, [0.0, 0.0, 0.0], aX=two, cY=two)
    assert slow.total_cycles < played(in_queues(pools, 1), [0.0, 0.0, 0.0], aX=two, cY=two).total_cycles


def test_in_enough_queues_the_rows_of_a_window_come_together(pools: Any) -> None:
    """Where a path takes one row at once, a window of two channels is two transfers."""
    flat = {queues: played(in_queues(pools, queues, dimensions=1), [0.0] * 3) for queues in (1, 2, 4)}
    assert [cost.copy_cycles for cost in flat.values()] == [flat[1].copy_cycles] * 3
    assert flat[1].total_cycles == flat[1].copy_cycles
    assert flat[1].total_cycles == 2 * flat[2].total_cycles
    assert flat[2].total_cycles > flat[4].total_cycles


def test_what_is_executed_first_waits_for_copies_where_instructions_come_their_way(pools: Any) -> None:
    """Before the first tile is computed, the second window has come, too; before the second, the first tile's result
    has left, and the third window has come.
    """
    two, analysis = Copy(level=1, buffers=2), pools.analysis
    space = analysis.sink.space
    spaces = (replace(space, engine=replace(space.engine, code_waits=2)),)
    waiting = replace(analysis, members=(*analysis.members[:-1], replace(analysis.sink, spaces=spaces)))
    (hop,) = pools.region.hops
    copies = {**hop.copies, "a.X": two, "c.Y": two}
    boxes = boxes_of(waiting, (replace(hop, copies=copies),), pools.region.forms)
    computes, region = np.array([1000.0, 1000.0, 1000.0]), replace(pools.region, internal_values={})
    (cost,) = hop_costs(boxes, traffic_of(boxes), region, computes, bounds_of(waiting))
    assert cost.total_cycles == IN[0] + IN[1] + 1000 + OUT[0] + IN[2] + 2000 + OUT[2]


@pytest.mark.parametrize(("apart", "waited"), [(False, 6), (True, 4)])
def test_cores_wait_while_copies_are_started_but_for_those_that_another_core_starts_meanwhile(
    pools: Any, apart: bool, waited: int
) -> None:
    """Three windows come and three results leave; two of the windows are started while a tile is computed."""
    two, analysis = Copy(level=1, buffers=2), pools.analysis
    space = analysis.sink.space
    engine = replace(space.engine, copy_start_cycles=10.0, dma_core=apart)
    starting = replace(
        analysis,
        members=(*analysis.members[:-1], replace(analysis.sink, spaces=(replace(space, engine=engine),))),
    )
    (hop,) = pools.region.hops
    boxes = boxes_of(starting, (replace(hop, copies={**hop.copies, "a.X": two, "c.Y": two}),), pools.region.forms)
    region = replace(pools.region, internal_values={})
    (cost,) = hop_costs(boxes, traffic_of(boxes), region, np.array([1000.0] * 3), bounds_of(starting))
    assert cost.total_cycles == IN[0] + 3000 + OUT[2] + 10 * waited


def test_what_stays_in_the_cache_waits_for_nothing(pools: Any) -> None:
    two, analysis = Copy(level=1, buffers=2), pools.analysis

    def staying(space: Any) -> Any:
        kernel = replace(space.kernel, code_stays=True)
        return replace(space, engine=replace(space.engine, code_waits=2), kernel=kernel)

    members = tuple(replace(one, spaces=tuple(map(staying, one.spaces))) for one in analysis.members)
    small = replace(analysis, members=members)
    (hop,) = pools.region.hops
    boxes = boxes_of(small, (replace(hop, copies={**hop.copies, "a.X": two, "c.Y": two}),), pools.region.forms)
    region = replace(pools.region, internal_values={})
    (cost,) = hop_costs(boxes, traffic_of(boxes), region, np.array([1000.0] * 3), bounds_of(small))
    assert cost.total_cycles == IN[0] + 3000 + OUT[2]


def test_where_copies_are_slower_the_cores_wait(pools: Any) -> None:
    two = Copy(level=1, buffers=2)
    cost = played(pools, [0.0, 0.0, 0.0], aX=two, cY=two)
    assert cost.total_cycles == sum(IN) + sum(OUT)


def test_an_output_of_one_buffer_keeps_the_cores_waiting(pools: Any) -> None:
    """With two, the cores go on."""
    resident, cycles = Copy(level=0), copy_cycles(256, 1)
    one = played(pools, [10.0, 10.0, 10.0], aX=resident)
    assert one.total_cycles == cycles + 10 + OUT[0] + 10 + OUT[1] + 10 + OUT[2]
    two = played(pools, [10.0, 10.0, 10.0], aX=resident, cY=Copy(level=1, buffers=2))
    assert two.total_cycles == cycles + 10 + sum(OUT)


def test_each_tile_has_its_calls_and_the_rows_that_are_moved(pools: Any) -> None:
    """Two rows of `a` stay in the second and the third tile, each of 2 x 16 bytes, on eight cores."""
    boxes = pools.boxes
    row = 2 * 16 / MOVED_BYTES_PER_CYCLE
    assert moved_cycles(boxes, 0) == row
    assert moved_cycles(boxes, 1) == 0
    still = compute_cycles(replace(boxes, rolls=(None, None, None)))
    assert (compute_cycles(boxes) - still).tolist() == pytest.approx([0, 2 * row / 8, 2 * row / 8])
    assert (still > 3 * CALL_CYCLES).all() and (still < 4 * CALL_CYCLES).all()


def test_a_step_that_computes_nothing_in_a_tile_is_not_called(pools: Any) -> None:
    """All rows of `a` are there after the first tile: as they were computed before it, or as it needed all of them."""
    (hop,) = pools.region.hops
    whole = boxes_of(pools.analysis, (hop,), {**pools.region.forms, "a:0": "whole"})
    rolling = boxes_of(pools.analysis, (replace(hop, nest=(Cut("h", 7),)),), pools.region.forms)
    for boxes in (whole, rolling):
        first, second, *_ = compute_cycles(boxes)
        assert first > 3 * CALL_CYCLES > second > 2 * CALL_CYCLES


def test_a_step_is_begun_once_however_many_tiles_it_has(pools: Any) -> None:
    analysis = pools.analysis
    spaces = (replace(analysis.sink.space, kernel=replace(analysis.sink.space.kernel, step_cycles=70.0)),)
    later = replace(analysis, members=(*analysis.members[:-1], replace(analysis.sink, spaces=spaces)))
    before, after = (region_costs(one, pools.region)[0] for one in (analysis, later))
    assert after.total_cycles - before.total_cycles == 70
    assert after.compute_cycles - before.compute_cycles == 70


def test_code_is_counted_by_operands_and_tiles(pools: Any) -> None:
    """The sink copies its output alone, in three tiles."""
    asked: list[tuple[str, int, int]] = []

    def code(kernel: Kernel, operands: int, tiles: int) -> float:
        asked.append((kernel.name, operands, tiles))
        return 40.0

    analysis = pools.analysis
    space = analysis.sink.space
    spaces = (replace(space, engine=replace(space.engine, code_cycles=code)),)
    slow = replace(analysis, members=(*analysis.members[:-1], replace(analysis.sink, spaces=spaces)))
    before, after = (region_costs(one, pools.region)[0] for one in (analysis, slow))
    assert after.total_cycles - before.total_cycles == 40
    assert asked == [(space.kernel.name, 1, before.tiles)]


def test_bytes_that_layers_would_copy_one_by_one_are_the_bound(pools: Any) -> None:
    assert bounds_of(pools.analysis) == (3 * 2 * 256,)


def test_no_hops_no_cost(pools: Any) -> None:
    assert region_costs(pools.analysis, Region(steps=pools.region.steps)) == ()


def over_two_hops(pools: Any) -> RegionAnalysis:
    analysis: RegionAnalysis = pools.analysis
    members = tuple(replace(one, spaces=one.spaces * 2) for one in analysis.members)
    return replace(analysis, members=members, hops=analysis.hops * 2, rooms=(None, None), grains=(8, 8))


def test_what_an_inner_hop_takes_is_computation_to_the_outer_one(pools: Any) -> None:
    (hop,) = pools.region.hops
    outer = replace(hop, nest=(), copies={key: Copy(level=0) for key in hop.copies})
    far, near = region_costs(over_two_hops(pools), replace(pools.region, schedule=Tiles(hops=(outer, hop))))
    assert near.total_cycles == far.compute_cycles
    assert far.total_cycles > far.compute_cycles + far.copy_cycles - 1
    assert (far.tiles, near.tiles) == (1, 3)
    assert (far.in_bytes, near.in_bytes) == (256, 384)


def test_tiles_of_an_outer_hop_are_counted_each(pools: Any) -> None:
    (hop,) = pools.region.hops
    inner = replace(hop, nest=(), copies={key: Copy(level=0) for key in hop.copies})
    far, near = region_costs(over_two_hops(pools), replace(pools.region, schedule=Tiles(hops=(hop, inner))))
    (alone,) = region_costs(pools.analysis, pools.region)
    assert (far.tiles, near.tiles) == (3, 3)
    assert near.compute_cycles == alone.compute_cycles
    assert far.compute_cycles == near.total_cycles > near.compute_cycles


def test_altogether_is_the_time_of_all_and_the_bytes_of_each(pools: Any) -> None:
    (one,) = region_costs(pools.analysis, pools.region)
    outer = replace(one, total_cycles=9e6, in_bytes=1, out_bytes=2, bound_bytes=3, tiles=7)
    both = altogether((outer, one))
    assert (both.total_cycles, both.tiles) == (9e6, one.tiles)
    assert (both.in_bytes, both.out_bytes, both.bound_bytes) == (385, 258, one.bound_bytes + 3)
