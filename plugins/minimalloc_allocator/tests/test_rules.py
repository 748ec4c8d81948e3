"""What follows from a choice: no solution is cut off, and what cannot work any more is seen where it is easy to see."""

from __future__ import annotations

from typing import Any

from tilewright_minimalloc.instance import make_instance
from tilewright_minimalloc.rules import propagate, resting
from tilewright_minimalloc.state import State


def settled(instance: Any, capacity: int) -> State | None:
    """Everything that follows before any choice; None where there is no solution."""
    state = State(instance, capacity)
    if any(low + size > capacity for low, size in zip(state.low, instance.sizes, strict=True)):
        return None
    state.touch(range(len(instance.sections)))
    return state if propagate(state, 0, len(instance.sections)) else None


def test_the_solution_whose_offsets_have_the_least_sum_is_never_cut_off(
    drawn: Any, placements: Any, lowest: Any
) -> None:
    for seed in range(60):
        instance = drawn(seed)
        for more in (0, 1, 2):
            state = settled(instance, lowest(instance) + more)
            assert state is not None, seed
            least = min(map(sum, placements(instance, lowest(instance) + more)))
            kept = [
                found
                for found in placements(instance, lowest(instance) + more)
                if sum(found) == least and all(low <= at for low, at in zip(state.low, found, strict=True))
            ]
            assert kept, seed


def test_where_there_is_none_it_is_often_seen_at_once(drawn: Any, lowest: Any) -> None:
    seen = [settled(drawn(seed), lowest(drawn(seed)) - 1) is None for seed in range(60)]
    assert sum(seen) > 30


def test_a_full_section_lifts_a_block_to_a_sum_of_the_others() -> None:
    """Blocks of 3 and 5 and one of 4 fill 12 grains; the 4, which may not be lower than 1, is at 3, 5 or 8."""
    instance = make_instance([3, 5, 4], [1, 1, 1], [[], [], [(0, 1)]], [(0, 1, 2)], [1, 1, 1])
    state = settled(instance, 12)
    assert state is not None and state.low == [0, 0, 3]


def test_a_block_rests_on_the_lowest_top_in_its_way() -> None:
    state = State(make_instance([3, 5, 4], [1] * 3, [[]] * 3, [(0, 1), (0, 2)], [1] * 3), 20)
    assert resting(state, 0) == 4  # on the third; the second is higher
    assert resting(state, 1) == resting(state, 2) == 3
    alone = State(make_instance([3, 5], [1] * 2, [[]] * 2, [(0,), (1,)], [1] * 2), 20)
    assert resting(alone, 0) is None
