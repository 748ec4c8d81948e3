"""Block after block on a skyline: a plan or a reason, and called optimal only where every pool meets its bound."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.packing.stacking import stack
from tilewright.allocate.problems.normalise import normalised
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.testing.allocation_problems import block, ram, random_problem


@given(st.randoms(use_true_random=False))
def test_without_limits_there_is_a_plan_and_optimal_means_every_bound_is_met(chance: random.Random) -> None:
    normal = normalised(random_problem(chance, capacities=False, extras=False))
    assert not isinstance(normal, str)
    problem = normal.problem
    answer = stack(problem)
    assert violations(problem, answer) == ()
    met = peaks(problem, answer) == lower_bounds(problem)
    at_home = all(answer.places[one.name].pool == one.pools[0] for one in problem.blocks)
    assert (answer.status == "optimal") == (met and at_home)


def test_a_block_that_fits_nowhere_is_named() -> None:
    answer = stack(ram(block("a", 8, 0, 1), block("b", 5, 1, 2), capacity=12))
    assert (answer.status, answer.reason) == ("unknown", "no room was found for block 'b'")


def test_a_demanded_offset_is_kept_and_one_that_cannot_be_is_no_plan() -> None:
    answer = stack(ram(block("still", 8, 0, 1, align=4, fixed=16), block("b", 4, 1, 2), capacity=28))
    assert answer.status != "unknown", answer.reason
    assert answer.places["still"].offset_bytes == 16 and answer.places["b"].offset_bytes == 24
    for fixed in (-4, 18, 20):  # below the pool, not aligned, beyond its end
        assert stack(ram(block("still", 8, 0, 1, align=4, fixed=fixed), capacity=24)).status == "unknown"
