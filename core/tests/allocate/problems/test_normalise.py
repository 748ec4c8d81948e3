"""Normal form: one piece of memory is one block, what changes nothing is gone, and a solution can be read back."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.packing.packing import pack, prepare
from tilewright.allocate.problems.normalise import Normal, independent_parts, normalised
from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution, Within
from tilewright.testing.allocation_problems import block, joined_problem, ram


def normal(problem: Problem) -> Normal:
    found = normalised(problem)
    assert isinstance(found, Normal), found
    return found


def joined(*blocks: Block, link: Within) -> Problem:
    """Blocks of one pool, two of them one piece."""
    return replace(ram(*blocks), within=(link,))


def test_sizes_are_divided_by_their_common_measure_and_offsets_multiplied() -> None:
    found = normal(ram(block("a", 24, 0, 1, align=4), block("b", 36, 1, 2, align=8), capacity=70))
    assert (found.scale, found.exact) == (4, True)
    assert [(one.size_bytes, one.align) for one in found.problem.blocks] == [(6, 1), (9, 2)]
    assert found.problem.pools[0].capacity_bytes == 17
    places = {"a": Place(pool="ram", offset_bytes=0), "b": Place(pool="ram", offset_bytes=6)}
    answer = found.restore(Solution(status="optimal", places=places, bounds={"ram": 15}))
    assert {name: place.offset_bytes for name, place in answer.places.items()} == {"a": 0, "b": 24}
    assert (answer.status, answer.bounds) == ("optimal", {"ram": 60})


@pytest.mark.parametrize(
    ("problem", "scale"),
    [
        (ram(block("a", 12, 0, 0, align=8)), 4),  # an alignment that neither divides nor is a multiple
        (ram(block("a", 12, 0, 0), block("b", 12, 0, 0, fixed=6)), 6),
        (ram(block("a", 12, 0, 0), reserved=((0, 3),)), 3),
        (ram(block("a", 12, 0, 0), reserved=((1, 12),)), 12),  # where it begins, blocks may end later than they could
        (ram(), 1),
    ],
)
def test_nothing_is_cut_by_the_common_measure(problem: Problem, scale: int) -> None:
    assert normal(problem).scale == scale


def test_a_view_and_what_it_lies_in_are_one_block_that_lives_while_either_does() -> None:
    found = normal(
        joined(
            block("inner", 4, 3, 5), block("outer", 12, 0, 1), link=Within(block="inner", of="outer", offset_bytes=8)
        )
    )
    (one,) = found.problem.blocks
    assert (one.name, one.size_bytes * found.scale, one.lifetimes) == ("outer", 12, ((0, 1), (3, 5)))
    assert dict(found.pieces["outer"]) == {"outer": 0, "inner": 8}
    answer = found.restore(Solution(status="feasible", places={"outer": Place(pool="ram", offset_bytes=5)}))
    assert answer.places["inner"].offset_bytes == answer.places["outer"].offset_bytes + 8


def test_in_place_may_be_longer_on_both_sides() -> None:
    link = Within(block="long", of="short", offset_bytes=-4, kind="in_place")
    found = normal(joined(block("short", 4, 0, 1), block("long", 16, 1, 2), link=link))
    assert [one.size_bytes * found.scale for one in found.problem.blocks] == [16]
    assert dict(found.pieces["short"]) == {"short": 4, "long": 0}


def test_what_is_made_longer_to_align_a_view_proves_nothing() -> None:
    link = Within(block="inner", of="outer", offset_bytes=3)
    found = normal(joined(block("inner", 4, 0, 0, align=4), block("outer", 12, 0, 0), link=link))
    assert not found.exact
    assert dict(found.pieces["outer"]) == {"outer": 1, "inner": 4}
    said = [("optimal", "feasible"), ("infeasible", "unknown"), ("feasible", "feasible"), ("unknown", "unknown")]
    for status, told in said:
        answer = found.restore(Solution(status=status, bounds={"ram": 13}))
        assert (answer.status, dict(answer.bounds)) == (told, {})


def test_blocks_of_no_bytes_are_placed_at_once_in_the_first_pool_that_reaches_so_far() -> None:
    pools = (Pool(name="near", capacity_bytes=8), Pool(name="far", capacity_bytes=None))
    empty = block("empty", 0, 0, 0, pools=("near", "far"), fixed=12)
    found = normal(Problem(blocks=(empty, block("full", 4, 0, 0, pools=("far",))), pools=pools))
    assert found.empty == {"empty": Place(pool="far", offset_bytes=12)}
    assert [one.name for one in found.problem.blocks] == ["full"]
    inside = normal(Problem(blocks=(replace(empty, fixed_offset=8),), pools=pools))
    assert inside.empty == {"empty": Place(pool="near", offset_bytes=8)}
    assert inside.restore(Solution(status="optimal")).places == inside.empty


def test_pools_are_struck_off_for_what_engines_may_do_and_for_alignment() -> None:
    pools = (
        Pool(name="shut", capacity_bytes=None, access=(("npu", "none"),)),
        Pool(name="read", capacity_bytes=None, access=(("npu", "ro"),)),
        Pool(name="odd", capacity_bytes=None, align=2),
        Pool(name="free", capacity_bytes=None),
    )
    every = tuple(pool.name for pool in pools)
    reads = Block(name="reads", size_bytes=4, lifetimes=((0, 0),), pools=every, engines=(("npu", "ro"),), align=4)
    writes = replace(reads, name="writes", engines=(("npu", "rw"),), align=1)
    blocks = {one.name: one.pools for one in normal(Problem(blocks=(reads, writes), pools=pools)).problem.blocks}
    assert blocks == {"reads": ("read", "free"), "writes": ("odd", "free")}


VIEW = Within(block="b", of="a", offset_bytes=4)
IMPOSSIBLE = {
    "does not lie inside": joined(block("a", 8, 0, 0), block("b", 5, 0, 0), link=VIEW),
    "at two distances": replace(
        ram(block("a", 8, 0, 0), block("b", 2, 0, 0)), within=(VIEW, replace(VIEW, offset_bytes=2))
    ),
    "exclude each other": joined(block("a", 8, 0, 0, fixed=0), block("b", 4, 0, 0, fixed=0), link=VIEW),
    "begins before its pool": joined(block("a", 8, 0, 0), block("b", 4, 0, 0, fixed=2), link=VIEW),
    "not a multiple of 4": ram(block("a", 8, 0, 0, align=4, fixed=6)),
    "would not be aligned to 8": joined(block("a", 8, 0, 0, fixed=8), block("b", 4, 0, 0, align=8), link=VIEW),
    "no address aligns all": joined(block("a", 8, 0, 0, align=8), block("b", 4, 0, 0, align=8), link=VIEW),
    "no pool is aligned enough": ram(block("a", 8, 0, 0, align=32)),
    "has no pool left": joined(
        block("a", 8, 0, 0), block("b", 4, 0, 0, pools=()), link=VIEW
    ),
    "beyond the end of its pool": ram(block("a", 0, 0, 0, fixed=9), capacity=8),
}  # fmt: skip


@pytest.mark.parametrize("reason", IMPOSSIBLE)
def test_what_cannot_be_is_said(reason: str) -> None:
    found = normalised(IMPOSSIBLE[reason])
    assert isinstance(found, str) and reason in found


def test_pieces_that_may_overlap_are_those_whose_blocks_all_may() -> None:
    blocks = (block("a", 8, 0, 1), block("v", 4, 0, 1), block("b", 8, 1, 2))
    one = replace(joined(*blocks, link=Within(block="v", of="a")), compatible=(("a", "b"),))
    assert normal(one).problem.compatible == ()  # v and b are alive at once and may not
    both = replace(one, compatible=(("a", "b"), ("v", "b")))
    assert normal(both).problem.compatible == (("a", "b"),)
    later = replace(one, blocks=(blocks[0], replace(blocks[1], lifetimes=((0, 0),)), blocks[2]))
    assert normal(later).problem.compatible == (("a", "b"),)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_a_plan_of_the_normal_form_is_a_plan_of_the_original(chance: random.Random) -> None:
    problem = joined_problem(chance)
    found = normalised(problem)
    if isinstance(found, str):
        return
    yard = prepare(found.problem)
    places = pack(yard, yard.movable, "first").places(found.problem)
    answer = Solution(status="feasible", places=places)
    if violations(found.problem, answer) == ():
        assert violations(problem, found.restore(answer)) == ()


@pytest.mark.slow
def test_very_many_blocks_are_normal_as_few_are() -> None:
    """One with a hint sends all of them through what is done block by block."""
    chance = random.Random(1)
    many = ram(*(block(f"b{at}", 8 * chance.randint(1, 9), at, at + 3, align=4) for at in range(6_000)), capacity=999)
    last = replace(many.blocks[-1], hint=0)
    quick, slow = normal(many), normal(replace(many, blocks=(*many.blocks[:-1], last)))
    assert (quick.pieces, len(slow.pieces or ())) == (None, 6_000)
    assert (quick.scale, quick.exact, quick.problem.pools) == (slow.scale, slow.exact, slow.problem.pools)
    assert quick.problem.blocks[:-1] == slow.problem.blocks[:-1]
    places = {one.name: Place(pool="ram", offset_bytes=at) for at, one in enumerate(reversed(many.blocks))}
    for found in (places, {**places, "stranger": Place(pool="ram", offset_bytes=3)}, {}):
        answer = Solution(status="optimal", places=found, bounds={"ram": 5})
        assert quick.restore(answer) == slow.restore(answer)
        assert [*quick.restore(answer).places] == [*slow.restore(answer).places]


def test_reserved_ranges_are_divided_with_everything_else() -> None:
    found = normal(ram(block("a", 24, 0, 1, align=4), capacity=64, reserved=((8, 16), (32, 36))))
    assert found.scale == 4 and found.problem.pools[0].reserved == ((2, 4), (8, 9))


def test_lifetimes_of_a_block_are_sorted_and_each_is_there_once() -> None:
    for lives in (((7, 9), (0, 1)), ((7, 9), (0, 1), (7, 9))):
        several = replace(block("a", 4, 0, 0), lifetimes=lives)
        assert normal(ram(several)).problem.blocks[0].lifetimes == ((0, 1), (7, 9))
    assert normal(ram(block("a", 4, 2, 3))).problem.blocks[0].lifetimes == ((2, 3),)


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
