"""The exact allocator and the heuristics of the core never contradict each other, and `auto` takes the better plan."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tilewright.allocate.auto import Auto, chosen
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.solving import solved
from tilewright.check.allocations.allocation import peaks
from tilewright.ir.plans.allocation import Budget, Problem, Solution
from tilewright.plugins import load_for, load_named
from tilewright.testing.allocation_problems import joined_problem

BUDGET = Budget(work=3_000)
FOUND = ("optimal", "feasible")


def _peak(problem: Problem, solution: Solution) -> int:
    return sum(peaks(problem, solution).values())


def test_proofs_agree_on_random_problems() -> None:
    exact: Any = load_named(("allocator", "minimalloc")).allocators["minimalloc"]
    both = 0
    for seed in range(400):
        problem = joined_problem(random.Random(seed))
        ours, theirs = solved(problem, BestFit(), BUDGET), solved(problem, exact, BUDGET)
        statuses = {ours.status, theirs.status}
        assert not ("infeasible" in statuses and statuses & set(FOUND)), seed
        if statuses == {"optimal"}:
            both += 1
            assert _peak(problem, ours) == _peak(problem, theirs), seed
        automatic = solved(problem, Auto(exact=exact), BUDGET)
        assert automatic.status in FOUND or not statuses & {"optimal"}, seed
    assert both > 60


def test_auto_has_the_exact_allocator_where_it_is_installed() -> None:
    registry = load_named(("allocator", "auto"), welcome=(("allocator", "minimalloc"),))
    automatic = chosen(registry.allocators, "auto")
    assert isinstance(automatic, Auto) and automatic.exact is not None
    assert automatic.exact.name == "minimalloc"
    alone = chosen(load_named(("allocator", "auto"), welcome=(("allocator", "nobody"),)).allocators, "auto")
    assert isinstance(alone, Auto) and alone.exact is None


def test_a_compilation_has_it_too_and_goes_on_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    welcome = (("allocator", "minimalloc"),)
    assert "minimalloc" in load_for(target="generic", welcome=welcome).allocators
    monkeypatch.setenv("TILEWRIGHT_BLOCK", "tilewright-minimalloc")
    assert "minimalloc" not in load_for(target="generic", welcome=welcome).allocators
