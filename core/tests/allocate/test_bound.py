"""Lower bounds, by hand."""

from __future__ import annotations

from tilewright.allocate.bound import lower_bounds
from tilewright.ir.allocation import Block, Pool, Problem
from tilewright.testing.allocation_problems import block, ram


def test_the_heaviest_moment_counts() -> None:
    assert lower_bounds(ram(block("a", 5, 0, 1), block("b", 7, 1, 3), block("c", 9, 3, 3))) == {"ram": 16}


def test_a_block_with_a_choice_does_not_count() -> None:
    problem = Problem(
        blocks=(block("a", 5, 0, 1), block("b", 7, 0, 1, pools=("ram", "far"))),
        pools=(Pool(name="ram", capacity_bytes=None), Pool(name="far", capacity_bytes=None)),
    )
    assert lower_bounds(problem) == {"ram": 5, "far": 0}


def test_all_but_the_topmost_block_fill_their_last_word() -> None:
    assert lower_bounds(ram(block("a", 5, 0, 0, align=4), block("b", 6, 0, 0, align=8))) == {"ram": 13}


def test_a_fixed_offset_and_a_reserved_range_raise_it() -> None:
    assert lower_bounds(ram(block("a", 4, 0, 0, fixed=100))) == {"ram": 104}
    assert lower_bounds(ram(block("a", 10, 0, 0), reserved=((4, 8), (100, 200)))) == {"ram": 14}


def test_compatible_pairs_do_not_add_up_and_explicit_conflicts_do() -> None:
    blocks = (block("a", 4, 0, 1), block("b", 6, 0, 1), block("c", 3, 5, 5))
    pool = (Pool(name="ram", capacity_bytes=None),)
    assert lower_bounds(Problem(blocks=blocks, pools=pool, compatible=(("b", "a"),))) == {"ram": 6}
    assert lower_bounds(Problem(blocks=blocks, pools=pool, conflicts=(("c", "b"), ("a", "c")))) == {"ram": 13}


def test_nothing_needs_nothing() -> None:
    assert lower_bounds(Problem(blocks=(), pools=(Pool(name="ram", capacity_bytes=None),))) == {"ram": 0}
    assert lower_bounds(ram(Block(name="none", size_bytes=0, lifetimes=(), pools=("ram",)))) == {"ram": 0}
