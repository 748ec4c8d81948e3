"""Banks for blocks: every choice that is offered keeps what is demanded, and none is missed."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tilewright.allocate.banks import Banks, choices, limited, with_banks, without_walls
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.solving import solved
from tilewright.check.allocations.allocation import violations
from tilewright.ir.plans.allocation import Block, Budget, Place, Pool, Problem, Solution

BANK = 64


def block(name: str, size: int, first: int = 0, last: int = 0, fixed: int | None = None) -> Block:
    return Block(name=name, size_bytes=size, lifetimes=((first, last),), pools=("ram",), fixed_offset=fixed)


def problem(*blocks: Block, capacity: int | None = 2 * BANK) -> Problem:
    return Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=capacity),))


def banks(*whole: str, apart: tuple[tuple[str, str], ...] = ()) -> Banks:
    return Banks(whole=whole, apart=frozenset((*apart, *((right, left) for left, right in apart))), sizes={"ram": BANK})


def test_the_first_choice_is_best_spread() -> None:
    asked = problem(block("a", 40), block("b", 20), block("c", 20))
    first = next(choices(banks("a", "b", "c"), asked))
    assert first == {("a", "ram"): 0, ("b", "ram"): 1, ("c", "ram"): 1}


@pytest.mark.parametrize(
    ("blocks", "apart", "capacity"),
    [
        ((("a", 65),), (), 2 * BANK),  # larger than a bank
        ((("a", 40), ("b", 40), ("c", 40)), (), 2 * BANK),  # two of them fit a bank, three do not
        ((("a", 8), ("b", 8), ("c", 8)), (("a", "b"), ("b", "c"), ("a", "c")), 2 * BANK),  # more apart than banks
    ],
)
def test_where_there_is_no_choice_none_is_offered(
    blocks: tuple[tuple[str, int], ...], apart: tuple[tuple[str, str], ...], capacity: int
) -> None:
    asked = problem(*(block(name, size) for name, size in blocks), capacity=capacity)
    assert not list(choices(banks(*(name for name, _ in blocks), apart=apart), asked))


def test_the_last_bank_may_be_smaller() -> None:
    asked = problem(block("a", 8), block("b", 40), capacity=BANK + 32)
    (choice,) = choices(banks("a", "b", apart=(("a", "b"),)), asked)
    assert choice == {("a", "ram"): 1, ("b", "ram"): 0}


def test_a_demanded_offset_settles_the_bank() -> None:
    asked = problem(block("a", 8, fixed=70), block("b", 8))
    assert {choice["a", "ram"] for choice in choices(banks("a", "b"), asked)} == {1}


def test_a_pool_without_end_has_a_bank_for_each() -> None:
    asked = limited(problem(block("a", 8), block("b", 8), capacity=None), banks("a", "b"))
    choice = next(choices(banks("a", "b", apart=(("a", "b"),)), asked))
    answer = solved(with_banks(asked, banks("a", "b"), choice), BestFit(), Budget())
    assert {place.offset_bytes // BANK for name, place in answer.places.items() if name in "ab"} == {0, 1}


def test_places_are_judged_by_every_byte() -> None:
    asked, wanted = problem(block("a", 16), block("b", 16)), banks("a", "b", apart=(("a", "b"),))

    def kept(a: int, b: int) -> bool:
        places = {"a": Place(pool="ram", offset_bytes=a), "b": Place(pool="ram", offset_bytes=b)}
        return wanted.kept(Solution(status="feasible", places=places), asked)

    assert kept(0, 64) and kept(48, 64) and not kept(49, 80) and not kept(0, 16) and not kept(64, 100)


@pytest.mark.parametrize("seed", range(25))
def test_a_plan_is_found_where_one_exists(seed: int) -> None:
    """Against every combination of places on a coarse grid, of few blocks."""
    chance = random.Random(seed)
    blocks = [block(name, chance.choice((16, 32, 48, 64)), chance.randrange(2), 2) for name in "abcd"]
    pairs = tuple((one.name, other.name) for one in blocks for other in blocks if one.name < other.name)
    wanted = banks(*"abc", apart=tuple(pair for pair in pairs if "d" not in pair and chance.random() < 0.4))
    asked = problem(*blocks, capacity=3 * BANK)
    exists = any(_right(asked, wanted, offsets) for offsets in product(range(0, 3 * BANK, 16), repeat=4))
    found = None
    for choice in choices(wanted, asked):
        answer = solved(with_banks(asked, wanted, choice), BestFit(), Budget())
        if answer.status in ("optimal", "feasible"):
            found = without_walls(answer, asked, {"ram": 0})
            break
    assert (found is not None) is exists
    if found is not None:
        assert not violations(asked, found) and wanted.kept(found, asked)


def _right(asked: Problem, wanted: Banks, offsets: tuple[int, ...]) -> bool:
    ends = [at + each.size_bytes for at, each in zip(offsets, asked.blocks, strict=True)]
    if any(end > 3 * BANK for end in ends):
        return False
    for one in range(4):
        for other in range(one):
            if offsets[one] < ends[other] and offsets[other] < ends[one]:
                return False  # all of them are alive at the last time
    places = {each.name: Place(pool="ram", offset_bytes=at) for each, at in zip(asked.blocks, offsets, strict=True)}
    return wanted.kept(Solution(status="feasible", places=places), asked)
