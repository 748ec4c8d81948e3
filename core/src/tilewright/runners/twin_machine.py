"""Knows the target as the twin simulates it: arenas at its addresses, copy paths, engines, tiles that live and die.
Does not know how anything is executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.c_text.identifiers import comment_text
from tilewright.ir.machines.platform import CopyPath, Platform
from tilewright.ir.plans.stages import comes_and_goes
from tilewright.ir.programs.runner import Job
from tilewright.ir.rounding import align_up
from tilewright.lower.operands.addresses import AddressBook, address_book, members_of, ports_of
from tilewright.runners.areas import Area, areas_of

FIRST_ADDRESS = 0x1000_0000  # of memories that have none of their own
LAST_ADDRESS = 0x7000_0000  # sanitizers keep their tables beyond
GAP = 1 << 20  # between arenas: guard pages on both sides
TEAM_HEADER = "tw_rt.h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A part of memory number `memory`, mapped on its own."""

    name: str
    memory: int
    size_bytes: int
    address: int
    read_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TileRange:
    """Bytes of an arena that mean nothing unless they are declared live."""

    arena: int
    offset_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """A `CopyPath` in numbers; 0 is no limit."""

    name: str
    source: int
    target: int
    engine: int
    max_bytes: int
    align: int
    dimensions: int
    channels: int
    queues: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinMachine:
    """Everything that the twin's runtime gets. Arenas stand in the harness's order, constants last."""

    arenas: tuple[Arena, ...]
    tiles: tuple[TileRange, ...]
    memories: tuple[str, ...]
    paths: tuple[Path, ...]
    engines: tuple[str, ...]
    queues: tuple[int, ...]  # of the engines that compute
    steps: tuple[str, ...]
    cores: int
    dma_core: bool = False


def machine_of(job: Job, *, dma_core: bool = False) -> TwinMachine:
    """The machine for one job; `dma_core` where the platform has none. Programs for no team run on one core."""
    tiled = job.plan.tiled
    graph, platform = tiled.scheduled.bound.graph, tiled.scheduled.bound.platform
    members = members_of(graph, job.prefix)
    book = address_book(job.plan, members)
    inputs, outputs = (ports_of(job.plan, book, members, struct) for struct in ("inputs", "outputs"))
    arenas = _arenas(job, platform, book, areas_of(job, book, inputs, outputs))
    engines = engine_names(platform)
    team = TEAM_HEADER in job.artifact.files
    return TwinMachine(
        arenas=arenas,
        tiles=tuple(_tiles(job, book)),
        memories=tuple(memory.name for memory in platform.memories),
        paths=tuple(_path(path, platform, engines) for path in platform.copies),
        engines=engines,
        queues=tuple(engine.queue for engine in platform.engines),
        steps=tuple(comment_text(step.name).replace('"', "'").replace("\\", "/") for step in tiled.scheduled.steps),
        cores=platform.engines[0].cores if team else 1,
        dma_core=(dma_core or platform.engines[0].dma_core) and team,
    )


def engine_names(platform: Platform) -> tuple[str, ...]:
    """What copies: one engine for each memory on the inner side of a path."""
    return tuple(dict.fromkeys(engine_of(path, platform) for path in platform.copies))


def engine_of(path: CopyPath, platform: Platform) -> str:
    """The engine of a path: it belongs to the end that is nearer to the cores."""
    distance = _distances(platform)
    unreachable = len(platform.memories)
    nearer = min((path.target, path.source), key=lambda name: distance.get(name, unreachable))
    return f"copies of {nearer}"


def _distances(platform: Platform) -> Mapping[str, int]:
    """Copies from each memory to the scratchpad."""
    distance = {platform.inner: 0}
    waiting = [platform.inner]
    for memory in waiting:
        for path in platform.copies:
            if path.target == memory and path.source not in distance:
                distance[path.source] = distance[memory] + 1
                waiting.append(path.source)
    return distance


def _path(path: CopyPath, platform: Platform, engines: Sequence[str]) -> Path:
    numbers = {memory.name: number for number, memory in enumerate(platform.memories)}
    return Path(
        name=f"{path.source} -> {path.target}",
        source=numbers[path.source],
        target=numbers[path.target],
        engine=engines.index(engine_of(path, platform)),
        max_bytes=path.max_bytes or 0,
        align=path.align,
        dimensions=path.dimensions,
        channels=path.channels,
        queues=path.queues,
    )


def _arenas(job: Job, platform: Platform, book: AddressBook, areas: Sequence[Area]) -> tuple[Arena, ...]:
    numbers = {memory.name: number for number, memory in enumerate(platform.memories)}
    wanted: list[tuple[str, str, int, bool]] = [(area.name, area.memory, area.size_bytes, False) for area in areas]
    wanted += [(pool.base, pool.memory, pool.size_bytes, True) for pool in book.constants]
    addresses = _addresses([(memory, size) for _, memory, size, _ in wanted], platform)
    return tuple(
        Arena(name=name, memory=numbers[memory], size_bytes=size, address=address, read_only=constant)
        for (name, memory, size, constant), address in zip(wanted, addresses, strict=True)
    )


def _addresses(wanted: Sequence[tuple[str, int]], platform: Platform) -> Iterator[int]:
    """The memory's own address for its first arena, where it has one that can be mapped here."""
    taken = [(base, base + size) for memory, size in wanted for base in (platform.memory(memory).base,) if base]
    used: list[str] = []
    cursor = FIRST_ADDRESS
    for memory, size in wanted:
        base = platform.memory(memory).base
        if memory not in used and base and GAP <= base < LAST_ADDRESS and base % (1 << 16) == 0:
            used.append(memory)
            yield base
            continue
        while any(start - GAP < cursor + size and cursor < end + GAP for start, end in taken):
            cursor += GAP
        yield cursor
        cursor += align_up(size, GAP) + GAP


def _tiles(job: Job, book: AddressBook) -> Iterator[TileRange]:
    """Everything that comes and goes in the scratchpad, where the program says when it lives."""
    if b"tw_rt_live(" not in job.artifact.files[f"{job.prefix}.c"]:
        return
    arenas = {pool.memory: number for number, pool in enumerate(book.pools)}
    platform = job.plan.tiled.scheduled.bound.platform
    for buffer in job.plan.tiled.buffers:
        place = job.plan.placements.get(buffer.name)
        if place is not None and buffer.size_bytes and comes_and_goes(buffer, place, platform):
            yield TileRange(arena=arenas[place.memory], offset_bytes=place.offset_bytes, size_bytes=buffer.size_bytes)
