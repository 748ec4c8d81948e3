"""Ways to compute steps by rows: orders, and which is faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.ir.stages import Allocated
from tilewright.plan.row_ways import order_of, row_plans
from tilewright.testing.one_step import vocabulary

Planned = Callable[..., Allocated]


def test_orders_have_every_node_once(planned: Planned) -> None:
    scheduled = planned().tiled.scheduled
    nodes = [node.name for node in scheduled.bound.graph.nodes]
    assert sorted(order_of(scheduled)) == sorted(nodes)


def test_ways_are_sorted_by_cycles(planned: Planned) -> None:
    plan = planned()
    decisions = replace(plan.decisions, tiles={}, groups=(), offsets={}, memories={})
    ways = row_plans(plan.tiled.scheduled, vocabulary(), decisions, apart=True)
    assert [way.division.cycles for way in ways] == sorted(way.division.cycles for way in ways)
    assert all(way.slowdown >= 1.0 for way in ways)
