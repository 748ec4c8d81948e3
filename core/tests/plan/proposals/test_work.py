"""Work that is counted, and the limit on what is done once more."""

from __future__ import annotations

import pytest

from tilewright.plan.proposals.work import Work, WorkDone


def test_twice_what_was_done_before_may_be_done_again() -> None:
    work = Work()
    work.spend(10_000)
    with work.limited():
        work.spend(15_000)
    with work.limited():  # of the same question
        work.spend(5_000)
        with pytest.raises(WorkDone):
            work.spend(1)
    work.spend(1)  # no limit here


def test_a_first_plan_that_was_not_needed_counts_all_the_same() -> None:
    work = Work()
    with work.limited(one_plan=6_000):
        work.spend(18_000)
        with pytest.raises(WorkDone):
            work.spend(1)


def test_another_question_begins_anew() -> None:
    work = Work()
    with work.limited():
        work.spend(100)
    work.begin()
    assert work == Work()


def test_where_there_has_to_be_an_answer_there_is_no_limit() -> None:
    work = Work()
    with work.limited():
        with work.unlimited():
            work.spend(50_000)
        with pytest.raises(WorkDone):
            work.spend(1)
    assert work.spent == 50_000
