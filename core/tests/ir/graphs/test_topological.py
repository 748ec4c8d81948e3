"""Everything after what it waits for; the lower number first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.graphs.topological import topological_order


@given(st.lists(st.sets(st.integers(0, 30)), max_size=30))
def test_what_waits_comes_after(wanted: list[set[int]]) -> None:
    waiting = [{other for other in before if other < number} for number, before in enumerate(wanted)]
    backwards = [{len(waiting) - 1 - other for other in before} for before in reversed(waiting)]
    assert topological_order(waiting) == list(range(len(waiting)))
    order = topological_order(backwards)
    place = {number: at for at, number in enumerate(order)}
    assert len(order) == len(backwards)
    assert all(place[other] < place[number] for number, before in enumerate(backwards) for other in before)


def test_the_lower_number_comes_first_and_circles_are_left_out() -> None:
    assert topological_order([{2}, set(), set()]) == [1, 2, 0]
    assert topological_order([{1}, {0}, set(), {1}]) == [2]
