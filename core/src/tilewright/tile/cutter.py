"""Knows the tilings of each step of a schedule, and that equal layers have equal ones: nothing is searched twice.
Does not know which values stay in a near memory; it is told, step by step. Nor which tilings are worth having.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilewright.ir.regions import Copy, Hop, Region
from tilewright.ir.tiler import Buffering, TilingRequest
from tilewright.tile.chain import chain_of_one
from tilewright.tile.cost import HopCost, altogether, region_costs
from tilewright.tile.floors import MUCH_TRAFFIC, NEAR_THE_LEAST, least_score
from tilewright.tile.order import Found
from tilewright.tile.problem import Tables
from tilewright.tile.space import Space, bound_bytes, rolling_loops
from tilewright.tile.spaces import NOTHING, Machine, Way, structural_key
from tilewright.tile.sums import splits

UNTAKEN: Mapping[str, int] = MappingProxyType({})
# The tilings of a space that are worth having, the smallest first; the number is the step's. Where the space has sums,
# those that cut a reduction, and only if they are better than the last argument's, which cut none.
Find = Callable[[Space, int, Buffering, Tables | None, Sequence[Found]], Sequence[Found]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A step's tiling and what it costs. `cycles` are played, tile by tile."""

    hops: tuple[Hop, ...]
    cycles: float
    moved_bytes: int = 0  # over all hops
    bound_bytes: int = 0  # the same, layer by layer, if every element travelled once


@dataclass(frozen=True, slots=True)
class Part:
    """One hop of a tiling, and the space that it is out of."""

    hop: Hop
    space: Space
    key: Hashable
    believed: Found | None = None  # what the search says of it, where it was searched


