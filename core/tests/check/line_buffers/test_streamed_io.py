"""What is wrong with a plan whose inputs and outputs pass in rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.check.line_buffers.streamed_io import streamed_io_faults
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.plan.kernel_fallback import Fitting
from tilewright.rewrite.insert_streamed_io import with_arrival
from tilewright.testing.one_step import vocabulary


@pytest.fixture(name="plan", scope="module")
def _plan() -> Allocated:
    planner = portable_planner(pins=Decisions(io={"x": "push"}))
    graph = with_arrival(row_network(1, vocabulary()).graph, "x")
    return Fitting(planner=planner).plan(planner.bind(graph, ONE_MEMORY))


def test_a_plan_is_sound(plan: Allocated) -> None:
    assert list(streamed_io_faults(plan)) == []


def test_a_place_is_a_fault(plan: Allocated) -> None:
    placed = replace(plan, placements={**plan.placements, "x": Placement(memory="ram", offset_bytes=0)})
    assert "has a place" in " ".join(streamed_io_faults(placed))


def test_another_reader_is_a_fault(plan: Allocated) -> None:
    scheduled = plan.tiled.scheduled
    graph = scheduled.bound.graph
    nodes = tuple(
        replace(node, inputs=tuple("x" if name == "x:arrived" else name for name in node.inputs))
        for node in graph.nodes
    )
    bound = replace(scheduled.bound, graph=replace(graph, nodes=nodes))
    wrong = replace(plan, tiled=replace(plan.tiled, scheduled=replace(scheduled, bound=bound)))
    assert "is read by" in " ".join(streamed_io_faults(wrong))


def test_another_layout_is_a_fault(plan: Allocated) -> None:
    scheduled = plan.tiled.scheduled
    rank = len(scheduled.bound.layouts["x:arrived"])
    layouts = {**scheduled.bound.layouts, "x:arrived": tuple(reversed(range(rank)))}
    bound = replace(scheduled.bound, layouts=layouts)
    wrong = replace(plan, tiled=replace(plan.tiled, scheduled=replace(scheduled, bound=bound)))
    assert "otherwise than" in " ".join(streamed_io_faults(wrong))
