"""The exact allocator against an independent model in OR-Tools CP-SAT.

More than the few of a test run: python test_minimalloc_oracle.py 5000
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from typing import Any

import pytest

from tilewright.allocate.packing.lower_bound import bytes_away, least_bytes_away
from tilewright.allocate.packing.permanent import packed_by_preference
from tilewright.allocate.solving import solved
from tilewright.api.allocator import Block, Budget, Pool, Problem, Solution, Within
from tilewright.api.testing import joined_problem
from tilewright.check.allocations.allocation import violations
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.native import extension

FORMS = ("python", "native") if extension() else ("python",)
HIGHEST = 2000  # no offset of a best plan of these problems is above this


def model_of(problem: Problem) -> tuple[Any, Any, Any]:
    """The definition of a valid plan, written down once more: the model, bytes away from home, the sum of peaks."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    offsets, homes = {}, {}
    tops = {pool.name: model.new_int_var(0, HIGHEST, "") for pool in problem.pools}
    for block in problem.blocks:
        unit = model.new_int_var(0, HIGHEST // block.align, "")
        offsets[block.name] = model.new_int_var(0, HIGHEST, "")
        model.add(offsets[block.name] == unit * block.align)
        homes[block.name] = {pool.name: model.new_bool_var("") for pool in problem.pools}
        model.add_exactly_one(homes[block.name].values())
        if block.fixed_offset is not None:
            model.add(offsets[block.name] == block.fixed_offset)
        for pool in problem.pools:
            _alone(model, block, pool, offsets[block.name], homes[block.name][pool.name], tops[pool.name])
    for link in problem.within:
        model.add(offsets[link.block] == offsets[link.of] + link.offset_bytes)
        for pool in problem.pools:
            model.add(homes[link.block][pool.name] == homes[link.of][pool.name])
    _apart(model, problem, offsets, homes)
    away = sum(
        block.size_bytes * block.pools.index(name) * home
        for block in problem.blocks
        for name, home in homes[block.name].items()
        if name in block.pools
    )
    return model, away, sum(tops.values())


def _alone(model: Any, block: Block, pool: Pool, offset: Any, home: Any, top: Any) -> None:
    access = dict(pool.access)
    refused = any(access.get(engine, "rw") not in ("rw", wanted) for engine, wanted in block.engines)
    if pool.name not in block.pools or pool.align % block.align or refused:
        model.add(home == 0)
    if pool.capacity_bytes is not None:
        model.add(offset + block.size_bytes <= pool.capacity_bytes).only_enforce_if(home)
    if not block.size_bytes:
        return
    model.add(offset + block.size_bytes <= top).only_enforce_if(home)
    for low, high in pool.reserved:
        under = model.new_bool_var("")
        model.add(offset + block.size_bytes <= low).only_enforce_if(home, under)
        model.add(offset >= high).only_enforce_if(home, under.negated())


def _apart(model: Any, problem: Problem, offsets: Any, homes: Any) -> None:
    """Problems with `within` are left out here: a piece is more than its blocks. `plain` sees to that."""
    conflicts = {frozenset(pair) for pair in problem.conflicts}
    compatible = {frozenset(pair) for pair in problem.compatible}
    for number, one in enumerate(problem.blocks):
        for other in problem.blocks[:number]:
            pair = frozenset((one.name, other.name))
            meet = any(a <= d and c <= b for a, b in one.lifetimes for c, d in other.lifetimes)
            if not one.size_bytes or not other.size_bytes:
                continue
            if pair not in conflicts and (not meet or pair in compatible):
                continue
            under = model.new_bool_var("")
            for pool in problem.pools:
                both = (homes[one.name][pool.name], homes[other.name][pool.name])
                first, second = offsets[one.name], offsets[other.name]
                model.add(first + one.size_bytes <= second).only_enforce_if(*both, under)
                model.add(second + other.size_bytes <= first).only_enforce_if(*both, under.negated())


def optimum(problem: Problem) -> tuple[int, int] | None:
    """Bytes times steps from preferred pools, then the sum of peaks; None where there is no plan."""
    from ortools.sat.python import cp_model

    model, away, peak = model_of(problem)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    if not isinstance(away, int):
        model.minimize(away)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    assert status == cp_model.OPTIMAL
    least = solver.value(away) if not isinstance(away, int) else away
    model.add(away == least)
    model.minimize(peak)
    assert solver.solve(model) == cp_model.OPTIMAL
    return least, round(solver.objective_value)


def views_inside(chance: random.Random, problem: Problem) -> Problem:
    """Some blocks as views that live exactly as long as their parent: then a piece is no more than its parent."""
    links, blocks = [], list(problem.blocks)
    for number in range(1, len(blocks)):
        parent = blocks[number - 1]
        if chance.randrange(4) or not parent.size_bytes or any(parent.name in pair for pair in problem.compatible):
            continue
        size = chance.randint(1, parent.size_bytes)
        view = Block(
            name=f"v{number}",
            size_bytes=size,
            lifetimes=parent.lifetimes,
            pools=parent.pools,
        )
        links.append(Within(block=view.name, of=parent.name, offset_bytes=chance.randint(0, parent.size_bytes - size)))
        blocks.append(view)
    return replace(problem, blocks=tuple(blocks), within=tuple(links))


def plain(chance: random.Random) -> Problem:
    """A random problem without pieces."""
    return replace(joined_problem(chance, most_blocks=7), within=())


def cost_of(problem: Problem, solution: Solution) -> tuple[int, int]:
    """Of the blocks that are no views: those lie inside others."""
    views = {link.block for link in problem.within}
    tops = dict.fromkeys((pool.name for pool in problem.pools), 0)
    away = 0
    for block in problem.blocks:
        place = solution.places[block.name]
        if block.size_bytes and block.name not in views:
            tops[place.pool] = max(tops[place.pool], place.offset_bytes + block.size_bytes)
            away += block.size_bytes * block.pools.index(place.pool)
    return away, sum(tops.values())


def forever(chance: random.Random, pools: int) -> Problem:
    """Blocks that never die, which prefer the pools in their order."""
    aligns = chance.choice([(4,), (4,), (1, 4), (2, 4, 8)])
    names = tuple(f"p{number}" for number in range(pools))
    blocks = tuple(
        Block(
            name=f"b{number}",
            size_bytes=chance.randint(1, 60),
            align=chance.choice(aligns),
            lifetimes=((0, 9),),
            pools=names[chance.randrange(10) // 9 :],
        )
        for number in range(chance.randint(2, 9))
    )
    rooms = (*(chance.randint(16, 150) for _ in names[1:]), None)
    return Problem(
        blocks=blocks,
        pools=tuple(
            Pool(name=name, capacity_bytes=room, reserved=((0, 16),)) for name, room in zip(names, rooms, strict=True)
        ),
    )


def compare_constants(seed: int) -> tuple[int, int, int]:
    """Bytes away: claimed of every plan, of the best plan, and of the plan that is made without a search."""
    chance = random.Random(seed)
    problem = forever(chance, chance.choice((2, 2, 2, 3)))
    best = optimum(problem)
    found = Solution(status="feasible", places=packed_by_preference(problem) or {})
    assert best is not None and not violations(problem, found), seed
    least, used = least_bytes_away(problem), bytes_away(problem, found)
    assert least <= best[0] <= used, seed
    if len(problem.pools) == 2 and len({block.align for block in problem.blocks}) == 1:
        assert least == used, seed
    return least, best[0], used


def compare(seed: int) -> bool:
    """Both forms against the model; whether there was a plan."""
    problem = plain(random.Random(seed))
    wanted = optimum(problem)
    assert wanted is None or least_bytes_away(problem) <= wanted[0], seed
    views = views_inside(random.Random(seed), problem)
    for form in FORMS:
        exact = Exact(form=form)
        solution = solved(problem, exact, Budget())
        if wanted is None:
            assert solution.status == "infeasible", seed
            assert solved(views, exact, Budget()).status == "infeasible", seed
            continue
        assert violations(problem, solution) == (), seed
        assert (solution.status, cost_of(problem, solution)) == ("optimal", wanted), seed
        seen = solved(views, exact, Budget())
        assert (seen.status, cost_of(problem, seen)) == ("optimal", wanted), seed
    return wanted is not None


def test_agrees_with_cp_sat() -> None:
    pytest.importorskip("ortools", reason="OR-Tools, a test-only model: pip install ortools")
    plans = sum(compare(seed) for seed in range(150))
    assert 40 < plans < 145


@pytest.mark.slow
def test_constants_are_divided_as_well_as_can_be_proved() -> None:
    """Exact for two pools where all are aligned alike; else the three are rarely different."""
    pytest.importorskip("ortools", reason="OR-Tools, a test-only model: pip install ortools")
    found = [compare_constants(seed) for seed in range(150)]
    assert sum(best < used for _, best, used in found) <= 30
    assert sum(least < best for least, best, _ in found) <= 30
    assert sum(used > 0 for _, _, used in found) > 60


if __name__ == "__main__":
    many = int(sys.argv[1])
    for number in range(many):
        compare_constants(number)
    sys.stdout.write(f"{sum(map(compare, range(many)))} of {many} problems have a plan; no mismatch\n")
