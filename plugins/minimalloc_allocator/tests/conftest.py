"""Small instances of one pool, and every placement of them by brute force."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from tilewright_minimalloc.instance import Instance, cliques_in_time, make_instance


def drawn_instance(seed: int) -> Instance:
    """Up to five blocks with alignments and obstacles."""
    chance = random.Random(seed)
    count = chance.randint(1, 5)
    lives = []
    for _ in range(count):
        first = chance.randrange(6)
        lives.append(((first, first + chance.randrange(4)),))
    sizes = [chance.randint(1, 4) for _ in lives]
    aligns = [chance.choice([1, 1, 1, 2, 4]) for _ in lives]
    low = chance.randrange(5)
    common = [(low, low + chance.randint(1, 3))] if chance.random() < 0.4 else []
    obstacles = [common if chance.random() < 0.8 else [] for _ in lives]
    durations = [last - first + 1 for ((first, last),) in lives]
    return make_instance(sizes, aligns, obstacles, cliques_in_time(lives), durations)


def all_placements(instance: Instance, capacity: int) -> Iterator[list[int]]:
    """Every one within `capacity` grains, by the definition of what is one."""
    meets = [
        {other for section in span for other in instance.sections[section]} - {block}
        for block, span in enumerate(instance.spans)
    ]

    def extend(placed: list[int]) -> Iterator[list[int]]:
        block = len(placed)
        if block == len(instance.sizes):
            yield list(placed)
            return
        size = instance.sizes[block]
        for at in range(0, capacity - size + 1, instance.aligns[block]):
            if any(at < high and low < at + size for low, high in instance.obstacles[block]):
                continue
            if all(
                at + size <= placed[other] or placed[other] + instance.sizes[other] <= at
                for other in meets[block]
                if other < block
            ):
                yield from extend([*placed, at])

    yield from extend([])


def lowest_height(instance: Instance, most: int = 40) -> int:
    """The least capacity that has a placement."""
    return next(capacity for capacity in range(most) if next(all_placements(instance, capacity), None) is not None)


@pytest.fixture(name="drawn", scope="session")
def _drawn() -> Callable[[int], Instance]:
    return drawn_instance


@pytest.fixture(name="placements", scope="session")
def _placements() -> Callable[[Instance, int], Iterator[list[int]]]:
    return all_placements


@pytest.fixture(name="lowest", scope="session")
def _lowest() -> Callable[[Instance], int]:
    return lowest_height
