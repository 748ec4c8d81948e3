"""Knows very many blocks as columns of numbers, for what asks the same of each: four arrays take the time of one block.
Does not know pools, pairs or places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from tilewright.ir.plans.allocation import Block

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANY = 5_000  # blocks: fewer are quicker looked at one by one than numpy is imported
_LIFETIMES = attrgetter("lifetimes")
_MOST = 1 << 40  # of any number, so that no sum, product with two or moment after the last leaves 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockColumns:
    """Blocks with one lifetime each, in their order; all int64."""

    sizes: NDArray[np.int64]  # bytes
    aligns: NDArray[np.int64]
    births: NDArray[np.int64]  # first moment
    deaths: NDArray[np.int64]  # last moment, which belongs to the lifetime

    def most_at_once(self) -> int:
        """The sum of sizes at the fullest moment."""
        import numpy as np

        births, deaths = np.argsort(self.births, kind="stable"), np.argsort(self.deaths, kind="stable")
        born = np.concatenate(([0], np.cumsum(self.sizes[births])))
        dead = np.concatenate(([0], np.cumsum(self.sizes[deaths])))
        gone = np.searchsorted(self.deaths[deaths], self.births[births], "left")
        return int((born[1:] - dead[gone]).max(initial=0))

    def meetings(self) -> int:
        """How many pairs of them are alive at one time."""
        import numpy as np

        births, deaths = np.sort(self.births), np.sort(self.deaths)
        began = int(np.searchsorted(births, deaths, "right").sum())
        ended = int(np.searchsorted(deaths, births, "left").sum())
        return (began - ended - len(births)) // 2


def columns_of(blocks: Sequence[Block], *, more_than: int = MANY) -> BlockColumns | None:
    """None where there are no more than so many, where one has not exactly one lifetime, or a number is enormous."""
    if len(blocks) <= more_than or set(map(len, map(_LIFETIMES, blocks))) != {1}:
        return None
    import numpy as np

    lives = np.array(list(chain.from_iterable(map(_LIFETIMES, blocks))))
    sizes, aligns = (np.array(list(map(attrgetter(name), blocks))) for name in ("size_bytes", "align"))
    result = (sizes, aligns, lives[:, 0].copy(), lives[:, 1].copy())
    if any(column.dtype != np.int64 or np.abs(column).max() >= _MOST for column in result):
        return None
    return BlockColumns(sizes=result[0], aligns=result[1], births=result[2], deaths=result[3])
