"""The search: what is worth most for what it takes comes first, and nothing that does not fit."""

from __future__ import annotations

import itertools
import math
from functools import partial

import pytest

from tilewright.quantize.bits import Bits, Choice
from tilewright.quantize.search import Asked, Path, Room, Taken, Worth, search, shortest

VALUES = tuple(Choice(kind="value", name=f"v{at}", layer=f"n{at}") for at in range(3))
WEIGHTS = tuple(Choice(kind="weights", name=f"w{at}", layer=f"n{at}") for at in range(3))
CHOICES = (*VALUES, *WEIGHTS)
FEWEST = Bits(narrow=frozenset(choice.name for choice in WEIGHTS))
MOST = Bits(wide=frozenset(choice.name for choice in VALUES))
RAM = {"v0": 100, "v1": 30, "v2": 0}
FLASH = {"w0": 500, "w1": 60, "w2": 60}
NOISE = {"v0": 5.0, "v1": 2.0, "v2": 0.5, "w0": 8.0, "w1": 6.0, "w2": 0.1}


def names(bits: Bits) -> set[str]:
    """What has more bits than it must."""
    return set(bits.wide) | {choice.name for choice in WEIGHTS if bits.of(choice) == 8}


def taken(bits: Bits) -> Taken:
    more = names(bits)
    return Taken(
        ram=1000 + sum(RAM.get(name, 0) for name in more),
        flash=2000 + sum(FLASH.get(name, 0) for name in more),
        ms=1 + 0.1 * len(more),
    )


def noise(bits: Bits) -> float:
    return 1 + sum(value for name, value in NOISE.items() if name not in names(bits))


def asked(heard: list[str] | None = None) -> Asked:
    return Asked(taken=taken, noise=noise, heard=[].append if heard is None else heard.append)


def found(room: Room) -> Path:
    return search(CHOICES, FEWEST, MOST, room, asked())


def test_with_room_for_all_all_of_it_is_taken() -> None:
    assert found(Room(ram=2000, flash=9000, ms=9.0)).end == MOST


def test_what_costs_nothing_is_in_the_first_step_already() -> None:
    path = found(Room(ram=2000, flash=9000))
    assert names(path.steps[0]) == {"v2"}
    assert len(path.steps) == 6


@pytest.mark.parametrize(
    ("room", "more"),
    [
        (Room(ram=1000, flash=2000), {"v2"}),
        (Room(ram=1030, flash=2000), {"v1", "v2"}),
        (Room(ram=1100, flash=2120), {"v0", "v2", "w1", "w2"}),  # v1 is worth more for each byte, v0 more
        (Room(ram=1000, flash=2560), {"v2", "w0", "w1"}),
        (Room(ram=9999, flash=9999, ms=1.2), {"w0", "w1"}),
    ],
)
def test_what_fits_best_is_chosen(room: Room, more: set[str]) -> None:
    path = found(room)
    assert names(path.end) == more
    assert all(room.fits(taken(bits)) for bits in path.steps)


def test_it_is_nearly_as_good_as_the_best_of_all_there_are() -> None:
    for ram, flash in itertools.product((1000, 1030, 1100, 1130), (2000, 2060, 2120, 2500, 2560, 2620)):
        room = Room(ram=ram, flash=flash)
        best = math.inf
        for more in itertools.product((False, True), repeat=len(CHOICES)):
            bits = FEWEST
            for choice, is_more in zip(CHOICES, more, strict=True):
                bits = bits.most(choice) if is_more else bits
            best = min(best, noise(bits) if room.fits(taken(bits)) else math.inf)
        assert noise(found(room).end) <= 1.35 * best, room


def test_every_choice_is_measured_once_and_told_of() -> None:
    heard: list[str] = []
    path = search(CHOICES, FEWEST, MOST, Room(flash=2100), asked(heard))
    assert sorted(worth.choice.name for worth in path.worths) == sorted(NOISE)
    assert [worth.noise for worth in path.worths] == pytest.approx([NOISE[worth.choice.name] for worth in path.worths])
    assert heard.count("choosing: 6 of 6") == 2 and len(heard) == 18  # in two orders


def test_the_price_is_the_largest_share_of_what_is_left() -> None:
    before, after = Taken(ram=100, flash=50, ms=1.0), Taken(ram=150, flash=60, ms=1.5)
    assert Room(ram=200).price(before, after) == 0.5
    assert Room(ram=200, flash=55).price(before, after) == 2.0
    assert Room().price(before, after) == 0.5
    assert Room(flash=90).price(before, Taken(ram=999, flash=50, ms=9.0)) == pytest.approx(0, abs=1e-8)
    assert Room(ram=200).price(before, Taken(reason="no")) == math.inf


def test_what_has_no_plan_does_not_fit() -> None:
    assert not Room().fits(Taken(reason="no"))
    assert Room().fits(Taken(ram=10**9))
    assert not Room(ms=1.0).fits(Taken(ms=1.01))


def at_most(wanted: float, bits: Bits) -> bool:
    return noise(bits) <= wanted


def test_the_shortest_good_step_is_found_or_none() -> None:
    path = found(Room())
    for wanted in (20.0, 9.0, 4.0, 1.0):
        first = next(bits for bits in path.steps if noise(bits) <= wanted)
        assert shortest(path, partial(at_most, wanted)) == first
    assert shortest(path, lambda bits: noise(bits) < 1) is None


def test_a_price_of_nearly_nothing_is_none() -> None:
    assert Worth(choice=VALUES[0], noise=1.0, price=1e-9).free
    assert not Worth(choice=VALUES[0], noise=1.0, price=1e-3).free
