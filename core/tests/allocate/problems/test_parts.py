"""Problems that have nothing to do with each other are solved apart; nothing is lost or done twice."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.problems.parts import independent_parts
from tilewright.ir.plans.allocation import Pool, Problem
from tilewright.testing.allocation_problems import block

POOLS = tuple(Pool(name=name, capacity_bytes=None) for name in "abcd")


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_parts_share_no_pool_and_together_are_the_problem(chance: random.Random) -> None:
    choices = [tuple(chance.sample("abcd", chance.randint(1, 2))) for _ in range(chance.randint(0, 5))]
    blocks = tuple(block(f"b{at}", 1, 0, 0, pools=pools) for at, pools in enumerate(choices))
    parts = independent_parts(Problem(blocks=blocks, pools=POOLS))
    for one, other in combinations(parts, 2):
        assert not {pool.name for pool in one.pools} & {pool.name for pool in other.pools}
    assert sorted(item.name for part in parts for item in part.blocks) == sorted(item.name for item in blocks)
    for part in parts:
        assert part.blocks
        assert all({pool.name for pool in part.pools}.issuperset(item.pools) for item in part.blocks)


def test_a_block_of_two_pools_joins_them_and_pairs_go_along() -> None:
    blocks = (
        block("x", 1, 0, 0, pools=("a", "c")),
        block("y", 1, 0, 0, pools=("c",)),
        block("z", 1, 0, 0, pools=("b",)),
    )
    whole = Problem(blocks=blocks, pools=POOLS, conflicts=(("x", "y"),), compatible=(("x", "z"),))
    first, second = independent_parts(whole)
    assert [[item.name for item in part.blocks] for part in (first, second)] == [["x", "y"], ["z"]]
    assert (first.conflicts, first.compatible) == ((("x", "y"),), ())
    assert (second.conflicts, second.compatible) == ((), ())
