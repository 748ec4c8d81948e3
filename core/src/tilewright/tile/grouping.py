"""Knows which steps of a schedule are tiled together: the cheapest partition of it into groups.
Does not know how a group's tiles are found.

Dynamic programming over segments: the best way to do the first steps, for every number of them. A segment is one step
as it was decided before, or a group where that beats its steps done one after the other. Where nothing inside a segment
is copied, there is nothing to gain, and it is not tried.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from tilewright.ir.log_span import log_begin
from tilewright.ir.plans.region import Region, Tiles
from tilewright.ir.plans.stages import Buffer, Group, Step
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.kernel_costs import scratch_bytes
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC
from tilewright.tile.cost.region_cost import altogether, region_costs
from tilewright.tile.groups.cheapest_division import DivisionBounds, cheapest_division
from tilewright.tile.groups.group_bounds import LeastCost, least_cost
from tilewright.tile.groups.group_search import GroupTiling, best_groups
from tilewright.tile.groups.nest_costs import GroupNests
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.residency import ResidencyPlan, resident_values
from tilewright.tile.search.step_tilings import StepTiling, StepTilings
from tilewright.tile.space.fusion import RegionAnalysis, StepAnalyses, region_analysis, whole_hops
from tilewright.tile.space.step_spaces import tiled_alone
from tilewright.tile.tile_buffers import first_of, not_together

MOST_STEPS = 8  # of a group that is looked for
_SHORT = 4  # up to so many, every segment is looked at; longer ones only where one step fewer is worth having
_WEIGHTS = (0.2, 0.05, 0.01, 0.0)  # what moving less may cost, as a part of the time; the first that costs no time
_MUCH_SLOWER = 1.03  # than its steps alone: a group that moves less may be that, where others make up for it

_Division = tuple[float, tuple[Group, ...]]  # the first steps in groups, and their score
_NOTHING: _Division = (0.0, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """All steps in groups. The smaller `merit`, the more could be given for moving less, and then the better."""

    merit: tuple[int, float]
    groups: tuple[Group, ...]

    def below(self, place: int) -> float:
        """What another of that place in its merit has to score less than, to be better."""
        own, score = self.merit
        return inf if place < own else score if place == own else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The search for groups in a plan of single steps. `known` is what was found before for equal steps."""

    step_tilings: StepTilings
    plan: ResidencyPlan
    buffering: Buffering
    longest: int | None
    known: dict[Hashable, Any]
    analyses: StepAnalyses
    _tried: dict[tuple[int, int], tuple[GroupTiling, ...]] = field(default_factory=dict)
    _candidates: dict[tuple[int, int], RegionAnalysis | None] = field(default_factory=dict)
    _least: dict[tuple[int, int], LeastCost | None] = field(default_factory=dict)
    _resident: dict[int, list[Buffer]] = field(default_factory=dict)  # by step

    def __post_init__(self) -> None:
        for buffer in self.machine.scheduled.buffers:
            for step in range(buffer.first, buffer.last + 1) if buffer.name in self.plan.resident else ():
                self._resident.setdefault(step, []).append(buffer)

    def _resident_during(self, first: int, last: int) -> Iterable[Buffer]:
        """The buffers that are resident at any of some steps."""
        during = (buffer for step in range(first, last + 1) for buffer in self._resident.get(step, ()))
        return {buffer.name: buffer for buffer in during}.values()

    @property
    def machine(self) -> ScheduledMachine:
        """Where all this runs."""
        return self.step_tilings.machine

    def partition(
        self, pinned: Sequence[tuple[str, ...]], *, search: bool, other: Partition | None = None
    ) -> Partition | None:
        """Groups that cover every step once: those that are pinned, and with `search` what is cheapest around them.

        The one that moves least of those that take no longer than every step on its own, with nothing resident. None
        where `other` is sure to be no worse.

        TilewrightError TW4042 (exit 5) for a pinned group that cannot be one, or that does not fit.
        """
        fixed = self._fixed(pinned)
        score, plain = self._divided(fixed, 1, 0.0)
        time = max(sum(group.cycles for group in plain), self._alone())
        for place, weight in enumerate(_WEIGHTS if search else ()):
            limit = (
                inf if other is None or place < other.merit[0] else other.merit[1] if place == other.merit[0] else 0.0
            )
            bounds = None if fixed else self._bounds(weight, limit)
            if bounds is None and not fixed:
                return None
            result, groups = self._divided(fixed, MOST_STEPS, weight, bounds)
            if sum(group.cycles for group in groups) <= time:
                return Partition(merit=(place, result), groups=groups)
        return Partition(merit=(len(_WEIGHTS), score), groups=plain)

    def _bounds(self, weight: float, limit: float) -> DivisionBounds | None:
        """Of the best division without pinned groups; None where none scores less than `limit`."""
        return cheapest_division(
            len(self.machine.scheduled.steps),
            MOST_STEPS,
            lambda first, count: self._least_of(first, count, weight),
            lambda first, count: min(
                (division[0] for division in self._divisions(first, count, _NOTHING, weight)), default=inf
            ),
            limit,
        )

    def _least_of(self, first: int, count: int, weight: float) -> float:
        """The least score of a segment; inf where it is none."""
        alone = self.plan.tilings[first : first + count]
        if count == 1:
            return _score(alone[0].cycles, alone[0].moved_bytes, alone, weight)
        if (first, count) not in self._least:
            self._least[first, count] = self._least_cost(first, count)
        least = self._least[first, count]
        return inf if least is None else _score(least.cycles, least.moved_bytes, alone, weight)

    def _least_cost(self, first: int, count: int) -> LeastCost | None:
        """Of a segment that can be a group; the same for equal steps."""
        analysis = self._candidate(first, count)
        if analysis is None:
            return None
        key = "least", _key(analysis), analysis.sink.sums
        if key not in self.known:
            self.known[key] = least_cost(analysis)
        least: LeastCost = self.known[key]
        return least

    def _alone(self) -> float:
        """Cycles of all steps, layer by layer and with nothing resident where they compute."""
        steps, near = self.machine.scheduled.steps, self.machine.platform.inner
        farther = {name: memory for name, memory in self.plan.resident.items() if memory != near}
        tilings = []
        for index in range(len(steps)):
            touched = {item.buffer for item in self.machine.operands(steps[index])} if farther else set()
            resident = {name: farther[name] for name in touched.intersection(farther)}
            taken = self._taken(index, index, farther)
            tilings.append(self.step_tilings.tiling(index, resident, taken))
        return sum(tiling.cycles for tiling in tilings if tiling is not None)

    def _taken(self, first: int, last: int, resident: Mapping[str, str]) -> dict[str, int]:
        """Bytes of memories that resident buffers take during some steps."""
        taken: dict[str, int] = {}
        for buffer in self._resident_during(first, last):
            memory = resident.get(buffer.name, "")
            if memory:
                grain = max(buffer.align, self.machine.grain(memory))
                taken[memory] = taken.get(memory, 0) + align_up(buffer.size_bytes, grain)
        for memory in taken if first == last else ():
            taken[memory] -= self.machine.spared_bytes(memory, first, resident)
        return taken

    def _fixed(self, pinned: Sequence[tuple[str, ...]]) -> dict[int, int]:
        """Pinned groups of several steps, by one after their last step: the first."""
        firsts = ((first_of(names, self.machine.numbers), len(names)) for names in pinned if len(names) > 1)
        return {first + count: first for first, count in firsts}

    def _divided(
        self, fixed: Mapping[int, int], most: int, weight: float, bounds: DivisionBounds | None = None
    ) -> _Division:
        """The schedule in segments of at most `most` steps, and those that are given; none that `bounds` rule out."""
        settled = {at for end, first in fixed.items() for at in range(first, end)}
        best = [_NOTHING]
        for end in range(1, len(self.machine.scheduled.steps) + 1):
            log_begin("groups that end with step %d of %d", end, len(self.machine.scheduled.steps))
            divisions: list[_Division] = []
            if end in fixed:
                score, groups = best[fixed[end]]
                divisions.append((score, (*groups, self._pinned(fixed[end], end - fixed[end]))))
            for first in range(end - 1, max(end - most, 0) - 1, -1):
                if first in settled:
                    break
                least = self._least_of(first, end - first, weight) if bounds else 0.0
                if not bounds or bounds.may_win(best[first][0], least, end):
                    divisions.extend(self._divisions(first, end - first, best[first], weight))
            best.append(min(divisions, key=lambda division: division[0]) if divisions else (inf, ()))
        return best[-1]

    def _divisions(self, first: int, count: int, before: _Division, weight: float) -> list[_Division]:
        score, groups = before
        alone = self.plan.tilings[first : first + count]
        if count == 1:
            own = _score(alone[0].cycles, alone[0].moved_bytes, alone, weight)
            return [(score + own, (*groups, self.single(first)))]
        divisions = []
        for tiling in self._worth(first, count):
            own = _score(tiling.cost.total_cycles, tiling.cost.in_bytes + tiling.cost.out_bytes, alone, weight)
            divisions.append(
                (score + own, (*groups, self._group(first, count, tiling.region, tiling.cost.total_cycles)))
            )
        return divisions

    def single(self, index: int) -> Group:
        """One step as it was decided."""
        step, tiling = self.machine.scheduled.steps[index], self.plan.tilings[index]
        made = tiled_alone(self.machine, step, tiling.hops, resident_values(self.machine, self.plan.resident, index))
        tile = self.machine.decisions.tiles.get(step.name, made)
        if tile.internal_values:
            raise not_together([step], f"the tiles of '{step.name}' are pinned for a group, which is not pinned")
        return Group(region=tile, cycles=tiling.cycles)

    def _group(self, first: int, count: int, tile: Region, cycles: float) -> Group:
        ours = self._ours(self.machine.scheduled.steps[first : first + count])
        written = (resident_values(self.machine, self.plan.resident, index) for index in range(first, first + count))
        resident = {name: memory for values in written for name, memory in values.items() if name not in ours}
        return Group(region=replace(tile, resident={**tile.resident, **resident}), cycles=cycles)

    def _pinned(self, first: int, count: int) -> Group:
        steps = self.machine.scheduled.steps[first : first + count]
        analysis = self._analysis(first, steps)
        if isinstance(analysis, str):
            raise not_together(steps, analysis)
        tile = self.machine.decisions.tiles.get(steps[-1].name)
        if tile is not None:
            return self._group(first, count, tile, altogether(region_costs(analysis, tile)).total_cycles)
        result = best_groups(analysis, self.buffering)
        if not result:
            none = not_together(steps, "no tiles of them fit the scratchpad")
            raise replace(none, subject=_neediest(analysis))  # with another kernel of it they may
        return self._group(first, count, result[0].region, result[0].cost.total_cycles)

    def _worth(self, first: int, count: int) -> tuple[GroupTiling, ...]:
        """Good tilings of a segment."""
        if (first, count) not in self._tried:
            self._tried[first, count] = self._searched(first, count)
        return self._tried[first, count]

    def _candidate(self, first: int, count: int) -> RegionAnalysis | None:
        """A segment as a group, where it can be one and something inside it is copied."""
        if (first, count) not in self._candidates:
            self._candidates[first, count] = self._analysed(first, count)
        return self._candidates[first, count]

    def _analysed(self, first: int, count: int) -> RegionAnalysis | None:
        steps = self.machine.scheduled.steps[first : first + count]
        pinned = any(step.name in self.machine.decisions.tiles for step in steps)
        if pinned or self.machine.apart(first, count) or not self._gains(steps):
            return None
        if self.longest is not None and (count > self.longest or self._joined(steps)):
            return None
        result = self._analysis(first, steps)
        return None if isinstance(result, str) else result

    def _searched(self, first: int, count: int) -> tuple[GroupTiling, ...]:
        if count > _SHORT and not (self._worth(first, count - 1) or self._worth(first + 1, count - 1)):
            return ()
        analysis = self._candidate(first, count)
        if analysis is None:
            return ()
        most = _MUCH_SLOWER * sum(tiling.cycles for tiling in self.plan.tilings[first : first + count])
        engine = analysis.sink.space.engine
        key = _key(analysis), analysis.sink.sums, analysis.rooms, self.buffering, most, engine.dma_core
        if key not in self.known:
            nests = self._nests(analysis)
            best = best_groups(nests.named(analysis), self.buffering, _WEIGHTS[::3], most, nests)
            self.known[key] = best, _names(nests.analysis)
        result, names = self.known[key]
        return tuple(replace(tiling, region=_renamed(tiling.region, names, analysis)) for tiling in result)

    def _nests(self, analysis: RegionAnalysis) -> GroupNests:
        """Those of groups of equal steps."""
        key = "nests", _key(analysis), analysis.sink.sums, analysis.hops
        nests: GroupNests = self.known.setdefault(key, GroupNests(analysis))
        return nests

    def _gains(self, steps: Sequence[Step]) -> bool:
        """Whether any value between the steps is copied as it was decided before."""
        made = [self.machine.nodes[step.name].outputs for step in steps[:-1]]
        storage = self.machine.scheduled.storage
        values = [value for outputs in made for value in outputs if value in storage]
        return not all(self._in_scratchpad(storage[value].buffer) for value in values)

    def _joined(self, steps: Sequence[Step]) -> bool:
        """Whether a value that is resident where they compute joins the steps to others."""
        return any(self._in_scratchpad(item.buffer) for step in steps for item in self.machine.operands(step))

    def _in_scratchpad(self, buffer: str) -> bool:
        return self.plan.resident.get(buffer) == self.machine.platform.inner

    def _analysis(self, first: int, steps: Sequence[Step]) -> RegionAnalysis | str:
        ours = self._ours(steps)
        last = first + len(steps) - 1
        resident = {
            buffer.name: self.plan.resident[buffer.name]
            for buffer in self._resident_during(first, last)
            if not ours.issuperset(buffer.values)
        }
        taken = self._taken(first, last, resident)
        return region_analysis(self.machine, first, steps, resident, taken, self.analyses)

    def _ours(self, steps: Sequence[Step]) -> set[str]:
        """What steps of a group write for one another alone."""
        inside = {step.name for step in steps}
        made = {value for step in steps[:-1] for value in self.machine.nodes[step.name].outputs}
        return {value for value in made if all(node.name in inside for node in self.machine.consumers.get(value, ()))}


