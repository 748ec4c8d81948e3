"""What is claimed about all orders holds for every one of them."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.step_orders import StepOrders
from tilewright.schedule import schedule
from tilewright.schedule.order_search import search_order
from tilewright.schedule.order_task import order_task
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler

WORLD = small_world()


def _with_scratch() -> dict[str, Kernel]:
    return {name: replace(one, scratch_bytes=lambda tile: 24) for name, one in WORLD.kernels.items()}


def _bound(seed: int, kernels: dict[str, Kernel]) -> Bound:
    graph = random_graph(random.Random(seed), WORLD.operators, most_nodes=6)
    return bind(graph, WORLD.platform, WORLD.operators, kernels, Decisions())


def _lower_bound(bound: Bound, pins: Decisions) -> int | None:
    return StepOrders(operators=WORLD.operators, pins=pins, work=10_000, known={}).lower_bound_bytes(bound)


def _least_alive(bound: Bound, pins: Decisions, scratch_bytes: int) -> int:
    """Of every order that there is."""
    least = []
    for order in itertools.permutations(node.name for node in bound.graph.nodes):
        try:
            scheduled = schedule(bound, WORLD.operators, replace(pins, order=order))
        except TilewrightError:
            continue  # no order of this graph
        own = {name for name, whose in pins.io.items() if whose == "user"}
        buffers = [buffer for buffer in scheduled.buffers if own.isdisjoint(buffer.values)]
        least.append(
            max(
                sum(b.size_bytes for b in buffers if b.first <= step <= b.last) + scratch_bytes * bool(scheduled.steps)
                for step in range(max(len(scheduled.steps), 1))
            )
        )
    return min(least)


@pytest.mark.parametrize("scratch", [False, True])
@pytest.mark.parametrize("users", [False, True])
def test_no_order_has_fewer_bytes_alive_than_the_bound(scratch: bool, users: bool) -> None:
    known = met = 0
    for seed in range(60):
        bound = _bound(seed, _with_scratch() if scratch else dict(WORLD.kernels))
        ends = dict.fromkeys((*bound.graph.inputs, *bound.graph.outputs), "user") if users else {}
        pins = Decisions(io=ends)
        claimed = _lower_bound(bound, pins)
        if claimed is not None:
            least = _least_alive(bound, pins, 24 * scratch)
            assert claimed <= least, seed
            known, met = known + 1, met + (claimed == least)
    assert known >= 40 and met >= 35


@pytest.mark.parametrize("seed", [336, 675, 1288, 1531])
def test_where_the_order_decides_what_is_a_view_no_bound_is_claimed(seed: int) -> None:
    """Two nodes would put one value into different others, and the second has to copy: another order needs less."""
    bound = _bound(seed, dict(WORLD.kernels))
    believed = search_order(order_task(bound, WORLD.operators), 10_000).lower_bound
    assert _least_alive(bound, Decisions(), 0) < believed
    assert _lower_bound(bound, Decisions()) is None


def test_a_plan_says_what_no_order_is_under() -> None:
    bound = _bound(2, dict(WORLD.kernels))
    planner = Planner(
        operators=WORLD.operators, kernels=WORLD.kernels, tiler=WholeTiler(), allocator=BestFit(), pins=Decisions()
    )
    plan = planner.plan(bound)
    assert plan.order_bound_bytes is not None
    assert plan.order_bound_bytes <= ram_bytes(plan)
    order = tuple(node.name for node in bound.graph.nodes)
    assert replace(planner, pins=Decisions(order=order)).plan(bound).order_bound_bytes is None
