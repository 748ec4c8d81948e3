"""Quick ways to place every block: always a placement, never lower than there is one, the better of two."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright_minimalloc.greedy import by_size, height, quick, skyline


@pytest.mark.parametrize("place", [skyline, by_size, quick])
def test_it_is_a_placement(drawn: Any, placements: Any, lowest: Any, place: Any) -> None:
    for seed in range(60):
        instance = drawn(seed)
        offsets = place(instance)
        top = height(instance, offsets)
        assert top >= lowest(instance)
        assert offsets in list(placements(instance, top)) if top < 14 else len(offsets) == len(instance.sizes)


def test_the_lower_one_is_taken(drawn: Any) -> None:
    both = []
    for seed in range(120):
        instance = drawn(seed)
        tops = [height(instance, place(instance)) for place in (skyline, by_size)]
        assert height(instance, quick(instance)) == min(tops)
        both.append(tops[0] - tops[1])
    assert min(both) < 0 < max(both)  # each is the better one somewhere
