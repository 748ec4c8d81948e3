"""Knows how long a step takes when it is tiled as decided: the mover's and the cores' clocks, tile by tile.
Does not know which tiling is best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tilewright.access import Access
from tilewright.decisions import HopTile
from tilewright.graph import Site
from tilewright.kernel import Kernel, TileShape
from tilewright.platform import Engine
from tilewright.tile.share import Share, share
from tilewright.tile.space import Space, Traveller, WindowTable, bound_bytes, tile_ranges
from tilewright.tile.sums import sums_bytes
from tilewright.tile.transfers import Transfers

Compute = Callable[[Mapping[str, int]], float]  # cycles of a tile, by its extents


@dataclass(frozen=True, slots=True, kw_only=True)
class HopCost:
    """What one hop of a tiled step costs. Cycles are estimates, bytes and counts exact."""

    tiles: int
    compute_cycles: float
    copy_cycles: float
    total_cycles: float  # with the overlap that the buffers allow
    in_bytes: int
    out_bytes: int
    bound_bytes: int  # if every element travelled once
    near_bytes: int  # of all tile buffers and scratch, alignment included


def shared_extents(extents: Mapping[str, int], split: Share) -> Mapping[str, int]:
    """The extents of the largest share of a tile."""
    return {**extents, split.loop: min(split.trips, extents[split.loop])} if split.loop else extents


def kernel_cycles(
    kernel: Kernel, site: Site, access: Access, operations: float, extents: Mapping[str, int], engine: Engine
) -> float:
    """One call on every core of `engine`: the slowest share of the tile, and what any call takes.

    `operations` is what the whole step computes; `extents` has every loop's trips in this tile.
    """
    part = shared_extents(extents, share(kernel, access, extents, engine.cores))
    if kernel.cycles is not None:
        box = {name: (0, trips) for name, trips in part.items()}
        return engine.call_cycles + kernel.cycles(TileShape(site=site, access=access, box=box))
    fraction = 1.0
    for loop in access.loops:
        fraction *= part[loop.name] / max(loop.extent, 1)
    return engine.call_cycles + operations * fraction * engine.cores / engine.operations_per_cycle


def scratch_bytes(
    kernel: Kernel, site: Site, access: Access, extents: Mapping[str, int], cores: int
) -> tuple[int, int]:
    """Scratch of one core for its share of a tile, and of all cores together; core i's begins at i times the first.

    Shares begin at multiples of 8 bytes.
    """
    split = share(kernel, access, extents, cores)
    part = shared_extents(extents, split)
    box = {name: (0, trips) for name, trips in part.items()}
    one = kernel.scratch_bytes(TileShape(site=site, access=access, box=box))
    if not one or not split.loop:
        return one, one
    one = -(-one // 8) * 8
    return one, one * -(-extents[split.loop] // split.trips)


def tile_cycles(space: Space, extents: Mapping[str, int]) -> float:
    """`kernel_cycles` of a tile of `space`."""
    return kernel_cycles(space.kernel, space.site, space.access, space.operations, extents, space.engine)


def least_cycles(space: Space) -> float:
    """What all calls of a step take together at least, beside what any call takes: the step in one piece, its cores
    busy all the time.
    """
    whole = tile_cycles(space, space.extents) - space.engine.call_cycles
    split = share(space.kernel, space.access, space.extents, space.engine.cores)
    return whole * (space.extents[split.loop] / (space.engine.cores * split.trips) if split.loop else 1.0)


def room_of(operand: Traveller, cuts: Mapping[str, int], table: WindowTable, grain: int) -> int:
    """Bytes of one tile buffer, up to where the next one may begin."""
    size = operand.item_bytes
    for extent in table.windows(operand, cuts).room:
        size *= extent
    return -(-size // grain) * grain


def cuts_of(hop: HopTile, depth: int) -> dict[str, int]:
    """The cuts that an operand sees whose transfers stand inside `depth` loops."""
    return dict(hop.nest[:depth])


def near_bytes(space: Space, hop: HopTile, table: WindowTable) -> int:
    """Bytes of the near memory that the tiling takes: every buffer, and scratch."""
    total = 0
    for operand in space.travellers:
        copy = hop.copies[operand.name]
        total += copy.buffers * room_of(operand, cuts_of(hop, copy.depth), table, space.grain)
    tile = {**space.extents, **dict(hop.nest)}
    _, scratch = scratch_bytes(space.kernel, space.site, space.access, tile, space.engine.cores)
    kept = sums_bytes(space, dict(hop.nest), table)
    return total + sum(-(-size // space.grain) * space.grain for size in (scratch, kept))


def hop_cost(space: Space, hop: HopTile, compute: Compute | None = None) -> HopCost:
    """Play the program of the hop: what the mover and the cores do, and who waits for whom.

    `compute` says what a tile of these extents takes; None asks the kernel. Where other hops are around this one, all
    their tiles are taken to last as long as the first.
    """
    table = WindowTable(space)
    play = _Play(space, hop, table, compute or (lambda extents: tile_cycles(space, extents)))
    visits = table.visits(space.extents, {})
    moved, copying = {False: 0, True: 0}, 0.0
    for operand in space.travellers:
        cuts = cuts_of(hop, hop.copies[operand.name].depth)
        windows = table.windows(operand, cuts)
        again = table.visits([name for name in space.extents if name not in operand.loops], cuts)
        for extents, count in windows.classes:
            one = operand.transfers(extents, windows.room)
            moved[operand.written] += one.size_bytes * count * again
            copying += one.cycles(operand.path) * count * again
    return HopCost(
        tiles=table.visits(space.extents, dict(hop.nest)),
        compute_cycles=sum(play.computes) * visits,
        copy_cycles=copying,
        total_cycles=play.total() * visits,
        in_bytes=moved[False],
        out_bytes=moved[True],
        bound_bytes=bound_bytes(space),
        near_bytes=near_bytes(space, hop, table),
    )


def nested_costs(spaces: Sequence[tuple[HopTile, Space]]) -> tuple[HopCost, ...]:
    """The cost of every hop of a step, outermost first: what a hop takes is computation to the one around it."""
    costs: list[HopCost] = []
    compute: Compute | None = None
    for hop, space in reversed(spaces):
        cost = hop_cost(space, hop, compute)
        costs.insert(0, cost)
        one = cost.total_cycles / WindowTable(space).visits(space.extents, {})
        compute = _in_proportion(space, one)
    return _begun(costs, spaces[0][1].engine.step_cycles) if spaces else ()


def _begun(costs: Sequence[HopCost], cycles: float) -> tuple[HopCost, ...]:
    """With what the cores take before anything else, once."""
    last = replace(costs[-1], compute_cycles=costs[-1].compute_cycles + cycles)
    first, *others = *costs[:-1], last
    return (replace(first, total_cycles=first.total_cycles + cycles), *others)


def _in_proportion(space: Space, cycles: float) -> Compute:
    """What a visit takes, for visits with fewer trips in proportion to their computation."""
    whole = tile_cycles(space, space.extents)
    return lambda extents: cycles * tile_cycles(space, extents) / max(whole, 1e-9)


class _Play:
    """One run of a hop on two clocks: the cores', and the copy engine's, which does one transfer after the other."""

    def __init__(self, space: Space, hop: HopTile, table: WindowTable, compute: Compute) -> None:
        self.space, self.hop, self.compute = space, hop, compute
        self.trips = [-(-space.extents[name] // size) for name, size in hop.nest]
        self.computes = self._computes()
        self.cycles = {
            item.name: [move.cycles(item.path) for move in _moves(item, hop, space, table)] for item in space.travellers
        }

    def _computes(self) -> list[float]:
        known: dict[tuple[int, ...], float] = {}
        found = []
        names = [name for name, _ in self.hop.nest]
        ranges = [
            (high - low).tolist() for low, high in (tile_ranges(self.space.extents[n], s) for n, s in self.hop.nest)
        ]
        for extents in product(*ranges):
            if extents not in known:
                known[extents] = self.compute({**self.space.extents, **dict(zip(names, extents, strict=True))})
            found.append(known[extents])
        return found

    def total(self) -> float:
        """Cycles from the first transfer to the last."""
        cores = engine = 0.0
        period = [self._period(self.hop.copies[item.name].depth) for item in self.space.travellers]
        arrivals: dict[str, list[float]] = {item.name: [] for item in self.space.travellers}
        last = len(self.computes) - 1

        def move(item: Traveller, index: int) -> None:
            nonlocal engine
            engine = max(engine, cores) + self.cycles[item.name][index]
            arrivals[item.name].append(engine)

        inputs = [(item, p) for item, p in zip(self.space.travellers, period, strict=True) if not item.written]
        outputs = [(item, p) for item, p in zip(self.space.travellers, period, strict=True) if item.written]
        for item, _ in inputs:
            move(item, 0)
        for number, compute in enumerate(self.computes):
            for item, every in inputs:
                cores = max(cores, arrivals[item.name][number // every])
            for item, every in outputs:  # the block that was in this buffer before
                before = number // every - self.hop.copies[item.name].buffers
                cores = max(cores, arrivals[item.name][before] if before >= 0 and number % every == 0 else 0.0)
            self._fetch(inputs, number, last, move, ahead=True)
            cores += compute
            self._fetch(inputs, number, last, move, ahead=False)
            for item, every in outputs:
                if (number + 1) % every == 0:
                    move(item, number // every)
        return max(cores, engine)

    def _fetch(
        self,
        inputs: Sequence[tuple[Traveller, int]],
        number: int,
        last: int,
        move: Callable[[Traveller, int], None],
        *,
        ahead: bool,
    ) -> None:
        """What the next tile needs and this one does not: before the computation where there is a second buffer."""
        for item, every in inputs:
            due = number < last and (number + 1) % every == 0
            if due and (self.hop.copies[item.name].buffers > 1) is ahead:
                move(item, (number + 1) // every)

    def _period(self, depth: int) -> int:
        """Tiles between transfers of an operand of this depth."""
        count = 1
        for trips in self.trips[depth:]:
            count *= trips
        return count


def _moves(operand: Traveller, hop: HopTile, space: Space, table: WindowTable) -> Sequence[Transfers]:
    """Every fetch or store of the operand, in order."""
    cuts = cuts_of(hop, hop.copies[operand.name].depth)
    room = table.windows(operand, cuts).room
    box = {loop.name: (0, space.extents[loop.name]) for loop in space.access.loops}
    names = list(cuts)
    ranges = [
        list(zip(*(side.tolist() for side in tile_ranges(space.extents[n], cuts[n])), strict=True)) for n in names
    ]
    moving = [index for index, name in enumerate(names) if name in operand.loops]
    windows: dict[tuple[int, ...], Transfers] = {}  # by extents
    known: dict[tuple[tuple[int, int], ...], Transfers] = {}
    found = []
    for tile in product(*ranges):
        key = tuple(tile[index] for index in moving)
        if key not in known:
            window = space.access.window(operand.name, {**box, **dict(zip(names, tile, strict=True))})
            extents = tuple(span.extent for span in window)
            if extents not in windows:
                windows[extents] = operand.transfers(extents, room)
            known[key] = windows[extents]
        found.append(known[key])
    return found
