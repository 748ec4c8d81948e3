"""The joint problem as a model: answers are those of brute force, places do not overlap, values are as steps say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import pytest

from tilewright_cpsat.model import JointModel, placed
from tilewright_cpsat.problem import Joint, JointChoice, Rectangle, Stay, StepOption, rectangles


def joint(seed: int, longest: int | None = None) -> Joint:
    """Three steps; a value `a` between the first two and `b` between the last two may stay in 16 bytes."""
    chance = random.Random(seed)
    stays = (
        Stay(name="a", first=0, last=1, sizes={"l1": 4 * chance.randint(1, 3)}),
        Stay(name="b", first=1, last=2, sizes={"l1": 4 * chance.randint(1, 3)}),
    )
    touched = (frozenset("a"), frozenset("ab"), frozenset("b"))
    options = []
    for names in touched:
        found = []
        for where in product(("", "l1"), repeat=len(names)):
            here = tuple((name, memory) for name, memory in zip(sorted(names), where, strict=True) if memory)
            for _ in range(2):
                sizes = tuple(4 * chance.randint(0, 2) for _ in range(2))
                found.append(
                    StepOption(
                        cycles=chance.randint(10, 60), moved_bytes=chance.randint(0, 9), stays=here, sizes={"l1": sizes}
                    )
                )
        options.append(tuple(found))
    return Joint(
        options=tuple(options), stays=stays, capacities={"l1": 16}, grains={"l1": 4}, touched=touched, longest=longest
    )


def choices(of: Joint) -> Iterator[JointChoice]:
    """Every choice whose steps agree about their values and whose bytes fit, by the definition."""
    for numbers in product(*(range(len(options)) for options in of.options)):
        taken = [options[number] for options, number in zip(of.options, numbers, strict=True)]
        told = [
            {name: dict(option.stays).get(name, "") for name in names}
            for option, names in zip(taken, of.touched, strict=True)
        ]
        where = {name: memory for one in told for name, memory in one.items()}
        if any(where[name] != memory for one in told for name, memory in one.items()):
            continue
        stays = {name: memory for name, memory in where.items() if memory}
        alive = [
            sum(one.sizes["l1"] for one in of.stays if one.name in stays and one.first <= step <= one.last)
            + option.bytes_in("l1")
            for step, option in enumerate(taken)
        ]
        if (
            max(alive) <= of.capacities["l1"]
            and not (of.longest == 1 and stays)
            and not (of.longest == 2 and len(stays) > 1)
        ):
            yield JointChoice(options=numbers, stays=stays)


@pytest.mark.parametrize("longest", [None, 1, 2])
@pytest.mark.parametrize("quantity", ["cycles", "moved_bytes"])
def test_without_places_it_finds_what_brute_force_finds(quantity: str, longest: int | None) -> None:
    for seed in range(3):
        problem = joint(seed, longest)
        least = min((getattr(choice, quantity)(problem) for choice in choices(problem)), default=None)
        solved = JointModel(problem, placed=False).solve(quantity, None, 1.0)
        assert solved.proved
        assert (None if solved.choice is None else getattr(solved.choice, quantity)(problem)) == least, seed
        assert solved.choice is None or (solved.bound == least and solved.choice in list(choices(problem)))


def test_with_places_nothing_overlaps_and_all_is_inside() -> None:
    for seed in range(3):
        problem = joint(seed)
        solved = JointModel(problem, placed=True).solve("cycles", None, 1.0)
        if solved.choice is None:
            continue
        boxes = [(box, solved.offsets[box.memory, box.buffer]) for box in rectangles(problem, solved.choice)]
        assert all(at % 4 == 0 and at >= 0 and at + box.size_bytes <= 16 for box, at in boxes)
        for (one, at), (other, there) in combinations(boxes, 2):
            apart = one.last < other.first or other.last < one.first
            assert apart or at + one.size_bytes <= there or there + other.size_bytes <= at


def test_what_is_pinned_stays_and_a_limit_on_cycles_holds() -> None:
    problem = joint(1)
    pinned = replace(problem, stays=tuple(replace(stay, pinned="l1") for stay in problem.stays[:1]) + problem.stays[1:])
    solved = JointModel(pinned, placed=False).solve("cycles", None, 1.0)
    assert solved.choice is None or solved.choice.stays.get("a") == "l1"
    best = JointModel(problem, placed=False).solve("cycles", None, 1.0)
    assert best.choice is not None
    tight = JointModel(problem, placed=False).solve("moved_bytes", best.choice, 1.0, best.bound)
    assert tight.choice is not None and tight.choice.cycles(problem) == best.bound
    assert JointModel(problem, placed=False).solve("moved_bytes", None, 1.0, best.bound - 1).choice is None


def test_rectangles_have_places_exactly_where_they_fit() -> None:
    def box(name: str, first: int, last: int, size: int) -> Rectangle:
        return Rectangle(memory="l1", buffer=name, first=first, last=last, size_bytes=size)

    boxes = (box("p", 0, 1, 8), box("q", 1, 2, 8), box("r", 2, 3, 8), box("s", 0, 0, 8))
    found = placed(joint(0), boxes, 1.0)
    assert found is not None and set(found) == {("l1", name) for name in "pqrs"}
    assert found["l1", "p"] != found["l1", "q"] != found["l1", "r"] and set(found.values()) <= {0, 4, 8}
    assert placed(joint(0), (*boxes, box("t", 1, 1, 4)), 1.0) is None
    assert placed(joint(0), (box("huge", 0, 0, 20),), 1.0) is None
    assert placed(joint(0), (), 1.0) == {}
