"""Problems with everything in them: links that can be kept, engines, and lengths with a common measure."""

from __future__ import annotations

import random

from tilewright.testing.joined_problems import joined_problem

PROBLEMS = [joined_problem(random.Random(seed)) for seed in range(120)]


def test_a_view_lies_inside_of_what_it_is_a_view_of() -> None:
    for problem in PROBLEMS:
        blocks = {block.name: block for block in problem.blocks}
        names = [block.name for block in problem.blocks]
        for link in problem.within:
            assert names.index(link.of) < names.index(link.block)  # no circle
            if link.kind == "view":
                assert 0 <= link.offset_bytes <= blocks[link.of].size_bytes - blocks[link.block].size_bytes
            else:
                assert link.offset_bytes == 0


def test_a_block_has_one_outer_at_most() -> None:
    for problem in PROBLEMS:
        linked = [link.block for link in problem.within]
        assert len(linked) == len(set(linked))


def test_everything_occurs() -> None:
    assert {link.kind for problem in PROBLEMS for link in problem.within} == {"view", "in_place"}
    assert any(link.offset_bytes for problem in PROBLEMS for link in problem.within)
    assert any(block.engines for problem in PROBLEMS for block in problem.blocks)
    kinds = {kind for problem in PROBLEMS for pool in problem.pools for _, kind in pool.access}
    assert kinds == {"ro", "none"}
    whole = [{block.size_bytes % 6 for block in problem.blocks} for problem in PROBLEMS if problem.blocks]
    assert {0} in whole  # all lengths are multiples of the unit
    capacities = [pool.capacity_bytes for problem in PROBLEMS for pool in problem.pools if pool.capacity_bytes]
    assert any(capacity % 6 and capacity % 4 for capacity in capacities)  # though capacities need not be
