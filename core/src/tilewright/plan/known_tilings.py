"""Knows schedules that were tiled before, and which limits of memories change nothing about their tiles.
Does not know any tiler.

Where a plan does not fit, the same is planned for many limits. Tiles are cut for the memories that are copied into;
what all the others have is a question for the allocator alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable
from dataclasses import field, replace

from tilewright.ir.dataclass import dataclass
from tilewright.ir.decisions import Decisions
from tilewright.ir.platform import Platform
from tilewright.ir.stages import Scheduled, Tiled

_MOST = 8  # that are kept


def boundless(platform: Platform, but: Collection[str] = ()) -> Platform:
    """The same with no limit on any memory `but` those. Not settled: it stands for all its limits, nothing is planned
    with it.
    """
    return replace(
        platform,
        memories=tuple(one if one.name in but else replace(one, size_bytes=None) for one in platform.memories),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    platform: Platform
    how: Hashable
    decisions: Decisions
    tiled: Tiled

    def is_of(self, scheduled: Scheduled, platform: Platform, how: Hashable, decisions: Decisions) -> bool:
        """Whether these tiles are those of a schedule of the same binding."""
        mine = self.tiled.scheduled
        return (
            mine.bound.bindings is scheduled.bound.bindings
            and self.how == how
            and self.decisions == decisions
            and mine.steps == scheduled.steps
            and mine.in_place == scheduled.in_place
            and self.platform == platform
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTilings:
    """The newest ones."""

    kept: deque[_Known] = field(default_factory=lambda: deque(maxlen=_MOST))

    def found(self, scheduled: Scheduled, platform: Platform, how: Hashable, decisions: Decisions) -> Tiled | None:
        """`scheduled` with the tiles that it has; None where they are not known.

        `platform` is without the limits that change no tile, `how` what else the tiler goes by.
        """
        for one in self.kept:
            if one.is_of(scheduled, platform, how, decisions):
                return replace(one.tiled, scheduled=scheduled)
        return None

    def keep(self, tiled: Tiled, platform: Platform, how: Hashable, decisions: Decisions) -> Tiled:
        """`tiled`, for the next one who asks."""
        self.kept.appendleft(_Known(platform=platform, how=how, decisions=decisions, tiled=tiled))
        return tiled
