"""Where steps by rows have no room for their scratch, some get kernels with less of it, and only those in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.access.index_map import Access, whole
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.candidates import LineBufferedPlan, line_buffer_candidates
from tilewright.plan.line_buffers.plan_costs import plan_cycles
from tilewright.plan.line_buffers.scratch import kernels_within
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.shortfall import choice_of
from tilewright.plan.suggestions import with_memories
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.tile.line_buffers.segments import RowSchedule, Segment

PLAIN, LEAN, FAST = "portable.conv_f32", "acme.conv_lean", "acme.conv"
CYCLES = {FAST: 1.0, LEAN: 1.5, PLAIN: 8.0}  # of an element of the result
SEEDS = (0, 3, 8)  # of networks whose fullest segments have scratch


def scratch_of(name: str, tile: TileShape) -> int:
    """The more, the more a convolution sums up."""
    terms = tile.site.input(1).elements // tile.site.output.shape[1]
    return {FAST: 12 * terms, LEAN: 4 * terms, PLAIN: 0}[name]


def elements(tile: TileShape) -> float:
    """Of the result in a tile."""
    share = 1.0
    for loop in tile.access.loops:
        if loop.kind == "parallel":
            share *= tile.extent(loop.name) / loop.extent
    return share * tile.site.output.elements


def kernel(name: str) -> Kernel:
    """A convolution with rows."""
    return replace(
        portable_kernels()[PLAIN],
        name=name,
        cycles=lambda tile: CYCLES[name] * elements(tile),
        scratch_bytes=lambda tile: scratch_of(name, tile),
    )


@pytest.fixture(scope="module", name="planner")
def _planner() -> Planner:
    return portable_planner(kernels={**portable_kernels(), **{name: kernel(name) for name in CYCLES}})


def fitted(planner: Planner, seed: int, limit: int | None = None) -> Allocated:
    """The plan of a drawn network."""
    graph = row_network(seed, vocabulary()).graph

    def rebind(kernels: Mapping[str, str]) -> Bound:
        return replace(planner, pins=replace(planner.pins, kernels=dict(kernels))).bind(graph, ONE_MEMORY)

    bound = planner.bind(graph, ONE_MEMORY)
    return Fitting(planner=planner, rebind=rebind).plan(with_memories(bound, {"ram": limit}) if limit else bound)


def used(plan: Allocated) -> list[str]:
    """The kernels of its convolutions."""
    bindings = plan.tiled.scheduled.bound.bindings.values()
    return [one.kernel.name for one in bindings if one.kernel.name in CYCLES]


def least_way(planner: Planner, seed: int) -> LineBufferedPlan:
    """With the fastest kernels."""
    scheduled = fitted(planner, seed).tiled.scheduled
    return min(line_buffer_candidates(planner, scheduled, None), key=lambda way: way.size_bytes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_little_less_memory_than_the_fastest_kernels_need_takes_lean_ones_in_some_steps(
    planner: Planner, seed: int
) -> None:
    least = fitted(replace(planner, optimize="ram"), seed)
    assert set(used(least)) == {FAST}
    limit = ram_bytes(least) - 8
    plan = fitted(planner, seed, limit)
    assert ram_bytes(plan) <= limit
    assert {LEAN, FAST} <= set(used(plan))
    (note,) = (one for one in plan.tiled.scheduled.bound.diagnostics if one.code == "TW5035")
    assert len(note.details) == len(used(plan)) - used(plan).count(FAST)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 8))])
def test_no_limit_makes_it_slower_than_the_least_scratch_everywhere(planner: Planner, seed: int) -> None:
    plain = replace(planner, pins=replace(planner.pins, kernels=_all(planner, seed, PLAIN)))
    most, least = (ram_bytes(fitted(replace(one, optimize="ram"), seed)) for one in (planner, plain))
    assert least < most
    for limit in range(least, most, (most - least) // 3):
        plan = fitted(planner, seed, limit)
        assert ram_bytes(plan) <= limit
        assert plan_cycles(plan) <= plan_cycles(fitted(plain, seed, limit))


def _all(planner: Planner, seed: int, name: str) -> dict[str, str]:
    bindings = planner.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY).bindings
    return {node: name for node, one in bindings.items() if one.kernel.name in CYCLES}


@pytest.mark.parametrize("seed", SEEDS)
def test_only_steps_of_segments_that_are_too_large_are_exchanged(planner: Planner, seed: int) -> None:
    way = least_way(planner, seed)
    choice = choice_of(way.search.machine.bound, planner.operators, planner.pins)
    assert kernels_within(way, way.size_bytes, choice) == {}
    names = [step.name for step in way.search.machine.scheduled.steps]
    found = kernels_within(way, way.size_bytes - 8, choice)
    assert found and set(found.values()) == {LEAN}
    assert set(found) <= set(_crowded(way, way.size_bytes - 8, names))
    assert all(choice.used(step) > choice.scratch(step, kernel(LEAN)) for step in found)


def divided(way: LineBufferedPlan, *segments: tuple[int, int, bool], size_bytes: int = 10_000) -> LineBufferedPlan:
    """The way with such segments: first and last step, and whether it is by rows."""
    made = tuple(
        Segment(
            first=first, last=last, row_schedule=RowSchedule() if by_rows else None, size_bytes=size_bytes, cycles=1.0
        )
        for first, last, by_rows in segments
    )
    return replace(way, partition=replace(way.partition, segments=made))


@pytest.mark.slow
def test_nothing_is_exchanged_where_scratch_cannot_give_so_much(planner: Planner) -> None:
    """In one of the segments, though it could in the other."""
    way = least_way(planner, SEEDS[0])
    choice = choice_of(way.search.machine.bound, planner.operators, planner.pins)
    steps = [step.name for step in way.search.machine.scheduled.steps]
    convolution, other = (steps.index(next(n for n in steps if n.startswith(op))) for op in ("Conv", "Clip"))
    alone, both = ((convolution, convolution, False),), ((convolution, convolution, False), (other, other, False))
    assert kernels_within(divided(way, *alone), 9_999, choice) == {steps[convolution]: LEAN}
    assert kernels_within(divided(way, *both), 9_999, choice) == {}
    assert kernels_within(divided(way, *alone), 16, choice) == {}


def test_what_computes_an_image_in_one_piece_is_for_steps_that_are_alone(planner: Planner) -> None:
    """It is the fastest there. Beside other steps by rows there is room for it, and it takes none."""
    fast, way = replace(kernel(FAST), access=in_one_piece, scratch_bytes=lambda tile: 0), least_way(planner, SEEDS[0])
    other = replace(planner, kernels={**portable_kernels(), FAST: fast, PLAIN: kernel(PLAIN)})
    choice = choice_of(other.bind(way.search.machine.bound.graph, ONE_MEMORY), planner.operators, planner.pins)
    steps = [step.name for step in way.search.machine.scheduled.steps]
    convolution = next(number for number, name in enumerate(steps) if name.startswith("Conv"))
    assert choice.bound.bindings[steps[convolution]].kernel is fast
    assert kernels_within(divided(way, (convolution, convolution, False)), 20_000, choice) == {}
    found = kernels_within(divided(way, (convolution, convolution + 1, True)), 20_000, choice)
    assert found[steps[convolution]] == PLAIN


def in_one_piece(site: Matched) -> Access:
    """No loop can be cut of it."""
    inputs = {name: tensor.shape for name, tensor in zip("XWB", site.inputs, strict=False) if tensor is not None}
    return whole(inputs, {"Y": site.output.shape})


def _crowded(way: LineBufferedPlan, limit: int, names: list[str]) -> Iterator[str]:
    for segment in way.partition.segments:
        if segment.size_bytes > limit:
            yield from names[segment.first : segment.last + 1]
