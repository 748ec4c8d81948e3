"""Knows the allocation problem and its solution, as every allocator sees them. Does not know graphs or steps.

A block is alive during closed intervals of an integer time. Two blocks that are alive at the same time may not
share a byte of a pool. `docs/allocation.md` has the definition of validity, V1 to V9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Bytes that need a place."""

    name: str
    size_bytes: int
    align: int = 1  # of its address
    lifetimes: tuple[tuple[int, int], ...]  # closed intervals [first, last]; (): only explicit conflicts count
    pools: tuple[str, ...]  # candidates, best first
    fixed_offset: int | None = None
    hint: int | None = None  # an offset in the first pool to prefer among equally good plans; nobody has to
    engines: tuple[tuple[str, Literal["ro", "rw"]], ...] = ()  # who reads it, or reads and writes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Contiguous bytes. `capacity_bytes` is a hard limit; None is unlimited."""

    name: str
    capacity_bytes: int | None
    align: int = 16  # of its base: offsets aligned to at most this are aligned addresses
    reserved: tuple[tuple[int, int], ...] = ()  # half-open byte ranges that nothing may use
    base: int | None = None  # address of offset 0, where it is known
    cost: float = 1.0  # of a byte, relative to other pools: what a planner weighs, no allocator has to
    access: tuple[tuple[str, Literal["none", "ro", "rw"]], ...] = ()  # by engine; one that is not named has "rw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """Block `block` starts `offset_bytes` after block `of` starts, always: they are one piece of memory.

    The piece is alive while any of its blocks is, and takes from its lowest to its highest byte all that time.
    """

    block: str
    of: str
    offset_bytes: int = 0
    kind: Literal["view", "in_place"] = "view"  # a view lies inside the other; in place may be the longer one


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What to place, and where it may go. A plugin is asked problems without `within` and `engines`: the core
    has merged the blocks and filtered the pools."""

    blocks: tuple[Block, ...]
    pools: tuple[Pool, ...]
    conflicts: tuple[tuple[str, str], ...] = ()  # pairs that may not overlap although never alive together
    compatible: tuple[tuple[str, str], ...] = ()  # pairs that may overlap although alive together
    within: tuple[Within, ...] = ()
    goal: Literal["minimise", "fit"] = "minimise"  # fit: any plan inside the capacities will do


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a block is."""

    pool: str
    offset_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What an allocator answers. `status` "optimal" only where it is proved; "unknown": budget spent, nothing found."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    places: Mapping[str, Place] = field(default_factory=dict)
    work: int = 0  # search nodes or attempts: the same on every machine
    reason: str = ""
    bounds: Mapping[str, int] = field(default_factory=dict)  # pool -> peak that it proved no plan can be under
    found_by: str = ""  # the allocator that found it, where one has asked others


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much an allocator may work. Counted in its own units of work, never in seconds."""

    work: int = 200_000
    seed: int = 0


@runtime_checkable
class Allocator(Protocol):
    """A placement strategy. Pure: the same problem and budget give the same solution."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """Place every block, as low as it can. Its answer is checked by the core, never trusted."""
        ...
