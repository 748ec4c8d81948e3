"""Knows which values stay whole in a scratchpad, from the step that writes them to the last one that reads them.
Does not know how a step is tiled in the room that is left, nor where in the memory a value lies.

Steps are gone through in order. What matters of the past is which values are in the scratchpad now, so the best plan
for each such set is kept: an exact search as long as there are not too many of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Buffer
from tilewright.tile.cost.lower_bounds import MOST_TRAFFIC
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.step_tilings import StepTiling, StepTilings

_MUCH = 0.3  # of what is moved layer by layer
_MOST_STATES = 128  # sets of values, after which only the best are followed
_MOST_STARTING = 4  # values that may become resident at one step
_TRAFFIC = (0.2, 0.05, 0.01, 0.0)  # what moving less may cost, as a part of the time; the first that costs no time


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidencyPlan:
    """A tiling for every step, and the buffers that are resident: whole in a scratchpad while they live."""

    tilings: tuple[StepTiling, ...]
    resident: Mapping[str, str]  # buffer -> memory

    @property
    def cycles(self) -> float:
        """Of all steps."""
        return sum(tiling.cycles for tiling in self.tilings)

    @property
    def moves_much(self) -> bool:
        """Whether values in other places could spare a good part of what is moved layer by layer."""
        return sum(tiling.moved_bytes for tiling in self.tilings) > _MUCH * sum(
            tiling.bound_bytes for tiling in self.tilings
        )


@dataclass(frozen=True, slots=True)
class _PartialPlan:
    """The best plan up to some step: what is resident behind it, and how many steps resident values have joined."""

    score: float
    resident: frozenset[str]
    joined: int
    tiling: StepTiling | None = None
    before: _PartialPlan | None = None
    here: frozenset[str] = frozenset()  # resident during the step


def decided(decisions: Decisions, tiles: Mapping[str, Region]) -> Decisions:
    """The same decisions, with the memories of what is resident in `tiles`."""
    resident = {value: memory for tile in tiles.values() for value, memory in tile.resident.items()}
    return replace(decisions, memories={**decisions.memories, **resident}) if resident else decisions


def plan_residency(step_tilings: StepTilings, longest: int | None) -> ResidencyPlan | tuple[int, ...]:
    """The plan that moves least of those that take no longer than with nothing resident; else the steps that do not
    fit.

    `longest` is the most steps in a row that resident values may join.
    """
    machine = step_tilings.machine
    tilings = [step_tilings.tiling(index) for index in range(len(machine.scheduled.steps))]
    alone = tuple(tiling for tiling in tilings if tiling is not None)
    if len(alone) < len(tilings):
        return tuple(index for index, tiling in enumerate(tilings) if tiling is None)
    best = ResidencyPlan(tilings=alone, resident={})
    if longest == 1:
        return best
    for hop in reversed(machine.hops):
        best = _resident_in(ResidencySearch(step_tilings, hop.inner, best.resident, longest, alone), best)
    return best


def _resident_in(choice: ResidencySearch, before: ResidencyPlan) -> ResidencyPlan:
    """`before`, with more values resident in one memory."""
    if not choice.buffers:
        return before
    for traffic in _TRAFFIC:
        plan = choice.best(traffic)
        if plan is not None and plan.cycles <= before.cycles:
            return plan
    return before


def may_be_resident(machine: ScheduledMachine, memory: str, resident: Mapping[str, str]) -> Iterator[Buffer]:
    """Buffers that may be in a scratchpad from their first step to their last.

    Not those of the graph's ends, which the application reaches, nor any that a decision, a tiling or a pinned group
    has settled.
    """
    if machine.platform.memory(memory).managed_by != "tilewright":
        return
    decisions = machine.decisions
    refused = {*decisions.memories, *decisions.offsets}
    tiled = {name for region in decisions.tiles.values() for name in region.steps}
    inner = {name for group in decisions.groups for name in group[:-1]}
    for step in machine.scheduled.steps:
        binding = machine.bound.bindings[step.name]
        settled = step.name in tiled or not machine.platform.memory(memory).lets(binding.engine, "rw")
        if step.name in inner:
            refused.update(item.buffer for item in machine.operands(step) if item.written)
        allowed = binding.kernel.memories
        refused.update(
            item.buffer for item in machine.operands(step) if settled or memory not in allowed.get(item.name, (memory,))
        )
    for buffer in machine.scheduled.buffers:
        free = buffer.name not in resident and refused.isdisjoint((buffer.name, *buffer.values))
        if free and buffer.kind == "activation" and buffer.size_bytes:
            yield buffer


class ResidencySearch:
    """Which values are resident in one memory, beside those that are resident elsewhere already."""

    def __init__(
        self,
        step_tilings: StepTilings,
        memory: str,
        elsewhere: Mapping[str, str],
        longest: int | None,
        alone: Sequence[StepTiling],
    ) -> None:
        self.step_tilings, self.memory, self.elsewhere, self.longest = step_tilings, memory, elsewhere, longest
        self.alone = alone  # every step with nothing resident
        machine = step_tilings.machine
        self.buffers = {buffer.name: buffer for buffer in may_be_resident(machine, memory, elsewhere)}
        self.bytes = {buffer.name: machine.taken_bytes(buffer, memory) for buffer in machine.scheduled.buffers}
        steps = machine.scheduled.steps
        self.touched = [tuple({item.buffer: None for item in machine.operands(step)}) for step in steps]
        self.starting: list[list[str]] = [[] for _ in steps]
        for buffer in self.buffers.values():
            self.starting[buffer.first].append(buffer.name)
        self.beside = self._beside(len(steps))

    def best(self, traffic: float) -> ResidencyPlan | None:
        """The plan with the lowest score."""
        states = [_PartialPlan(0.0, frozenset(), 0)]
        for index in range(len(self.starting)):
            plans: dict[tuple[frozenset[str], int], _PartialPlan] = {}
            for state in states:
                for after in self._after(state, index, traffic):
                    key = after.resident, after.joined
                    if key not in plans or after.score < plans[key].score:
                        plans[key] = after
            states = sorted(plans.values(), key=lambda state: (state.score, sorted(state.resident)))
            if len(states) > _MOST_STATES:
                nothing = [state for state in states[_MOST_STATES:] if not state.resident]
                states = [*states[:_MOST_STATES], *nothing]
        return self._plan(states[0]) if states else None

    def _after(self, state: _PartialPlan, index: int, traffic: float) -> Iterator[_PartialPlan]:
        """Every way to do one step."""
        joined = 1
        if self.longest is not None and state.resident:
            joined = state.joined + 1
        for chosen in _subsets(self.starting[index][:_MOST_STARTING]):
            here = state.resident.union(chosen)
            rest = frozenset(name for name in here if self.buffers[name].last > index)
            if rest and self.longest is not None and joined >= self.longest:
                continue
            tiling = self.tiling(here, index)
            if tiling is not None:
                score = state.score + tiling.cycles + traffic * self.traffic(index, tiling)
                yield _PartialPlan(score, rest, joined if rest else 0, tiling, state, here)

    def tiling(self, here: frozenset[str], index: int) -> StepTiling | None:
        taken = dict(self.beside[index])
        taken[self.memory] = taken.get(self.memory, 0) + sum(self.bytes[name] for name in here)
        taken[self.memory] -= self.step_tilings.machine.spared_bytes(self.memory, index, here)
        resident = {
            name: self.memory if name in here else self.elsewhere[name]
            for name in self.touched[index]
            if name in here or name in self.elsewhere
        }
        return self.step_tilings.tiling(index, resident, {memory: size for memory, size in taken.items() if size})

    def traffic(self, index: int, tiling: StepTiling) -> float:
        """What a step moves, in cycles: as many as the step takes alone for as much as it must move alone."""
        alone = self.alone[index]
        return alone.cycles * min(tiling.moved_bytes / max(alone.bound_bytes, 1), MOST_TRAFFIC)

    def _beside(self, count: int) -> Sequence[Mapping[str, int]]:
        """For each step, the bytes of each memory that values resident elsewhere take."""
        taken: list[dict[str, int]] = [{} for _ in range(count)]
        for buffer in self.step_tilings.machine.scheduled.buffers:
            memory = self.elsewhere.get(buffer.name, "")
            for at in range(buffer.first, buffer.last + 1) if memory else ():
                taken[at][memory] = taken[at].get(memory, 0) + self.bytes[buffer.name]
        return taken

    def _plan(self, state: _PartialPlan) -> ResidencyPlan:
        tilings: list[StepTiling] = []
        resident = dict(self.elsewhere)
        at: _PartialPlan | None = state
        while at is not None and at.tiling is not None:
            tilings.append(at.tiling)
            resident |= dict.fromkeys(sorted(at.here), self.memory)
            at = at.before
        return ResidencyPlan(tilings=tuple(reversed(tilings)), resident=resident)


def resident_values(machine: ScheduledMachine, resident: Mapping[str, str], index: int) -> dict[str, str]:
    """What step `index` writes of the buffers `resident`, and in which memory."""
    if not resident:
        return {}
    operands = machine.operands(machine.scheduled.steps[index])
    return {item.value: resident[item.buffer] for item in operands if item.written and item.buffer in resident}


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, count) for count in range(len(names), -1, -1))
