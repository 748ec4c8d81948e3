"""Knows the bytes that last from run to run, state and copies of constants made once: regions of their own, apart from
the pool of their memory. Does not know how the rest of a memory is planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from tilewright.allocate.in_order import pack_in_order
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem
from tilewright.ir.rounding import align_up

LASTING = ("state", "resident")  # kinds of buffers that nothing else ever shares bytes with


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockArray:
    """Blocks that are one array of the program's. `memories` are the candidates for all of it, best first."""

    kind: Literal["state", "resident"]
    memories: tuple[str, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedArray:
    """A region in a memory. Offsets of its blocks are from its own start."""

    kind: Literal["state", "resident"]
    memory: str
    size_bytes: int
    places: Mapping[str, Place]


def arrangements(regions: Sequence[BlockArray], platform: Platform) -> Iterator[tuple[PlacedArray, ...]]:
    """Every choice of memories for the regions, best first."""
    for choice in product(*(region.memories for region in regions)):
        yield tuple(
            _laid(region, platform.memory(name)) for region, name in zip(regions, choice, strict=True) if region.blocks
        )


def arrays_bytes(sizes: Iterable[int], align: int) -> int:
    """Bytes of arrays of a memory: each but the last rounded up to where the next may begin; the oddest one is last."""
    known = tuple(sizes)
    return sum(align_up(size, align) for size in known) - max((-size % align for size in known), default=0)


def taken_bytes(laid: Sequence[PlacedArray], memory: Memory, pool_bytes: int = 0) -> int:
    """What the regions in a memory take of it, and so many bytes of its pool."""
    sizes = [one.size_bytes for one in laid if one.memory == memory.name]
    return arrays_bytes([*sizes, pool_bytes] if pool_bytes else sizes, memory.align)


def beside(problem: Problem, laid: Sequence[PlacedArray], platform: Platform) -> Problem:
    """The problem with what the regions leave of every pool; never less than nothing."""
    return replace(problem, pools=tuple(_reduced(pool, laid, platform) for pool in problem.pools))


def _reduced(pool: Pool, laid: Sequence[PlacedArray], platform: Platform) -> Pool:
    """A pool that is last has all that is left; one that is followed by a region ends where that may begin."""
    sizes, align = [one.size_bytes for one in laid if one.memory == pool.name], platform.memory(pool.name).align
    if pool.capacity_bytes is None or not any(sizes):
        return pool
    left = pool.capacity_bytes - sum(align_up(size, align) for size in sizes)
    followed = (left + max(-size % align for size in sizes)) // align * align
    return replace(pool, capacity_bytes=max(left, followed, 0))


def _laid(region: BlockArray, memory: Memory) -> PlacedArray:
    """Largest alignment first, so that no gap is larger than it must be."""
    order = sorted(region.blocks, key=lambda block: (block.fixed_offset is None, -block.align))
    blocks = tuple(replace(block, pools=(memory.name,)) for block in order)
    pool = Pool(name=memory.name, capacity_bytes=None, align=memory.align)
    places = pack_in_order(Problem(blocks=blocks, pools=(pool,)))
    ends = [places[block.name].offset_bytes + block.size_bytes for block in blocks]
    return PlacedArray(kind=region.kind, memory=memory.name, size_bytes=max(ends, default=0), places=places)
