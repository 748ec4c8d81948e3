"""Knows the allocation problem and its solution, as every allocator sees them. Does not know graphs or steps.

A block is alive during closed intervals of an integer time. Two blocks that are alive at the same time may not
share a byte of a pool.
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
    align: int = 1
    lifetimes: tuple[tuple[int, int], ...]  # closed intervals [first, last]
    pools: tuple[str, ...]  # candidates, best first
    fixed_offset: int | None = None
    hint: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Contiguous bytes. `capacity_bytes` is a hard limit; None is unlimited."""

    name: str
    capacity_bytes: int | None
    align: int = 16  # of its base: offsets aligned to at most this are aligned addresses
    reserved: tuple[tuple[int, int], ...] = ()  # half-open byte ranges that nothing may use


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What to place, and where it may go."""

    blocks: tuple[Block, ...]
    pools: tuple[Pool, ...]
    conflicts: tuple[tuple[str, str], ...] = ()  # pairs that may not overlap although never alive together
    compatible: tuple[tuple[str, str], ...] = ()  # pairs that may overlap although alive together


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
