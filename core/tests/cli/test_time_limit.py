"""A clock beside the budget: what it cuts short says so, what it does not is the same plan as ever."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass

from tilewright.allocate.best_fit import BestFit
from tilewright.cli.time_limit import solved_in_time
from tilewright.ir.plans.allocation import Budget, Place, Problem, Solution
from tilewright.testing.allocation_problems import block, ram

PROBLEM = ram(block("a", 2, 0, 0), block("b", 2, 0, 1), block("c", 3, 1, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slow:
    """Answers small budgets at once and large ones never."""

    patience: int
    name: str = "slow"
    summary: str = ""

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        while budget.work > self.patience:
            time.sleep(0.01)
        places = {one.name: Place(pool="ram", offset_bytes=10 * at) for at, one in enumerate(problem.blocks)}
        return Solution(status="feasible", places=places, work=budget.work)


def test_without_a_limit_or_within_it_the_answer_is_the_same() -> None:
    budget = Budget(work=5_000)
    plain, cut = solved_in_time(PROBLEM, BestFit(), budget, None)
    assert not cut
    timed, cut = solved_in_time(PROBLEM, BestFit(), budget, 60)
    assert (timed.places, timed.status, cut) == (plain.places, plain.status, False)
    patient = _Slow(patience=5_000)
    assert solved_in_time(PROBLEM, patient, budget, 60) == solved_in_time(PROBLEM, patient, budget, None)


def test_what_is_cut_short_is_the_last_answer_that_there_was() -> None:
    before = signal.getsignal(signal.SIGALRM)
    found, cut = solved_in_time(PROBLEM, _Slow(patience=1_000), Budget(work=10**6), 0.2)
    assert cut and found.work == 400
    found, cut = solved_in_time(PROBLEM, _Slow(patience=1), Budget(work=10**6), 0.1)
    assert cut and (found.status, found.places) == ("unknown", {})
    assert "0.1 s" in found.reason
    assert signal.getsignal(signal.SIGALRM) is before
