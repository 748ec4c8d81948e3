"""Knows how buffers and memories become an allocation problem: which buffers are placed, which are pinned, and which
last from run to run, in arrays of their own beside the pools. Does not know how the problem is solved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from tilewright.allocate.aliases.aliased_buffers import aliased_buffers_of, chosen, with_aliases
from tilewright.allocate.packing.permanent import pack_in_order
from tilewright.errors import usage_error
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_banks import BankDemand, bank_demands
from tilewright.ir.plans.stages import CONSTANTS_HEADER_BYTES, Buffer, Tiled
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
    """A lasting array in a memory. Offsets of its blocks are from its own start."""

    kind: Literal["state", "resident"]
    memory: str
    size_bytes: int
    places: Mapping[str, Place]


def arrangements(regions: Sequence[BlockArray], platform: Platform) -> Iterator[tuple[PlacedArray, ...]]:
    """Every choice of memories for the lasting arrays, best first."""
    for choice in product(*(region.memories for region in regions)):
        yield tuple(
            _laid(region, platform.memory(name)) for region, name in zip(regions, choice, strict=True) if region.blocks
        )


def arrays_bytes(sizes: Iterable[int], align: int) -> int:
    """Bytes of arrays of a memory: each but the last is rounded up to where the next may begin; the last is the
    one that rounding would add most to.
    """
    known = tuple(sizes)
    return sum(align_up(size, align) for size in known) - max((-size % align for size in known), default=0)


def taken_bytes(arrays: Sequence[PlacedArray], memory: Memory, pool_bytes: int = 0) -> int:
    """Bytes that the lasting arrays in a memory and `pool_bytes` of its pool take together."""
    sizes = [array.size_bytes for array in arrays if array.memory == memory.name]
    return arrays_bytes([*sizes, pool_bytes] if pool_bytes else sizes, memory.align)


def beside(problem: Problem, arrays: Sequence[PlacedArray], platform: Platform) -> Problem:
    """The problem with pools reduced by the lasting arrays that are in them."""
    return replace(problem, pools=tuple(_reduced(pool, arrays, platform) for pool in problem.pools))


def _reduced(pool: Pool, arrays: Sequence[PlacedArray], platform: Platform) -> Pool:
    """A pool that is the last array has all that is left; one that is followed by another ends where that may begin."""
    sizes, align = [array.size_bytes for array in arrays if array.memory == pool.name], platform.memory(pool.name).align
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the allocator is asked (`problem`), and what is settled without it."""

    problem: Problem  # buffers in RAM that tilewright manages
    constants: Problem  # one pool for each const memory
    application: Mapping[str, str]  # buffer -> memory that the application manages: marked live and dead, not placed
    regions: tuple[BlockArray, ...] = ()  # what lasts from run to run, apart from the pools
    chosen: frozenset[str] = frozenset()  # buffers of `problem` whose offsets are fixed, although nobody demands them
    demands: tuple[BankDemand, ...] = ()  # which blocks kernels want in banks
    others: tuple[Problem, ...] = ()  # with other offsets of what is `chosen`: whichever gives the better plan


def request(tiled: Tiled, decisions: Decisions) -> Request:
    """Sort the buffers and apply the pins. A buffer without candidates is the caller's and appears nowhere.

    Raises TilewrightError TW5002 (exit 2) for a pin that cannot be kept, TW5003 for one of an unknown buffer.
    """
    platform = tiled.scheduled.bound.platform
    settled = {name: offset for group in tiled.groups for name, offset in group.offsets.items()}
    decisions = replace(decisions, offsets={**settled, **decisions.offsets})
    _demand_known(tiled.buffers, decisions)
    placed: list[Block] = []
    constants: list[Block] = []
    lasting: list[tuple[Buffer, Block]] = []
    application: dict[str, str] = {}
    for buffer in tiled.buffers:
        names = _candidates(buffer, platform, decisions)
        if not names:
            continue
        first = platform.memory(names[0])
        if first.managed_by == "application":
            application[buffer.name] = first.name
            continue
        block = _block(buffer, _pools_like(first, names, platform), decisions)
        if buffer.kind in LASTING:
            lasting.append((buffer, block))
            continue
        (placed if first.kind == "ram" else constants).append(block)
    aliases = tuple(aliased_buffers_of(tiled))
    ram, const = _pools(platform, "ram"), _pools(platform, "const")
    free = Problem(blocks=tuple(placed), pools=ram)
    problem, *others = with_aliases(free, aliases)
    return Request(
        problem=problem,
        others=tuple(others),
        chosen=chosen(aliases, free),
        constants=Problem(blocks=_least_waste_last(constants), pools=const),
        application=application,
        regions=_regions(lasting),
        demands=bank_demands(tiled, decisions),
    )


