"""Indices of axes: their range over a box is that of all values, their step divides every difference."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.access.index import Axis, Box, Index, Span, Term, bare_loop, folded, mentions, scaled, simplified

BOXES = st.fixed_dictionaries(
    {loop: st.tuples(st.integers(0, 5), st.integers(1, 4)).map(lambda t: (t[0], t[0] + t[1])) for loop in "ab"}
)
SUMS = st.builds(
    Index,
    st.lists(st.builds(Term, st.integers(-4, 4), st.sampled_from("ab")), max_size=2).map(tuple),
    st.integers(-6, 6),
)
FOLDED = st.one_of(
    SUMS,
    st.builds(lambda one, by: folded(one, "//", (by,)), SUMS, st.integers(1, 5)),
    st.builds(lambda one, low: folded(one, "clamp", (low, low + 3)), SUMS, st.integers(-3, 3)),
    st.builds(lambda one, by: folded(one, "%", (by,)), SUMS, st.integers(1, 5)),
)


def value(index: Index, point: dict[str, int]) -> int:
    """By definition."""
    total = index.offset
    for term in index.terms:
        inner = point[term.loop] if term.inner is None else value(term.inner, point)
        if term.operation == "//":
            inner //= term.by[0]
        elif term.operation == "%":
            inner %= term.by[0]
        elif term.operation == "clamp":
            inner = min(max(inner, term.by[0]), term.by[1])
        total += term.coefficient * inner
    return total


def values(index: Index, box: Box) -> list[int]:
    return [
        value(index, dict(zip(box, point, strict=True))) for point in product(*(range(*ends) for ends in box.values()))
    ]


@pytest.mark.slow
@given(FOLDED, BOXES)
def test_every_value_is_in_the_range_and_on_the_lattice(index: Index, box: Box) -> None:
    every = values(index, box)
    low, high = index.range(box)
    assert low <= min(every) and max(every) <= high
    assert {(one - every[0]) % index.step(box) for one in every} == {0}


@given(SUMS, BOXES)
def test_the_range_of_a_sum_of_different_loops_is_reached(index: Index, box: Box) -> None:
    if len({term.loop for term in index.terms}) == len(index.terms):
        assert index.range(box) == (min(values(index, box)), max(values(index, box)))


@given(FOLDED, BOXES, st.integers(-3, 3))
def test_one_point_and_multiples(index: Index, box: Box, factor: int) -> None:
    point = {loop: ends[0] for loop, ends in box.items()}
    assert index.at(point) == value(index, point)
    assert scaled(index, factor).at(point) == factor * index.at(point)


@given(st.builds(lambda one, by: folded(one, "//", (by,)), FOLDED, st.integers(1, 9)) | FOLDED, BOXES)
def test_what_changes_nothing_is_left_out(index: Index, box: Box) -> None:
    simple = simplified(index, box)
    assert values(simple, box) == values(index, box)
    assert simplified(simple, box) == simple


def test_a_quotient_of_few_trips_is_a_number_and_its_rest_the_loop() -> None:
    o, c = Index((Term(1, "o"),)), Index((Term(1, "c"),))
    box = {"o": (0, 6), "c": (0, 3)}
    assert simplified(folded(o, "//", (6,)), box) == Index(())
    assert simplified(folded(o, "%", (6,)), box) == o
    assert simplified(folded(o, "//", (5,)), box) == folded(o, "//", (5,))
    of_group = Index((*scaled(folded(o, "//", (6,)), 3).terms, *c.terms))
    assert simplified(of_group, box) == c
    assert simplified(folded(Index(o.terms, 13), "%", (10,)), box) == Index(o.terms, 3)
    assert simplified(folded(o, "clamp", (0, 5)), box) == o


@pytest.mark.slow
@given(SUMS, BOXES, st.integers(1, 12))
def test_a_span_is_clipped_and_counts_what_is_outside(index: Index, box: Box, extent: int) -> None:
    span = Axis(index, extent, padded=True).span(box)
    low, last = index.range(box)
    assert (span.before, span.after) == (max(0, -low), max(0, last + 1 - extent))
    inside = [one for one in values(index, box) if 0 <= one < extent]
    assert set(inside) <= set(range(span.low, span.high, span.step))
    assert span.extent <= extent


def test_an_axis_without_an_index_is_taken_whole() -> None:
    assert Axis(None, 7).span({"a": (1, 2)}) == Span(low=0, high=7)


def test_which_loops_there_are() -> None:
    plain = Index((Term(1, "a"),))
    assert bare_loop(Axis(plain, 4)) == "a"
    assert [bare_loop(Axis(one, 4)) for one in (None, Index((Term(2, "a"),)), Index((Term(1, "a"),), 1))] == [
        "",
        "",
        "",
    ]
    assert mentions(folded(plain, "//", (2,)), "a")
    assert not mentions(plain, "b") and not mentions(None, "a")
    assert folded(Index((), 7), "//", (2,)) == Index((), 3)
    assert folded(plain, "//", (1,)) == plain
