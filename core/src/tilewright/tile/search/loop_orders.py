"""Knows what every combination of copy levels and buffer counts takes and costs, for some orders of a step's loops.
Does not know which sizes of tiles are looked at, nor which orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from itertools import chain, product
from math import prod
from operator import add, and_
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.ir.access.index import mentions
from tilewright.ir.plans.region import Copy, Cut, Hop, key_of
from tilewright.tile.cost.copy_queues import queues_of, together
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC, TRAFFIC
from tilewright.tile.cost.tiling_problem import TilingProblem
from tilewright.tile.space.grid import extents_to_try
from tilewright.tile.space.tiling_space import CopiedOperand

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Priced = dict[tuple[str, frozenset[int], str], Numbers]

_Option = tuple[int, str]  # copy level, and the loop along which rows stay
_MOST_COMBINATIONS = 256  # of copy levels, for one order of loops
_FEW = 2048  # combinations that are put together without a look at bounds
_ROUNDED = 1 + 1e-9  # bounds and scores are sums in different orders


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedTiling:
    """A tiling and the estimate that the search has of it."""

    nest: tuple[Cut, ...]
    copies: Mapping[str, Copy]  # by operand
    cycles: float
    moved_bytes: float
    score: float  # cycles, a little dearer the more is moved
    used_bytes: float  # of the scratchpad, alignment included

    def on(self, step: str, ends: tuple[str, str] = ("", "")) -> Hop:
        """The same as a decision: the hop of `step` from one memory to the other."""
        copies = {key_of(step, operand): copy for operand, copy in self.copies.items()}
        return Hop(outer=ends[0], inner=ends[1], nest=self.nest, copies=copies)


@dataclass(frozen=True, slots=True)
class _OperandOptions:
    """One operand: for each order and copy level worth trying, an entry along the operand's own axis of the arrays."""

    item: CopiedOperand
    levels: Integers  # the copy levels
    rolls: npt.NDArray[np.bool_]  # whether rows stay: such a window has one buffer
    buffer: Numbers  # bytes of one buffer
    moved: Numbers  # bytes of all transfers
    each: Numbers  # average cycles of one transfer
    fetches: Numbers  # how many
    legal: npt.NDArray[np.bool_]

    def only(self, orders: Integers, points: Integers) -> _OperandOptions:
        """The same of some orders and points; levels and rolls are those of all points."""
        numbers = (self.buffer, self.moved, self.each, self.fetches)
        buffer, moved, each, fetches = (table[orders][..., points] for table in numbers)
        legal = self.legal[orders][..., points]
        return _OperandOptions(self.item, self.levels[orders], self.rolls[orders], buffer, moved, each, fetches, legal)

    def least(self, table: Numbers, left: Numbers) -> Numbers:
        """[order, point]: the least of a table over the copy levels that fit into `left` and can be done, else inf."""
        result: Numbers = np.where(self.legal & (self.buffer <= _spread(left, table.ndim)), table, np.inf)
        return _over_levels(result)


