"""Knows the way that bytes take from the backing memory to the scratchpad, hop by hop; which memories values and
constants may live in, and where what lives beside the way comes in. Does not know steps or tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.tile.space.transfers import path_between, route


@dataclass(frozen=True, slots=True, kw_only=True)
class HopMemories:
    """The two memories of a hop: neighbours on the way from the backing memory to the scratchpad."""

    outer: str
    inner: str


def hops_of(platform: Platform) -> tuple[HopMemories, ...]:
    """From the backing memory to the scratchpad, outermost first; none on a machine with one memory."""
    home, near = platform.backing_memory().name, platform.inner
    paths = route(platform, home, near) if near else ()
    return tuple(HopMemories(outer=path.source, inner=path.target) for path in paths or ())


class MemoryPath:
    """The way on one platform."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self._crossings: dict[tuple[str, str, bool], CopyPath | None] = {}

    @cached_property
    def hops(self) -> tuple[HopMemories, ...]:
        """See `hops_of`."""
        return hops_of(self.platform)

    @cached_property
    def ram(self) -> tuple[str, ...]:
        """Memories that are written."""
        return tuple(memory.name for memory in self.platform.of_kind("ram"))

    @cached_property
    def backing_memories(self) -> tuple[str, ...]:
        """Where values may live: the backing memory, then others with the same neighbour towards the scratchpad."""
        if not self.hops:
            return self.ram
        passed, first = {hop.inner for hop in self.hops}, self.hops[0]
        beside = [
            name
            for name in self.ram
            if name not in (*passed, first.outer)
            and path_between(self.platform, name, first.inner)
            and path_between(self.platform, first.inner, name)
        ]
        return (first.outer, *beside)

    @cached_property
    def constant_memories(self) -> tuple[str, ...]:
        """Where constants may be: every const memory that enters the way to the scratchpad where the first does."""
        const = [memory.name for memory in self.platform.of_kind("const")]
        if not self.hops:
            return tuple(const)
        entry = self.entry(self.constant_memory)
        return tuple(name for name in const if self.entry(name) == entry)

    @cached_property
    def constant_memory(self) -> str:
        """Where constants are if nothing is pinned: the first const memory from which copies lead to the scratchpad."""
        const = self.platform.of_kind("const")
        leading = [memory.name for memory in const if route(self.platform, memory.name, self.platform.inner)]
        return (leading or [memory.name for memory in const])[0]

    def entry(self, memory: str) -> int:
        """The innermost hop over which bytes come from a memory that is not on the way; -1: none."""
        entries = [at for at, hop in enumerate(self.hops) if path_between(self.platform, memory, hop.inner)]
        return max(entries, default=-1)

    def crossing(self, memory: str, near: str, *, written: bool) -> CopyPath | None:
        """How what lives in a memory crosses the hop with that near end, from there where it is written; None where it
        is there already, or comes in further on."""
        asked = memory, near, written
        if asked not in self._crossings:
            source = self._source(memory, near)
            ends = (near, source) if written else (source, near)
            self._crossings[asked] = path_between(self.platform, *ends) if source else None
        return self._crossings[asked]

    def _source(self, memory: str, near: str) -> str:
        """The far side of that hop for what lives in a memory; "": it does not cross."""
        position = [hop.inner for hop in self.hops].index(near)
        far, passed = self.hops[position].outer, [self.hops[0].outer, *(hop.inner for hop in self.hops)]
        if memory in passed:
            return far if passed.index(memory) <= position else ""
        entry = self.entry(memory)
        if not 0 <= entry <= position:
            return ""
        return memory if entry == position else far
