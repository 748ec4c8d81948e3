"""Buffers that take bytes of others: one way to place them, or a second one where that takes more than the least."""

from __future__ import annotations

from dataclasses import replace

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.allocate.aliases.alias_bodies import with_bodies
from tilewright.allocate.aliases.aliased_buffers import (
    AliasedBuffers,
    aliased_buffers_of,
    as_proved,
    chosen,
    with_aliases,
)
from tilewright.allocate.best_fit import BestFit
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.errors import TilewrightError
from tilewright.ir.plans.allocation import Block, Budget, Place, Pool, Problem, Solution
from tilewright.plan.kernel_fallback import Fitting
from tilewright.testing.one_step import vocabulary

POOL = Pool(name="ram", capacity_bytes=None)


def block(name: str, size_bytes: int, first: int, last: int, fixed: int | None = None) -> Block:
    """Bytes that live from step to step."""
    return Block(
        name=name, size_bytes=size_bytes, align=16, lifetimes=((first, last),), pools=("ram",), fixed_offset=fixed
    )


def over(taker: str, giver: str, lead_bytes: int, *, backward: bool = False) -> AliasedBuffers:
    """`taker` takes bytes of `giver`."""
    return AliasedBuffers(taker=taker, giver=giver, lead_bytes=lead_bytes, backward=backward)


def test_what_takes_part_is_fixed_and_the_rest_has_hints() -> None:
    x, y, other = block("x", 256, 0, 3), block("y", 64, 3, 4), block("other", 32, 1, 2)
    (problem,) = with_aliases(Problem(blocks=(x, y, other), pools=(POOL,)), (over("y", "x", 32),))
    assert {one.name: (one.fixed_offset, one.hint) for one in problem.blocks} == {
        "x": (32, None), "y": (0, None), "other": (None, 0)
    }  # fmt: skip
    assert problem.compatible == (("y", "x"),)


def test_without_overlays_a_problem_is_as_it_was() -> None:
    problem = Problem(blocks=(block("x", 256, 0, 3),), pools=(POOL,))
    assert with_aliases(problem, ()) == with_aliases(problem, (over("y", "x", 0),)) == (problem,)


def test_pins_may_be_farther_apart_and_not_nearer() -> None:
    x, y = block("x", 256, 0, 3, fixed=64), block("y", 64, 3, 4, fixed=0)
    for lead_bytes in (32, 64):
        (kept,) = with_aliases(Problem(blocks=(x, y), pools=(POOL,)), (over("y", "x", lead_bytes),))
        assert kept.blocks == (x, y)
    near = block("y", 64, 3, 4, fixed=48)
    with pytest.raises(TilewrightError, match="TW5002"):
        with_aliases(Problem(blocks=(x, near), pools=(POOL,)), (over("y", "x", 32),))


def test_a_second_way_where_the_first_may_not_be_the_best() -> None:
    """Each output of the chain begins before what it is over: what that adds up to is in no bound."""
    chain = tuple(block(f"x{at}", 256, at, at + 1) for at in range(4))
    problem = Problem(blocks=chain, pools=(POOL,))
    aliases = tuple(over(f"x{at + 1}", f"x{at}", 32) for at in range(3))
    first, second = with_aliases(problem, aliases)
    assert second == with_bodies(problem, aliases)
    for way in (first, second):
        found = BestFit().solve(way, Budget())
        assert not violations(way, found)
        assert peaks(way, found) == {"ram": 256 + 3 * 32}


def test_where_there_is_a_choice_of_pools_all_are_bodies() -> None:
    pools = (POOL, Pool(name="other", capacity_bytes=None))
    x, y = block("x", 256, 0, 3), block("y", 64, 3, 4)
    free = Block(name="free", size_bytes=16, align=16, lifetimes=((0, 4),), pools=("ram", "other"))
    problem = Problem(blocks=(x, y, free), pools=pools)
    assert with_aliases(problem, (over("y", "x", 32),)) == (with_bodies(problem, (over("y", "x", 32),)),)


def test_what_was_chosen_is_no_proof() -> None:
    first, x, y = block("first", 256, 0, 1), block("x", 64, 1, 3), block("y", 128, 3, 4)
    problem = with_bodies(Problem(blocks=(first, x, y), pools=(POOL,)), (over("y", "x", 64),))
    assert chosen((over("y", "x", 64),), Problem(blocks=(first, x, y), pools=(POOL,))) == {"x", "y"}
    for top, status in ((0, "optimal"), (512, "feasible")):
        places = {one.name: Place(pool="ram", offset_bytes=one.fixed_offset or top) for one in problem.blocks}
        found = as_proved(problem, Solution(status="optimal", places=places), {"x", "y"})
        assert (found.status, found.bounds) == (status, {"ram": 320})


@pytest.mark.parametrize(("seed", "links"), [(5, 3), (7, 1), (11, 2), (13, 2)])
def test_in_a_plan_the_two_meet_once_so_no_three_are_there_together(seed: int, links: int) -> None:
    """`links`: buffers that take bytes and give some."""
    planner = replace(portable_planner(), optimize="ram")
    plan = Fitting(planner=planner).plan(planner.bind(row_network(seed, vocabulary()).graph, ONE_MEMORY))
    pairs = [*aliased_buffers_of(plan.tiled)]
    buffers = {buffer.name: buffer for buffer in plan.tiled.buffers}
    assert len({one.taker for one in pairs} & {one.giver for one in pairs}) == links
    assert len({one.giver for one in pairs}) == len({one.taker for one in pairs}) == len(pairs)
    assert all(buffers[one.giver].last == buffers[one.taker].first for one in pairs)
