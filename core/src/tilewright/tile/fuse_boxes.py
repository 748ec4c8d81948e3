"""Knows what every step of a group computes and holds in every tile of the sink, for all tiles at once.
Does not know memories or costs.

Arrays have one axis for each loop of the nest, of extent 1 where that loop makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from tilewright.index import Axis, Index
from tilewright.tile.fuse import Chain, Member, rises
from tilewright.tile.space import spans, tile_ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Reach = tuple[Integers, Integers]  # half-open

Mode = Literal["whole", "recompute", "slide"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """For each member: `runs`, the trips of every loop that a tile computes; `needs`, what the output's buffer holds.

    `needs` are by axis of the output. `slides` has the loop of the nest, by position, along which a member's output
    keeps rows, and the axis of the output that moves; None where it keeps none.
    """

    chain: Chain
    trips: tuple[int, ...]  # of each loop of the nest
    runs: tuple[Mapping[str, Reach], ...]
    needs: tuple[tuple[Reach, ...], ...]
    slides: tuple[tuple[int, int] | None, ...]
    faults: tuple[str, ...] = ()

    def depth(self, number: int) -> int:
        """How many loops of the nest, from the outermost, make a difference to what a member computes."""
        return 1 + max(_moving([*self.runs[number].values(), *self.needs[number]]), default=-1)

    def depth_of(self, number: int, operand: str) -> int:
        """The same for the window of one of its operands."""
        member, runs = self.chain.members[number], self.runs[number]
        loops = {loop for axis in member.moves[operand] for loop in axis}
        return 1 + max(_moving([runs[loop] for loop in loops]), default=-1)

    def around(self, number: int, depth: int) -> Mapping[str, Reach]:
        """What a member computes in all tiles that the first `depth` loops of the nest hold still."""
        return {loop: _hull(reach, depth) for loop, reach in self.runs[number].items()}

    def windows(self, number: int, operand: str, depth: int) -> tuple[Reach, ...]:
        """Positions of an operand, by axis, that these tiles touch; clipped to the operand."""
        member, runs = self.chain.members[number], self.runs[number]
        found = []
        for axis, loops in zip(member.access.axes[operand], member.moves[operand], strict=True):
            around = {loop: _hull(runs[loop], depth) for loop in loops}
            found.append(_window(axis, around, len(self.trips)))
        return tuple(found)

    def room(self, number: int, operand: str, depth: int) -> tuple[int, ...]:
        """Positions by axis that a tile buffer of an operand from outside must have room for."""
        return _most(self.windows(number, operand, depth))

    def held(self, number: int) -> tuple[int, ...]:
        """The same for what a member computes."""
        return _most(self.needs[number])

    def kept(self, number: int) -> tuple[Integers, Integers]:
        """Rows that stay from the tile before, and by how many rows they move, in every tile; see `slides`."""
        slide = self.slides[number]
        if slide is None:
            zero = np.zeros((1,) * len(self.trips), np.int64)
            return zero, zero
        loop, axis = slide
        low, _ = self.needs[number][axis]
        run = self.runs[number][self.chain.members[number].loops[axis]]
        later = ~_first(low.shape, loop)
        stays = np.maximum(run[0] - low, 0) * later
        return stays, (low - _before(low, loop)) * (stays > 0)


def boxes_of(chain: Chain, nest: Sequence[tuple[str, int]], inner: Mapping[str, Mode]) -> Boxes:
    """Work backwards from the sink, whose loops `nest` cuts, outermost first."""
    return _Backwards(chain, nest, inner).boxes()


@dataclass(slots=True)
class _Backwards:
    chain: Chain
    nest: Sequence[tuple[str, int]]
    inner: Mapping[str, Mode]
    runs: dict[int, dict[str, Reach]] = field(default_factory=dict)
    needs: dict[int, tuple[Reach, ...]] = field(default_factory=dict)
    slides: dict[int, tuple[int, int] | None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def boxes(self) -> Boxes:
        last = len(self.chain.members) - 1
        self.runs[last], self.slides[last] = self._sink(), None
        self.needs[last] = tuple(
            self.runs[last].get(loop, self._all(extent))
            for loop, extent in zip(self.chain.sink.loops, self.chain.sink.output.shape, strict=True)
        )
        for number in reversed(range(last)):
            self._member(number, self.chain.members[number])
        order = range(len(self.chain.members))
        extents = self.chain.sink.space.extents
        return Boxes(
            chain=self.chain,
            trips=tuple(-(-extents[loop] // size) for loop, size in self.nest),
            runs=tuple(self.runs[number] for number in order),
            needs=tuple(self.needs[number] for number in order),
            slides=tuple(self.slides[number] for number in order),
            faults=tuple(self.faults),
        )

    def _all(self, extent: int) -> Reach:
        shape = (1,) * len(self.nest)
        return np.zeros(shape, np.int64), np.full(shape, extent, np.int64)

    def _sink(self) -> dict[str, Reach]:
        found = {loop.name: self._all(loop.extent) for loop in self.chain.sink.access.loops}
        for position, (loop, size) in enumerate(self.nest):
            shape = [1] * len(self.nest)
            shape[position] = -1
            low, high = tile_ranges(self.chain.sink.space.extents[loop], size)
            found[loop] = low.reshape(shape), high.reshape(shape)
        return found

    def _member(self, number: int, member: Member) -> None:
        mode = self.inner.get(member.output.value, "recompute")
        shape = member.output.shape
        self.needs[number] = tuple(
            self._all(extent) if mode == "whole" or not loop else self._need(member, axis, extent)
            for axis, (loop, extent) in enumerate(zip(member.loops, shape, strict=True))
        )
        runs = {loop.name: self._all(loop.extent) for loop in member.access.loops}
        runs |= {loop: reach for loop, reach in zip(member.loops, self.needs[number], strict=True) if loop}
        slide = self._slide(number, member) if mode == "slide" else None
        self.runs[number], self.slides[number] = runs, slide
        if slide is not None:
            loop, axis = slide
            low, high = self.needs[number][axis]
            done = np.where(_first(low.shape, loop), 0, _before(high, loop))
            runs[member.loops[axis]] = np.maximum(low, done), high
            if (np.diff(low, axis=loop) < 0).any():
                self.faults.append(f"'{member.output.value}' would need rows again that are gone")

    def _need(self, member: Member, axis: int, extent: int) -> Reach:
        spans = [
            _span(
                self.chain.members[reader.member].access.axes[reader.operand][axis],
                self.runs[reader.member],
                len(self.nest),
            )
            for reader in member.readers
        ]
        low, high = spans[0]
        for first, end in spans[1:]:
            low, high = np.minimum(low, first), np.maximum(high, end)
        return _clipped((low, high), extent)

    def _slide(self, number: int, member: Member) -> tuple[int, int] | None:
        """The innermost loop that moves the output, and the axis that it moves."""
        moved = [sorted(_moving([reach])) for reach in self.needs[number]]
        loops = [position for axis in moved for position in axis]
        if not loops:
            return None
        loop = max(loops)
        axes = [axis for axis, positions in enumerate(moved) if loop in positions]
        if len(axes) > 1:
            self.faults.append(f"'{member.output.value}' moves along several axes at once and cannot keep rows")
            return None
        low, high = self.needs[number][axes[0]]
        shape = np.broadcast_shapes(low.shape, high.shape)
        kept = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
        self.needs[number] = tuple(kept if axis == axes[0] else one for axis, one in enumerate(self.needs[number]))
        return loop, axes[0]


def _window(axis: Axis, runs: Mapping[str, Reach], rank: int) -> Reach:
    if rises(axis.index):
        return _clipped(_span(axis, runs, rank), axis.extent)
    low, high, _, _ = spans(axis, {}, runs)
    return low, high


def _span(axis: Axis, runs: Mapping[str, Reach], rank: int) -> Reach:
    """Positions from the first to the last that a call touches, padding included. Indices rise with every loop."""
    if axis.index is None:
        return np.zeros((1,) * rank, np.int64), np.full((1,) * rank, axis.extent, np.int64)
    return _at(axis.index, runs, 0, rank), _at(axis.index, runs, 1, rank) + 1


def _at(index: Index, runs: Mapping[str, Reach], side: Literal[0, 1], rank: int) -> Integers:
    """Positions of the first trips, or of the last."""
    total = np.full((1,) * rank, index.offset, np.int64)
    for term in index.terms:
        if term.inner is None:
            total = total + (runs[term.loop][side] - side) * term.coefficient
            continue
        value = _at(term.inner, runs, side, rank)
        if term.operation == "//":
            value = value // term.by[0]
        elif term.operation == "clamp":
            value = np.clip(value, term.by[0], term.by[1])
        else:
            value = value % term.by[0]
        total = total + value * term.coefficient
    return total


def _clipped(reach: Reach, extent: int) -> Reach:
    high = np.minimum(np.maximum(reach[1], 0), extent)
    return np.minimum(np.maximum(reach[0], 0), high), high


def _moving(reaches: Sequence[Reach]) -> set[int]:
    return {axis for reach in reaches for side in reach for axis, extent in enumerate(side.shape) if extent > 1}


def _hull(reach: Reach, depth: int) -> Reach:
    axes = tuple(range(depth, reach[0].ndim))
    return reach[0].min(axis=axes, keepdims=True), reach[1].max(axis=axes, keepdims=True)


def _most(reaches: Sequence[Reach]) -> tuple[int, ...]:
    return tuple(int((high - low).max()) for low, high in reaches)


def _first(shape: Sequence[int], loop: int) -> npt.NDArray[np.bool_]:
    """Where a loop is in its first trip."""
    where = [1] * len(shape)
    where[loop] = shape[loop]
    return np.equal(np.arange(shape[loop]), 0).reshape(where)


def _before(values: Integers, loop: int) -> Integers:
    """The values of the trip before; in the first trip its own."""
    extent = values.shape[loop]
    return np.take(values, np.maximum(np.arange(extent) - 1, 0), axis=loop)
