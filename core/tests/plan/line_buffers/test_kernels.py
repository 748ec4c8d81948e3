"""Which kernels are best where every call computes one row, and for the calls that a plan makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.bind import bind
from tilewright.ir.access.index_map import Access, parse_map, whole
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.kernels import kernels_of_calls, line_buffer_kernels
from tilewright.plan.line_buffers.plan_costs import plan_cycles
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch


def in_one_piece(site: Matched) -> Access:
    """An access that no loop can be cut of."""
    return whole({"X": site.input(0).shape}, {"Y": site.output.shape})


def by_rows(site: Matched) -> Access:
    """One that takes rows."""
    return parse_map("h : X[:,:,h,:] -> Y[:,:,h,:]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def chosen(access: Callable[[Matched], Access], cycles: Callable[[TileShape], float]) -> dict[str, str]:
    """What is chosen for a Clip over an image that a fast kernel of somebody's computes."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 8, 8))
    graph = sketch.finish(sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0}, name="clip"))
    theirs = Kernel(name="acme.clip", op="Clip", access=access, cycles=cycles, call=";")
    kernels = {**portable_kernels(), theirs.name: theirs}
    bound = bind(graph, ONE_MEMORY, vocabulary(), kernels, Decisions())
    assert bound.bindings["clip"].kernel is theirs
    return line_buffer_kernels(bound, Layers(operators=vocabulary()))


def test_a_kernel_of_whole_images_is_exchanged() -> None:
    assert chosen(in_one_piece, lambda tile: 1.0) == {"clip": "portable.clip"}


def test_a_fast_kernel_that_takes_rows_stays() -> None:
    assert chosen(by_rows, lambda tile: 1.0 * tile.extent("h")) == {}


@pytest.mark.parametrize("each", [10.0, 100.0])
def test_a_kernel_that_loses_much_by_rows_is_exchanged(each: float) -> None:
    assert chosen(by_rows, lambda tile: each) == ({"clip": "portable.clip"} if each > 16 else {})


WIDE = 6  # a network of which columns that are computed again take less
THEIRS = "acme.conv"


def with_slow_calls(scratch_bytes: int = 0) -> Planner:
    """Somebody's convolution is the fastest in one piece; each call of it, however small, takes as long."""
    known = portable_kernels()
    theirs = replace(known["portable.conv_f32"], name=THEIRS, cycles=lambda tile: 1.0 * tile.site.output.elements)
    mine = replace(
        known["portable.conv_f32"],
        cycles=lambda tile: 2.0 * tile_outputs(tile),
        scratch_bytes=lambda tile: scratch_bytes,
    )
    kernels = {**known, mine.name: mine, theirs.name: theirs}
    return portable_planner(kernels=kernels, optimize="ram", recompute=10.0)


def tile_outputs(tile: TileShape) -> float:
    """Elements of the result in a tile."""
    parallel = [loop for loop in tile.access.loops if loop.kind == "parallel"]
    share = 1.0
    for loop in parallel:
        share *= tile.extent(loop.name) / loop.extent
    return share * tile.site.output.elements


def planned_twice(planner: Planner) -> tuple[Allocated, Allocated]:
    """The plan, and what becomes of it where kernels may be others."""
    graph = row_network(WIDE, vocabulary()).graph
    bound = planner.bind(graph, ONE_MEMORY)

    def rebind(kernels: Mapping[str, str]) -> Bound:
        return replace(planner, pins=replace(planner.pins, kernels=dict(kernels))).bind(graph, ONE_MEMORY)

    return Fitting(planner=planner).plan(bound), Fitting(planner=planner, rebind=rebind).plan(bound)


def kernels_of(plan: Allocated) -> set[str]:
    """The names of all that compute convolutions."""
    bindings = plan.tiled.scheduled.bound.bindings.values()
    return {one.kernel.name for one in bindings if one.kernel.op == "Conv"}


@pytest.mark.slow
def test_steps_in_stripes_get_the_kernels_that_are_fastest_for_their_calls() -> None:
    planner = with_slow_calls()
    before, after = planned_twice(planner)
    exchanged = kernels_of_calls(before, planner.operators, Layers(operators=planner.operators))
    assert exchanged and set(exchanged.values()) == {"portable.conv_f32"}
    striped = [region for region in before.tiled.regions if region.line_buffers and region.line_buffers.stripes]
    assert set(exchanged) <= {name for region in striped for name in region.steps}
    assert kernels_of(before) == {THEIRS} and "portable.conv_f32" in kernels_of(after)
    assert ram_bytes(after) <= ram_bytes(before) and plan_cycles(after) < plan_cycles(before)


@pytest.mark.slow
def test_a_kernel_of_more_scratch_than_there_is_anyway_is_no_choice() -> None:
    planner = with_slow_calls(scratch_bytes=64)
    before, _ = planned_twice(planner)
    assert kernels_of_calls(before, planner.operators, Layers(operators=planner.operators)) == {}
