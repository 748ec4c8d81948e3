"""Who is asked, in which order, with how much work, and whose plan it is in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tilewright.allocate.auto import Auto, chosen, cost
from tilewright.allocate.best_fit import BestFit
from tilewright.ir.plans.allocation import Budget, Place, Pool, Problem, Solution
from tilewright.testing.allocation_problems import block, ram

PROBLEM = ram(block("a", 8, 0, 1), block("b", 8, 1, 2))
BUDGET = Budget(work=1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """Answers as it is told, one answer after the other, and notes how much work it was given."""

    name: str
    answers: tuple[Solution, ...]
    summary: str = ""
    asked: list[int] = field(default_factory=list)

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        self.asked.append(budget.work)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


def at(second: int, status: Any = "feasible", **more: Any) -> Solution:
    """`a` at the bottom, `b` at this byte: a plan of `second` + 8 bytes."""
    places = {"a": Place(pool="ram", offset_bytes=0), "b": Place(pool="ram", offset_bytes=second)}
    return Solution(status=status, places=places, work=10, **more)


def nothing(status: Any) -> Solution:
    return Solution(status=status, work=10)


def asked(glance: Solution, exact: Solution | None, *later: Solution, goal: Any = "minimise") -> Any:
    """What `auto` answers, and what work the heuristic and the exact allocator were given."""
    first = Scripted(name="heuristic", answers=(glance, *later))
    second = Scripted(name="exact", answers=(exact or glance,))
    problem = Problem(blocks=PROBLEM.blocks, pools=PROBLEM.pools, goal=goal)
    found = Auto(exact=second if exact else None, heuristic=first).solve(problem, BUDGET)
    return found, first.asked, second.asked


def test_without_an_exact_allocator_the_heuristic_has_all_the_work() -> None:
    found, heuristic, _ = asked(at(8), None)
    assert (found.found_by, heuristic) == ("heuristic", [1000])


@pytest.mark.parametrize("status", ["optimal", "infeasible"])
def test_what_a_glance_proves_is_not_asked_again(status: Any) -> None:
    found, heuristic, exact = asked(at(8, status), at(8))
    assert (found.status, heuristic, exact) == (status, [0], [])


def test_any_plan_will_do_where_only_fitting_is_asked_for() -> None:
    _, _, exact = asked(at(20), at(8, "optimal"), goal="fit")
    assert exact == []
    found, heuristic, exact = asked(nothing("unknown"), at(8), goal="fit")
    assert (found.found_by, heuristic, exact) == ("exact", [0], [1000])


@pytest.mark.parametrize("status", ["optimal", "infeasible"])
def test_what_the_exact_one_proves_is_the_answer_and_no_order_is_improved(status: Any) -> None:
    found, heuristic, exact = asked(at(20), at(8, status))
    assert (found.status, found.found_by, found.work) == (status, "exact", 20)
    assert (heuristic, exact) == ([0], [1000])


def test_the_better_of_two_plans_is_taken() -> None:
    found, heuristic, _ = asked(at(20), at(8))
    assert (found.found_by, found.work, heuristic) == ("exact", 30, [0, 100])
    found, heuristic, _ = asked(at(8), at(20))
    assert (found.found_by, found.work, heuristic) == ("heuristic", 40, [0, 100, 1000])


def test_what_an_improved_order_proves_is_the_answer() -> None:
    found, heuristic, _ = asked(at(30), at(20), at(8, "optimal"))
    assert (found.found_by, found.status, found.work, heuristic) == ("heuristic", "optimal", 30, [0, 100])


def test_what_the_patient_search_finds_counts() -> None:
    found, _, _ = asked(at(30), at(40), at(30), at(10))
    assert found.places["b"].offset_bytes == 10
    found, _, _ = asked(at(30), nothing("unknown"), at(30), at(12))
    assert (found.places["b"].offset_bytes, found.found_by) == (12, "heuristic")


def test_bounds_that_the_exact_one_has_proved_are_kept() -> None:
    found, _, _ = asked(at(8), at(20, bounds={"ram": 15}), at(8), at(8, bounds={"ram": 3, "other": 1}))
    assert found.bounds == {"ram": 15, "other": 1}


def test_a_wrong_plan_is_not_hidden_behind_a_right_one() -> None:
    """The checker has to see it."""
    found, _, _ = asked(at(8), at(4))
    assert (found.found_by, found.places["b"].offset_bytes) == ("exact", 4)


def test_plans_are_compared_by_pools_then_by_peaks() -> None:
    pools = (Pool(name="fast", capacity_bytes=None), Pool(name="slow", capacity_bytes=None))
    problem = Problem(
        blocks=(block("a", 8, 0, 1, pools=("fast", "slow")), block("b", 4, 1, 2, pools=("fast",))), pools=pools
    )

    def plan(pool: str) -> Solution:
        places = {"a": Place(pool=pool, offset_bytes=0), "b": Place(pool="fast", offset_bytes=8)}
        return Solution(status="feasible", places=places)

    assert (cost(problem, plan("fast")), cost(problem, plan("slow"))) == ((0, 12), (8, 20))


def test_the_exact_one_is_the_installed_one() -> None:
    exact = Scripted(name="minimalloc", answers=(at(8),))
    assert chosen({"auto": Auto(), "minimalloc": exact}, "auto") == Auto(exact=exact)
    assert chosen({"auto": Auto()}, "auto") == Auto()
    assert chosen({"best": BestFit()}, "best") == BestFit()
