"""Very many blocks: a plan for those that have a size and a lifetime each, and for no others."""

from __future__ import annotations

import random

import pytest
from counted import counted

from tilewright.allocate.auto import Auto
from tilewright.allocate.solving import solved
from tilewright.api.allocator import Block, Budget, Place, Pool, Problem, Solution, lower_bounds
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.testing.allocation_problems import block, ram
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.first_fit import first_fit

pytest.importorskip("tilewright_minimalloc._first_fit")


def _drawn(seed: int, count: int, times: int) -> tuple[Block, ...]:
    chance = random.Random(seed)
    born = [chance.randrange(times) for _ in range(count)]
    return tuple(
        block(f"b{i}", chance.randint(1, 40), t, t + chance.randint(0, 9), align=chance.choice([1, 4, 8]))
        for i, t in enumerate(born)
    )


def test_more_work_is_a_lower_plan() -> None:
    problem = ram(*_drawn(3, count=2_000, times=400))
    bounds = lower_bounds(problem)
    few, more = (_peak(problem, first_fit(problem, bounds, work)) for work in (0, 100_000))
    assert bounds["ram"] <= more < few


@pytest.mark.slow
def test_an_effort_is_spent() -> None:
    """Long and short lives, large and small blocks: no order meets the bound, and changes of one go on helping."""
    chance = random.Random(0)
    rows = [(chance.randrange(2_000), int(chance.expovariate(1 / 60)) + 1, chance.uniform(0, 10)) for _ in range(3_000)]
    problem = ram(*(block(f"b{i}", 64 * int(2**size), at, at + life) for i, (at, life, size) in enumerate(rows)))
    bounds = lower_bounds(problem)
    some, more, most = (_peak(problem, first_fit(problem, bounds, work)) for work in (12_000, 60_000, 180_000))
    assert bounds["ram"] < most < more < some


def test_orders_follow_where_no_window_can_be_lowered() -> None:
    """All are alive at once but two: a window of them is all, and too large."""
    chance = random.Random(7)
    crowd = [block(f"b{i}", chance.randint(1, 999), i % 40, 60 + i % 50, align=16) for i in range(2_400)]
    problem = ram(*crowd)
    peak = _peak(problem, first_fit(problem, lower_bounds(problem), 50_000))
    assert lower_bounds(problem)["ram"] <= peak <= 1.1 * lower_bounds(problem)["ram"]


def _peak(problem: Problem, places: dict[str, Place] | None) -> int:
    assert places is not None
    found = Solution(status="feasible", places=places)
    assert not violations(problem, found)
    return peaks(problem, found)["ram"]


def test_what_is_more_than_blocks_with_one_lifetime_is_for_others() -> None:
    plain = ram(block("a", 4, 0, 1), block("b", 4, 1, 2))
    assert first_fit(plain, lower_bounds(plain), 0) == {
        "a": Place(pool="ram", offset_bytes=0),
        "b": Place(pool="ram", offset_bytes=4),
    }
    tight = ram(block("a", 4, 0, 1), block("b", 4, 1, 2), capacity=7)
    fixed = ram(block("a", 4, 0, 1, fixed=8))
    reserved = ram(block("a", 4, 0, 1), reserved=((0, 4),))
    gaps = ram(Block(name="a", size_bytes=4, lifetimes=((0, 1), (3, 4)), pools=("ram",)))
    apart = Problem(
        blocks=(block("a", 4, 0, 1), block("b", 4, 3, 4)),
        pools=(Pool(name="ram", capacity_bytes=None),),
        conflicts=(("a", "b"),),
    )
    for other in (tight, fixed, reserved, gaps, apart):
        assert first_fit(other, lower_bounds(other), 0) is None


@pytest.mark.slow
@pytest.mark.parametrize(("count", "form"), [(5_000, "python"), pytest.param(20_000, "", marks=pytest.mark.long)])
def test_more_blocks_than_are_searched_are_placed(count: int, form: str) -> None:
    problem = ram(*_drawn(1, count=count, times=400))
    found, calls = counted(lambda: Exact(form=form).solve(problem, Budget()))
    assert calls < 600 * count
    assert found.status in ("optimal", "feasible")
    used = max(found.places[one.name].offset_bytes + one.size_bytes for one in problem.blocks)
    assert used <= 1.1 * found.bounds["ram"]


def test_thousands_of_blocks_are_proved_before_any_heuristics() -> None:
    """These took `auto` 4 s, for a plan 5 % above the bound."""
    chance = random.Random(0)
    starts = [chance.randrange(6_000) for _ in range(3_000)]
    problem = ram(
        *(block(f"b{i}", 16 * chance.randint(1, 256), t, t + chance.randint(1, 119)) for i, t in enumerate(starts))
    )
    found, calls = counted(lambda: solved(problem, Auto(exact=Exact()), Budget()))
    assert (found.status, found.found_by) == ("optimal", "minimalloc")
    assert calls < 500 * len(problem.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 13])
def test_very_many_blocks_are_proved(seed: int) -> None:
    """Of 15,000 a skyline and first fits left 2 to 7 % above the bound, and took seconds."""
    chance = random.Random(seed)
    rows = [(chance.randrange(15_000), chance.randint(1, 100), 16 * chance.randint(1, 400)) for _ in range(15_000)]
    problem = ram(*(block(f"b{i}", size, first, first + life - 1) for i, (first, life, size) in enumerate(rows)))
    found, calls = counted(lambda: solved(problem, Auto(exact=Exact()), Budget()))
    assert (found.status, found.found_by) == ("optimal", "minimalloc")
    assert calls < 500 * len(problem.blocks)
