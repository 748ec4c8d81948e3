"""Windows in closed form against windows one by one; sizes; orders."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from space_costs import space_cost
from tilewright.ir.access.index_map import Access, MapAccess, parse_map
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import key_of
from tilewright.ir.rounding import ceil_div
from tilewright.testing.cluster import cluster
from tilewright.testing.kernels.kernel_tiles import tile_boxes
from tilewright.testing.one_step import vocabulary
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.grid import orders
from tilewright.tile.space.spans import nested_ranges, spans
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace, WindowTable, cuttable, sizes


def space_of(layer: dict[str, Any], scratchpad_bytes: int = 1 << 16) -> TilingSpace | None:
    """The space of a layer's only step; None where the step vanished or has nothing to copy."""
    scheduled = schedule_on(layer, cluster(scratchpad_bytes))
    if not scheduled.steps:
        return None
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    return step_space(machine, 0, scheduled.steps[0], machine.hops[0].inner)


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(layers(), st.data())
def test_windows_are_those_of_every_tile(layer: dict[str, Any], data: st.DataObject) -> None:
    space = space_of(layer)
    if space is None:
        return
    cuts = {loop.name: data.draw(st.integers(1, loop.extent)) for loop in space.cuts}
    table = WindowTable(space)
    for operand in space.copied:
        moving = {name: size for name, size in cuts.items() if name in operand.loops}
        seen = Counter(
            tuple(span.extent for span in space.access.window(operand.name, box))
            for box in tile_boxes(space.access, moving)
        )
        windows = table.windows(operand, cuts)
        assert Counter(dict(windows.classes)) == seen
        assert windows.capacity == tuple(max(extents[axis] for extents in seen) for axis in range(len(operand.shape)))


@pytest.mark.parametrize(
    "text",
    [
        "i : X[i*2-3?] -> Y[i]",
        "i : X[5-i] -> Y[i]",
        "i : X[i//2 + i%3] -> Y[i]",
        "i : X[clamp(i-1, 0, 3)] -> Y[i]",
        "i : X[3*((i+1)//2) - 2?] -> Y[i]",
        "i : X[:] -> Y[i]",
    ],
)
def test_spans_are_those_of_one_axis(text: str) -> None:
    access = parse_map(text).bind({"X": (9,), "Y": (6,)})
    (axis,) = access.axes["X"]
    for size in range(1, 7):
        low, high = nested_ranges(6, (size,))
        found = np.broadcast_arrays(*spans(axis, {"i": (0, 6)}, {"i": (low, high)}), low)
        for number, ends in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            span = axis.span({"i": ends})
            expected = (span.low, span.high, span.before, span.after)
            assert tuple(int(array[number]) for array in found[:4]) == expected


def test_a_loop_whose_tiles_would_overlap_is_not_cut() -> None:
    access = parse_map("i j<2 : X[i,j] -> Y[i+j]").bind({"X": (5, 2), "Y": (6,)}, {})
    kernel = space_of({"op": "Add", "inputs": [np.zeros((4,), np.float32)] * 2})
    assert kernel is not None
    loops, refused = cuttable(access, kernel.kernel)
    assert loops == () and "overlap" in refused["j"]


def test_a_loop_in_order_and_a_reduction_say_why_they_are_not_cut() -> None:
    access: Access = parse_map("~t k : X[t,k] -> Y[t]").bind({"X": (5, 3), "Y": (5,)})
    space = space_of({"op": "Add", "inputs": [np.zeros((4,), np.float32)] * 2})
    assert space is not None and isinstance(access, MapAccess)
    loops, refused = cuttable(access, space.kernel)
    assert loops == ()
    assert "in order" in refused["t"] and "reduction" in refused["k"]


def test_sizes_are_the_smallest_for_each_number_of_tiles() -> None:
    assert sizes(10) == (10, 5, 4, 3, 2, 1)
    assert sizes(10, 4) == (10, 8, 4)
    assert sizes(1) == (1,)
    assert len(sizes(100_000)) < 120 and sizes(100_000)[-1] == 1


def test_nested_tiles_end_where_the_tile_around_them_ends() -> None:
    low, high = nested_ranges(10, (4, 3))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(0, 3), (3, 4), (4, 7), (7, 8), (8, 10)]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(layers(), st.sampled_from([600, 1024, 4096, 65536]))
def test_bytes_moved_are_those_of_every_transfer(layer: dict[str, Any], scratchpad_bytes: int) -> None:
    space = space_of(layer, scratchpad_bytes)
    found = TilingSearch(space, "auto").best() if space is not None and space.copied else None
    if space is None or found is None:
        return
    hop = found.on("node", ("l2", "l1"))
    total = 0
    for operand in space.copied:
        level = hop.copies[key_of("node", operand.name)].level
        cut = dict(hop.nest[:level])
        for box in tile_boxes(space.access, cut):
            window = space.access.window(operand.name, box)
            sizes_here = [ceil_div(span.extent, step) for span, step in zip(window, operand.steps, strict=True)]
            total += operand.item_bytes * int(np.prod(sizes_here))
    cost = space_cost(space, hop)
    assert cost.in_bytes + cost.out_bytes == total == pytest.approx(found.moved_bytes)
    assert space.available_bytes is not None and cost.scratchpad_bytes <= space.available_bytes
    assert cost.total_cycles >= max(cost.compute_cycles, cost.copy_cycles) - 1e-6
    assert cost.total_cycles <= cost.compute_cycles + cost.copy_cycles + 1e-6


def test_interchangeable_loops_have_one_order() -> None:
    space = space_of({"op": "Add", "inputs": [np.zeros((4, 5, 6), np.float32)] * 2})
    assert space is not None
    assert len(list(orders(space))) == 1
