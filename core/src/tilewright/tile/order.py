"""Knows, for one order of the loops of a step's tiles, every depth and buffer: what each combination takes and costs.
Does not know which sizes of tiles are looked at, nor which orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.index import mentions
from tilewright.ir.regions import Copy, Cut, Hop, key_of
from tilewright.tile.floors import MOST_TRAFFIC, TRAFFIC
from tilewright.tile.grid import trip_counts
from tilewright.tile.problem import Problem
from tilewright.tile.space import Traveller

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]
    Priced = dict[tuple[str, frozenset[int], str], tuple[Numbers, ...]]

_MOST_COMBINATIONS = 256  # of depths, for one order of loops


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A tiling and what the search believes of it."""

    nest: tuple[Cut, ...]
    copies: Mapping[str, Copy]  # by operand
    cycles: float
    moved_bytes: float
    score: float  # cycles, a little dearer the more is moved
    used_bytes: float  # of the near memory, alignment included

    def on(self, step: str, ends: tuple[str, str] = ("", "")) -> Hop:
        """The same as a decision: the hop of `step` from one memory to the other."""
        copies = {key_of(step, operand): copy for operand, copy in self.copies.items()}
        return Hop(far=ends[0], near=ends[1], nest=self.nest, copies=copies)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One operand: for each depth worth trying an entry along the operand's own axis of the arrays."""

    item: Traveller
    depths: tuple[int, ...]
    rolls: npt.NDArray[np.bool_]  # whether rows stay: such a window has one buffer
    buffer: Numbers  # bytes of one buffer
    moved: Numbers  # bytes of all transfers
    each: Numbers  # average cycles of one transfer
    fetches: Numbers  # how many
    legal: Numbers


