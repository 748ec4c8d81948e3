"""BestFit: always valid, never under the bound, the same every time, and exact where it says so."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import OF_NETWORKS, buffers_file
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.problems.problem_files import read_problem
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Block, Budget, Place, Pool, Problem, Solution
from tilewright.testing.allocation_problems import block, ram, random_problem

SMALL = Budget(work=3_000)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_plan_is_valid_and_not_under_the_bound(chance: random.Random) -> None:
    problem = random_problem(chance)
    solution = BestFit().solve(problem, SMALL)
    if solution.status in ("optimal", "feasible"):
        assert violations(problem, solution) == ()
        used, bounds = peaks(problem, solution), lower_bounds(problem)
        assert all(used[name] >= bounds[name] for name in used)
    else:
        assert solution.reason
        assert not solution.places


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_without_limits_there_is_always_a_plan(chance: random.Random) -> None:
    problem = random_problem(chance, capacities=False, extras=False)
    assert BestFit().solve(problem, SMALL).status in ("optimal", "feasible")


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_same_problem_gives_the_same_plan(chance: random.Random) -> None:
    problem = random_problem(chance)
    assert BestFit().solve(problem, SMALL) == BestFit().solve(problem, SMALL)


def _best_peak(problem: Problem) -> int:
    """The lowest peak of one pool, from all offsets of a grid: no cleverness to be wrong about."""
    blocks = problem.blocks
    most = sum(item.size_bytes for item in blocks)
    best = most
    for offsets in itertools.product(range(most), repeat=len(blocks)):
        peak = max(offset + item.size_bytes for offset, item in zip(offsets, blocks, strict=True))
        places = {item.name: Place(pool="ram", offset_bytes=at) for item, at in zip(blocks, offsets, strict=True)}
        if peak < best and not violations(problem, Solution(status="feasible", places=places)):
            best = peak
    return best


@pytest.mark.parametrize("seed", range(6))
def test_optimal_is_what_brute_force_finds(seed: int) -> None:
    shapes = [(2 + (seed * 7 + i * 5) % 3, (seed * 3 + i * 2) % 5, (seed + i) % 3) for i in range(4)]
    problem = ram(*(block(f"b{i}", size, first, first + life) for i, (size, first, life) in enumerate(shapes)))
    solution = BestFit().solve(problem, Budget())
    assert solution.status == "optimal"
    assert peaks(problem, solution)["ram"] == _best_peak(problem)


def _ring() -> Problem:
    """5 pairs that conflict in a ring: every pair needs 2 bytes, the ring needs 3."""
    blocks = tuple(Block(name=f"r{i}", size_bytes=1, lifetimes=(), pools=("ram",)) for i in range(5))
    ring = tuple((f"r{i}", f"r{(i + 1) % 5}") for i in range(5))
    return Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=None),), conflicts=ring)


def test_a_peak_above_the_bound_is_proved_by_trying_everything() -> None:
    problem = _ring()
    solution = BestFit().solve(problem, Budget())
    assert lower_bounds(problem) == {"ram": 2}
    assert peaks(problem, solution) == {"ram": 3}
    assert solution.status == "optimal"


@pytest.mark.parametrize("work", [0, 10, 50])
def test_what_there_is_no_work_left_to_prove_is_not_called_optimal(work: int) -> None:
    solution = BestFit().solve(_ring(), Budget(work=work))
    assert (solution.status, peaks(_ring(), solution)) == ("feasible", {"ram": 3})


def test_the_preferred_pool_is_used_while_there_is_room() -> None:
    both = ("near", "far")
    problem = Problem(
        blocks=(block("a", 60, 0, 1, pools=both), block("b", 50, 1, 2, pools=both), block("c", 60, 2, 3, pools=both)),
        pools=(Pool(name="near", capacity_bytes=100), Pool(name="far", capacity_bytes=None)),
    )
    solution = BestFit().solve(problem, Budget())
    assert {name: place.pool for name, place in solution.places.items()} == {"a": "near", "b": "far", "c": "near"}


def test_fixed_offsets_and_reserved_ranges_are_kept() -> None:
    problem = ram(block("pinned", 10, 0, 2, fixed=32), block("free", 30, 0, 2), capacity=80, reserved=((0, 4),))
    solution = BestFit().solve(problem, Budget())
    assert solution.places["pinned"].offset_bytes == 32
    assert solution.places["free"].offset_bytes == 42


def test_only_fixed_blocks_leave_nothing_to_improve() -> None:
    problem = Problem(
        blocks=(block("a", 8, 0, 1, pools=("ram", "far"), fixed=0), block("b", 8, 1, 2, pools=("ram", "far"), fixed=0)),
        pools=(Pool(name="ram", capacity_bytes=8), Pool(name="far", capacity_bytes=None)),
    )
    solution = BestFit().solve(problem, Budget())
    assert {place.pool for place in solution.places.values()} == {"ram", "far"}


def test_blocks_of_no_bytes_need_no_room() -> None:
    solution = BestFit().solve(ram(block("a", 8, 0, 3), block("none", 0, 0, 3), capacity=8), Budget())
    assert solution.status == "optimal"


def test_a_lifetime_with_a_gap_lets_another_block_in() -> None:
    problem = Problem(
        blocks=(
            Block(name="twice", size_bytes=8, lifetimes=((0, 1), (4, 5)), pools=("ram",)),
            block("between", 8, 2, 3),
        ),
        pools=(Pool(name="ram", capacity_bytes=8),),
    )
    assert BestFit().solve(problem, Budget()).status == "optimal"


@pytest.mark.parametrize(
    ("problem", "word"),
    [
        (ram(block("a", 60, 0, 1), block("b", 60, 1, 2), capacity=100), "alive at once need more than pool"),
        (ram(block("a", 4, 0, 0, align=32)), "aligned"),
        (ram(block("a", 8, 0, 1, fixed=0), block("b", 8, 1, 2, fixed=4)), "overlap"),
        (ram(block("a", 8, 0, 1, align=4, fixed=2)), "multiple"),
        (ram(block("none", 0, 0, 1, fixed=64), capacity=48), "beyond the end"),
        (ram(block("a", 8, 0, 1, fixed=8), reserved=((0, 12),)), "reserved"),
    ],
)
def test_what_cannot_be_is_infeasible_with_a_reason(problem: Problem, word: str) -> None:
    solution = BestFit().solve(problem, Budget())
    assert solution.status == "infeasible"
    assert word in solution.reason


def test_no_more_work_than_the_budget_allows() -> None:
    blocks = tuple(block(f"b{i}", 3 + (i * 7) % 11, i % 9, i % 9 + (i * 5) % 4) for i in range(40))
    cheap = BestFit().solve(ram(*blocks), Budget(work=0)).work
    assert BestFit().solve(ram(*blocks), Budget(work=2_000)).work <= max(cheap, 2_000)


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_networks_reach_the_lower_bound(name: str, tmp_path: Path) -> None:
    problem = read_problem(buffers_file(name, tmp_path))
    solution = BestFit().solve(problem, Budget())
    assert violations(problem, solution) == ()
    assert peaks(problem, solution) == lower_bounds(problem)
    assert solution.status == "optimal"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_an_earlier_plan_is_kept_where_none_is_better(chance: random.Random) -> None:
    problem = random_problem(chance, capacities=False, extras=False)
    first = BestFit().solve(problem, SMALL)
    offsets = {name: place.offset_bytes for name, place in first.places.items()}
    hinted = replace(problem, blocks=tuple(replace(one, hint=offsets[one.name]) for one in problem.blocks))
    again = BestFit().solve(hinted, SMALL)
    taken = peaks(problem, first)
    assert all(size <= taken[pool] for pool, size in peaks(hinted, again).items())
    if first.status == "optimal" and all(first.places[one.name].pool == one.pools[0] for one in problem.blocks):
        assert again.places == first.places


def test_a_hint_that_would_cost_bytes_binds_nobody() -> None:
    problem = ram(replace(block("a", 8, 0, 1), hint=64), block("b", 8, 0, 1))
    solution = BestFit().solve(problem, SMALL)
    assert (solution.status, peaks(problem, solution)["ram"]) == ("optimal", 16)


def test_of_equal_plans_the_hinted_one_is_taken() -> None:
    blocks = (block("a", 8, 0, 1), replace(block("b", 8, 0, 1), hint=0))
    places = BestFit().solve(ram(*blocks), SMALL).places
    assert (places["a"].offset_bytes, places["b"].offset_bytes) == (8, 0)