def _regions(lasting: list[tuple[Buffer, Block]]) -> tuple[BlockArray, ...]:
    """All state in one region; copies of constants in one for each memory."""
    state = [block for buffer, block in lasting if buffer.kind == "state"]
    copies: dict[str, list[Block]] = {}
    for buffer, block in lasting:
        if buffer.kind == "resident":
            copies.setdefault(block.pools[0], []).append(block)
    resident = [
        BlockArray(kind="resident", memories=(name,), blocks=tuple(blocks)) for name, blocks in sorted(copies.items())
    ]
    if not state:
        return tuple(resident)
    common = tuple(name for name in state[0].pools if all(name in block.pools for block in state))
    if not common:
        raise usage_error(
            "TW5002",
            "the state cannot be kept where it is pinned: it is one region, in one memory",
            details=tuple(f"'{block.name}' may be in {', '.join(block.pools)}" for block in state),
            fix=("pin every tensor of the state to the same memory",),
        )
    return BlockArray(kind="state", memories=common, blocks=tuple(state)), *resident


def _pools_like(first: Memory, names: tuple[str, ...], platform: Platform) -> tuple[str, ...]:
    kind = (first.managed_by, first.kind)
    memories = (platform.memory(name) for name in names)
    return tuple(memory.name for memory in memories if (memory.managed_by, memory.kind) == kind)


def _candidates(buffer: Buffer, platform: Platform, decisions: Decisions) -> tuple[str, ...]:
    pins = {decisions.memories[name] for name in (buffer.name, *buffer.values) if name in decisions.memories}
    if not pins or not buffer.memories:
        return buffer.memories
    if len(pins) > 1:
        raise _bad_pin(buffer, f"its values are pinned to different memories: {', '.join(sorted(pins))}")
    (pin,) = pins
    if pin not in {memory.name for memory in platform.memories}:
        known = ", ".join(memory.name for memory in platform.memories)
        raise _bad_pin(buffer, f"'{pin}' is no memory of target '{platform.name}', which has {known}")
    if pin not in buffer.memories:
        raise _bad_pin(buffer, f"it cannot be in '{pin}', only in {', '.join(buffer.memories)}")
    return (pin,)


def _demand_known(buffers: tuple[Buffer, ...], decisions: Decisions) -> None:
    unknown = sorted(set(decisions.offsets) - {buffer.name for buffer in buffers})
    if unknown:
        raise usage_error(
            "TW5003",
            f"an offset is pinned for '{unknown[0]}', which is no buffer of this plan",
            fix=("correct or remove it; without it, `compile --dump-after tiled` lists the buffers",),
        )


def _bad_pin(buffer: Buffer, reason: str) -> Exception:
    return usage_error(
        "TW5002",
        f"the pinned place of buffer '{buffer.name}' cannot be kept: {reason}",
        fix=("change or remove the pin",),
    )


def _block(buffer: Buffer, pools: tuple[str, ...], decisions: Decisions) -> Block:
    return Block(
        name=buffer.name,
        size_bytes=buffer.size_bytes,
        align=buffer.align,
        lifetimes=((buffer.first, buffer.last),),
        pools=pools,
        fixed_offset=decisions.offsets.get(buffer.name),
    )


def _pools(platform: Platform, kind: Literal["ram", "const"]) -> tuple[Pool, ...]:
    """The memories of one kind that are ours."""
    return tuple(_pool(memory, platform) for memory in platform.of_kind(kind) if memory.managed_by == "tilewright")


def _pool(memory: Memory, platform: Platform) -> Pool:
    header = ((0, CONSTANTS_HEADER_BYTES),) if memory.kind == "const" else ()
    capacity = platform.plan_bytes(memory.name)
    return Pool(name=memory.name, capacity_bytes=capacity, align=memory.align, reserved=header)


def _least_waste_last(constants: list[Block]) -> tuple[Block, ...]:
    """In their order, but the one that would leave the largest gap behind it at the end."""
    if not constants:
        return ()
    last = max(constants, key=lambda block: -block.size_bytes % block.align)
    return (*(block for block in constants if block is not last), last)


def relaxed(problem: Problem, pools: tuple[str, ...]) -> Problem:
    """The same problem with no limit on `pools`."""
    return replace(
        problem,
        pools=tuple(replace(pool, capacity_bytes=None) if pool.name in pools else pool for pool in problem.pools),
    )
