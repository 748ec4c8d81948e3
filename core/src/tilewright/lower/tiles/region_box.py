"""Knows the box of a tile of a region in C: the ranges of loops that every step computes, and what of its output the
other steps need. Does not know operands' buffers, transfers, or the order in which things happen.

Every level, the tiles of one hop, has a function from a tile's number to its box: a struct with a range for each loop
of each step that moves from tile to tile. It has the range that is needed and, where rows are kept, the range that is
new. What a tile of an outer level needs is what all tiles inside it need together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.c_text.identifiers import unique_identifiers
from tilewright.ir.plans.region import Region
from tilewright.ir.programs.expressions import (
    Choice,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Struct,
    folded,
    operation,
)
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import Declare, Statement
from tilewright.ir.programs.subexpressions import names
from tilewright.lower.operands.c_boxes import NOTHING, Bounds, CBox, bounds, ends_of, whole_box
from tilewright.lower.operands.scope import declared
from tilewright.lower.tiles.tile_nest import HopLevel, Ranges, TileNest, box_value, nest_of, tile_counts
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.space.fusion import RegionAnalysis

if TYPE_CHECKING:
    import numpy.typing as npt

    Reach = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

BEFORE = Name("before")  # C variable: the box of the tile before
_FREE = ("t", "u", "v", "box", BEFORE.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionBox:
    """`needs` and `runs` name the struct's members, by number of the step and loop; two of one name are one range."""

    analysis: RegionAnalysis
    boxes: Boxes
    sink: TileNest  # of the last step alone
    needs: Mapping[tuple[int, str], str]
    runs: Mapping[tuple[int, str], str]
    struct: str
    function: str  # what functions of the region begin with

    @property
    def levels(self) -> tuple[HopLevel, ...]:
        """The loops over tiles, outermost first."""
        return self.sink.levels

    @property
    def members(self) -> tuple[str, ...]:
        """All of the struct, each once, the last step's first."""
        return tuple(dict.fromkeys((*self.sink.members.values(), *self.needs.values(), *self.runs.values())))

    def variable(self, at: int) -> Name | None:
        """The box in a tile of a level: a level without several tiles has none of its own."""
        moving = [level.variable for level in self.levels[: at + 1] if level.moving]
        return Name(moving[-1]) if moving else None

    def need(self, number: int, axis: int, box: Name | None) -> Bounds:
        """The stored range of a step's output along an axis. `box`: the variable that has it; None: a variable each."""
        loop = self.analysis.members[number].loops[axis]
        return _bounds(self.boxes.needs[number][axis], self.needs.get((number, loop), ""), box)

    def run(self, number: int, box: Name | None) -> CBox:
        """The ranges of loops that a step computes."""
        runs = self.boxes.runs[number]
        return {loop: _bounds(reach, self.runs.get((number, loop), ""), box) for loop, reach in runs.items()}

    def nest(self, number: int) -> TileNest:
        """The tiles of one step, as if it were alone."""
        if number + 1 == len(self.analysis.members):
            return replace(self.sink, struct=self.struct)
        members = {loop: name for (at, loop), name in self.runs.items() if at == number}
        levels = tuple(self._level(number, at) for at in range(len(self.levels)))
        access = self.analysis.members[number].access
        return TileNest(access=access, levels=levels, members=members, struct=self.struct)

    def _level(self, number: int, at: int) -> HopLevel:
        level, boxes = self.levels[at], self.boxes
        start, end = boxes.starts[at], boxes.starts[at + 1]
        box, inside = self.run(number, self.variable(at)), boxes.around(number, end)
        outer, outside = self.run(number, self.variable(at - 1)), boxes.around(number, start)
        still = []
        for copy_level in range(start, end + 1):
            around = boxes.around(number, copy_level)
            bounds_by_loop = {}
            for loop, reach in around.items():
                if not _moves(reach):
                    bounds_by_loop[loop] = _fixed(reach)
                else:
                    bounds_by_loop[loop] = outer[loop] if _same(reach, outside[loop]) else box[loop]
            still.append((bounds_by_loop, self._ranges(around, copy_level)))
        return replace(
            level,
            box={loop: box[loop] if _moves(reach) else _fixed(reach) for loop, reach in inside.items()},
            outer={loop: outer[loop] if _moves(reach) else _fixed(reach) for loop, reach in outside.items()},
            ranges=self._ranges(inside, end),
            still=tuple(still),
        )

    def _ranges(self, around: Mapping[str, Reach], copy_level: int) -> Ranges:
        """Every range of the loops in a tile that exists."""
        exists = self.boxes.exists
        there = np.asarray(exists.any(axis=tuple(range(copy_level, exists.ndim)), keepdims=True), np.bool_)
        return {loop: _ranges(reach, there) for loop, reach in around.items()}

    def mixed(self, number: int, operand: str, at: int, level: int) -> bool:
        """Whether loops inside and outside of a copy's level move an operand: no single range is stored."""
        boxes, copy_level = self.boxes, self.boxes.starts[at] + level
        access = self.analysis.members[number].access
        axes = self.analysis.members[number].moves.get(operand, ())
        around, inside = boxes.around(number, copy_level), boxes.around(number, boxes.starts[at + 1])
        outside = boxes.around(number, boxes.starts[at])
        loops = {loop for axis in axes for loop in axis}
        return bool(access.loops) and any(
            _moves(around[loop]) and not _same(around[loop], inside[loop]) and not _same(around[loop], outside[loop])
            for loop in loops
        )

    # --- the functions

    def name(self, level: HopLevel) -> str:
        """Of the function that gives the box of a tile."""
        return f"{self.function}_tile" + (f"_{level.hop.inner}" if len(self.levels) > 1 else "")

    def parameters(self, level: HopLevel) -> tuple[Parameter, ...]:
        """Of that function: boxes of outer levels where anything depends on them, and the number of the tile."""
        outside = self.levels[: self.levels.index(level)]
        values = [*self._values(level).values(), *(item.value for item in self._statements(level))]
        mentioned = names(values)
        outer = [Parameter(type=self.struct, name=item.variable) for item in outside if item.variable in mentioned]
        return (*outer, Parameter(type="int32_t", name=level.counter))

    def declare(self, level: HopLevel, name: Name | None = None, tile: Expression | None = None) -> Statement:
        """A variable that is the box of a tile; of the one under way where no other is given."""
        arguments = [
            tile if tile and parameter.name == level.counter else parameter.variable
            for parameter in self.parameters(level)
        ]
        variable = name.text if name else level.variable
        return Declare(
            type=f"const {self.struct}", name=variable, value=FunctionCall(self.name(level), tuple(arguments))
        )

    def part(self, level: HopLevel) -> Part:
        """Tile number -> box, inside the boxes of the levels before."""
        values = self._values(level)
        box = Declare(
            type=f"const {self.struct}", name="box", value=Struct("", tuple(values.values()), members=tuple(values))
        )
        steps = " in every step of the group" if self.needs else ""
        return Part(
            role="box",
            function=self.name(level),
            comment=(f"The trips of tile {level.counter}{steps}.",),
            parameters=self.parameters(level),
            body=(*declared(self._statements(level), (box,)), box),
            type=self.struct,
            result=Name(box.name),
        )

    def _values(self, level: HopLevel) -> Mapping[str, Expression]:
        """Of the struct's members. The ranges of several steps are declared before."""
        return {name: Name(name) for name in self.members} if self.needs else box_value(self.sink, level)

    def _statements(self, level: HopLevel) -> Iterator[Declare]:
        for name, count in tile_counts(level).items():
            yield Declare(type="const int32_t", name=name, value=count)
        if not self.needs:
            return
        for name, range_ in box_value(self.sink, level).items():
            yield Declare(type="const tw_range", name=name, value=range_)
        last = level is self.levels[-1]
        done: dict[tuple[int, str, int], Expression] = {}
        for number in reversed(range(len(self.analysis.members) - 1)):
            member = self.analysis.members[number]
            for axis, loop in enumerate(member.loops):
                if (number, loop) in self.needs:
                    yield Declare(type="const tw_range", name=self.needs[number, loop], value=self._need(number, axis))
            roll = self.boxes.rolls[number]
            if roll is not None:
                loop = member.loops[roll.axis]
                value: Expression = Name(self.needs[number, loop])
                if last:
                    yield from self._done(number, loop, roll.loop, done)
                    value = FunctionCall("tw_beyond", (value, done[number, loop, roll.loop]))
                yield Declare(type="const tw_range", name=self.runs[number, loop], value=value)

    def _need(self, number: int, axis: int) -> Expression:
        member = self.analysis.members[number]
        reads = [
            self._read(reader.member, reader.operand, axis, self.run(reader.member, None)) for reader in member.readers
        ]
        first = folded("tw_least", [low for low, _ in reads])
        end = folded("tw_most", [last + 1 for _, last in reads])
        return FunctionCall("tw_need", (first, end, Number(member.output.shape[axis])))

    def _read(self, number: int, operand: str, axis: int, box: CBox) -> Bounds:
        reader = self.analysis.members[number]
        position = reader.index_map.axes[operand][axis]
        if position.index is None:
            return NOTHING, Number(position.extent - 1)
        return bounds(position.index, box, whole_box(reader.access))

    def later_trip(self, along: int, box: Name | None) -> Expression:
        """That a loop of the last level, by its position among all, is in a later trip than the first of its visit."""
        level = self.levels[-1]
        cut = level.cuts[along - self.boxes.starts[-2]]
        return operation(">", Field(_range(self.sink.members[cut.loop], box), "low"), level.outer[cut.loop][0])

    def _done(
        self, number: int, loop: str, along: int, done: dict[tuple[int, str, int], Expression]
    ) -> Iterator[Declare]:
        """Declares where the need of a step's loop ended one trip of the nest's loop `along` before; 0 in the first."""
        key = number, loop, along
        if key in done:
            return
        if number + 1 == len(self.analysis.members):
            cut = self.levels[-1].cuts[along - self.boxes.starts[-2]]
            done[key] = Field(Name(self.sink.members[cut.loop]), "low")
            return
        member = self.analysis.members[number]
        axis = member.loops.index(loop)
        ends = []
        for reader in member.readers:
            box = dict(self.run(reader.member, None))
            for other in self._moved_by(reader.member, along):
                yield from self._done(reader.member, other, along, done)
                box[other] = NOTHING, done[reader.member, other, along]
            _, last = self._read(reader.member, reader.operand, axis, box)
            ends.append(last + 1)
        name = f"done_{self.needs[number, loop]}" + (f"_{along}" if len(self.boxes.extents) > 1 else "")
        done[key] = Name(name)
        end = FunctionCall("tw_clamp", (folded("tw_most", ends), NOTHING, Number(member.output.shape[axis])))
        yield Declare(type="const int32_t", name=name, value=Choice(self.later_trip(along, None), end, NOTHING))

    def _moved_by(self, number: int, along: int) -> list[str]:
        """The loops of a step that a loop of the nest moves."""
        if number + 1 == len(self.analysis.members):
            return [self.levels[-1].cuts[along - self.boxes.starts[-2]].loop]
        member = self.analysis.members[number]
        return [
            loop
            for loop, need in zip(member.loops, self.boxes.needs[number], strict=True)
            if loop and any(side.shape[along] > 1 for side in need)
        ]


