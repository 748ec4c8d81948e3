"""Knows which copies lead from one memory of a platform to another.
Does not know what is copied, nor in which parts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tilewright.ir.machines.platform import CopyPath, Platform

_MOST_TRANSFERS = 16  # that a program has in flight over one hop, whatever the machine allows


def path_between(platform: Platform, source: str, target: str) -> CopyPath | None:
    """The copy path from one memory to a neighbour."""
    return next((path for path in platform.copies if (path.source, path.target) == (source, target)), None)


def route(platform: Platform, source: str, target: str) -> tuple[CopyPath, ...] | None:
    """The fewest copies that lead from one memory to another; None where nothing does."""
    reached: dict[str, tuple[CopyPath, ...]] = {source: ()}
    waiting = [source]
    for memory in waiting:
        for path in platform.copies:
            if path.source == memory and path.target not in reached:
                reached[path.target] = (*reached[memory], path)
                waiting.append(path.target)
    return reached.get(target)


def copy_grain(platform: Platform, memories: Collection[str] | None = None) -> int:
    """What addresses and sizes of buffers are multiples of, so that any copy from or to these memories can move all of
    one; None: any memories.
    """
    moving = (
        path for path in platform.copies if memories is None or not {path.source, path.target}.isdisjoint(memories)
    )
    return max((path.align for path in moving), default=1)


def most_in_flight(copies: Iterable[CopyPath]) -> int:
    """Transfers that a program has in flight over one hop; further ones wait for the oldest."""
    return min([_MOST_TRANSFERS, *(path.channels for path in copies)])


def crossed(platform: Platform) -> tuple[str, ...]:
    """The memories into which copies bring operands of steps, the scratchpad last; none where there is none."""
    paths = route(platform, platform.backing_memory().name, platform.inner) if platform.inner else ()
    return tuple(path.target for path in paths or ())
