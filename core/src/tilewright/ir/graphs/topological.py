"""Knows an order in which everything comes after what it waits for. Does not know what waits."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence


def topological_order(waiting: Sequence[Collection[int]]) -> list[int]:
    """Numbers of all that can be reached, each after those that it waits for; else the lower number first. What waits
    for itself, through whatever else, is left out (Kahn 1962, with a heap).
    """
    readers: list[list[int]] = [[] for _ in waiting]
    missing = [len(before) for before in waiting]
    for number, before in enumerate(waiting):
        for other in before:
            readers[other].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for reader in readers[number]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    return order
