"""What lasts from run to run: arrays apart from the pool, as small as alignment lets them be, in their memories."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.regions import BlockArray, PlacedArray, arrangements, beside, taken_bytes
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Pool, Problem
from tilewright.ir.rounding import align_up
from tilewright.testing.allocation_problems import block

FAST, SLOW = Memory(name="fast", size_bytes=64, align=16), Memory(name="slow", size_bytes=None, align=16)
TWO = Platform(name="two", memories=(FAST, SLOW))
STATE = BlockArray(
    kind="state",
    memories=("fast", "slow"),
    blocks=(block("small", 1, 0, 0, align=1), block("large", 8, 0, 0, align=8), block("middle", 2, 0, 0, align=2)),
)


def test_larger_alignments_come_first_so_that_nothing_is_wasted() -> None:
    first, second = ((laid,) for (laid,) in arrangements([STATE], TWO))
    assert (first[0].memory, second[0].memory) == ("fast", "slow")
    assert first[0].size_bytes == 11
    assert {name: place.offset_bytes for name, place in first[0].places.items()} == {
        "large": 0,
        "middle": 8,
        "small": 10,
    }


def test_every_choice_of_memories_comes_once_the_best_first() -> None:
    copies = BlockArray(kind="resident", memories=("slow", "fast"), blocks=(block("w", 4, 0, 0),))
    found = [tuple(one.memory for one in laid) for laid in arrangements([STATE, copies], TWO)]
    assert found == [("fast", "slow"), ("fast", "fast"), ("slow", "slow"), ("slow", "fast")]
    empty = replace(copies, blocks=())
    assert [len(laid) for laid in arrangements([empty], TWO)] == [0, 0]


def test_pools_have_what_is_left() -> None:
    laid = (
        PlacedArray(kind="state", memory="fast", size_bytes=11, places={}),
        PlacedArray(kind="resident", memory="fast", size_bytes=16, places={}),
    )
    assert taken_bytes(laid, FAST) == 16 + 11
    problem = Problem(blocks=(), pools=(Pool(name="fast", capacity_bytes=40), Pool(name="slow", capacity_bytes=None)))
    assert [pool.capacity_bytes for pool in beside(problem, laid, TWO).pools] == [8, None]
    short = replace(problem, pools=(Pool(name="fast", capacity_bytes=20),))
    assert [pool.capacity_bytes for pool in beside(short, laid, TWO).pools] == [0]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(0, 200))
def test_a_pool_has_all_that_fits_beside_the_regions(sizes: list[int], limit: int) -> None:
    """One byte more than that, and no order of the arrays is within the limit."""
    laid = tuple(PlacedArray(kind="state", memory="fast", size_bytes=size, places={}) for size in sizes)
    problem = Problem(blocks=(), pools=(Pool(name="fast", capacity_bytes=limit),))
    (pool,) = beside(problem, laid, TWO).pools
    left = pool.capacity_bytes
    assert left is not None

    def fits(pool_bytes: int) -> bool:
        orders = permutations([*sizes, pool_bytes])
        return min(sum(align_up(size, 16) for size in before) + last for *before, last in orders) <= limit

    assert (left == 0 or fits(left)) and not fits(left + 1)
    assert not left or taken_bytes(laid, FAST, left) <= limit < taken_bytes(laid, FAST, left + 1)
