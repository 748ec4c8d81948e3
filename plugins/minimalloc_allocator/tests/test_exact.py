"""The exact allocator against an independent brute force, in both forms, on small problems of every kind."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from tilewright.api.allocator import Block, Budget, Place, Pool, Problem
from tilewright.check.allocations.allocation import violations
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.native import extension

PYTHON, NATIVE = Exact(form="python"), Exact(form="native")
FORMS = (PYTHON, NATIVE) if extension() else (PYTHON,)
BUDGET = Budget(work=100_000)
ENOUGH = 14  # offsets that brute force tries


def small_problem(chance: random.Random) -> Problem:
    """Up to five blocks with every feature, in one or two small pools."""
    pools = tuple(
        Pool(
            name=name,
            capacity_bytes=chance.choice([None, *range(2, ENOUGH)]),
            align=8,
            reserved=((low := chance.randrange(6), low + chance.randint(1, 3)),) if not chance.randrange(4) else (),
        )
        for name in ("near", "far")[: chance.randint(1, 2)]
    )
    blocks = []
    for number in range(chance.randint(1, 5)):
        lives = []
        for _ in range(chance.choice([1, 1, 1, 2])):
            first = chance.randrange(7)
            lives.append((first, first + chance.randrange(4)))
        align = chance.choice([1, 1, 2, 4])
        names = [pool.name for pool in pools]
        chance.shuffle(names)
        blocks.append(
            Block(
                name=f"b{number}",
                size_bytes=chance.choice([0, 1, 2, 2, 3, 4]),
                align=align,
                lifetimes=tuple(lives),
                pools=tuple(names[: chance.randint(1, len(names))]),
                fixed_offset=chance.randrange(0, 8) if not chance.randrange(8) else None,
            )
        )
    pairs = list(itertools.combinations([block.name for block in blocks], 2))
    chance.shuffle(pairs)
    many, few = chance.choice([0, 0, 2]), chance.choice([0, 0, 2])
    return Problem(
        blocks=tuple(blocks), pools=pools, conflicts=tuple(pairs[:many]), compatible=tuple(pairs[many : many + few])
    )


def conflict(one: Block, other: Block, problem: Problem) -> bool:
    """By the definition."""
    pair = {(one.name, other.name), (other.name, one.name)}
    if not one.size_bytes or not other.size_bytes:
        return False
    if pair & set(problem.conflicts):
        return True
    meet = any(a <= d and c <= b for a, b in one.lifetimes for c, d in other.lifetimes)
    return meet and not pair & set(problem.compatible)


def best_cost(problem: Problem) -> tuple[int, int] | None:
    """Bytes times steps away from preferred pools, then the sum of peaks, of the best plan; None: there is none."""
    best: tuple[int, int] | None = None
    pools = {pool.name: pool for pool in problem.pools}

    def choices(block: Block) -> Iterator[tuple[int, str, int]]:
        for rank, name in enumerate(block.pools):
            for offset in range(40) if block.fixed_offset is None else (block.fixed_offset,):
                end, capacity = offset + block.size_bytes, pools[name].capacity_bytes
                if offset % block.align or (capacity is not None and end > capacity):
                    continue
                if any(offset < high and low < end for low, high in pools[name].reserved) and block.size_bytes:
                    continue
                yield rank * block.size_bytes, name, offset
                if not block.size_bytes:
                    break

    def extend(number: int, placed: list[tuple[Block, str, int]], away: int, tops: dict[str, int]) -> None:
        nonlocal best
        cost = (away, sum(tops.values()))
        if best is not None and cost >= best:
            return
        if number == len(problem.blocks):
            best = cost
            return
        block = problem.blocks[number]
        for more, name, offset in choices(block):
            end = offset + block.size_bytes
            free = all(
                at != name or offset >= low + other.size_bytes or end <= low or not conflict(block, other, problem)
                for other, at, low in placed
            )
            if free:
                top = max(tops[name], end if block.size_bytes else 0)
                extend(number + 1, [*placed, (block, name, offset)], away + more, {**tops, name: top})

    extend(0, [], 0, dict.fromkeys(pools, 0))
    return best


def cost_of(problem: Problem, places: dict[str, Place]) -> tuple[int, int]:
    tops = dict.fromkeys((pool.name for pool in problem.pools), 0)
    away = 0
    for block in problem.blocks:
        place = places[block.name]
        if block.size_bytes:
            tops[place.pool] = max(tops[place.pool], place.offset_bytes + block.size_bytes)
            away += block.size_bytes * block.pools.index(place.pool)
    return away, sum(tops.values())


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.form)
@pytest.mark.parametrize("start", range(0, 2000, 500))
def test_finds_the_optimum_or_proves_that_there_is_no_plan(form: Exact, start: int) -> None:
    infeasible = 0
    for seed in range(start, start + 500):
        problem = small_problem(random.Random(seed))
        wanted = best_cost(problem)
        solution = form.solve(problem, BUDGET)
        if wanted is None:
            infeasible += 1
            assert solution.status == "infeasible", seed
            continue
        assert violations(problem, solution) == (), seed
        assert solution.status == "optimal", seed
        assert cost_of(problem, dict(solution.places)) == wanted, seed
    assert infeasible > 20


@pytest.mark.skipif(extension() is None, reason="the extension was not built")
def test_both_forms_take_the_same_steps() -> None:
    for seed in range(400):
        problem = small_problem(random.Random(seed))
        assert PYTHON.solve(problem, BUDGET) == NATIVE.solve(problem, BUDGET), seed


def test_the_python_form_is_an_allocator_of_its_own() -> None:
    from tilewright_minimalloc import tilewright_allocators

    (python,) = (one for one in tilewright_allocators() if one.name == "minimalloc-python")
    assert python.summary.endswith("; in Python")
