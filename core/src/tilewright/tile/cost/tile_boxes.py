"""Knows what every step of a region computes and holds in every tile, for all tiles at once.
Does not know memories or costs.

Arrays have one axis for each loop of the nests of all hops, outermost hop first, of extent 1 where that loop makes no
difference. The last tile of a loop may have fewer tiles of the next hop inside: `exists` says which there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from tilewright.ir.access.index import Axis, Index, Term
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.plans.region import Form, Hop
from tilewright.ir.rounding import ceil_div
from tilewright.tile.space.fusion import RegionAnalysis, RegionStep, rises
from tilewright.tile.space.spans import spans

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]
    Marks = npt.NDArray[np.bool_]
    Reach = tuple[Integers, Integers]  # half-open


@dataclass(frozen=True, slots=True)
class RollingAxis:
    """A window that keeps rows from tile to tile: along which loop, by position among all, and which of its axes."""

    loop: int
    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """For each member: `runs`, the trips of every loop that a tile computes; `needs`, what the output's buffer holds.

    `needs` are by axis of the output. `rolls` says along which loop a member's output keeps rows; None where it keeps
    none. `starts` has for each hop the position of its first loop, and the number of all loops at the end.
    """

    analysis: RegionAnalysis
    hops: tuple[Hop, ...]
    starts: tuple[int, ...]
    extents: tuple[int, ...]
    exists: Marks
    runs: tuple[Mapping[str, Reach], ...]
    needs: tuple[tuple[Reach, ...], ...]
    rolls: tuple[RollingAxis | None, ...]
    faults: tuple[str, ...] = ()

    @property
    def tiles(self) -> int:
        """Of the last hop, over all visits."""
        return int(np.broadcast_to(self.exists, self.extents).sum())

    def copy_level(self, number: int) -> int:
        """How many loops, from the outermost, make a difference to what a member computes, or when."""
        moving = _moving([*self.runs[number].values(), *self.needs[number]])
        inside = self.starts[-2] if len(self.starts) > 1 else 0
        return max(1 + max(moving, default=-1), inside)

    def copy_level_of(self, number: int, operand: str) -> int:
        """The same for the window of one of its operands, visits of the last hop not counted."""
        runs = self.runs[number]
        return 1 + max(_moving([runs[loop] for loop in self._loops(number, operand)]), default=-1)

    def around(self, number: int, copy_level: int) -> Mapping[str, Reach]:
        """What a member computes in all tiles that the first `copy_level` loops hold still."""
        return {loop: _hull(reach, copy_level) for loop, reach in self.runs[number].items()}

    def windows(self, number: int, operand: str, copy_level: int) -> tuple[Reach, ...]:
        """Positions of an operand, by axis, that these tiles touch; clipped to the operand."""
        member, runs = self.analysis.members[number], self.runs[number]
        if not isinstance(member.access, MapAccess):
            box = {loop.name: (0, loop.extent) for loop in member.access.loops}
            return tuple(self._fixed(span.low, span.high) for span in member.access.window(operand, box))
        result = []
        for axis, loops in zip(member.access.axes[operand], member.moves[operand], strict=True):
            around = {loop: _hull(runs[loop], copy_level) for loop in loops}
            result.append(_window(axis, around, len(self.extents)))
        return tuple(result)

    def capacity(self, number: int, operand: str, copy_level: int) -> tuple[int, ...]:
        """Positions by axis that a tile buffer of an operand from outside must have room for."""
        return most(self.windows(number, operand, copy_level))

    def internal_rows(self, number: int) -> tuple[int, ...]:
        """The same for what a member computes."""
        return most(self.needs[number])

    def kept(self, number: int) -> tuple[Integers, Integers]:
        """Rows that stay from the tile before, and by how many rows they move, in every tile; see `rolls`."""
        roll = self.rolls[number]
        if roll is None:
            return self._fixed(0, 0)
        low, _ = self.needs[number][roll.axis]
        run = self.runs[number][self.analysis.members[number].loops[roll.axis]]
        later = ~first_iteration(low.shape, roll.loop)
        stays = np.maximum(run[0] - low, 0) * later
        return stays, (low - before(low, roll.loop)) * (stays > 0)

    def _loops(self, number: int, operand: str) -> set[str]:
        member = self.analysis.members[number]
        return {loop for axis in member.moves.get(operand, ()) for loop in axis}

    def _fixed(self, low: int, high: int) -> Reach:
        shape = (1,) * len(self.extents)
        return np.full(shape, low, np.int64), np.full(shape, high, np.int64)


def boxes_of(analysis: RegionAnalysis, hops: Sequence[Hop], forms: Mapping[str, Form] | None = None) -> Boxes:
    """Work backwards from the sink, whose loops the hops cut. `forms`: how values inside are held."""
    return _Backwards(analysis, tuple(hops), forms or {}).boxes()


@dataclass(slots=True)
class _Backwards:
    analysis: RegionAnalysis
    hops: tuple[Hop, ...]
    forms: Mapping[str, Form]
    extents: list[int] = field(default_factory=list)
    exists: Marks = field(default_factory=lambda: np.ones((), bool))
    runs: dict[int, dict[str, Reach]] = field(default_factory=dict)
    needs: dict[int, tuple[Reach, ...]] = field(default_factory=dict)
    rolls: dict[int, RollingAxis | None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    rank: int = field(init=False)  # loops of all hops together
    _whole: dict[int, Reach] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rank = sum(len(hop.nest) for hop in self.hops)

    def boxes(self) -> Boxes:
        last = len(self.analysis.members) - 1
        self.runs[last], self.rolls[last], self.needs[last] = self._sink(), None, ()
        for number in reversed(range(last)):
            self._member(number, self.analysis.members[number])
        order = range(len(self.analysis.members))
        return Boxes(
            analysis=self.analysis,
            hops=self.hops,
            starts=self._starts(),
            extents=tuple(self.extents),
            exists=self.exists,
            runs=tuple(self.runs[number] for number in order),
            needs=tuple(self.needs[number] for number in order),
            rolls=tuple(self.rolls[number] for number in order),
            faults=tuple(self.faults),
        )

    def _starts(self) -> tuple[int, ...]:
        starts = [0]
        for hop in self.hops:
            starts.append(starts[-1] + len(hop.nest))
        return tuple(starts)

    def _all(self, extent: int) -> Reach:
        if extent not in self._whole:
            shape = (1,) * self.rank
            self._whole[extent] = np.zeros(shape, np.int64), np.full(shape, extent, np.int64)
        return self._whole[extent]

    def _sink(self) -> dict[str, Reach]:
        result = {loop.name: self._all(loop.extent) for loop in self.analysis.sink.access.loops}
        self.exists = np.ones((1,) * self.rank, bool)
        cuts = [cut for hop in self.hops for cut in hop.nest]
        for position, (loop, size) in enumerate(cuts):
            low, high = result[loop]
            count = ceil_div(largest_extents(result[loop]), size)
            shape = [1] * self.rank
            shape[position] = count
            starts = low + np.arange(count).reshape(shape) * size
            result[loop] = np.minimum(starts, high), np.minimum(starts + size, high)
            if low.size > 1:
                self.exists = self.exists & (starts < high)
            self.extents.append(count)
        return result

    def _member(self, number: int, member: RegionStep) -> None:
        form = self.forms.get(member.output.value, "recomputed")
        shape = member.output.shape
        self.needs[number] = tuple(
            self._all(extent) if form == "whole" or not loop else self._need(member, axis, extent)
            for axis, (loop, extent) in enumerate(zip(member.loops, shape, strict=True))
        )
        runs = {loop.name: self._all(loop.extent) for loop in member.access.loops}
        runs |= {loop: reach for loop, reach in zip(member.loops, self.needs[number], strict=True) if loop}
        roll = self._roll(number, member) if form == "rolling" else None
        self.runs[number], self.rolls[number] = runs, roll
        if roll is not None:
            runs[member.loops[roll.axis]] = new_rows(self.needs[number][roll.axis], roll.loop)
        if member.live_out and not self._covers(number, member, roll):
            self.faults.append(f"tiles do not compute every element of '{member.output.value}' once")

    def _covers(self, number: int, member: RegionStep, roll: RollingAxis | None) -> bool:
        """Whether the runs of a step together are all that it writes, nothing twice."""
        for axis, (reach, extent) in enumerate(zip(self.needs[number], member.output.shape, strict=True)):
            rolls = roll is not None and axis == roll.axis
            low, high = self.runs[number][member.loops[axis]] if rolls else reach
            moving = _moving([(low, high)])
            if moving - ({roll.loop} if rolls and roll else set()) or int((high - low).sum()) != extent:
                return False
        return True

    def _need(self, member: RegionStep, axis: int, extent: int) -> Reach:
        reaches = [
            _span(
                self.analysis.members[reader.member].index_map.axes[reader.operand][axis],
                self.runs[reader.member],
                self.rank,
            )
            for reader in member.readers
        ]
        low, high = reaches[0]
        for first, end in reaches[1:]:
            low, high = np.minimum(low, first), np.maximum(high, end)
        return _clipped((low, high), extent)

    def _roll(self, number: int, member: RegionStep) -> RollingAxis | None:
        roll = roll_along(self.needs[number], range(self.rank - len(self.hops[-1].nest), self.rank))
        if isinstance(roll, str):
            self.faults.append(f"'{member.output.value}' cannot keep rows: {roll}")
            return None
        if roll is not None:
            low, high = np.broadcast_arrays(*self.needs[number][roll.axis])
            self.needs[number] = tuple(
                (low, high) if axis == roll.axis else need for axis, need in enumerate(self.needs[number])
            )
        return roll


def roll_along(windows: Sequence[Reach], loops: range) -> RollingAxis | str | None:
    """How a window keeps rows along the innermost of some loops that moves it; why not; None where none moves it."""
    moved = [_moving([reach]).intersection(loops) for reach in windows]
    moving = [at for axis in moved for at in axis]
    if not moving:
        return None
    loop = max(moving)
    axes = [axis for axis, positions in enumerate(moved) if loop in positions]
    if len(axes) > 1:
        return "it moves along several axes at once"
    low, _ = windows[axes[0]]
    if low.shape[loop] > 1 and (np.diff(low, axis=loop) < 0).any():
        return "rows would be needed again that are gone"
    return RollingAxis(loop, axes[0])


def new_rows(reach: Reach, loop: int) -> Reach:
    """What of each window the trip before has not left."""
    low, high = np.broadcast_arrays(*reach)
    done = np.where(first_iteration(low.shape, loop), 0, before(high, loop)) if low.shape[loop] > 1 else 0
    return np.maximum(low, np.minimum(done, high)), high


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
    fixed = index.offset
    moving: list[Integers] = []
    for term in index.terms:
        value = runs[term.loop][side] if term.inner is None else _applied(term, _at(term.inner, runs, side, rank))
        moving.append(value if term.coefficient == 1 else value * term.coefficient)
        fixed -= side * term.coefficient if term.inner is None else 0  # the last trip is before the end of a run
    return sum(moving[1:], moving[0] + fixed) if moving else np.full((1,) * rank, fixed, np.int64)


def _applied(term: Term, inner: Integers) -> Integers:
    """What a term makes of an index inside it, its coefficient aside."""
    if term.operation == "//":
        return inner // term.by[0]
    if term.operation == "clamp":
        return np.clip(inner, term.by[0], term.by[1])
    return inner % term.by[0]


def _clipped(reach: Reach, extent: int) -> Reach:
    high = np.minimum(np.maximum(reach[1], 0), extent)
    return np.minimum(np.maximum(reach[0], 0), high), high


def _moving(reaches: Sequence[Reach]) -> set[int]:
    return {axis for reach in reaches for side in reach for axis, extent in enumerate(side.shape) if extent > 1}


def _hull(reach: Reach, copy_level: int) -> Reach:
    if reach[0].size == reach[1].size == 1 or copy_level >= reach[0].ndim:
        return reach
    axes = tuple(range(copy_level, reach[0].ndim))
    return reach[0].min(axis=axes, keepdims=True), reach[1].max(axis=axes, keepdims=True)


def most(reaches: Sequence[Reach]) -> tuple[int, ...]:
    """The most positions along each axis in any tile."""
    return tuple(largest_extents(reach) for reach in reaches)


def largest_extents(reach: Reach) -> int:
    """The same of one axis, or the most trips of a loop; one element is taken at once, without numpy's reduction."""
    extents = reach[1] - reach[0]
    return int(extents.item() if extents.size == 1 else extents.max())


def first_iteration(shape: Sequence[int], loop: int) -> Marks:
    """Where a loop is in its first trip."""
    where = [1] * len(shape)
    where[loop] = shape[loop]
    return np.equal(np.arange(shape[loop]), 0).reshape(where)


def before(values: Integers, loop: int) -> Integers:
    """The values of the trip before; in the first trip its own."""
    extent = values.shape[loop]
    return np.take(values, np.maximum(np.arange(extent) - 1, 0), axis=loop)