class Order:
    """All depths and buffers for one order of the loops, over some points: arrays [depth of each operand..., point]."""

    def __init__(
        self,
        problem: Problem,
        order: tuple[int, ...],
        points: Integers,
        computes: Numbers,
        scratch: Numbers,
        priced: Priced,
    ) -> None:
        self.problem, self.order, self.points = problem, order, points
        self.priced = priced  # transfers of the points, by operand, loops that are cut and loop along which rows stay
        self.computes, self.scratch = computes, scratch
        trips = trip_counts(problem.space, points)[:, list(order)]
        ones = np.ones((len(points), 1), np.int64)
        self.above = np.cumprod(np.concatenate([ones, trips], axis=1), axis=1, dtype=float)  # [point, depth]
        self.trips = trips
        self.choices = self._choices()
        self.moved = total_of([choice.moved for choice in self.choices])

    def best(self) -> Found | None:
        """The best of them; None where nothing fits."""
        doubled, used = self._buffers()
        legal = self.legal(used + self.scratch)
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

    def _choices(self) -> list[_Choice]:
        space = self.problem.space
        depths = {item.name: self._options(item) for item in space.travellers}
        by_size = sorted(space.travellers, key=self.problem.whole_bytes)
        for item in by_size:  # too many combinations: the smallest operands are resident, or as deep as they can be
            if np.prod([len(options) for options in depths.values()]) <= _MOST_COMBINATIONS:
                break
            depths[item.name] = (depths[item.name][0], depths[item.name][-1])[: len(depths[item.name])]
        count = len(space.travellers)
        return [
            self._choice(item, depths[item.name], position, count) for position, item in enumerate(space.travellers)
        ]

    def _depths(self, item: Traveller) -> tuple[int, ...]:
        """Resident, or just inside a loop that moves the window."""
        names = [self.problem.space.cuts[index].name for index in self.order]
        inside = [depth + 1 for depth, name in enumerate(names) if name in item.loops]
        if item.name in self.problem.space.once:
            inside = [depth for depth in inside if all(name in item.loops for name in names[:depth])]
        return (0, *inside)

    def _options(self, item: Traveller) -> tuple[tuple[int, str], ...]:
        """Each depth, and the loop along which rows stay, the innermost that moves the window; "" where none stays."""
        names = [self.problem.space.cuts[index].name for index in self.order]
        rolls = self.problem.space.rolls.get(item.name, {})
        found = []
        for depth in self._depths(item):
            found.append((depth, ""))
            loop = names[depth - 1] if depth else ""
            if loop in rolls and not self._moved_by_others(item, names[: depth - 1], rolls[loop]):
                found.append((depth, loop))
        return tuple(found)

    def _moved_by_others(self, item: Traveller, names: Sequence[str], axis: int) -> bool:
        index = self.problem.space.index_map.axes[item.name][axis].index
        return any(mentions(index, name) for name in names)

    def _choice(self, item: Traveller, options: Sequence[tuple[int, str]], position: int, count: int) -> _Choice:
        rows = []
        for depth, roll in options:
            names = (self.problem.space.cuts[index].name for index in self.order[:depth])
            seen = frozenset(index for index, name in zip(self.order, names, strict=False) if name in item.loops)
            if (item.name, seen, roll) not in self.priced:
                self.priced[item.name, seen, roll] = self.problem.transfers(item, seen, self.points, roll)
            buffer, moved, cycles, legal = self.priced[item.name, seen, roll]
            fetches = self.above[:, depth]
            rows.append((buffer, moved * fetches, cycles, fetches, legal))
        axes = [1] * count + [len(self.points)]
        axes[position] = len(options)
        stacked = [np.stack(column).reshape(axes) for column in zip(*rows, strict=True)]
        rolls = np.array([bool(roll) for _, roll in options]).reshape([*axes[:-1], 1])
        return _Choice(item, tuple(depth for depth, _ in options), rolls, *stacked)

    def legal(self, used: Numbers) -> npt.NDArray[np.bool_]:
        """Where everything fits and every transfer can be done."""
        legal = used <= self.problem.room
        for choice in self.choices:
            legal = legal & (choice.legal > 0)
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
        gains = [
            np.broadcast_to((choice.fetches - 1) * choice.each * ~choice.rolls / np.maximum(choice.buffer, 1), shape)
            for choice in self.choices
        ]
        return np.stack(gains), np.stack([np.broadcast_to(choice.buffer, shape) for choice in self.choices])

    def _buffers(self) -> tuple[list[npt.NDArray[np.bool_]], Numbers]:
        """Which operands have two buffers, best gain per byte first while there is room; and the bytes of all."""
        used = total_of([choice.buffer for choice in self.choices])
        shape = used.shape
        if self.problem.buffering == "single" or not self.choices:
            return [np.zeros(shape, bool) for _ in self.choices], used
        gains, bytes_each = self._gains(shape)
        doubled = np.zeros(gains.shape, bool)
        left = self.problem.room - used - self.scratch
        for rank in np.argsort(-gains, axis=0, kind="stable"):
            at = rank[None]
            wanted = np.take_along_axis(bytes_each, at, 0)[0]
            take = (np.take_along_axis(gains, at, 0)[0] > 0) & (wanted <= left)
            np.put_along_axis(doubled, at, take[None], 0)
            extra = np.where(take, wanted, 0)
            left, used = left - extra, used + extra
        return list(doubled), used

    def cycles(self, doubled: Sequence[npt.NDArray[np.bool_]]) -> Numbers:
        """Prologue, every change of tile with what travels meanwhile, epilogue."""
        tiles = self.above[:, -1]
        compute = self.computes / tiles
        total: Numbers = total_of([choice.each for choice in self.choices]) + compute
        for level in range(1, len(self.order) + 1):
            changes = self.above[:, level] - self.above[:, level - 1]
            hidden = exposed = np.zeros(1)
            for choice, twice in zip(self.choices, doubled, strict=True):
                depths = np.array(choice.depths).reshape([-1 if n > 1 else 1 for n in choice.each.shape[:-1]] + [1])
                moving = choice.each * (depths >= level)
                hidden = hidden + np.where(twice, moving, 0.0)
                exposed = exposed + np.where(twice, 0.0, moving)
            total = total + changes * (np.maximum(compute, hidden) + exposed)
        return total

    def found(self, at: tuple[np.intp, ...], doubled: Sequence[npt.NDArray[np.bool_]], cycles: Numbers) -> Found:
        """One combination; `cycles` has those of all."""
        point = self.points[at[-1]]
        cut = [(place, index) for place, index in enumerate(self.order) if self.trips[at[-1], place] > 1]
        nest = tuple(Cut(self.problem.space.cuts[index].name, int(point[index])) for _, index in cut)
        copies, used = {}, float(self.scratch[at[-1]])
        for choice, twice, option in zip(self.choices, doubled, at, strict=False):
            depth = choice.depths[option]
            kept = sum(place < depth for place, _ in cut)
            while kept and nest[kept - 1][0] not in choice.item.loops:
                kept -= 1
            fetches = float(choice.fetches[_own(at, choice.fetches)])
            buffers = 2 if bool(twice[at]) and fetches > 1 else 1
            used += buffers * float(choice.buffer[_own(at, choice.buffer)])
            rolls = bool(choice.rolls.reshape(-1)[option])
            stays = rolls and kept > 0 and self.trips[at[-1], depth - 1] > 1  # the innermost that moves it is cut
            copies[choice.item.name] = Copy(level=kept, buffers=buffers, window="rolling" if stays else "box")
        moved = np.broadcast_to(self.moved, cycles.shape)[at]
        return Found(
            nest=nest,
            copies=copies,
            cycles=float(cycles[at]),
            moved_bytes=float(moved),
            score=float(self._scored(cycles[at], moved)),
            used_bytes=used,
        )


def _own(at: tuple[np.intp, ...], array: Numbers) -> tuple[np.intp | int, ...]:
    """The place of one combination in an array that has only some of the axes."""
    return tuple(index if extent > 1 else 0 for index, extent in zip(at, array.shape, strict=True))


def total_of(terms: Sequence[Numbers]) -> Numbers:
    total: Numbers = np.sum(np.broadcast_arrays(np.zeros(1), *terms), axis=0)
    return total
