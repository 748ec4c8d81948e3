"""Knows the box of a tile of a group in C: the trips of every step, and what of its output the others need.
Does not know operands' buffers, transfers, or the order in which things happen.

The box is a struct with a range for each loop of each step that moves from tile to tile: what is needed of the loop's
trips, and, where rows are kept, what is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.decisions import GroupTile
from tilewright.identifiers import unique_identifiers
from tilewright.index import mentions
from tilewright.lower.boxes import Bounds, CBox, bounds, whole_box
from tilewright.lower.nest import Level, Nest, Ranges, box_value, nest_of
from tilewright.lower.sums import Sum, variable
from tilewright.program import Parameter, Part
from tilewright.statements import Declare
from tilewright.tile.fuse import Chain
from tilewright.tile.fuse_boxes import Boxes, boxes_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Reach = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

BOX = "box"  # C variable: the box of the tile
_FREE = ("t", "u", "v", BOX, "before")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBox:
    """`needs` and `runs` name the struct's members, by number of the step and loop; two of one name are one range."""

    chain: Chain
    boxes: Boxes
    sink: Nest  # of the last step alone
    needs: Mapping[tuple[int, str], str]
    runs: Mapping[tuple[int, str], str]
    struct: str
    function: str

    @property
    def level(self) -> Level:
        """The loop over tiles."""
        return self.sink.levels[0]

    @property
    def members(self) -> tuple[str, ...]:
        """All of the struct, each once, the last step's first."""
        return tuple(dict.fromkeys((*self.sink.members.values(), *self.needs.values(), *self.runs.values())))

    def need(self, number: int, axis: int, prefix: str = f"{BOX}.") -> Bounds:
        """What is held of a step's output along one axis."""
        loop = self.chain.members[number].loops[axis]
        return _bounds(self.boxes.needs[number][axis], self.needs.get((number, loop), ""), prefix)

    def run(self, number: int, prefix: str = f"{BOX}.") -> CBox:
        """The trips that a step computes."""
        runs = self.boxes.runs[number]
        return {loop: _bounds(reach, self.runs.get((number, loop), ""), prefix) for loop, reach in runs.items()}

    def nest(self, number: int) -> Nest:
        """The tiles of one step, as if it were alone."""
        if number + 1 == len(self.chain.members):
            return replace(self.sink, struct=self.struct, function=self.function)
        runs, box = self.boxes.runs[number], self.run(number)
        still = []
        for depth in range(len(self.boxes.trips) + 1):
            around = self.boxes.around(number, depth)
            held = {loop: box[loop] if _same(around[loop], runs[loop]) else _fixed(around[loop]) for loop in runs}
            still.append((held, {loop: _ranges(around[loop]) for loop in runs}))
        ranges: Ranges = {loop: _ranges(reach) for loop, reach in runs.items()}
        level = replace(self.level, box=box, ranges=ranges, still=tuple(still))
        members = {loop: name for (at, loop), name in self.runs.items() if at == number}
        access = self.chain.members[number].access
        return Nest(access=access, levels=(level,), members=members, struct=self.struct, function=self.function)

    def mixed(self, number: int, operand: str, depth: int) -> bool:
        """Whether loops inside and outside of `depth` together move an operand: no single range says what is held."""
        access, around = self.chain.members[number].access, self.boxes.around(number, depth)
        loops = [loop for loop in around if any(mentions(axis.index, loop) for axis in access.axes[operand])]
        return any(
            not _same(around[loop], self.boxes.runs[number][loop]) and any(side.size > 1 for side in around[loop])
            for loop in loops
        )

    def part(self) -> Part:
        """Tile number -> box."""
        level = self.level
        made = list(self._statements())
        for one in reversed(tuple(made)):  # where a need ended is asked for only by some
            asked = any(re.search(rf"\b{one.name}\b", other.value) for other in made)
            if one.name not in self.members and not asked:
                made.remove(one)
        values = ", ".join(f".{name} = {name}" for name in self.members)
        body = (*made, Declare(type=f"const {self.struct}", name=BOX, value=f"{{{values}}}"))
        return Part(
            role="box",
            function=self.function,
            comment=(f"The trips of tile {level.counter} in every step of the group.",),
            parameters=(Parameter(type="int32_t", name=level.counter, argument=level.counter),),
            body=body,
            type=self.struct,
            result=BOX,
        )

    def _statements(self) -> Iterator[Declare]:
        tiles, values = box_value(self.sink, self.level)
        yield from (Declare(type="const int32_t", name=name, value=value) for name, value in tiles.items())
        yield from (Declare(type="const tw_range", name=name, value=value) for name, value in values.items())
        done: dict[tuple[int, str, int], str] = {}
        for number in reversed(range(len(self.chain.members) - 1)):
            member = self.chain.members[number]
            for axis, loop in enumerate(member.loops):
                if (number, loop) in self.needs:
                    yield Declare(type="const tw_range", name=self.needs[number, loop], value=self._need(number, axis))
            slide = self.boxes.slides[number]
            if slide is not None:
                loop = member.loops[slide[1]]
                yield from self._done(number, loop, slide[0], done)
                value = f"tw_beyond({self.needs[number, loop]}, {done[number, loop, slide[0]]})"
                yield Declare(type="const tw_range", name=self.runs[number, loop], value=value)

    def _need(self, number: int, axis: int) -> str:
        member = self.chain.members[number]
        reads = [self._read(one.member, one.operand, axis, self.run(one.member, "")) for one in member.readers]
        first = _folded("tw_least", [str(low) for low, _ in reads])
        end = _folded("tw_most", [str(last + 1) for _, last in reads])
        return f"tw_need({first}, {end}, {member.output.shape[axis]})"

    def _read(self, number: int, operand: str, axis: int, box: CBox) -> Bounds:
        reader = self.chain.members[number]
        position = reader.access.axes[operand][axis]
        if position.index is None:
            return Sum(), Sum(position.extent - 1)
        return bounds(position.index, box, whole_box(reader.access))

    def _done(self, number: int, loop: str, along: int, done: dict[tuple[int, str, int], str]) -> Iterator[Declare]:
        """Declares where the need of a step's loop ended one trip of the nest's loop `along` before; 0 in the first."""
        if (number, loop, along) in done:
            return
        cut = self.level.cuts[along]
        if number + 1 == len(self.chain.members):
            done[number, loop, along] = f"{self.sink.members[cut.loop]}.low"
            return
        member = self.chain.members[number]
        axis = member.loops.index(loop)
        ends = []
        for reader in member.readers:
            box = dict(self.run(reader.member, ""))
            for other in self._moved_by(reader.member, along):
                yield from self._done(reader.member, other, along, done)
                box[other] = Sum(), variable(done[reader.member, other, along])
            _, last = self._read(reader.member, reader.operand, axis, box)
            ends.append(str(last + 1))
        name = f"done_{self.needs[number, loop]}" + (f"_{along}" if len(self.boxes.trips) > 1 else "")
        done[number, loop, along] = name
        first = f"{self.sink.members[cut.loop]}.low > 0"
        value = f"{first} ? tw_clamp({_folded('tw_most', ends)}, 0, {member.output.shape[axis]}) : 0"
        yield Declare(type="const int32_t", name=name, value=value)

    def _moved_by(self, number: int, along: int) -> list[str]:
        """The loops of a step that a loop of the nest moves."""
        if number + 1 == len(self.chain.members):
            return [self.level.cuts[along].loop]
        member = self.chain.members[number]
        return [
            loop
            for loop, need in zip(member.loops, self.boxes.needs[number], strict=True)
            if loop and any(side.shape[along] > 1 for side in need)
        ]


