"""Several searches in turn: what they say is true, the limit holds, the same seed takes the same steps."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright_minimalloc.instance import make_instance
from tilewright_minimalloc.portfolio import fit
from tilewright_minimalloc.search import Outcome


@pytest.mark.parametrize("more", [-1, 0, 3])
def test_there_is_a_placement_exactly_where_brute_force_finds_one(
    drawn: Any, placements: Any, lowest: Any, more: int
) -> None:
    for seed in range(40):
        instance = drawn(seed)
        capacity = lowest(instance) + more
        outcome, _, offsets = fit(instance, capacity, 10_000, seed % 3)
        assert outcome == (Outcome.FAILED if more < 0 else Outcome.SOLVED), seed
        if more == 0:
            assert offsets in list(placements(instance, capacity)), seed


def test_no_more_is_spent_than_the_limit_and_then_nothing_is_claimed(drawn: Any, lowest: Any) -> None:
    stopped = 0
    for seed in range(40):
        instance = drawn(seed)
        outcome, spent, offsets = fit(instance, lowest(instance), 1)
        assert spent <= 1
        if outcome == Outcome.STOPPED:
            stopped += 1
            assert offsets == []
    assert stopped


def test_the_same_seed_gives_the_same_answer(drawn: Any, lowest: Any) -> None:
    for seed in range(10):
        instance = drawn(seed)
        assert fit(instance, lowest(instance) + 1, 500, 7) == fit(instance, lowest(instance) + 1, 500, 7)


def test_nothing_fits_everywhere() -> None:
    assert fit(make_instance([], [], [], [], []), 0, 0) == (Outcome.SOLVED, 0, [])
