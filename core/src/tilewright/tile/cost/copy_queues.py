"""Knows when transfers arrive that move at the same time, each in one of several queues (`CopyPath.queues`).
Does not know what is copied, nor what one transfer takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.tile.space.tiling_space import CopiedOperand

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]


class CopyQueues:
    """When each queue has moved what it was given, in cycles. A transfer takes the one that is free first. Mutable."""

    def __init__(self, queues: int) -> None:
        self._free = [0.0] * queues

    @property
    def arrival(self) -> float:
        """When all that was started so far is there: programs wait for transfers in the order of their start."""
        return max(self._free)

    def start(self, now: float, cycles: float, transfers: int, queues: int) -> None:
        """`transfers` of equal length that take `cycles` one after the other, in the first `queues` only."""
        free = [max(at, now) for at in self._free[:queues]]
        if len(free) == 1 or transfers < 2:
            free[free.index(min(free))] += cycles
        else:
            _spread(free, cycles / transfers, transfers)
        self._free[:queues] = free


def _spread(free: list[float], each: float, transfers: int) -> None:
    """One transfer after the other into the queue that is free first; whole rounds at once when all are about level."""
    while transfers and max(free) - min(free) > each:
        free[free.index(min(free))] += each
        transfers -= 1
    rounds, rest = divmod(transfers, len(free))
    free[:] = [at + rounds * each for at in free]
    for _ in range(rest):
        free[free.index(min(free))] += each


def queues_of(items: Iterable[CopiedOperand]) -> int:
    """The most transfers of these operands that move at the same time; 1 of none."""
    return max((item.path.queues for item in items), default=1)


def together(cycles: Sequence[Numbers], queues: int) -> Numbers:
    """About how long it takes to copy several windows that are started together: as long as the longest at least."""
    total: Numbers = sum(cycles, np.zeros(1))
    if queues == 1 or not cycles:
        return total
    longest = np.maximum.reduce(np.broadcast_arrays(*cycles))
    result: Numbers = np.maximum(total / queues, longest)
    return result