def region_box(analysis: RegionAnalysis, region: Region, function: str) -> RegionBox:
    """Name every range. `function` is the sink's."""
    boxes = boxes_of(analysis, region.hops, region.forms)
    struct = f"{function}_box"
    sink = nest_of(analysis.sink.access, region.hops, struct)
    taken = [*sink.members.values(), *_FREE, *(level.variable for level in sink.levels)]
    last = len(analysis.members) - 1
    needs, runs = {}, {(last, loop): name for loop, name in sink.members.items()}
    for number in reversed(range(last)):
        member, roll = analysis.members[number], boxes.rolls[number]
        for axis, loop in enumerate(member.loops):
            if not loop or not _moves(boxes.needs[number][axis]):
                continue
            needs[number, loop] = _free(f"{loop}_{member.index}", taken)
            rolls = roll is not None and roll.axis == axis
            runs[number, loop] = _free(f"new_{loop}_{member.index}", taken) if rolls else needs[number, loop]
    return RegionBox(
        analysis=analysis, boxes=boxes, sink=sink, needs=needs, runs=runs, struct=struct, function=function
    )


def _free(text: str, taken: list[str]) -> str:
    name = unique_identifiers((text,), taken=taken, fallback="range")[text]
    taken.append(name)
    return name


def _bounds(reach: Reach, name: str, box: Name | None) -> Bounds:
    return ends_of(_range(name, box)) if name and _moves(reach) else _fixed(reach)


def _range(name: str, box: Name | None) -> Expression:
    return Field(box, name) if box else Name(name)


def _fixed(reach: Reach) -> Bounds:
    return Number(int(reach[0].min())), Number(int(reach[1].max()))


def _moves(reach: Reach) -> bool:
    return any(side.size > 1 for side in reach)


def _same(reach: Reach, other: Reach) -> bool:
    return all(left.shape == right.shape for left, right in zip(reach, other, strict=True))


def _ranges(reach: Reach, there: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    low, high, counts = np.broadcast_arrays(*reach, there)
    return tuple(sorted(set(zip(low[counts].tolist(), high[counts].tolist(), strict=True))))
