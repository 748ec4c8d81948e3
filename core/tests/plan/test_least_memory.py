"""The least memory is taken with kernels of less scratch, whoever wrote them, and only where scratch is in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.least_memory import least_plan
from tilewright.plan.line_buffers.choice import BALANCED, LEAST
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.testing.one_step import portable_kernels, vocabulary

PLAIN, FAST = "portable.conv_f32", "acme.conv"
SEED = 3


def elements(tile: TileShape) -> float:
    """Of the result in a tile."""
    share = 1.0
    for loop in tile.access.loops:
        share *= tile.extent(loop.name) / loop.extent if loop.kind == "parallel" else 1.0
    return share * tile.site.output.elements


def kernel(name: str, cycles: float, scratch: int) -> Kernel:
    """A convolution with rows: cycles of an element of the result, and so many bytes for each term of a sum."""
    return replace(
        portable_kernels()[PLAIN],
        name=name,
        cycles=lambda tile: cycles * elements(tile),
        scratch_bytes=lambda tile: scratch * tile.site.input(1).elements // tile.site.output.shape[1],
    )


def fitting(optimize: Optimize, slowdown: float = 1.3) -> tuple[Fitting, Bound]:
    """A fast kernel with scratch, and one without that takes `slowdown` times as long."""
    kernels = {FAST: kernel(FAST, 100.0, 12), PLAIN: kernel(PLAIN, slowdown * 100.0, 0)}
    planner = portable_planner(kernels={**portable_kernels(), **kernels}, optimize=optimize)
    graph = row_network(SEED, vocabulary()).graph

    def rebind(pins: Mapping[str, str]) -> Bound:
        return replace(planner, pins=replace(planner.pins, kernels=dict(pins))).bind(graph, ONE_MEMORY)

    return Fitting(planner=planner, rebind=rebind), planner.bind(graph, ONE_MEMORY)


def planned(optimize: Optimize, slowdown: float = 1.3) -> Allocated:
    fit, bound = fitting(optimize, slowdown)
    return fit.plan(bound)


def used(plan: Allocated) -> set[str]:
    return {binding.kernel.name for binding in plan.tiled.scheduled.bound.bindings.values()} & {PLAIN, FAST}


@pytest.mark.slow
def test_the_least_memory_is_that_of_kernels_without_scratch() -> None:
    plan, fit = planned("ram"), fitting("ram")[0]
    assert fit.rebind is not None
    convolutions = (node.name for node in plan.tiled.scheduled.bound.graph.nodes if node.op == "Conv")
    plain = replace(fit, rebind=None).plan(fit.rebind(dict.fromkeys(convolutions, PLAIN)))
    assert used(planned("speed")) == {FAST} and PLAIN in used(plan)
    assert ram_bytes(plan) <= ram_bytes(plain) and 1 + cycle_ratio(plan) <= LEAST
    (note,) = (note for note in plan.tiled.scheduled.bound.diagnostics if note.code == "TW5035")
    assert note.message.startswith("less memory is asked for: ")
    assert {pool.limit_bytes for pool in plan.pools} == {ONE_MEMORY.plan_bytes("ram")}
    assert plan.tiled.scheduled.bound.platform == ONE_MEMORY


@pytest.mark.slow
def test_slower_kernels_have_their_limit() -> None:
    """Where they take more than is asked for, the fastest ones stay, by rows; a limit still takes the others."""
    cases: tuple[tuple[Optimize, float, float], ...] = (("balanced", 1.9, BALANCED), ("ram", 30.0, LEAST))
    for optimize, slowdown, most in cases:
        plan = planned(optimize, slowdown)
        assert used(plan) == {FAST} and 1 + cycle_ratio(plan) <= most
        fit, bound = fitting("ram", slowdown)
        least = least_plan(fit.planner, bound, plan, fit.found)
        assert least is not None and ram_bytes(least) < ram_bytes(plan) and 1 + cycle_ratio(least) > most


def test_nothing_is_looked_for_where_no_kernel_has_scratch() -> None:
    fit, bound = fitting("ram")
    assert fit.rebind is not None
    plain = fit.rebind({node.name: PLAIN for node in bound.graph.nodes if node.op == "Conv"})

    def unasked(_: Bound) -> Allocated:
        raise AssertionError("a plan was asked for")

    settled = replace(fit, rebind=None).plan(plain)
    assert least_plan(fit.planner, plain, settled, unasked) is None
