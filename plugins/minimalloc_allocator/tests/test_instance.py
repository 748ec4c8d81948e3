"""One pool as integers: nothing is lost by dividing, seen from its end it is the same problem, its bound is one."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tilewright_minimalloc.instance import cliques_in_time, make_instance, mirrored

SPANS = st.lists(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=2), min_size=1, max_size=6
)


@given(drawn=SPANS)
def test_cliques_in_time_are_the_largest_sets_alive_at_once(drawn: list[list[tuple[int, int]]]) -> None:
    lives = [[(first, first + more) for first, more in spans] for spans in drawn]
    alive = {
        frozenset(block for block, spans in enumerate(lives) if any(low <= time <= high for low, high in spans))
        for time in range(20)
    }
    found = [frozenset(clique) for clique in cliques_in_time(lives)]
    assert set(found) <= alive
    assert all(any(one <= clique for clique in found) for one in alive if one)


def test_everything_is_divided_by_what_all_of_it_shares() -> None:
    instance = make_instance([8, 12], [1, 4], [[(16, 24)], []], [(0, 1)], [1, 1])
    assert (instance.grain, instance.sizes, instance.aligns, instance.obstacles) == (4, (2, 3), (1, 1), (((4, 6),), ()))


def test_where_an_obstacle_begins_between_two_grains_no_block_gets_into_it() -> None:
    instance = make_instance([4], [4], [[(6, 8)]], [(0,)], [1])
    ((low, high),) = instance.obstacles[0]
    grain = instance.grain
    size, align = instance.sizes[0], instance.aligns[0]
    free = [at * align * grain for at in range(4) if at * align >= high or low >= at * align + size]
    assert free == [0, 8, 12]


def test_sections_and_spans_say_the_same(drawn: Any) -> None:
    for seed in range(60):
        instance = drawn(seed)
        for block, span in enumerate(instance.spans):
            assert span and list(span) == sorted(span)
            assert set(span) == {at for at, members in enumerate(instance.sections) if block in members}
        assert math.gcd(*instance.sizes, *instance.aligns) >= 1


def test_seen_from_its_end_it_is_the_same_problem(drawn: Any, lowest: Any) -> None:
    for seed in range(25):
        instance = drawn(seed)
        assert mirrored(mirrored(instance)) == instance
        assert lowest(mirrored(instance)) == lowest(instance)


def test_no_placement_is_lower_than_the_floor(drawn: Any, lowest: Any) -> None:
    tight = 0
    for seed in range(60):
        instance = drawn(seed)
        assert instance.floor <= lowest(instance), seed
        tight += instance.floor == lowest(instance)
    assert tight > 30  # a bound that is never reached would say nothing
