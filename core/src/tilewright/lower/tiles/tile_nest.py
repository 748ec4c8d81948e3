"""Knows the tiles of one hop: their number, their order, and the box of loops that each of them runs. Does not know
operands, buffers or copies.

A level's tiles cut what one tile of the level before holds. Extents are numbers where they are the same in every such
tile. The program's box is a struct with a member for each loop that any level cuts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.ir.access.index import Box
from tilewright.ir.access.index_map import Access
from tilewright.ir.plans.region import Hop
from tilewright.ir.programs.expressions import (
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    multiplied,
    quotient,
    remainder,
)
from tilewright.ir.rounding import ceil_div
from tilewright.lower.operands.c_boxes import CBox, ends_of, fixed, range_of, whole_box

Ranges = Mapping[str, tuple[tuple[int, int], ...]]  # loop -> every range that a tile may have

COUNTERS = ("t", "u", "v")


@dataclass(frozen=True, slots=True, kw_only=True)
class CutLoop:
    """One loop of the nest. `extent` is how many tiles it makes of the range around it."""

    loop: str
    member: str  # of the box
    size: int
    extent: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class HopLevel:
    """One hop. `outer` and `box` are what loops run around a tile and in it; `ranges` every value of the latter.

    `still` has, where it does not follow from the cuts, what the first 0, 1, .. loops of the nest hold still.
    """

    hop: Hop
    counter: str  # C variable: number of the tile
    variable: str  # C variable: its box
    cuts: tuple[CutLoop, ...]
    outer: CBox
    box: CBox
    outer_ranges: Ranges
    ranges: Ranges
    still: tuple[tuple[CBox, Ranges], ...] = ()

    @property
    def moving(self) -> bool:
        """Whether there can be more than one tile."""
        return any(cut.extent.number != 1 for cut in self.cuts)

    def around(self, copy_level: int) -> CBox:
        """The box of everything that `copy_level` loops of the nest hold still."""
        if self.still:
            return self.still[copy_level][0]
        return {**self.outer, **{cut.loop: self.box[cut.loop] for cut in self.cuts[:copy_level]}}

    def ranges_around(self, copy_level: int) -> Ranges:
        """The same, every value."""
        if self.still:
            return self.still[copy_level][1]
        return {**self.outer_ranges, **{cut.loop: self.ranges[cut.loop] for cut in self.cuts[:copy_level]}}

    def period(self, copy_level: int) -> Expression:
        """Tiles from one transfer to the next of an operand of this depth."""
        return multiplied(cut.extent for cut in self.cuts[copy_level:])

    @property
    def total(self) -> Expression:
        """How many tiles there are."""
        return self.period(0)

    @property
    def tile(self) -> Name:
        """The number of the tile under way."""
        return Name(self.counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class TileNest:
    """All hops of a step, from the backing memory inwards. `members` are the loops in the box, `struct` its C type."""

    access: Access
    levels: tuple[HopLevel, ...]
    members: Mapping[str, str]
    struct: str

    @property
    def box(self) -> CBox:
        """The loops of the innermost tile."""
        return self.levels[-1].box if self.levels else fixed(whole_box(self.access))

    @property
    def ranges(self) -> Ranges:
        """The same, every value."""
        return self.levels[-1].ranges if self.levels else _only(whole_box(self.access))


def nest_of(access: Access, hops: Sequence[Hop], struct: str) -> TileNest:
    """The levels of one step."""
    whole = whole_box(access)
    outer, outer_ranges = fixed(whole), _only(whole)
    cut = [name for name in whole if _is_cut(name, whole, hops)]
    members = unique_identifiers(cut, fallback="loop")
    levels: list[HopLevel] = []
    for number, hop in enumerate(hops):
        name = "box" if len(hops) == 1 else f"{hop.inner}_box"
        level = _level(hop, members, outer, outer_ranges, (COUNTERS[number], name))
        outer, outer_ranges = level.box, level.ranges
        levels.append(level)
    return TileNest(access=access, levels=tuple(levels), members=members, struct=struct)


def _level(hop: Hop, members: Mapping[str, str], outer: CBox, outer_ranges: Ranges, names: tuple[str, str]) -> HopLevel:
    counter, name = names
    box, ranges, cuts = dict(outer), dict(outer_ranges), []
    for loop, size in hop.nest:
        counts = {ceil_div(high - low, size) for low, high in outer_ranges[loop]}
        count = Number(counts.pop()) if len(counts) == 1 else Name(f"{members[loop]}_tiles")
        cuts.append(CutLoop(loop=loop, member=members.get(loop, ""), size=size, extent=count))
        if count.number != 1:
            box[loop] = ends_of(Field(Name(name), members[loop]))
            ranges[loop] = _cut_ranges(outer_ranges[loop], size)
    moving = any(cut.extent.number != 1 for cut in cuts)
    for loop, (low, _) in outer.items():  # what only an outer level cuts is handed on
        if moving and low.number is None and box[loop] == outer[loop]:
            box[loop] = ends_of(Field(Name(name), members[loop]))
    return HopLevel(
        hop=hop,
        counter=counter,
        variable=name,
        cuts=tuple(cuts),
        outer=outer,
        box=box,
        outer_ranges=outer_ranges,
        ranges=ranges,
    )


def tile_counts(level: HopLevel) -> dict[str, Expression]:
    """By variable, how many tiles there are along each loop that has more of them in some boxes than in others."""
    return {
        cut.extent.text: FunctionCall("tw_tiles", (range_of(level.outer[cut.loop]), Number(cut.size)))
        for cut in level.cuts
        if isinstance(cut.extent, Name)
    }


def box_value(nest: TileNest, level: HopLevel) -> dict[str, Expression]:
    """The members of the box of tile `counter`."""
    values: dict[str, Expression] = {}
    position = {cut.loop: number for number, cut in enumerate(level.cuts) if cut.extent.number != 1}
    for loop, member in nest.members.items():
        around = range_of(level.outer[loop])
        if loop in position:
            cut = level.cuts[position[loop]]
            values[member] = FunctionCall("tw_tile", (around, _trip(level, position[loop]), Number(cut.size)))
        else:
            values[member] = around
    return values


def extents_of(ranges: Ranges) -> dict[str, int]:
    """The largest extent that each loop has in a tile."""
    return {loop: max(high - low for low, high in values) for loop, values in ranges.items()}


def boxes(ranges: Ranges, loops: Sequence[str]) -> list[Box]:
    """Every combination of ranges of `loops`; the others stay out."""
    return [dict(zip(loops, chosen, strict=True)) for chosen in product(*(ranges[loop] for loop in loops))]


def _trip(level: HopLevel, position: int) -> Expression:
    """The number of the tile along one loop."""
    trip = quotient(level.tile, level.period(position + 1))
    outermost = all(cut.extent.number == 1 for cut in level.cuts[:position])
    return trip if outermost else remainder(trip, level.cuts[position].extent)


def _is_cut(loop: str, whole: Box, hops: Sequence[Hop]) -> bool:
    sizes = [size for hop in hops for name, size in hop.nest if name == loop]
    low, high = whole[loop]
    return any(size < high - low for size in sizes)


def _only(box: Box) -> Ranges:
    return {loop: (range_,) for loop, range_ in box.items()}


def _cut_ranges(around: Sequence[tuple[int, int]], size: int) -> tuple[tuple[int, int], ...]:
    cut = {(start, min(start + size, high)) for low, high in around for start in range(low, high, size)}
    return tuple(sorted(cut))