Parts = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found in this much room, and how much of it is used."""

    room_bytes: float
    used_bytes: float
    found: Sequence[Found]


@dataclass(frozen=True, slots=True)
class Blocked:
    """A hop over which a step has no tiling, with all that may be cut."""

    way: Way
    space: Space


class Cutter:
    """Tilings of the steps of one machine's schedule. What they teach is kept with the request, for equal layers.

    `name`: of `find`, whose answers are its own. `steady`: less room, as long as what was found fits, does not change
    what is found.
    """

    def __init__(self, machine: Machine, find: Find, request: TilingRequest, *, name: str, steady: bool) -> None:
        self.machine, self.find, self.steady = machine, find, steady
        self.buffering = request.buffering
        known = request.known
        self._answers: dict[Hashable, list[_Answer]] = known.setdefault(f"{name} {request.buffering}", {})
        self._tables: dict[Hashable, Tables] = known.setdefault("tables", {})
        self._least: dict[Hashable, float] = known.setdefault("least", {})
        self._costs: dict[Hashable, HopCost] = known.setdefault("costs", {})
        self._spaces: dict[Hashable, tuple[Space, Hashable]] = {}
        self._cuts: dict[Hashable, Cut | None] = {}

    def cut(self, index: int, kept: Mapping[str, str] = NOTHING, taken: Mapping[str, int] = UNTAKEN) -> Cut | None:
        """The last of the ways to tile step `index`; None where none fits.

        `kept` has buffers of its operands that stay whole in a memory, `taken` the bytes that kept buffers take of
        each memory during the step.
        """
        asked = index, frozenset(kept.items()), frozenset(taken.items())
        if asked not in self._cuts:
            ways = self.ways(index, kept, taken)
            self._cuts[asked] = self.priced(index, ways[-1]) if ways else None
        return self._cuts[asked]

    def ways(self, index: int, kept: Mapping[str, str] = NOTHING, taken: Mapping[str, int] = UNTAKEN) -> list[Parts]:
        """Every tiling of every hop inside every one of the hops around it. Of those that are pinned, that one."""
        pinned = self._pinned(index)
        if pinned is not None:
            return [self.parts(index, pinned.hops, kept)]
        ways: list[Parts] = [()]
        for way in self.machine.hops:
            ways = [longer for outer in ways for longer in self._longer(index, way, outer, kept, taken)]
        return ways

    def parts(self, index: int, hops: Sequence[Hop], kept: Mapping[str, str] = NOTHING) -> Parts:
        """A way that is given."""
        parts: Parts = ()
        for hop in hops:
            split = splits(self.machine.access(self.machine.scheduled.steps[index]), hop.nest)
            space, key = self._space(index, Way(far=hop.far, near=hop.near), parts, kept, split=split)
            parts = (*parts, Part(hop, space, key))
        return parts

    def blocked(self, index: int) -> Blocked | None:
        """What a step without kept values does not get over, its outer tiles being the smallest; None where it fits."""
        outer: Parts = ()
        for way in self.machine.hops if self._pinned(index) is None else ():
            longer = self._longer(index, way, outer, NOTHING, UNTAKEN)
            if not longer:
                return Blocked(way, self._space(index, way, outer, NOTHING, split=True)[0])
            outer = longer[0]
        return None

    def priced(self, index: int, parts: Parts) -> Cut:
        """A way with what it costs."""
        if not parts:
            binding = self.machine.bound.bindings[self.machine.scheduled.steps[index].name]
            cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
            return Cut(hops=(), cycles=cycles)
        key = tuple((part.key, part.hop.nest, copies_by_operand(part.hop)) for part in parts)
        if key not in self._costs:
            self._costs[key] = self._played(index, parts)
        cost = self._costs[key]
        return Cut(
            hops=tuple(part.hop for part in parts),
            cycles=cost.total_cycles,
            moved_bytes=cost.in_bytes + cost.out_bytes,
            bound_bytes=cost.bound_bytes,
        )

    def _played(self, index: int, parts: Parts) -> HopCost:
        """What a way costs over all hops."""
        ways = [Way(far=part.hop.far, near=part.hop.near) for part in parts]
        chain = chain_of_one(self.machine, index, ways, [part.space for part in parts])
        region = self.machine.alone(self.machine.scheduled.steps[index], tuple(part.hop for part in parts))
        return altogether(region_costs(chain, region))

    def _pinned(self, index: int) -> Region | None:
        """The tiling that decisions have for the step alone."""
        pinned = self.machine.decisions.tiles.get(self.machine.scheduled.steps[index].name)
        return None if pinned is None or pinned.held else pinned

    def _longer(
        self, index: int, way: Way, outer: Parts, kept: Mapping[str, str], taken: Mapping[str, int]
    ) -> list[Parts]:
        """`outer` with each tiling of the next hop; alone where nothing crosses it."""
        space, key = self._space(index, way, outer, kept)
        innermost = way is self.machine.hops[-1]
        if not space.travellers and not (innermost and space.spared_bytes):
            return [outer]
        whole = self._found(index, way, outer, (space, key), taken)
        parts = [(space, key, found) for found in whole]
        if innermost and self._may_gain(space, key, whole):
            split, split_key = self._space(index, way, outer, kept, split=True)
            if split.sums:
                found = self._found(index, way, outer, (split, split_key), taken, whole)
                parts.extend((split, split_key, one) for one in found)
        if parts and innermost and self.steady and not outer:
            parts.extend(self._rolling(index, way, parts, kept, taken))
        step, ends = space.site.node.name, (way.far, way.near)
        return [(*outer, Part(found.on(step, ends), space, key, found)) for space, key, found in parts]

    def _rolling(
        self,
        index: int,
        way: Way,
        parts: Sequence[tuple[Space, Hashable, Found]],
        kept: Mapping[str, str],
        taken: Mapping[str, int],
    ) -> list[tuple[Space, Hashable, Found]]:
        """Tilings of which windows keep rows, where the others move clearly more than they must."""
        space, key = self._space(index, way, (), kept)
        least = min(found.moved_bytes for _, _, found in parts)
        rolls = rolling_loops(space) if least > MUCH_TRAFFIC * bound_bytes(space) else {}
        if not rolls:
            return []
        space, key = replace(space, rolls=rolls), (key, "rolls")
        best = min((found for _, _, found in parts), key=lambda one: one.score)
        found = self._found(index, way, (), (space, key), taken, [best])
        rolling = (one for one in found if any(copy.window == "rolling" for copy in one.copies.values()))
        return [(space, key, one) for one in rolling]

    def _may_gain(self, space: Space, key: Hashable, whole: Sequence[Found]) -> bool:
        """Whether tilings that cut reductions could be clearly better than all of `whole`."""
        if not whole or not self.steady:
            return True
        if key not in self._least:
            self._least[key] = least_score(space)
        return min(found.score for found in whole) > self._least[key] * NEAR_THE_LEAST

    def _space(
        self, index: int, way: Way, outer: Parts, kept: Mapping[str, str], *, split: bool = False
    ) -> tuple[Space, Hashable]:
        around = tuple((part.hop.near, part.hop.nest, copies_by_operand(part.hop)) for part in outer)
        known = index, way, around, frozenset(kept.items()), split
        if known not in self._spaces:
            step, hops = self.machine.scheduled.steps[index], tuple(part.hop for part in outer)
            space = self.machine.space(index, step, (way.far, way.near), hops, kept, split=split)
            self._spaces[known] = space, structural_key(replace(space, room_bytes=None))
        return self._spaces[known]

    def _found(
        self,
        index: int,
        way: Way,
        outer: Parts,
        asked: tuple[Space, Hashable],
        taken: Mapping[str, int],
        beat: Sequence[Found] = (),
    ) -> Sequence[Found]:
        """The tilings of a space in what is left of its room; for `beat` see `Find`."""
        space, key = asked
        space = _less(space, taken.get(way.near, 0))
        room = float("inf") if space.room_bytes is None else float(space.room_bytes)
        question = key, tuple(found.score for found in beat)
        answers = self._answers.setdefault(question if self.steady else (question, room, index), [])
        for answer in answers:
            if answer.used_bytes <= room <= answer.room_bytes:
                return answer.found
        tables = None if outer else self._shared(index, way, split=space.sums is not None)
        found = self.find(space, index, self.buffering, tables, beat)
        if not found and not beat and self.buffering == "double":
            found = self.find(space, index, "auto", tables, beat)  # those have two that gain most
        answers.append(_Answer(room, max((one.used_bytes for one in found), default=-1.0), found))
        return found

    def _shared(self, index: int, way: Way, *, split: bool) -> Tables:
        """What is worked out once for a hop of a step, whatever is kept."""
        space, key = self._space(index, way, (), NOTHING, split=split)
        if key not in self._tables:
            self._tables[key] = Tables(space)
        return self._tables[key]


def _less(space: Space, taken: int) -> Space:
    """The same with less room."""
    return space if space.room_bytes is None else replace(space, room_bytes=space.room_bytes - taken)


def copies_by_operand(hop: Hop) -> tuple[tuple[str, Copy], ...]:
    """The copies of a step, which has another name in every layer like it."""
    return tuple((key.rpartition(".")[2], copy) for key, copy in hop.copies.items())
