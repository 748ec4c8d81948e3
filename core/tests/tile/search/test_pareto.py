"""The tilings that are worth having for any amount of scratchpad: each is faster than all that take no more."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from tilewright.tile.cost.lower_bounds import WORTH
from tilewright.tile.search.tiling_search import TilingSearch, pareto_tilings


def front(space: Any, most: int = 99, beat: Any = ()) -> Any:
    return pareto_tilings(TilingSearch(space, "auto"), most, beat)


def test_more_bytes_are_taken_only_for_less_time(sum_in: Any) -> None:
    found = front(sum_in(1 << 12))
    assert len(found) > 4
    pairs = list(pairwise(sorted(found, key=lambda one: (one.used_bytes, one.cycles))))
    best = [one for one in found if not any(a.used_bytes <= one.used_bytes and a.cycles < one.cycles for a in found)]
    assert all(low.used_bytes < high.used_bytes and low.cycles > high.cycles for low, high in pairwise(best))
    assert len(best) + 8 >= len(pairs)


def test_the_fastest_of_every_room_is_in_it(sum_in: Any) -> None:
    """The search for one room finds nothing faster than the front of a larger one has for it."""
    found = front(sum_in(1 << 12))
    for room_bytes in (72, 200, 400):
        within = [one.cycles for one in found if one.used_bytes <= room_bytes]
        space = sum_in(room_bytes)
        search = TilingSearch(space, "auto")
        points = range(len(search.points))
        fastest = min(one.cycles for number in points if (one := search.at(number)) is not None)
        assert min(within) <= fastest


def test_nothing_larger_than_the_room_and_nothing_where_nothing_fits(sum_in: Any) -> None:
    assert max(one.used_bytes for one in front(sum_in(300))) <= 300
    assert front(sum_in(16)) == ()


def test_of_too_many_the_smallest_and_the_fastest_are_kept(sum_in: Any) -> None:
    everything = front(sum_in(1 << 12))
    few = front(sum_in(1 << 12), most=2)
    assert len(few) < len(everything)
    for least in (lambda one: one.used_bytes, lambda one: one.cycles):
        assert min(map(least, few)) == min(map(least, everything))


def test_what_must_be_beaten_is_beaten_clearly_and_is_no_answer(sum_in: Any) -> None:
    everything = front(sum_in(1 << 12))
    fastest = min(everything, key=lambda one: one.cycles)
    nothing = replace(fastest, used_bytes=0.0)
    assert front(sum_in(1 << 12), beat=[nothing]) == ()
    slower = replace(fastest, used_bytes=0.0, cycles=fastest.cycles / (1 - WORTH) + 1)
    left = front(sum_in(1 << 12), beat=[slower])
    assert left and all(one.cycles < slower.cycles * (1 - WORTH) for one in left)
