"""Knows how an allocator, whose budget is work, is stopped by a clock: ever larger budgets, and an alarm.
Does not know allocators. What is found under a limit in seconds depends on the machine.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from tilewright.allocate.solving import solved
from tilewright.ir.plans.allocation import Allocator, Budget, Problem, Solution

_FIRST_WORK = 100
_GROWTH = 4


class _TimeIsUp(BaseException):
    """Raised inside an allocator. No allocator may take it for an error of its own."""


def solved_in_time(
    problem: Problem, allocator: Allocator, budget: Budget, seconds: float | None
) -> tuple[Solution, bool]:
    """The answer, and whether the limit cut it short: then it is the last one that a smaller budget gave.

    Without an alarm clock (on Windows) the limit is looked at between budgets only.
    """
    if seconds is None:
        return solved(problem, allocator, budget), False
    best = Solution(status="unknown", reason=f"nothing was found in {seconds:g} s", found_by=allocator.name)
    try:
        with _alarm(seconds):
            for part in _budgets(budget, time.monotonic() + seconds):
                best = solved(problem, allocator, part)
                if part == budget or best.status in ("optimal", "infeasible"):
                    return best, False
    except _TimeIsUp:
        return best, True
    return best, True


def _budgets(budget: Budget, end: float) -> Iterator[Budget]:
    work = min(_FIRST_WORK, budget.work)
    while time.monotonic() < end:
        yield replace(budget, work=work)
        work = min(work * _GROWTH, budget.work)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