class LoopOrders:
    """All copy levels and buffer counts for some orders of the loops, over some points.

    Arrays are [order, copy level of each operand that has several..., point].
    """

    def __init__(
        self,
        problem: TilingProblem,
        orders: Sequence[tuple[int, ...]],
        points: Integers,
        computes: Numbers,
        scratch: Numbers,
        priced: Priced,
    ) -> None:
        self.problem, self.orders, self.points = problem, orders, points
        self.queues = queues_of(problem.space.copied)
        self.priced = priced  # transfers of the points, by operand, loops that are cut and loop along which rows stay
        self.computes, self.scratch, self.exposed = computes, scratch, problem.exposed(points)
        self.trips = extents_to_try(problem.space, points)[:, np.array(orders, np.int64)].swapaxes(0, 1)
        ones = np.ones((len(orders), len(points), 1), np.int64)
        # [order, point, copy level]
        self.above = np.cumprod(np.concatenate([ones, self.trips], axis=2), axis=2, dtype=float)
        self.choices = self._choices()
        self.moved = total_of([choice.moved for choice in self.choices])

    def best(self, below: float = np.inf) -> EstimatedTiling | None:
        """The best of them; None where nothing fits. Where none scores less than `below`, it may be None, too.

        Bounds are known of all, so that most are never put together; those that may be as good as the one whose bound
        is the least are, all at once.
        """
        if self.moved.size < _FEW:
            return self._best()
        floors = self.floors()
        at = np.unravel_index(np.argmin(floors), floors.shape)
        if not floors[at] < below:
            return None
        first = self._only(*(np.array([index]) for index in at))._best()
        most = min(below, np.inf if first is None else first.score) * _ROUNDED
        near = (floors <= most) & (floors < np.inf)
        return self._only(np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0)))._best()

    def floors(self) -> Numbers:
        """[order, point]: the score that no copy levels and numbers of buffers go below; infinite where nothing fits.

        Each operand has the room that the least buffers of the others leave it. Whatever is done at the same time, what
        is copied for the first tile is waited for, and one tile is computed behind the last copy.
        """
        shape = len(self.orders), len(self.points)
        least = [_over_levels(choice.buffer) for choice in self.choices]
        left = self.problem.available_bytes - self.scratch - total_of(least)
        moved, each, copying = np.zeros((3, *shape))
        for choice, own in zip(self.choices, least, strict=True):
            room = left + own
            moved = moved + choice.least(choice.moved, room)
            each = each + choice.least(choice.each, room)
            copying = copying + choice.least(choice.each * choice.fetches, room)
        each, copying = each / self.queues, copying / self.queues
        cycles = np.maximum(self.computes + each, copying + self.computes / self.above[..., -1])
        return np.where(left >= 0, self._scored(cycles, moved), np.inf)

    def _only(self, orders: Integers, points: Integers) -> LoopOrders:
        """The same for some of the orders and points."""
        part = copy(self)
        part.orders = [self.orders[at] for at in orders]
        part.points, part.computes, part.scratch = self.points[points], self.computes[points], self.scratch[points]
        part.exposed = self.exposed[points]
        part.trips, part.above = self.trips[orders][:, points], self.above[orders][:, points]
        part.choices = [choice.only(orders, points) for choice in self.choices]
        part.moved = total_of([choice.moved for choice in part.choices])
        return part

    def _best(self) -> EstimatedTiling | None:
        """The best, all of them put together."""
        used = total_of([choice.buffer for choice in self.choices]) + self.scratch
        doubled, legal = self._doubled(used), self.legal(used)
        if self.problem.buffering == "double":
            for choice, twice in zip(self.choices, doubled, strict=True):
                legal = legal & (twice | (choice.fetches <= 1))
        if not legal.any():
            return None
        cycles = np.where(legal, self.cycles(doubled), np.inf)
        score = self._scored(cycles, self.moved)
        return self.found(np.unravel_index(np.argmin(score), score.shape), doubled, cycles)

    def _scored(self, cycles: Numbers, moved: Numbers) -> Numbers:
        """Cycles, a little dearer the more is moved."""
        return cycles * (1 + TRAFFIC * np.minimum(moved / self.problem.bound, MOST_TRAFFIC))

    def _choices(self) -> list[_OperandOptions]:
        options = [self._options(order) for order in self.orders]
        several = [
            item.name for item in self.problem.space.copied if any(len(option[item.name]) > 1 for option in options)
        ]
        self.axes = {name: 1 + number for number, name in enumerate(several)}  # of operands with something to choose
        return [self._choice(item, [option[item.name] for option in options]) for item in self.problem.space.copied]

    def _options(self, order: tuple[int, ...]) -> dict[str, tuple[_Option, ...]]:
        """What is worth trying for each operand, whatever the points are."""
        known = self.problem.options
        if order not in known:
            known[order] = self._new_options(order)
        return known[order]

    def _new_options(self, order: tuple[int, ...]) -> dict[str, tuple[_Option, ...]]:
        space = self.problem.space
        options = {item.name: self._options_of(item, order) for item in space.copied}
        if prod(len(option) for option in options.values()) <= _MOST_COMBINATIONS:
            return options
        smallest = sorted(space.copied, key=self.problem.whole_bytes)
        # too many combinations: the smallest operands are resident, or copied as far inside as they can be; then that
        for left, item in chain(product((2,), smallest), product((1,), smallest)):
            if prod(len(option) for option in options.values()) <= _MOST_COMBINATIONS:
                break
            resident, *_, inside = (*options[item.name][:1], *options[item.name])
            options[item.name] = tuple(dict.fromkeys((resident, inside)))[-left:]
        return options

    def _options_of(self, item: CopiedOperand, order: tuple[int, ...]) -> tuple[_Option, ...]:
        """Each copy level, and the loop along which rows stay: the innermost that moves the window; "" for none."""
        names = [self.problem.space.cuts[index].name for index in order]
        rolls = self.problem.space.rolls.get(item.name, {})
        result = []
        for copy_level in self._copy_levels(item, names):
            result.append((copy_level, ""))
            loop = names[copy_level - 1] if copy_level else ""
            if loop in rolls and not self._moved_by_others(item, names[: copy_level - 1], rolls[loop]):
                result.append((copy_level, loop))
        return tuple(result)

    def _copy_levels(self, item: CopiedOperand, names: Sequence[str]) -> tuple[int, ...]:
        """Resident, or just inside a loop that moves the window."""
        inside = [copy_level + 1 for copy_level, name in enumerate(names) if name in item.loops]
        if item.name in self.problem.space.once:
            inside = [copy_level for copy_level in inside if all(name in item.loops for name in names[:copy_level])]
        return (0, *inside)

    def _moved_by_others(self, item: CopiedOperand, names: Sequence[str], axis: int) -> bool:
        index = self.problem.space.index_map.axes[item.name][axis].index
        return any(mentions(index, name) for name in names)

    def _choice(self, item: CopiedOperand, options: Sequence[tuple[_Option, ...]]) -> _OperandOptions:
        """An operand with its options in each order. Orders with fewer have the first one again."""
        most = max(len(option) for option in options)
        filled = [(*option, *option[:1] * (most - len(option))) for option in options]
        axes = [len(options), *[1] * len(self.axes), -1]
        if item.name in self.axes:
            axes[self.axes[item.name]] = most
        levels = np.array([[copy_level for copy_level, _ in options] for options in filled])
        rolls = np.array([[bool(roll) for _, roll in options] for options in filled])
        fetches = np.take_along_axis(self.above, levels[:, None], 2).swapaxes(1, 2).reshape(axes)
        buffer, moved, each, legal = np.moveaxis(self._prices(item, filled), 2, 0).reshape(4, *axes)
        return _OperandOptions(
            item, levels.reshape(axes), rolls.reshape(axes), buffer, moved * fetches, each, fetches, legal > 0
        )

    def _prices(self, item: CopiedOperand, options: Sequence[Sequence[_Option]]) -> Numbers:
        """[order, option, 4, point], see `TilingProblem.transfers`."""
        cuts = self.problem.space.cuts
        moves = frozenset(index for index, loop in enumerate(cuts) if loop.name in item.loops)
        keys = [
            [(item.name, moves.intersection(order[:copy_level]), roll) for copy_level, roll in option]
            for order, option in zip(self.orders, options, strict=True)
        ]
        new = [key for key in dict.fromkeys(chain.from_iterable(keys)) if key not in self.priced]
        if new:
            result = self.problem.transfers(item, [(seen, roll) for _, seen, roll in new], self.points)
            self.priced.update(zip(new, result, strict=True))
        return np.array([[self.priced[key] for key in row] for row in keys])

    def legal(self, used: Numbers) -> npt.NDArray[np.bool_]:
        """Where everything fits and every transfer can be done."""
        legal = used <= self.problem.available_bytes
        for choice in self.choices:
            legal = legal & choice.legal
        return legal

    def doublings(self) -> Iterator[tuple[list[npt.NDArray[np.bool_]], Numbers]]:
        """Sets of operands with two buffers, and the bytes of everything: those that gain most, one left out or none.

        Where a set would hold an operand that gains nothing, that one keeps one buffer.
        """
        used = total_of([choice.buffer for choice in self.choices]) + self.scratch
        none = [np.zeros(used.shape, bool) for _ in self.choices]
        if self.problem.buffering != "double":
            yield none, used
        if self.problem.buffering == "single" or not self.choices:
            return
        gains, bytes_each = self._gains(used.shape)
        ranks = np.argsort(np.argsort(-gains, axis=0, kind="stable"), axis=0, kind="stable")
        count = len(self.choices)
        if self.problem.buffering == "double":
            doubled = gains > 0
            yield list(doubled), used + np.where(doubled, bytes_each, 0).sum(axis=0)
            return
        for most in range(1, count + 1):
            for hole in range(most):  # a hole at the end is the shorter prefix
                without = hole if hole < most - 1 else count
                doubled = (gains > 0) & (ranks < most) & (ranks != without)
                yield list(doubled), used + np.where(doubled, bytes_each, 0).sum(axis=0)

    def _gains(self, shape: tuple[int, ...]) -> tuple[Numbers, Numbers]:
        """Of every operand, what a second buffer gains per byte, and what it takes."""
        gains, bytes_each = np.empty((2, len(self.choices), *shape))
        for at, choice in enumerate(self.choices):
            gains[at] = (choice.fetches - 1) * choice.each * ~choice.rolls / np.maximum(choice.buffer, 1)
            bytes_each[at] = choice.buffer
        return gains, bytes_each

    def _doubled(self, used: Numbers) -> list[npt.NDArray[np.bool_]]:
        """Which operands have two buffers, best gain per byte first while there is room beside `used`."""
        shape = used.shape
        if self.problem.buffering == "single" or not self.choices:
            return [np.zeros(shape, bool) for _ in self.choices]
        gains, bytes_each = (table.reshape(len(self.choices), -1) for table in self._gains(shape))
        doubled, every = np.zeros(gains.shape, bool), np.arange(gains.shape[1])
        left = (self.problem.available_bytes - used).reshape(-1)
        for rank in np.argsort(-gains, axis=0, kind="stable"):
            wanted = bytes_each[rank, every]
            take = (gains[rank, every] > 0) & (wanted <= left)
            doubled[rank, every] = take
            left = left - wanted * take
        return list(doubled.reshape(-1, *shape))

    def cycles(self, doubled: Sequence[npt.NDArray[np.bool_]]) -> Numbers:
        """Prologue, every change of tile with what is copied meanwhile, epilogue; code may wait for copies."""
        above = self.above.reshape(len(self.orders), *[1] * len(self.axes), len(self.points), -1)
        exposed, once = self._exposed(doubled)
        compute = (self.computes + exposed) / above[..., -1]
        space = self.problem.space
        waits = above[..., -1] <= (0 if space.kernel.code_stays else space.engine.code_waits)
        inputs = together([choice.each for choice in self.choices if not choice.item.written], self.queues)
        outputs = [choice.each for choice in self.choices if choice.item.written]
        total: Numbers = total_of([inputs, *outputs]) + compute + once / above[..., -1]
        behind = [choice.each * twice for choice, twice in zip(self.choices, doubled, strict=True)]
        before = [choice.each - hidden for choice, hidden in zip(self.choices, behind, strict=True)]
        for level in range(1, above.shape[-1]):
            changes = above[..., level] - above[..., level - 1]
            moves = [choice.levels >= level for choice in self.choices]
            hidden = together([each * moving for each, moving in zip(behind, moves, strict=True)], self.queues)
            exposed = together([each * moving for each, moving in zip(before, moves, strict=True)], self.queues)
            meanwhile = np.where(waits, compute + hidden, np.maximum(compute, hidden))
            total = total + changes * (meanwhile + exposed)
        return total

    def _exposed(self, doubled: Sequence[npt.NDArray[np.bool_]]) -> tuple[Numbers, Numbers]:
        """What jobs take in which the cores do nothing, and what only one of them does so: where each operand that
        changes with the tiles has two buffers.
        """
        if not self.exposed.any():
            return self.exposed, self.exposed
        ready = [(choice.fetches <= 1) | twice for choice, twice in zip(self.choices, doubled, strict=True)]
        overlap = reduce(and_, ready, np.ones((), bool))
        return np.where(overlap, 0.0, self.exposed), np.where(overlap, self.exposed, 0.0)

    def found(
        self, at: tuple[np.intp, ...], doubled: Sequence[npt.NDArray[np.bool_]], cycles: Numbers
    ) -> EstimatedTiling:
        """One combination; `cycles` has those of all."""
        point, trips, order = self.points[at[-1]], self.trips[at[0], at[-1]], self.orders[int(at[0])]
        cut = [(place, index) for place, index in enumerate(order) if trips[place] > 1]
        nest = tuple(Cut(self.problem.space.cuts[index].name, int(point[index])) for _, index in cut)
        copies, used = {}, float(self.scratch[at[-1]])
        for choice, twice in zip(self.choices, doubled, strict=True):
            copy_level = int(_entry(at, choice.levels))
            kept = sum(place < copy_level for place, _ in cut)
            while kept and nest[kept - 1][0] not in choice.item.loops:
                kept -= 1
            fetches = _entry(at, choice.fetches)
            buffers = 2 if bool(twice[at]) and fetches > 1 else 1
            used += buffers * _entry(at, choice.buffer)
            rolls = bool(_entry(at, choice.rolls))
            stays = rolls and kept > 0 and trips[copy_level - 1] > 1  # the innermost that moves it is cut
            copies[choice.item.name] = Copy(level=kept, buffers=buffers, window="rolling" if stays else "box")
        moved = np.broadcast_to(self.moved, cycles.shape)[at]
        return EstimatedTiling(
            nest=nest,
            copies=copies,
            cycles=float(cycles[at]),
            moved_bytes=float(moved),
            score=float(self._scored(cycles[at], moved)),
            used_bytes=used,
        )


def _entry(at: tuple[np.intp, ...], array: npt.NDArray[Any]) -> float:
    """What an array that has only some of the axes has for one combination."""
    return float(array[tuple(index if extent > 1 else 0 for index, extent in zip(at, array.shape, strict=True))])


def _spread(table: Numbers, rank: int) -> Numbers:
    """[order, point] beside arrays that have axes of copy levels, too."""
    return table.reshape(len(table), *[1] * (rank - 2), -1)


def _over_levels(table: Numbers) -> Numbers:
    """[order, point]: the least over all copy levels."""
    least: Numbers = table.min(axis=tuple(range(1, table.ndim - 1)))
    return least


def total_of(terms: Sequence[Numbers]) -> Numbers:
    """The sum, in the shape that all have together."""
    return reduce(add, terms, np.zeros(1))
