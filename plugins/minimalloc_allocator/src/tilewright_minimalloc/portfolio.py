"""Knows which searches to try in turn, how long each, and in which order each prefers blocks.
Does not know how a search works, nor which capacity is worth trying.

How long a search takes is heavy-tailed: for nearly every problem some order finds a solution at once, and a wrong
early choice costs any of them an eternity. So several take turns, each with a limit that doubles from round to round.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from tilewright_minimalloc.instance import Instance, mirrored
from tilewright_minimalloc.search import Outcome, PythonSearch, Selector


class Search(Protocol):
    """Both forms of the search: see `search.PythonSearch.run`."""

    def run(self, selector: Selector, rank: Sequence[int], limit: int) -> tuple[Outcome, int, list[int]]: ...


MakeSearch = Callable[[Instance, int], Search]

# What is compared, larger first, the first difference decides: A size times duration, B size times number of sections,
# T the heaviest section the block is in, W duration, Z size.
_TURNS = (
    (Selector.WEIGHTED, "WTZ", False),
    (Selector.LOWEST, "TBA", False),
    (Selector.LOWEST, "TBA", True),
    (Selector.WEIGHTED, "TWA", False),
    (Selector.WEIGHTED, "WTZ", True),
    (Selector.FEWEST, "TBA", False),
    (Selector.FEWEST, "BAT", False),
    (Selector.FEWEST, "Z", False),
    (Selector.LOWEST, "WAT", False),
    (Selector.WEIGHTED, "TBA", False),
)
_TIGHTER, _PARTS = (2, 3, 1), 4  # quarters of the way from the bound to the capacity: where to aim in later rounds
_NODES_PER_BLOCK = (
    1.5  # of the first round: a search that is hardly ever wrong takes little more than one node per block
)


def fit(
    instance: Instance, capacity: int, limit: int, seed: int = 0, make: MakeSearch = PythonSearch
) -> tuple[Outcome, int, list[int]]:
    """Is there a placement within `capacity` grains? The outcome, nodes spent (at most `limit`), offsets in grains."""
    if not instance.sizes:
        return Outcome.SOLVED, 0, []
    floor = min(instance.floor, capacity)
    targets = list(dict.fromkeys([capacity, *(floor + (capacity - floor) * part // _PARTS for part in _TIGHTER)]))
    searches: dict[tuple[int, bool], Search] = {}
    ranks: dict[str, Sequence[int]] = {}
    spent, turn_limit, turn = 0, int(_NODES_PER_BLOCK * len(instance.sizes)) + 1, 0
    while True:
        for selector, keys, from_end in _TURNS:
            target = targets[turn % len(targets)]
            if (target, from_end) not in searches:
                searches[target, from_end] = make(mirrored(instance) if from_end else instance, target)
            if keys not in ranks:
                ranks[keys] = _rank(instance, keys, seed)
            outcome, nodes, offsets = searches[target, from_end].run(
                selector, ranks[keys], min(turn_limit, limit - spent)
            )
            spent += nodes
            if outcome == Outcome.SOLVED or (outcome == Outcome.FAILED and target == capacity):
                return outcome, spent, offsets
            if spent >= limit:
                return Outcome.STOPPED, spent, []
            if outcome == Outcome.FAILED:
                targets = [capacity, *(other for other in targets if other > target and other != capacity)]
                searches = {key: search for key, search in searches.items() if key[0] != target}
                turn = 0
        turn += 1
        turn_limit *= 2


def _rank(instance: Instance, keys: str, seed: int) -> Sequence[int]:
    """By block, its place in the order of `keys`; ties as the blocks come, or shuffled by `seed`."""
    total = [sum(instance.sizes[block] for block in members) for members in instance.sections]
    values: dict[str, Sequence[int]] = {
        "A": [size * time for size, time in zip(instance.sizes, instance.durations, strict=True)],
        "B": [size * len(span) for size, span in zip(instance.sizes, instance.spans, strict=True)],
        "W": instance.durations,
        "T": [max(total[section] for section in span) for span in instance.spans],
        "Z": instance.sizes,
    }
    order = list(range(len(instance.sizes)))
    if seed:
        random.Random(seed).shuffle(order)
    order.sort(key=lambda block: tuple(-values[key][block] for key in keys))
    rank = [0] * len(order)
    for place, block in enumerate(order):
        rank[block] = place
    return rank