def group_box(chain: Chain, tile: GroupTile, function: str) -> GroupBox:
    """Name every range. `function` is the sink's."""
    hop = tile.hops[-1]
    boxes = boxes_of(chain, hop.nest, tile.inner)
    struct = f"{function}_box"
    sink = nest_of(chain.sink.access, replace(tile, hops=(hop,)), struct)
    taken = [*sink.members.values(), *_FREE]
    last = len(chain.members) - 1
    needs, runs = {}, {(last, loop): name for loop, name in sink.members.items()}
    for number in reversed(range(last)):
        member, slide = chain.members[number], boxes.slides[number]
        for axis, loop in enumerate(member.loops):
            if not loop or not _moves(boxes.needs[number][axis]):
                continue
            needs[number, loop] = _free(f"{loop}_{member.index}", taken)
            slides = slide is not None and slide[1] == axis
            runs[number, loop] = _free(f"new_{loop}_{member.index}", taken) if slides else needs[number, loop]
    return GroupBox(
        chain=chain, boxes=boxes, sink=sink, needs=needs, runs=runs, struct=struct, function=f"{function}_tile"
    )


def _folded(function: str, values: Iterable[str]) -> str:
    """One value of several, each text once."""
    first, *rest = dict.fromkeys(values)
    for other in rest:
        first = f"{function}({first}, {other})"
    return first


def _free(text: str, taken: list[str]) -> str:
    name = unique_identifiers((text,), taken=taken, fallback="range")[text]
    taken.append(name)
    return name


def _bounds(reach: Reach, name: str, prefix: str) -> Bounds:
    if name and _moves(reach):
        return variable(f"{prefix}{name}.low"), variable(f"{prefix}{name}.high")
    return _fixed(reach)


def _fixed(reach: Reach) -> Bounds:
    return Sum(int(reach[0].min())), Sum(int(reach[1].max()))


def _moves(reach: Reach) -> bool:
    return any(side.size > 1 for side in reach)


def _same(one: Reach, other: Reach) -> bool:
    return all(left.shape == right.shape for left, right in zip(one, other, strict=True))


def _ranges(reach: Reach) -> tuple[tuple[int, int], ...]:
    low, high = np.broadcast_arrays(*reach)
    return tuple(sorted(set(zip(low.reshape(-1).tolist(), high.reshape(-1).tolist(), strict=True))))
