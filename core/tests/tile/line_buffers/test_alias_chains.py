"""Chains of outputs over what is read: narrow where rows may go both ways, every distance at least what is demanded."""

from __future__ import annotations

import random

import pytest
from counted import counted

from tilewright.tile.line_buffers.alias_chains import Link, distances, widest


def chain(count: int, size: int, lags: list[int], *, both: bool = True) -> tuple[list[Link], dict[str, int]]:
    """Buffers of one size, each over the one before."""
    links = [
        Link(
            step=f"step{at}",
            taker=f"b{at + 1}",
            giver=f"b{at}",
            forward=-lags[at % len(lags)],
            backward=lags[at % len(lags)] if both else None,
            grain=4,
        )
        for at in range(count)
    ]
    return links, {f"b{at}": size for at in range(count + 1)}


def test_rows_that_go_both_ways_take_the_largest_distance_once() -> None:
    links, sizes = chain(8, 8000, [640, 320])
    assert widest(links, sizes) == 8640
    found = distances(links, sizes)
    assert {one.backward for one in found.values()} == {True, False}


def test_rows_that_go_one_way_take_all_distances() -> None:
    links, sizes = chain(8, 8000, [640, 320], both=False)
    assert widest(links, sizes) == 8000 + 4 * (640 + 320)


@pytest.mark.slow
def test_a_thousand_links_take_moments() -> None:
    """A second and a half of each thousand went into counting what every way had chosen so far."""
    links, sizes = chain(2000, 8000, [640, 320, 960])
    found, calls = counted(lambda: widest(links, sizes))
    assert found == 8960
    assert calls < 300 * 2000


def test_chains_that_have_nothing_in_common_are_chosen_apart() -> None:
    links, sizes = chain(2, 100, [8])
    assert widest([links[0]], sizes) == widest([links[1]], sizes) == widest(links, sizes) == 108
    assert widest([], sizes) == 0


@pytest.mark.parametrize("seed", range(20))
def test_every_distance_is_at_least_what_is_demanded(seed: int) -> None:
    chance = random.Random(seed)
    sizes = {f"b{at}": 4 * chance.randint(10, 100) for at in range(12)}
    links = []
    for at in range(11):
        behind = sizes[f"b{at}"] - sizes[f"b{at + 1}"]
        lag = 4 * chance.randint(0, 20)
        links.append(
            Link(
                step=str(at), taker=f"b{at + 1}", giver=f"b{at}", forward=-lag, backward=max(lag, behind + lag), grain=4
            )
        )
    found, place, low, high = distances(links, sizes), 0, 0, sizes["b0"]
    for link in links:
        one = found[link.step]
        assert one.size_bytes % link.grain == 0
        assert one.size_bytes >= (link.backward or 0) if one.backward else one.size_bytes <= link.forward
        place += one.size_bytes
        low, high = min(low, place), max(high, place + sizes[link.taker])
    assert high - low == widest(links, sizes)
