"""The lowest peak of one pool: that of brute force, a proof with it, and any plan where only one is asked for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from tilewright.api.allocator import Problem
from tilewright.api.testing import block, ram
from tilewright_minimalloc.greedy import height
from tilewright_minimalloc.lowest import lowest_peak
from tilewright_minimalloc.pool import Task, make_task
from tilewright_minimalloc.search import PythonSearch


def problem(seed: int, capacity: int | None = None) -> Problem:
    chance = random.Random(seed)
    blocks = []
    for number in range(chance.randint(1, 5)):
        first = chance.randrange(6)
        blocks.append(block(f"b{number}", chance.randint(1, 4), first, first + chance.randrange(4)))
    return ram(*blocks, capacity=capacity, reserved=((1, 2),) if chance.random() < 0.3 else ())


def task(of: Problem) -> Task:
    return make_task(of, of.pools[0], of.blocks)


def test_it_is_lowest_and_that_is_proved(lowest: Any) -> None:
    for seed in range(60):
        made = task(problem(seed))
        found = lowest_peak(made, 10_000, 0, PythonSearch)
        assert found.offsets is not None and found.optimal and not found.dead
        assert found.height == height(made.instance, found.offsets) == lowest(made.instance), seed


def test_within_a_capacity_there_is_a_plan_or_a_proof_that_there_is_none(lowest: Any) -> None:
    for seed in range(40):
        least = lowest(task(problem(seed)).instance) * task(problem(seed)).instance.grain
        for capacity in (least - 1, least, least + 2):
            for any_plan in (False, True):
                found = lowest_peak(task(problem(seed, capacity)), 10_000, 0, PythonSearch, any_plan=any_plan)
                assert found.dead is (capacity < least) is (found.offsets is None), seed
                assert found.offsets is None or found.task.peak_bytes(found.height) <= capacity


def test_no_more_is_spent_than_may_be_and_a_plan_is_had_without_any_work() -> None:
    for seed in range(40):
        found = lowest_peak(task(problem(seed)), 0, 0, PythonSearch)
        assert found.spent == 0 and found.offsets is not None  # without a capacity quick plans never fail
        assert lowest_peak(task(problem(seed)), 7, 0, PythonSearch).spent <= 7


def test_a_task_with_a_fault_has_no_plan() -> None:
    found = lowest_peak(replace(task(problem(1)), fault="it cannot be"), 100, 0, PythonSearch)
    assert found.dead and found.offsets is None and found.spent == 0
