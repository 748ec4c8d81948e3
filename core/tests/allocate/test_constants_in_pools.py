"""Constants over several memories: the preferred first, the next exactly when it is full, back where there is room."""

from __future__ import annotations

import random

import pytest

from tilewright.allocate.allocate import _placed_constants
from tilewright.allocate.auto import Auto
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Block, Budget, Pool, Problem, Solution
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Tiled
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()


def _any_tiled() -> Tiled:
    bound = bind(
        random_graph(random.Random(1), WORLD.operators), WORLD.platform, WORLD.operators, WORLD.kernels, Decisions()
    )
    return tile(schedule(bound, WORLD.operators, Decisions()), WORLD.operators, WholeTiler(), Decisions())


def _problem(sizes: list[int], first: int) -> Problem:
    return Problem(
        blocks=tuple(
            Block(name=f"c{index}", size_bytes=size, align=4, lifetimes=((0, 9),), pools=("itcm", "flash"))
            for index, size in enumerate(sizes)
        ),
        pools=(
            Pool(name="itcm", capacity_bytes=first, reserved=((0, 16),)),
            Pool(name="flash", capacity_bytes=None, reserved=((0, 16),)),
        ),
    )


def _solved(problem: Problem) -> Solution:
    found = _placed_constants(_any_tiled(), problem, Auto(heuristic=BestFit()), Budget(work=5000))
    assert isinstance(found, Solution)
    assert not violations(problem, found)
    return found


def test_everything_is_where_it_is_preferred_while_there_is_room() -> None:
    assert peaks(_problem([40, 40], 96), _solved(_problem([40, 40], 96))) == {"itcm": 96, "flash": 0}


def test_one_byte_less_and_one_constant_moves() -> None:
    problem = _problem([40, 40], 95)
    assert peaks(problem, _solved(problem)) == {"itcm": 56, "flash": 56}


def test_what_is_moved_comes_back_where_a_better_choice_has_room() -> None:
    """One after the other leaves 40 bytes empty; the best choice fills the pool."""
    problem = _problem([60, 64, 100], 16 + 164)
    places = _solved(problem).places
    assert [places[name].pool for name in ("c0", "c1", "c2")] == ["flash", "itcm", "itcm"]


@pytest.mark.parametrize("seed", range(6))
def test_no_constant_that_had_room_is_away(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [4 * chance.randint(1, 30) for _ in range(8)]
    problem = _problem(sizes, 16 + sum(sizes) // 2)
    found = _solved(problem)
    free = 16 + sum(sizes) // 2 - peaks(problem, found)["itcm"]
    away = [block.size_bytes for block in problem.blocks if found.places[block.name].pool == "flash"]
    assert all(size > free for size in away)


class _Never:
    """An allocator that must not be asked."""

    name, summary = "never", ""

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        raise AssertionError("constants that all fit somewhere are no search")


def test_the_fullest_pool_is_found_without_a_search() -> None:
    sizes = [4096, 4096, 2560, 768, 616, *[576] * 4, *[256] * 16, 48, 48, 4]
    problem = _problem(sizes, 5000)
    found = _placed_constants(_any_tiled(), problem, _Never(), Budget())
    assert isinstance(found, Solution)
    assert peaks(problem, found)["itcm"] == 4996
