"""Knows what one call of a kernel takes on all cores of an engine: cycles, and scratch.
Does not know tiles, copies, or how often a kernel is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tilewright.ir.access.index_map import Access
from tilewright.ir.machines.core_shares import Share, blocked_extent, parallel_loops, share, share_along
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.ir.machines.platform import Engine
from tilewright.ir.machines.stated_cycles import stated_cycles
from tilewright.ir.plugin_contract import demand_bytes
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.tile.space.tiling_space import TilingSpace


def shared_extents(extents: Mapping[str, int], split: Share) -> Mapping[str, int]:
    """The extents of the largest share of a tile."""
    return {**extents, split.loop: min(split.extent, extents[split.loop])} if split.loop else extents


def kernel_cycles(
    kernel: Kernel, site: Matched, access: Access, operations: float, extents: Mapping[str, int], engine: Engine
) -> float:
    """One call on every core of `engine`: the slowest share of the tile, and what any call takes.

    `operations` is what the whole step computes; `extents` has every loop's trips in this tile. The last share may be
    the smallest and yet the slowest: what is left of a block takes longer than a block in some kernels.
    """
    split = share(kernel, access, extents, engine.cores)
    slowest = _slowest(
        kernel, engine, extents, split, lambda part: _share_cycles(kernel, site, access, operations, part, engine)
    )
    return engine.call_cycles + slowest


def finish_cycles(kernel: Kernel, site: Matched, access: Access, extents: Mapping[str, int], engine: Engine) -> float:
    """What the cores take, all together, to finish a job of `engine`; 0 for kernels whose jobs leave nothing. Any job
    takes them as much as its call takes the engine.
    """
    finish = kernel.finish
    if finish is None:
        return 0.0
    shared = replace(kernel, parallel=finish.parallel, multiples=finish.multiples)
    split = share(shared, access, extents, engine.finishing_cores)
    return engine.call_cycles + finish.cycles(_of_shape(site, access, shared_extents(extents, split)))


def with_finish(cycles: float, finish: float, engine: Engine) -> float:
    """What a tile takes of which the engine computes for so long, and the cores finish for so long: they do so at the
    same time where the engine has a queue, but for the last tile.
    """
    return max(cycles, finish) if engine.queue > 1 else cycles + finish


def _slowest(
    kernel: Kernel,
    engine: Engine,
    extents: Mapping[str, int],
    split: Share,
    cycles: Callable[[Mapping[str, int]], float],
) -> float:
    """What the slowest share of a tile takes; `cycles` has what one takes."""
    slowest = cycles(shared_extents(extents, split))
    rest = extents[split.loop] % split.extent if split.loop else 0
    if rest and (_states_cycles(kernel, engine) or engine.portable_cycles is not None or kernel.blocks):
        return max(slowest, cycles({**extents, split.loop: rest}))
    return slowest


def _share_cycles(
    kernel: Kernel, site: Matched, access: Access, operations: float, part: Mapping[str, int], engine: Engine
) -> float:
    """What one core takes for its share of a tile."""
    stated = stated_cycles(kernel, engine, _of_shape(site, access, part)) if _states_cycles(kernel, engine) else None
    if stated is not None:
        return engine.slowdown * stated
    if engine.portable_cycles is not None and kernel.target == "*":
        known = engine.portable_cycles(kernel.computes, _of_shape(site, access, part))
        if known is not None:
            return engine.slowdown * known
    fraction = 1.0
    for loop in access.loops:
        trips, extent = part[loop.name], max(loop.extent, 1)
        if loop.name in kernel.blocks:
            block = kernel.blocks[loop.name]
            fraction *= blocked_extent(trips, block) / blocked_extent(extent, block)
        else:
            fraction *= trips / extent
    return engine.slowdown * operations * fraction * engine.cores / engine.operations_per_cycle


def _states_cycles(kernel: Kernel, engine: Engine) -> bool:
    return kernel.cycles is not None or engine.instructions is not None


def _of_shape(site: Matched, access: Access, trips: Mapping[str, int]) -> TileShape:
    """A tile with these trips, wherever it is."""
    return TileShape(site=site, access=access, box={name: (0, count) for name, count in trips.items()})


def scratch_bytes(
    kernel: Kernel,
    site: Matched,
    access: Access,
    extents: Mapping[str, int],
    cores: int,
    fewer: Collection[str] = (),
) -> tuple[int, int]:
    """Scratch of one core for its share of a tile, and of all cores together; core i's begins at i times the first.

    Shares begin at multiples of 8 bytes. `fewer`: loops of which other tiles have fewer trips than this largest one. A
    smaller tile may be shared by more cores: 41 trips are 6 each for 7 cores, 40 are 5 each for 8.
    """
    split = share(kernel, access, extents, cores)
    part = shared_extents(extents, split)
    scratch = kernel.scratch_bytes(_of_shape(site, access, part))
    if type(scratch) is not int or scratch < 0:
        scratch = demand_bytes(scratch, f"kernel '{kernel.name}'", kernel.scratch_bytes, "scratch_bytes")
    if not scratch or not split.loop:
        return scratch, scratch
    shares = ceil_div(extents[split.loop], split.extent)
    if split.loop in fewer:
        shares = min(cores, ceil_div(extents[split.loop], split.grain))
    scratch = align_up(scratch, 8)
    return scratch, scratch * shares


def tile_cycles(space: TilingSpace, extents: Mapping[str, int]) -> float:
    """`kernel_cycles` of a tile of `space`, with what the cores finish of it."""
    return with_finish(*job_and_finish(space, extents), space.engine)


def job_and_finish(space: TilingSpace, extents: Mapping[str, int]) -> tuple[float, float]:
    """`kernel_cycles` of a tile of `space`, and `finish_cycles`."""
    kernel, site, access, engine = space.kernel, space.site, space.access, space.engine
    cycles = kernel_cycles(kernel, site, access, space.operations, extents, engine)
    return cycles, finish_cycles(kernel, site, access, extents, engine)


class TileCallCosts:
    """`tile_cycles` of many tiles of one space: tiles of many sizes are shared alike, and have equal shares."""

    def __init__(self, space: TilingSpace) -> None:
        self.space = space
        self._parallel = parallel_loops(space.kernel, space.access)
        self._splits: dict[tuple[int, ...], Share] = {}  # by the extents of parallel loops
        self._shares: dict[tuple[int, ...], float] = {}  # what one takes, by its extents

    def of(self, cut: Mapping[str, int]) -> float:
        """Of a tile with these trips of the loops that are cut, and all trips of the others."""
        space = self.space
        extents = {**space.extents, **cut}
        key = tuple([extents[name] for name in self._parallel])
        split = self._splits.get(key)
        if split is None:
            split = self._splits[key] = share_along(space.kernel, self._parallel, extents, space.engine.cores)
        cycles = space.engine.call_cycles + _slowest(space.kernel, space.engine, extents, split, self._share)
        if space.kernel.finish is None:
            return cycles
        finish = finish_cycles(space.kernel, space.site, space.access, extents, space.engine)
        return with_finish(cycles, finish, space.engine)

    def exposed(self, cut: Mapping[str, int]) -> float:
        """What such a tile takes longer where its job does not run beside what the cores finish."""
        space = self.space
        if space.kernel.finish is None or space.engine.queue < 2:
            return 0.0
        return min(job_and_finish(space, {**space.extents, **cut}))

    def _share(self, part: Mapping[str, int]) -> float:
        key = tuple(part.values())
        result = self._shares.get(key)
        if result is None:
            space = self.space
            result = _share_cycles(space.kernel, space.site, space.access, space.operations, part, space.engine)
            self._shares[key] = result
        return result


def least_cycles(space: TilingSpace, extents: Mapping[str, int] | None = None) -> float:
    """What all calls of a step take together at least, beside what any call takes: the step in one piece, its cores
    busy all the time; or a part of it, with these trips of every loop.
    """
    trips = extents or space.extents
    split = share(space.kernel, space.access, trips, space.engine.cores)
    stated = _states_cycles(space.kernel, space.engine)
    blocked = split.loop in space.kernel.blocks and not stated  # a share may be of slower trips alone
    largest = trips if blocked else shared_extents(trips, split)
    whole = _share_cycles(space.kernel, space.site, space.access, space.operations, largest, space.engine)
    if blocked:
        return whole / space.engine.cores
    return whole * (trips[split.loop] / (space.engine.cores * split.extent) if split.loop else 1.0)
