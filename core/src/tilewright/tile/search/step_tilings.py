"""Knows the tilings of each step of a schedule, and that equal layers have equal ones: nothing is searched twice.
Does not know which values stay in a scratchpad; it is told, step by step. Nor which tilings are worth having.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from types import MappingProxyType

from tilewright.ir.log_span import log_begin
from tilewright.ir.plans.region import Copy, Hop, Region
from tilewright.ir.plans.tiler import Buffering, TilingRequest
from tilewright.tile.cost.lower_bounds import MUCH_TRAFFIC, NEAR_THE_LEAST, least_score
from tilewright.tile.cost.region_cost import HopCost, altogether, region_costs
from tilewright.tile.cost.tiling_problem import SpaceTables
from tilewright.tile.machine import NOTHING, ScheduledMachine
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.search.loop_orders import EstimatedTiling
from tilewright.tile.space.fusion import single_step_analysis
from tilewright.tile.space.split_reductions import splits
from tilewright.tile.space.step_spaces import SpaceSignature, step_space, tiled_alone
from tilewright.tile.space.tiling_space import TilingSpace, bound_bytes, rolling_loops

UNTAKEN: Mapping[str, int] = MappingProxyType({})
# The tilings of a space that are worth having, the smallest first; the number is the step's. Where the space has sums,
# those that cut a reduction, and only if they are better than the last argument's, which cut none.
Find = Callable[[TilingSpace, int, Buffering, SpaceTables | None, Sequence[EstimatedTiling]], Sequence[EstimatedTiling]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiling:
    """A step's tiling and what it costs. `cycles` are played, tile by tile."""

    hops: tuple[Hop, ...]
    cycles: float
    moved_bytes: int = 0  # over all hops
    bound_bytes: int = 0  # the same, layer by layer, if every element were copied once


@dataclass(frozen=True, slots=True)
class HopTiling:
    """One hop of a tiling, and the space that it was found in."""

    hop: Hop
    space: TilingSpace
    key: Hashable
    estimate: EstimatedTiling | None = None  # what the search says of it, where it was searched


HopTilings = tuple[HopTiling, ...]


@dataclass(frozen=True, slots=True)
class _KnownTilings:
    """What a search found in this much room, and how much of it is used."""

    available_bytes: float
    used_bytes: float
    found: Sequence[EstimatedTiling]


@dataclass(slots=True)
class _Taken:
    """Bytes of memories that resident buffers take during a step, and for which others what was found with these is
    found as well. Local to one question.
    """

    taken: Mapping[str, int]
    same: dict[str, tuple[float, float]] = field(default_factory=dict)

    def of(self, memory: str) -> int:
        return self.taken.get(memory, 0)

    def holds(self, memory: str, least: float, most: float) -> None:
        """What was found in a memory is so where between these many bytes are taken."""
        low, high = self.same.get(memory, (0.0, inf))
        self.same[memory] = max(low, least), min(high, most)

    def also(self, other: Mapping[str, int]) -> bool:
        """Whether the same is found where so much is taken."""
        return all(low <= other.get(memory, 0) <= high for memory, (low, high) in self.same.items())


@dataclass(frozen=True, slots=True)
class HopWithoutTiling:
    """A hop over which a step has no tiling, with all that may be cut."""

    memories: HopMemories
    space: TilingSpace