def nothing_resident(step_tilings: StepTilings) -> ResidencyPlan:
    """Every step on its own."""
    tilings = [step_tilings.tiling(index) for index in range(len(step_tilings.machine.scheduled.steps))]
    return ResidencyPlan(tilings=tuple(tiling for tiling in tilings if tiling is not None), resident={})


def _neediest(analysis: RegionAnalysis) -> str:
    """The step whose kernel takes most scratch, of which the group has as much as that."""
    spaces = {member.step.name: member.space for member in analysis.members}
    return max(
        spaces,
        key=lambda name: scratch_bytes(
            spaces[name].kernel, spaces[name].site, spaces[name].access, spaces[name].extents, spaces[name].engine.cores
        )[1],
    )


def _score(cycles: float, moved_bytes: int, alone: Sequence[StepTiling], weight: float) -> float:
    """Cycles, a little dearer the more is moved: as much again as the steps alone must move is worth `weight`."""
    moved = moved_bytes / max(sum(tiling.bound_bytes for tiling in alone), 1)
    return cycles + weight * sum(tiling.cycles for tiling in alone) * min(moved, MOST_TRAFFIC)


def _key(analysis: RegionAnalysis) -> Hashable:
    return tuple(
        (member.key, member.readers, member.live_out, tuple(member.inside.items())) for member in analysis.members
    )


def _names(analysis: RegionAnalysis) -> tuple[tuple[str, str], ...]:
    return tuple((member.step.name, member.output.value) for member in analysis.members)


def _renamed(tile: Region, names: Sequence[tuple[str, str]], analysis: RegionAnalysis) -> Region:
    """A tiling found for equal steps, with the names of these."""
    steps = {old: member.step.name for (old, _), member in zip(names, analysis.members, strict=True)}
    values = {old: member.output.value for (_, old), member in zip(names, analysis.members, strict=True)}
    *outer, last = (
        replace(hop, copies={_moved(key, steps): copy for key, copy in hop.copies.items()}) for hop in tile.hops
    )
    whole = whole_hops(analysis)  # two steps may read one value here, and two there
    hops = (*(left if left.nest else right for left, right in zip(outer, whole, strict=True)), last)
    held = {values[value]: how for value, how in tile.internal_values.items()}
    sums = {steps[step]: own for step, own in tile.sums.items()}
    return replace(tile, steps=tuple(steps.values()), schedule=Tiles(hops=hops), internal_values=held, sums=sums)


def _moved(key: str, steps: Mapping[str, str]) -> str:
    step, _, operand = key.rpartition(".")
    return f"{steps[step]}.{operand}"
