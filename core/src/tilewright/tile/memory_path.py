"""Knows the path that bytes take from the backing memory to the scratchpad, hop by hop; which memories values and
constants may live in, where what lives beside the path comes in, and how the window of an operand becomes transfers of
a hop.
Does not know steps or tiles, nor when anything is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

from tilewright.ir.access.index_map import Window
from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.ir.machines.routes import path_between, route
from tilewright.ir.plans.constant_copies import constant_source
from tilewright.ir.rounding import align_down, align_up, ceil_div
from tilewright.ir.tensors.layout import Layout, merge_loops, strides

_LONG_ROW_BYTES = 64  # leaving out less than this costs more than it saves


@dataclass(frozen=True, slots=True, kw_only=True)
class HopMemories:
    """The two memories of a hop: neighbours on the path from the backing memory to the scratchpad."""

    outer: str
    inner: str


def hops_of(platform: Platform) -> tuple[HopMemories, ...]:
    """From the backing memory to the scratchpad, outermost first; none on a machine with one memory."""
    backing, inner = platform.backing_memory().name, platform.inner
    paths = route(platform, backing, inner) if inner else ()
    return tuple(HopMemories(outer=path.source, inner=path.target) for path in paths or ())


class MemoryPath:
    """The path on one platform."""

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
        """Where constants may be: every const memory that enters the path to the scratchpad where the first does."""
        const = [memory.name for memory in self.platform.of_kind("const")]
        if not self.hops:
            return tuple(const)
        entry = self.entry(self.constant_memory)
        return tuple(name for name in const if self.entry(name) == entry)

    @cached_property
    def constant_memory(self) -> str:
        """Where constants are if nothing is pinned: the first const memory from which copies lead to the scratchpad."""
        return constant_source(self.platform)

    def entry(self, memory: str) -> int:
        """The innermost hop over which bytes come from a memory that is not on the path; -1: none."""
        entries = [at for at, hop in enumerate(self.hops) if path_between(self.platform, memory, hop.inner)]
        return max(entries, default=-1)

    def crossing(self, memory: str, inner: str, *, written: bool) -> CopyPath | None:
        """How what lives in a memory crosses the hop with that inner memory, from there where it is written; None where
        it is there already, or comes in further on.
        """
        key = memory, inner, written
        if key not in self._crossings:
            source = self._source(memory, inner)
            memories = (inner, source) if written else (source, inner)
            self._crossings[key] = path_between(self.platform, *memories) if source else None
        return self._crossings[key]

    def _source(self, memory: str, inner: str) -> str:
        """The outer memory of that hop for what lives in a memory; "": it does not cross."""
        position = [hop.inner for hop in self.hops].index(inner)
        outer, passed = self.hops[position].outer, [self.hops[0].outer, *(hop.inner for hop in self.hops)]
        if memory in passed:
            return outer if passed.index(memory) <= position else ""
        entry = self.entry(memory)
        if not 0 <= entry <= position:
            return ""
        return memory if entry == position else outer


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """`count` transfers, each of `rows` rows of `run_bytes` contiguous bytes, padding included; those of planes are all
    of a transfer's rows.
    """

    run_bytes: int
    rows: int
    count: int
    pieces: int = 1  # of each, where the path takes no more at once

    @property
    def size_bytes(self) -> int:
        """All bytes together."""
        return self.run_bytes * self.rows * self.count

    @property
    def number(self) -> int:
        """How many the path makes of them."""
        return self.count * self.pieces

    def cycles(self, path: CopyPath) -> float:
        """The time of all of them, one after the other."""
        if not self.size_bytes:
            return 0.0
        moved_bytes = self.run_bytes * self.rows
        return self.number * path.cycles(ceil_div(moved_bytes, self.pieces), ceil_div(self.rows, self.pieces))


def transfers(
    extents: Sequence[int],
    shape: Sequence[int],
    room: Sequence[int],
    layout: Layout,
    item_bytes: int,
    path: CopyPath,
    steps: Sequence[int] = (),
) -> Transfers:
    """The transfers of one window; along an axis only every `steps`-th position is copied.

    `extents` of the window, of the whole operand (`shape`) and of its tile buffer (`room`) are by axis. Neighbouring
    axes are one where neither side has a gap; the innermost is a run, the next one, where the path has two dimensions,
    its rows, the next one, where it has three, planes of rows, if the path takes so many bytes at once. Every further
    one repeats the transfer. What is no multiple of `CopyPath.align` is padded.
    """
    if 0 in extents:
        return Transfers(run_bytes=0, rows=0, count=0)
    run, around = _run_and_around(tuple(extents), tuple(shape), tuple(room), layout, tuple(steps))
    loops = list(around)
    rows = loops.pop() if path.dimensions > 1 and loops else 1
    run_bytes, pieces = align_up(run * item_bytes, path.align), 1
    if loops and takes_planes(path, run_bytes * rows * loops[-1]):
        rows *= loops.pop()
    count = prod(loops)
    if path.max_bytes is not None and run_bytes * rows > path.max_bytes:
        whole_rows, longest = path.max_bytes // run_bytes, longest_run(path)
        pieces = ceil_div(rows, whole_rows) if whole_rows else rows * ceil_div(run_bytes, longest)
    return Transfers(run_bytes=run_bytes, rows=rows, count=count, pieces=pieces)


def takes_planes(path: CopyPath, size_bytes: int) -> bool:
    """Whether a path moves planes of rows at once, of so many bytes all together."""
    return path.dimensions > 2 and (path.max_bytes is None or size_bytes <= path.max_bytes)


def longest_run(path: CopyPath) -> int:
    """The most bytes of one row: what the path allows, down to a multiple of what it moves."""
    return max(align_down(path.max_bytes or 0, path.align), 1)


@lru_cache(maxsize=1 << 14)  # windows of many tiles, and of many layers, have the same extents
def _run_and_around(
    extents: tuple[int, ...], shape: tuple[int, ...], room: tuple[int, ...], layout: Layout, steps: tuple[int, ...]
) -> tuple[int, tuple[int, ...]]:
    """Elements of a run that neither side has gaps in, and how often it is repeated along each loop around it."""
    outer, inner = strides(shape, layout), strides(room, layout)
    every = steps or (1,) * len(extents)
    loops, moves = merge_loops(
        [ceil_div(extents[axis], every[axis]) for axis in layout],
        [[side[axis] * every[axis] for axis in layout] for side in (outer, inner)],
    )
    dense = bool(loops) and all(side[-1] in (0, 1) for side in moves)
    return (loops[-1], loops[:-1]) if dense else (1, loops)


def strided_copy(
    window: Window, shape: Sequence[int], layout: Layout, item_bytes: int, path: CopyPath
) -> tuple[int, ...]:
    """Along each axis, which positions of an operand are ever copied: all, or those of a strided access.

    `window` is that of all loops. A convolution of stride 2 with a single tap reads every second row: the others are
    left out where that leaves out rows of some length, along the outermost such axis, and the path takes any row.
    """
    result = [1] * len(shape)
    if path.align > 1:
        return tuple(result)
    gaps = strides(shape, layout)
    for axis in layout:
        if window[axis].step > 1 and gaps[axis] * item_bytes >= _LONG_ROW_BYTES:
            result[axis] = window[axis].step
            break
    return tuple(result)