class StepTilings:
    """Tilings of the steps of one machine's schedule. Results are kept with the request, for equal layers.

    `name`: of `find`, whose answers are its own. `steady`: less room, as long as what was found fits, does not change
    what is found.
    """

    def __init__(
        self, machine: ScheduledMachine, find: Find, request: TilingRequest, *, name: str, steady: bool
    ) -> None:
        self.machine, self.find, self.steady = machine, find, steady
        self.buffering = request.buffering
        known = request.known
        self._known: dict[Hashable, list[_KnownTilings]] = known.setdefault(f"{name} {request.buffering}", {})
        self._tables: dict[Hashable, SpaceTables] = known.setdefault("tables", {})
        self._least: dict[Hashable, float] = known.setdefault("least", {})
        self._costs: dict[Hashable, HopCost] = known.setdefault("costs", {})
        self._spaces: dict[Hashable, tuple[TilingSpace, Hashable]] = {}
        self._tilings: dict[Hashable, list[tuple[_Taken, StepTiling | None]]] = {}

    def tiling(
        self, index: int, resident: Mapping[str, str] = NOTHING, taken: Mapping[str, int] = UNTAKEN
    ) -> StepTiling | None:
        """The last of the candidates for step `index`; None where none fits.

        `resident` has buffers of its operands that stay whole in a memory, `taken` the bytes that resident buffers
        take of each memory during the step.
        """
        question = index, frozenset(resident.items()), None if self.steady else frozenset(taken.items())
        answers = self._tilings.setdefault(question, [])
        for known, tiling in answers:
            if known.also(taken):
                return tiling
        room = _Taken(taken)
        candidates = self._candidates(index, resident, room)
        answers.append((room, self.priced(index, candidates[-1]) if candidates else None))
        return answers[-1][1]

    def candidates(
        self, index: int, resident: Mapping[str, str] = NOTHING, taken: Mapping[str, int] = UNTAKEN
    ) -> list[HopTilings]:
        """Every tiling of every hop inside every one of the hops around it. A pinned tiling is the only one."""
        return self._candidates(index, resident, _Taken(taken))

    def _candidates(self, index: int, resident: Mapping[str, str], taken: _Taken) -> list[HopTilings]:
        pinned = self._pinned(index)
        if pinned is not None:
            return [self.hop_tilings(index, pinned.hops, resident)]
        candidates: list[HopTilings] = [()]
        for memories in self.machine.hops:
            candidates = [
                longer for outer in candidates for longer in self._longer(index, memories, outer, resident, taken)
            ]
        return candidates

    def hop_tilings(self, index: int, hops: Sequence[Hop], resident: Mapping[str, str] = NOTHING) -> HopTilings:
        """A tiling that is given by its hops."""
        hop_tilings: HopTilings = ()
        for hop in hops:
            split = splits(self.machine.access(self.machine.scheduled.steps[index]), hop.nest)
            space, key = self._space(
                index, HopMemories(outer=hop.outer, inner=hop.inner), hop_tilings, resident, split=split
            )
            hop_tilings = (*hop_tilings, HopTiling(hop, space, key))
        return hop_tilings

    def blocked(self, index: int) -> HopWithoutTiling | None:
        """The hop that stops a step without resident values, outer tiles being the smallest; None where it fits."""
        outer: HopTilings = ()
        for memories in self.machine.hops if self._pinned(index) is None else ():
            longer = self._longer(index, memories, outer, NOTHING, _Taken(UNTAKEN))
            if not longer:
                return HopWithoutTiling(memories, self._space(index, memories, outer, NOTHING, split=True)[0])
            outer = longer[0]
        return None

    def priced(self, index: int, hop_tilings: HopTilings) -> StepTiling:
        """A tiling with what it costs."""
        if not hop_tilings:
            binding = self.machine.bound.bindings[self.machine.scheduled.steps[index].name]
            cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
            return StepTiling(hops=(), cycles=cycles)
        tiles = tuple(
            (hop_tiling.key, hop_tiling.hop.nest, copies_by_operand(hop_tiling.hop)) for hop_tiling in hop_tilings
        )
        key = tiles, hop_tilings[-1].space.engine.dma_core
        if key not in self._costs:
            self._costs[key] = self._played(index, hop_tilings)
        cost = self._costs[key]
        return StepTiling(
            hops=tuple(hop_tiling.hop for hop_tiling in hop_tilings),
            cycles=cost.total_cycles,
            moved_bytes=cost.in_bytes + cost.out_bytes,
            bound_bytes=cost.bound_bytes,
        )

    def _played(self, index: int, hop_tilings: HopTilings) -> HopCost:
        """What a tiling costs over all hops."""
        hops = [HopMemories(outer=hop_tiling.hop.outer, inner=hop_tiling.hop.inner) for hop_tiling in hop_tilings]
        analysis = single_step_analysis(self.machine, index, hops, [hop_tiling.space for hop_tiling in hop_tilings])
        region = tiled_alone(
            self.machine, self.machine.scheduled.steps[index], tuple(hop_tiling.hop for hop_tiling in hop_tilings)
        )
        return altogether(region_costs(analysis, region))

    def _pinned(self, index: int) -> Region | None:
        """The tiling that decisions have for the step alone."""
        pinned = self.machine.decisions.tiles.get(self.machine.scheduled.steps[index].name)
        return None if pinned is None or pinned.internal_values else pinned

    def _longer(
        self,
        index: int,
        memories: HopMemories,
        outer: HopTilings,
        resident: Mapping[str, str],
        taken: _Taken,
    ) -> list[HopTilings]:
        """`outer` with each tiling of the next hop; alone where nothing crosses it."""
        space, key = self._space(index, memories, outer, resident)
        innermost = memories is self.machine.hops[-1]
        if not space.copied and not (innermost and space.spared_bytes):
            return [outer]
        if space.available_bytes is not None and space.available_bytes < taken.of(memories.inner):
            taken.holds(memories.inner, space.available_bytes + 1, inf)
            return []
        whole = self._found(index, memories, outer, (space, key), taken)
        hop_tilings = [(space, key, tiling) for tiling in whole]
        if self._is_picky(memories):
            hop_tilings = [*self._uncut(index, memories, outer, (space, key), taken), *hop_tilings]
        if innermost and self._may_gain(space, key, whole):
            split, split_key = self._space(index, memories, outer, resident, split=True)
            if split.sums:
                tilings = self._found(index, memories, outer, (split, split_key), taken, whole)
                hop_tilings.extend((split, split_key, tiling) for tiling in tilings)
        if hop_tilings and innermost and self.steady and not outer:
            hop_tilings.extend(self._rolling(index, memories, hop_tilings, resident, taken))
        step, ends = space.site.node.name, (memories.outer, memories.inner)
        return [(*outer, HopTiling(tiling.on(step, ends), space, key, tiling)) for space, key, tiling in hop_tilings]

    def _is_picky(self, memories: HopMemories) -> bool:
        """Whether a hop inside of this one has copies that do not take every window, and so not those of every tile."""
        hops = self.machine.hops
        inner = {hop.inner for hop in hops[hops.index(memories) + 1 :]}
        return any(path.align > 1 and inner & {path.source, path.target} for path in self.machine.platform.copies)

    def _uncut(
        self,
        index: int,
        memories: HopMemories,
        outer: HopTilings,
        spaces: tuple[TilingSpace, Hashable],
        taken: _Taken,
    ) -> list[tuple[TilingSpace, Hashable, EstimatedTiling]]:
        """Everything at once over a hop, from where any copy can begin: if that has room."""
        space, key = spaces
        plain = replace(space, cuts=(), copied=tuple(replace(item, loops=()) for item in space.copied))
        tilings = self._found(index, memories, outer, (plain, (key, "uncut")), taken)
        return [(plain, (key, "uncut"), tiling) for tiling in tilings]

    def _rolling(
        self,
        index: int,
        memories: HopMemories,
        hop_tilings: Sequence[tuple[TilingSpace, Hashable, EstimatedTiling]],
        resident: Mapping[str, str],
        taken: _Taken,
    ) -> list[tuple[TilingSpace, Hashable, EstimatedTiling]]:
        """Tilings of which windows keep rows, where the others move clearly more than they must."""
        space, key = self._space(index, memories, (), resident)
        least = min(tiling.moved_bytes for _, _, tiling in hop_tilings)
        rolls = rolling_loops(space) if least > MUCH_TRAFFIC * bound_bytes(space) else {}
        if not rolls:
            return []
        space, key = replace(space, rolls=rolls), (key, "rolls")
        best = min((tiling for _, _, tiling in hop_tilings), key=lambda candidate: candidate.score)
        tilings = self._found(index, memories, (), (space, key), taken, [best])
        rolling = (
            hop_tiling for hop_tiling in tilings if any(copy.window == "rolling" for copy in hop_tiling.copies.values())
        )
        return [(space, key, hop_tiling) for hop_tiling in rolling]

    def _may_gain(self, space: TilingSpace, key: Hashable, whole: Sequence[EstimatedTiling]) -> bool:
        """Whether tilings that cut reductions could be clearly better than all of `whole`."""
        if not whole or not self.steady:
            return True
        if key not in self._least:
            self._least[key] = least_score(space)
        return min(tiling.score for tiling in whole) > self._least[key] * NEAR_THE_LEAST

    def _space(
        self, index: int, memories: HopMemories, outer: HopTilings, resident: Mapping[str, str], *, split: bool = False
    ) -> tuple[TilingSpace, Hashable]:
        around = tuple(
            (hop_tiling.hop.inner, hop_tiling.hop.nest, copies_by_operand(hop_tiling.hop)) for hop_tiling in outer
        )
        known = index, memories, around, frozenset(resident.items()), split
        if known not in self._spaces:
            step, hops = self.machine.scheduled.steps[index], tuple(hop_tiling.hop for hop_tiling in outer)
            space = step_space(self.machine, index, step, memories.inner, hops, resident, split=split)
            self._spaces[known] = space, SpaceSignature(space)
        return self._spaces[known]

    def _found(
        self,
        index: int,
        memories: HopMemories,
        outer: HopTilings,
        spaces: tuple[TilingSpace, Hashable],
        taken: _Taken,
        beat: Sequence[EstimatedTiling] = (),
    ) -> Sequence[EstimatedTiling]:
        """The tilings of a space in what is left of its room; for `beat` see `Find`.

        All of its room is asked for first: what is found there mostly fits in what is left of it, whatever that is.
        """
        space, key = spaces
        whole = inf if space.available_bytes is None else float(space.available_bytes)
        room = whole - taken.of(memories.inner)
        question = key, tuple(tiling.score for tiling in beat)
        answers = self._known.setdefault(question if self.steady else (question, room, index), [])
        answer = _that_holds(answers, room)
        if answer is None and self.steady and all(known.available_bytes != whole for known in answers):
            answers.append(self._searched(index, memories, outer, (space, key), whole, beat))
            answer = _that_holds(answers, room)
        if answer is None:
            answer = self._searched(index, memories, outer, (_with_room(space, room), key), room, beat)
            answers.append(answer)
        if whole < inf:
            taken.holds(memories.inner, whole - answer.available_bytes, whole - max(answer.used_bytes, 0))
        return answer.found

    def _searched(
        self,
        index: int,
        memories: HopMemories,
        outer: HopTilings,
        spaces: tuple[TilingSpace, Hashable],
        room: float,
        beat: Sequence[EstimatedTiling],
    ) -> _KnownTilings:
        space, _ = spaces
        log_begin("tiles of step %d of %d", index + 1, len(self.machine.scheduled.steps))
        tables = None if outer or not space.cuts else self._shared(index, memories, split=space.sums is not None)
        tilings = self.find(space, index, self.buffering, tables, beat)
        if not tilings and not beat and self.buffering == "double":
            tilings = self.find(space, index, "auto", tables, beat)  # those have two that gain most
        return _KnownTilings(room, max((hop_tiling.used_bytes for hop_tiling in tilings), default=-1.0), tilings)

    def _shared(self, index: int, memories: HopMemories, *, split: bool) -> SpaceTables:
        """What is worked out once for a hop of a step, whatever is resident."""
        space, key = self._space(index, memories, (), NOTHING, split=split)
        if key not in self._tables:
            self._tables[key] = SpaceTables(space)
        return self._tables[key]


def _that_holds(answers: Sequence[_KnownTilings], room: float) -> _KnownTilings | None:
    """What is found in so much room, where one of the answers tells."""
    return next((known for known in answers if known.used_bytes <= room <= known.available_bytes), None)


def _with_room(space: TilingSpace, room: float) -> TilingSpace:
    """The same with so much room."""
    return space if space.available_bytes in (None, room) else replace(space, available_bytes=int(room))


def copies_by_operand(hop: Hop) -> tuple[tuple[str, Copy], ...]:
    """The copies of a step, which has another name in every layer like it."""
    return tuple((key.rpartition(".")[2], copy) for key, copy in hop.copies.items())
