"""What an order costs: pieces played one by one, tasks turned round, and the task that a bound graph makes."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.schedule.networks import FAMILIES
from tilewright.bind import bind
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.schedule.order_task import OrderTask, members, order_task
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch

WORLD = small_world()


@given(st.sets(st.integers(0, 200)))
def test_members_of_a_mask(numbers: set[int]) -> None:
    assert members(sum(1 << number for number in numbers)) == sorted(numbers, reverse=True)


def played(task: OrderTask, order: Sequence[int]) -> int:
    """The most bytes alive, every piece asked at every node. Of pairs that may share, the larger saving counts."""
    at = {node: time for time, node in enumerate(order)}
    lives = []
    for piece, nodes in enumerate(task.touched_by):
        times = [at[node] for node in members(nodes)]
        first = -1 if piece in task.from_start else min(times, default=len(order))
        lives.append((first, len(order) if piece in task.to_end else max(times, default=-1)))
    peak = sum(size for size, (first, _) in zip(task.sizes, lives, strict=True) if first < 0)
    for time, node in enumerate(order):
        alive = sum(size for size, (first, last) in zip(task.sizes, lives, strict=True) if first <= time <= last)
        saved = [
            min(task.sizes[old], task.sizes[new]) for old, new in task.in_place[node]
            if lives[old][1] == time and lives[new][0] == time
        ]  # fmt: skip
        peak = max(peak, alive - max(saved, default=0) + task.scratch[node])
    return peak


def drawn(chance: random.Random, nodes: int) -> OrderTask:
    """Nodes that write one piece each; some pieces live before or after, some may be overwritten."""
    reads = [sorted(chance.sample(range(n), min(n, chance.choice([0, 1, 1, 2])))) for n in range(nodes)]
    touched = [1 << n | sum(1 << m for m in range(nodes) if n in reads[m]) for n in range(nodes)]
    return OrderTask(
        nodes=tuple(f"n{n}" for n in range(nodes)),
        needs=tuple(sum(1 << source for source in row) for row in reads),
        touches=tuple((*row, n) for n, row in enumerate(reads)),
        in_place=tuple(tuple((source, n) for source in row if chance.randrange(2)) for n, row in enumerate(reads)),
        scratch=tuple(chance.choice([0, 0, 7]) for _ in range(nodes)),
        sizes=tuple(chance.randrange(1, 20) for _ in range(nodes)),
        touched_by=tuple(touched),
        from_start=frozenset(n for n in range(nodes) if not chance.randrange(4)),
        to_end=frozenset(n for n in range(nodes) if not chance.randrange(4)),
    )


def an_order(task: OrderTask, chance: random.Random) -> list[int]:
    order: list[int] = []
    while len(order) < len(task.nodes):
        ready = [n for n in range(len(task.nodes)) if n not in order and set(members(task.needs[n])) <= set(order)]
        order.append(chance.choice(ready))
    return order


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_the_peak_is_what_playing_finds(seed: int, nodes: int) -> None:
    chance = random.Random(seed)
    task = drawn(chance, nodes)
    order = an_order(task, chance)
    assert max(task.peak(order), task.alive_at_start) == played(task, order)


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_an_order_read_backwards_costs_the_same(seed: int, nodes: int) -> None:
    chance = random.Random(seed)
    task = drawn(chance, nodes)
    order, back = an_order(task, chance), task.backward()
    turned = [len(task.nodes) - 1 - node for node in reversed(order)]
    done = 0
    for node in turned:
        assert not back.needs[node] & ~done
        done |= 1 << node
    assert done == back.everything == task.everything
    assert back.peak(turned) == task.peak(order)
    assert back.backward() == task


@pytest.mark.parametrize("family", FAMILIES)
def test_running_all_leaves_what_lasts(family: object) -> None:
    task = family(random.Random(3))  # type: ignore[operator]
    done, alive = 0, task.alive_at_start
    for node in range(len(task.nodes)):
        _, alive = task.run(node, done, alive)
        done |= 1 << node
    assert alive == sum(task.sizes[piece] for piece in task.to_end)


def _bound(seed: int) -> Bound:
    graph = random_graph(random.Random(seed), WORLD.operators)
    return bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())


def test_the_cost_of_an_order_is_what_the_schedule_makes_of_it() -> None:
    """For the given order of real graphs, with views and in-place pairs: the bytes alive, step by step."""
    equal = 0
    for seed in range(60):
        bound = _bound(seed)
        scheduled = schedule(bound, WORLD.operators, Decisions())
        alive = max(
            sum(b.size_bytes for b in scheduled.buffers if b.first <= step <= b.last)
            for step in range(max(len(scheduled.steps), 1))
        )
        task = order_task(bound, WORLD.operators)
        equal += task.peak(range(len(task.nodes))) == alive
    assert equal >= 45  # the stage refuses some in-place pairs for reasons that the task does not look at


def test_the_task_of_a_graph() -> None:
    """add -> flat, a view of it -> clip, over it; the caller's values cost nothing, and views need no scratch."""
    s = Sketch(operators=WORLD.operators)
    x = s.input("x", DType.F32, (2, 3))
    total = s.node("Add", (x, s.constant(np.ones(3, np.float32))), name="add")
    flat = s.node("Reshape", (total,), {"shape": (6,)}, name="flat")
    graph = s.finish(s.node("Clip", (flat,), {"min": 0.0}, name="clip"))
    bound = bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())
    task = order_task(bound, WORLD.operators, theirs=("x",), scratch={"add": 5, "flat": 9})
    assert task.nodes == ("add", "flat", "clip") and task.needs == (0b0, 0b1, 0b10)
    assert sorted(task.sizes) == [0, 24, 24]  # x, the sum under both names, the output
    assert task.touches[1] == () and task.scratch == (5, 0, 0)
    assert task.touches[0][-1] == task.touches[2][0]
    (pair,) = task.in_place[2]
    assert pair == task.touches[2] and task.in_place[0] == ()  # a graph input is never overwritten
    assert task.peak([0, 1, 2]) == 24 + 5
