"""The search for an order: as low as brute force on small graphs, never worse than what is given, always an order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.tests.schedule.networks import FAMILIES, fan_out, solved_plainly
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.schedule.order_search import search_order
from tilewright.schedule.order_task import OrderTask
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler

pytestmark = pytest.mark.slow

WORLD = small_world()


def _random_task(chance: random.Random, nodes: int) -> OrderTask:
    """Every node writes one piece and reads some of the earlier ones."""
    reads: list[list[int]] = [
        sorted(chance.sample(range(n), min(n, chance.choice([0, 1, 1, 2, 3])))) for n in range(nodes)
    ]
    touched = [1 << n | sum(1 << m for m in range(nodes) if n in reads[m]) for n in range(nodes)]
    sizes = [chance.choice([1, 2, 3, 5, 8, 20]) for _ in range(nodes)]
    pairs = [
        tuple((source, n) for source in reads[n] if sizes[source] == sizes[n] and chance.randrange(2))
        for n in range(nodes)
    ]
    return OrderTask(
        nodes=tuple(f"n{n}" for n in range(nodes)),
        needs=tuple(sum(1 << source for source in row) for row in reads),
        touches=tuple((*row, n) for n, row in enumerate(reads)),
        in_place=tuple(pairs),
        scratch=tuple(chance.choice([0, 0, 0, 4]) for _ in range(nodes)),
        sizes=tuple(sizes),
        touched_by=tuple(touched),
        from_start=frozenset(),
        to_end=frozenset(n for n in range(nodes) if chance.randrange(6) == 0),
    )


def _is_order(task: OrderTask, order: tuple[int, ...]) -> bool:
    done = 0
    for node in order:
        if task.needs[node] & ~done:
            return False
        done |= 1 << node
    return done == task.everything and len(order) == len(task.nodes)


def test_small_tasks_reach_the_optimum_of_brute_force() -> None:
    lower = 0
    for seed in range(60):
        task = _random_task(random.Random(seed), 7)
        orders = (order for order in itertools.permutations(range(7)) if _is_order(task, order))
        best = min(task.peak(order) for order in orders)
        found = search_order(task, 100_000)
        assert found.optimal
        assert found.peak == task.peak(found.order) == best
        lower += best < task.peak(range(7))
    assert lower > 20


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_thirteen_networks_of_a_family_are_proved_and_as_low_as_a_plain_program_finds(
    family: Callable[[random.Random], OrderTask],
) -> None:
    solved = 0
    for seed in range(13):
        task = family(random.Random(seed))
        found = search_order(task, Budget().work)
        assert _is_order(task, found.order)
        assert found.optimal and found.peak == task.peak(found.order)
        plain = solved_plainly(task, 4_000)
        solved += plain is not None
        assert plain in (None, found.peak)
    assert solved >= 3


def test_where_the_search_gives_up_the_bound_is_one() -> None:
    given_up = 0
    for seed in range(20):
        task = fan_out(random.Random(seed))
        hasty, patient = search_order(task, 300), search_order(task, Budget().work)
        assert hasty.lower_bound <= patient.peak <= hasty.peak
        given_up += not hasty.optimal
    assert given_up > 3


@given(st.randoms(use_true_random=False))
def test_an_order_read_backwards_costs_the_same(chance: random.Random) -> None:
    task = _random_task(chance, 9)
    turned = task.backward()
    assert turned.backward() == task
    assert turned.peak(range(9)) == task.peak(range(9))
    assert search_order(turned, 10_000).peak == search_order(task, 10_000).peak


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 300))
def test_never_worse_than_what_is_given_however_small_the_budget(chance: random.Random, budget: int) -> None:
    task = _random_task(chance, 30)
    found = search_order(task, budget)
    assert _is_order(task, found.order)
    assert found.peak == task.peak(found.order) <= task.peak(range(30))
    assert found == search_order(task, budget)


def test_a_thousand_nodes_are_ordered_within_the_budget() -> None:
    task = _random_task(random.Random(8), 1000)
    found = search_order(task, 20_000)
    assert _is_order(task, found.order)
    assert found.work <= 30_000
    assert found.peak <= task.peak(range(1000))


def _bound(seed: int) -> Bound:
    graph = random_graph(random.Random(seed), WORLD.operators)
    return bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())


def test_the_planner_is_never_worse_than_the_given_order() -> None:
    for seed in range(40):
        bound = _bound(seed)
        planner = Planner(
            operators=WORLD.operators,
            kernels=WORLD.kernels,
            tiler=WholeTiler(),
            allocator=BestFit(),
            budget=Budget(work=20_000),
        )
        alone = replace(planner, pins=Decisions(order=tuple(node.name for node in bound.graph.nodes)))
        assert ram_bytes(planner.plan(bound)) <= ram_bytes(alone.plan(bound))
