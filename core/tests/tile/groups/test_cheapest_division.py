"""The cheapest division is that of a search of all, and few segments are worked out for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.tile.groups.cheapest_division import cheapest_division

LONGEST = 3


def divisions(steps):
    """All lists of segments (first, count) of that many steps."""
    if steps == 0:
        yield []
    for count in range(1, min(LONGEST, steps) + 1):
        yield from ([*before, (steps - count, count)] for before in divisions(steps - count))


@st.composite
def scored(draw):
    """Steps, the score of each segment, and something that it is at least."""
    steps = draw(st.integers(1, 6))
    segments = [(first, count) for count in range(1, LONGEST + 1) for first in range(steps - count + 1)]
    exact = {one: draw(st.integers(0, 20)) for one in segments}
    return steps, exact, {one: draw(st.integers(0, exact[one])) for one in segments}


@given(scored())
def test_the_least_of_all_divisions_is_found_and_none_of_the_best_is_ruled_out(case):
    steps, exact, least = case
    asked = []

    def work_out(first, count):
        asked.append((first, count))
        return exact[first, count]

    bounds = cheapest_division(steps, LONGEST, lambda *one: least[one], work_out, float("inf"))
    totals = {tuple(way): sum(exact[one] for one in way) for way in divisions(steps)}
    assert bounds.total == min(totals.values())
    assert len(asked) == len(set(asked))
    for way in (way for way, total in totals.items() if total == bounds.total):
        before = 0
        for first, count in way:
            assert bounds.may_win(before, least[first, count], first + count)
            before += exact[first, count]


@given(scored(), st.integers(0, 40))
def test_there_is_no_answer_where_everything_is_more_than_the_limit(case, limit):
    steps, exact, least = case
    best = min(sum(exact[one] for one in way) for way in divisions(steps))
    found = cheapest_division(steps, LONGEST, lambda *one: least[one], lambda *one: exact[one], limit)
    assert found is None if best > limit else found is not None or best == limit


def test_segments_that_cannot_be_of_it_are_never_worked_out():
    asked = []

    def work_out(first, count):
        asked.append((first, count))
        return 1.0

    cheapest_division(5, LONGEST, lambda _, count: 1.0 if count == 1 else 10.0, work_out, float("inf"))
    assert sorted(asked) == [(first, 1) for first in range(5)]


@pytest.mark.parametrize(("end", "wins"), [(1, True), (2, False)])
def test_a_segment_that_is_dearer_than_what_is_known_is_ruled_out(end, wins):
    bounds = cheapest_division(2, 2, lambda _, count: 2.0 * count, lambda _, count: 2.0 * count, float("inf"))
    assert bounds.may_win(0.0, 2.0 if wins else 4.5, end) is wins


def test_what_a_segment_is_at_least_is_asked_for_once():
    asked = []

    def at_least(first, count):
        asked.append((first, count))
        return 1.0

    cheapest_division(4, LONGEST, at_least, lambda _, count: 3.0 * count, float("inf"))
    assert len(asked) == len(set(asked)) == 9
