"""Knows every tiling of a step that is worth having, over all hops, and what each costs and takes.
Does not know several steps, nor who asks; that is `choices`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.decisions import HopTile
from tilewright.tile.choices import SCRATCH, Needs, TileBuffer, Tiling
from tilewright.tile.cost import cuts_of, near_bytes, nested_costs, scratch_bytes
from tilewright.tile.floors import NEAR_THE_LEAST, WORTH, least_cycles_of
from tilewright.tile.menu import menu
from tilewright.tile.order import Found
from tilewright.tile.search import Search, Tables
from tilewright.tile.space import Space, WindowTable
from tilewright.tile.spaces import NOTHING, Machine, Way, structural_key
from tilewright.tile.sums import SUMS, splits, sums_bytes
from tilewright.tile.tiler import TilingRequest

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST = 20  # tilings of one step over the only hop
_MOST_NESTED = 6  # over each of several: their combinations are listed
_PLAYED_TILES = 128  # up to so many tiles, cycles are played; beyond, the search's estimate will do
_MOST_NEEDS = 64


@dataclass(frozen=True, slots=True)
class _Part:
    """One hop of a tiling."""

    hop: HopTile
    space: Space
    believed: Found | None = None  # the search's estimate


class StepTilings:
    """Tilings of the steps of one request. What it found is kept with the request, for other orders of the steps."""

    def __init__(self, machine: Machine, request: TilingRequest) -> None:
        self.request = request
        self._machine = machine
        self._most = _MOST if len(machine.hops) == 1 else _MOST_NESTED
        self._menus: dict[Hashable, tuple[Found, ...]] = request.known.setdefault("menus", {})
        self._tables: dict[Hashable, Tables] = request.known.setdefault("tables", {})
        self._priced: dict[Hashable, tuple[float, float]] = request.known.setdefault("prices", {})

    def tilings(self, index: int, kept: Mapping[str, str]) -> tuple[Tiling, ...]:
        """See `TileChoices.tilings`."""
        step = self.request.scheduled.steps[index]
        pinned = self.request.decisions.tiles.get(step.name)
        if pinned is not None:
            return (self.tiling(index, pinned.hops, kept),)
        return tuple(self._tiling(index, parts) for parts in self._ways(index, kept, ()))

    def tiling(self, index: int, hops: Sequence[HopTile], kept: Mapping[str, str]) -> Tiling:
        """See `TileChoices.tiling`."""
        return self._tiling(
            index, [_Part(hop, self._space(index, hop, tuple(hops[:at]), kept)) for at, hop in enumerate(hops)]
        )

    def _tiling(self, index: int, parts: Sequence[_Part]) -> Tiling:
        if not parts:
            binding = self._machine.bound.bindings[self.request.scheduled.steps[index].name]
            cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
            return Tiling(hops=(), cycles=cycles, moved_bytes=0, buffers=())
        key = tuple((structural_key(part.space), part.hop.nest, tuple(part.hop.copies.items())) for part in parts)
        if key not in self._priced:
            self._priced[key] = _price(parts)
        cycles, moved = self._priced[key]
        buffers = tuple(buffer for part in parts for buffer in _buffers(part.space, part.hop))
        return Tiling(
            hops=tuple(part.hop for part in parts),
            cycles=cycles,
            moved_bytes=moved,
            buffers=(*buffers, *_scratch(parts[-1])),
        )

    def needs(self, index: int) -> Needs | None:
        """See `TileChoices.needs`."""
        outer: tuple[HopTile, ...] = ()
        for way in self._machine.hops:
            space = self._machine.space(index, self.request.scheduled.steps[index], (way.far, way.near), outer)
            if not space.travellers:
                continue
            found = self._menu(space, self._most)
            if not found and way is self._machine.hops[-1]:
                space, found = self._split(index, outer)
            if not found:
                return _needs(replace(space, room_bytes=None), way.near)
            outer = (*outer, found[0].on(way.far, way.near))
        return None

    def _ways(
        self, index: int, kept: Mapping[str, str], outer: tuple[_Part, ...], at: int = 0
    ) -> Iterator[tuple[_Part, ...]]:
        """Every combination of tilings of the hops from number `at` on, inside those of `outer`."""
        if at == len(self._machine.hops):
            yield outer
            return
        way, innermost = self._machine.hops[at], at == len(self._machine.hops) - 1
        step = self.request.scheduled.steps[index]
        space = self._machine.space(index, step, (way.far, way.near), tuple(part.hop for part in outer), kept)
        if not space.travellers and not (innermost and space.spared_bytes):
            yield from self._ways(index, kept, outer, at + 1)
            return
        menu_here = self._menu(space, self._most, None if outer else self._shared(index, way))
        parts = [_Part(found.on(way.far, way.near), space, found) for found in menu_here]
        if innermost and _may_gain(space, menu_here):
            parts.extend(self._in_parts(index, kept, outer, parts))
        for part in parts:
            yield from self._ways(index, kept, (*outer, part), at + 1)

    def _shared(self, index: int, way: Way) -> Tables:
        """What is the same for a hop of a step whatever is kept; `Cutter` shares it."""
        step = self.request.scheduled.steps[index]
        space = self._machine.space(index, step, (way.far, way.near))
        key = structural_key(replace(space, room_bytes=None))
        if key not in self._tables:
            self._tables[key] = Tables(space)
        return self._tables[key]

    def _menu(self, space: Space, most: int, tables: Tables | None = None) -> tuple[Found, ...]:
        key = structural_key(space), self.request.buffering, most
        if key not in self._menus:
            self._menus[key] = menu(Search(space, self.request.buffering, tables), most)
            if not self._menus[key] and self.request.buffering == "double":
                self._menus[key] = menu(Search(space, "auto", tables), most)
        return self._menus[key]

    def _split(
        self, index: int, outer: tuple[HopTile, ...], kept: Mapping[str, str] = NOTHING
    ) -> tuple[Space, tuple[Found, ...]]:
        """The same for the innermost hop with reductions cut."""
        way, step = self._machine.hops[-1], self.request.scheduled.steps[index]
        space = self._machine.space(index, step, (way.far, way.near), outer, kept, split=True)
        return space, self._menu(space, self._most) if space.sums else ()

    def _in_parts(
        self, index: int, kept: Mapping[str, str], outer: tuple[_Part, ...], whole: Sequence[_Part]
    ) -> Iterator[_Part]:
        """Tilings of the innermost hop that cut a reduction, faster than all of `whole` that take no more."""
        space, found = self._split(index, tuple(part.hop for part in outer), kept)
        table = WindowTable(space)
        least = sorted((near_bytes(one.space, one.hop, table), one.believed.cycles) for one in whole if one.believed)
        for one in found:
            hop = one.on(self._machine.hops[-1].far, self._machine.hops[-1].near)
            size = near_bytes(space, hop, table)
            if splits(space.access, hop.nest) and all(
                cycles * (1 - WORTH) > one.cycles for used, cycles in least if used <= size
            ):
                yield _Part(hop, space, one)

    def _space(self, index: int, hop: HopTile, outer: tuple[HopTile, ...], kept: Mapping[str, str]) -> Space:
        return self._machine.hop_space(index, self.request.scheduled.steps[index], hop, outer, kept)


def _may_gain(space: Space, found: Sequence[Found]) -> bool:
    """Whether tilings that cut a reduction could be clearly faster than all of `found`."""
    fastest = min((one.cycles for one in found), default=float("inf"))
    return fastest > least_cycles_of(space) * NEAR_THE_LEAST


def _price(parts: Sequence[_Part]) -> tuple[float, float]:
    """Cycles and bytes moved; of a single hop in very many tiles as the search believes, otherwise played."""
    if len(parts) == 1 and parts[0].believed is not None:
        tiles = WindowTable(parts[0].space).visits(parts[0].space.extents, dict(parts[0].hop.nest))
        if tiles > _PLAYED_TILES:
            return parts[0].believed.cycles, parts[0].believed.moved_bytes
    costs = nested_costs(tuple((part.hop, part.space) for part in parts))
    return costs[0].total_cycles, float(sum(cost.in_bytes + cost.out_bytes for cost in costs))


def _scratch(part: _Part) -> tuple[TileBuffer, ...]:
    hop, space = part.hop, part.space
    tile = {**space.extents, **{name: min(size, space.extents[name]) for name, size in hop.nest}}
    _, size = scratch_bytes(space.kernel, space.site, space.access, tile, space.engine.cores)
    if not size:
        return ()
    return (TileBuffer(operand=SCRATCH, memory=hop.near, size_bytes=-(-size // space.grain) * space.grain),)


def _buffers(space: Space, hop: HopTile) -> Iterator[TileBuffer]:
    table = WindowTable(space)
    for operand in space.travellers:
        copy = hop.copies[operand.name]
        size = operand.item_bytes
        for extent in table.windows(operand, cuts_of(hop, copy.depth)).room:
            size *= extent
        size = -(-size // space.grain) * space.grain
        yield TileBuffer(operand=operand.name, memory=hop.near, size_bytes=size, count=copy.buffers)
    size = sums_bytes(space, dict(hop.nest), table)
    if size:
        yield TileBuffer(operand=SUMS, memory=hop.near, size_bytes=-(-size // space.grain) * space.grain)


def _needs(space: Space, memory: str) -> Needs | None:
    """The least buffers of a space; None where none are legal."""
    search = Search(space, "single")
    rows = _vectors(search)
    names = [*(item.name for item in space.travellers), SCRATCH]
    least = list(_least_points(search, rows))
    if not least:
        return None
    sizes = {loop.name: int(size) for loop, size in zip(space.cuts, search.points[least[0]], strict=True)}
    return Needs(
        memory=memory,
        smallest=tuple(
            {name: size for name, size in zip(names, rows[number].tolist(), strict=True) if size} for number in least
        ),
        windows={item.name: search.table.windows(item, sizes).room for item in space.travellers},
        uncut=space.refused,
    )


def _least_points(search: Search, rows: npt.NDArray[np.int64]) -> Iterator[int]:
    """Legal points, none larger than another in all operands; the least in all first."""
    open_rows = np.argsort(rows.sum(axis=1), kind="stable")
    given = 0
    while len(open_rows) and given < _MOST_NEEDS:
        number, row = int(open_rows[0]), rows[open_rows[0]]
        if Search(replace(search.space, room_bytes=int(row.sum())), "single").at(number) is None:
            open_rows = open_rows[1:]
            continue
        given += 1
        yield number
        open_rows = open_rows[(rows[open_rows] < row).any(axis=1)]


def _vectors(search: Search) -> npt.NDArray[np.int64]:
    """The least bytes of every operand and of scratch, by point of the grid."""
    columns = []
    for item in search.space.travellers:
        positions = [at for at, loop in enumerate(search.space.cuts) if loop.name in item.loops]
        size = search.table.rooms(item, search.points[:, positions])
        columns.append(-(-size // search.space.grain) * search.space.grain)
    columns.append(search.scratches(search.points).astype(np.int64))
    return np.stack(columns, axis=1)
