"""The planner that tests of plans begin with."""

from __future__ import annotations

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network


def test_what_is_asked_for_replaces_what_the_core_brings() -> None:
    planner = portable_planner(optimize="ram", kernels={})
    assert (planner.optimize, planner.kernels, planner.tiler.name) == ("ram", {}, "auto")


def test_it_plans_what_the_portable_kernels_compute() -> None:
    planner = portable_planner()
    plan = planner.plan(planner.bind(row_network(1, planner.operators).graph, ONE_MEMORY))
    bindings = plan.tiled.scheduled.bound.bindings
    assert {binding.kernel.target for binding in bindings.values()} == {"*"}
    assert len(bindings) > 5
