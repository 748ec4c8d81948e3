"""Knows the best tiling of each step of a schedule, and that equal layers have equal ones: nothing is searched twice.
Does not know which values stay in a near memory; it is told, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from tilewright.decisions import GroupTile, HopTile
from tilewright.tile.cost import HopCost, near_bytes, nested_costs
from tilewright.tile.floors import NEAR_THE_LEAST, least_score
from tilewright.tile.order import Found
from tilewright.tile.search import Tables
from tilewright.tile.space import Space, WindowTable
from tilewright.tile.spaces import NOTHING, Machine, Way, structural_key
from tilewright.tile.sums import splits

UNTAKEN: Mapping[str, int] = MappingProxyType({})
# The tiling of a space; the number is the step's. Where the space has sums, one that cuts a reduction, and only if it
# is better than the last argument, which cuts none.
Find = Callable[[Space, int, Tables | None, Found | None], Found | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A step's tiling and what it costs. `cycles` are played, tile by tile."""

    hops: tuple[HopTile, ...]
    cycles: float
    moved_bytes: int = 0  # over all hops
    bound_bytes: int = 0  # the same, layer by layer, if every element travelled once


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found in this much room, and how much of it is used."""

    room_bytes: float
    used_bytes: float
    found: Found | None


@dataclass(frozen=True, slots=True)
class _Part:
    """One hop of a tiling."""

    space: Space
    key: Hashable
    hop: HopTile


@dataclass(frozen=True, slots=True)
class Blocked:
    """A hop over which a step has no tiling."""

    way: Way
    space: Space


class Cutter:
    """Tilings of the steps of one machine's schedule. `known` is what other schedules of the same layers have taught.

    `steady`: less room, as long as the tiling found fits, does not change which one is found.
    """

    def __init__(self, machine: Machine, find: Find, known: dict[Hashable, Any], *, steady: bool) -> None:
        self.machine, self.find, self.steady = machine, find, steady
        self._answers: dict[Hashable, list[_Answer]] = known.setdefault("answers", {})
        self._tables: dict[Hashable, Tables] = known.setdefault("tables", {})
        self._least: dict[Hashable, float] = known.setdefault("least", {})
        self._costs: dict[Hashable, tuple[HopCost, ...]] = known.setdefault("costs", {})
        self._spaces: dict[Hashable, tuple[Space, Hashable]] = {}
        self._cuts: dict[Hashable, Cut | None] = {}

    def cut(self, index: int, kept: Mapping[str, str] = NOTHING, taken: Mapping[str, int] = UNTAKEN) -> Cut | None:
        """The tiling of step `index`; None where none fits.

        `kept` has buffers of its operands that stay whole in a memory, `taken` the bytes that kept buffers take of
        each memory during the step.
        """
        asked = index, frozenset(kept.items()), frozenset(taken.items())
        if asked not in self._cuts:
            self._cuts[asked] = self._cut(index, kept, taken)
        return self._cuts[asked]

    def blocked(self, index: int) -> Blocked | None:
        """What a step without kept values does not get over; None where it fits."""
        parts = self._parts(index, NOTHING, UNTAKEN)
        return parts if isinstance(parts, Blocked) else None

    def _cut(self, index: int, kept: Mapping[str, str], taken: Mapping[str, int]) -> Cut | None:
        parts = self._parts(index, kept, taken)
        return None if isinstance(parts, Blocked) else self._priced(index, parts)

    def _parts(self, index: int, kept: Mapping[str, str], taken: Mapping[str, int]) -> list[_Part] | Blocked:
        pinned = self.machine.decisions.tiles.get(self.machine.scheduled.steps[index].name)
        if pinned is not None and not pinned.inner:
            return self._pinned(index, pinned)
        parts: list[_Part] = []
        for way in self.machine.hops:
            space, key = self._space(index, way, parts, kept)
            innermost = way is self.machine.hops[-1]
            if not space.travellers and not (innermost and space.spared_bytes):
                continue
            space = _less(space, taken.get(way.near, 0))
            family = None if parts else self._space(index, way, (), NOTHING)
            found = self._found(space, key, index, family)
            if innermost and self._may_gain(space, key, found):
                split, split_key = self._space(index, way, parts, kept, split=True)
                split = _less(split, taken.get(way.near, 0))
                family = None if parts else self._space(index, way, (), NOTHING, split=True)
                in_parts = self._found(split, split_key, index, family, beat=found) if split.sums else None
                if in_parts is not None or found is None:
                    space, key, found = split, split_key, in_parts
            if found is None:
                return Blocked(way, space)
            parts.append(_Part(space, key, found.on(way.far, way.near)))
        return parts

    def _may_gain(self, space: Space, key: Hashable, found: Found | None) -> bool:
        """Whether a tiling that cuts reductions could be clearly better than `found`."""
        if found is None or not self.steady:
            return True
        if key not in self._least:
            self._least[key] = least_score(space)
        return found.score > self._least[key] * NEAR_THE_LEAST

    def _pinned(self, index: int, tile: GroupTile) -> list[_Part]:
        parts: list[_Part] = []
        for hop in tile.hops:
            split = splits(self.machine.access(self.machine.scheduled.steps[index]), hop.nest)
            space, key = self._space(index, Way(far=hop.far, near=hop.near), parts, NOTHING, split=split)
            parts.append(_Part(space, key, hop))
        return parts

    def _space(
        self, index: int, way: Way, parts: Sequence[_Part], kept: Mapping[str, str], *, split: bool = False
    ) -> tuple[Space, Hashable]:
        outer = tuple(part.hop for part in parts)
        around = tuple((hop.near, hop.nest, tuple(hop.copies.items())) for hop in outer)
        known = index, way, around, frozenset(kept.items()), split
        if known not in self._spaces:
            step = self.machine.scheduled.steps[index]
            space = self.machine.space(index, step, (way.far, way.near), outer, kept, split=split)
            self._spaces[known] = space, structural_key(replace(space, room_bytes=None))
        return self._spaces[known]

    def _found(
        self,
        space: Space,
        key: Hashable,
        index: int,
        family: tuple[Space, Hashable] | None,
        beat: Found | None = None,
    ) -> Found | None:
        """`family` is the same hop of the step with nothing kept; for `beat` see `Find`."""
        room = float("inf") if space.room_bytes is None else float(space.room_bytes)
        asked = (key, beat and beat.score)
        answers = self._answers.setdefault(asked if self.steady else (asked, room, index), [])
        for answer in answers:
            if answer.used_bytes <= room <= answer.room_bytes:
                return answer.found
        tables = None
        if family is not None:
            tables = self._tables.get(family[1]) or Tables(family[0])
            self._tables[family[1]] = tables
        found, used = self.find(space, index, tables, beat), -1.0
        if found is not None:
            used = float(near_bytes(space, found.on("", ""), WindowTable(space)))
        answers.append(_Answer(room, used, found))
        return found

    def _priced(self, index: int, parts: Sequence[_Part]) -> Cut:
        if not parts:
            binding = self.machine.bound.bindings[self.machine.scheduled.steps[index].name]
            cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
            return Cut(hops=(), cycles=cycles)
        key = tuple((part.key, part.hop.nest, tuple(part.hop.copies.items())) for part in parts)
        if key not in self._costs:
            self._costs[key] = nested_costs(tuple((part.hop, part.space) for part in parts))
        costs = self._costs[key]
        return Cut(
            hops=tuple(part.hop for part in parts),
            cycles=costs[0].total_cycles,
            moved_bytes=sum(cost.in_bytes + cost.out_bytes for cost in costs),
            bound_bytes=sum(cost.bound_bytes for cost in costs),
        )


def _less(space: Space, taken: int) -> Space:
    """The same with less room."""
    return space if space.room_bytes is None else replace(space, room_bytes=space.room_bytes - taken)
