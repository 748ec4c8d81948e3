"""Knows the built-in tilers: every step in one piece; or fastest, smallest, largest and random tiles, and which steps
share them. Regions that are line-buffered are decided before, and taken as they are.
Does not know how spaces are built or searched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tilewright.errors import TilewrightError, amended
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Group, Step
from tilewright.ir.plans.tiler import Buffering, TilingRequest
from tilewright.tile.tile_buffers import first_of, not_together

if TYPE_CHECKING:
    from tilewright.tile.cost.tiling_problem import SpaceTables
    from tilewright.tile.grouping import Partition
    from tilewright.tile.machine import ScheduledMachine
    from tilewright.tile.search.loop_orders import EstimatedTiling
    from tilewright.tile.search.residency import ResidencyPlan
    from tilewright.tile.search.step_tilings import StepTilings
    from tilewright.tile.space.tiling_space import TilingSpace

Strategy = Literal["auto", "cost", "min", "max", "random-max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTiler:
    """Tiles every step on its own, over each hop from the backing memory to the scratchpad."""

    name: Strategy
    summary: str

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`. TilewrightError TW5101 (exit 5) for a step that no tiling makes fit."""
        step_tilings = self._of(request)
        if step_tilings is None:
            return WholeTiler().plan(request)
        from tilewright.tile.grouping import nothing_resident
        from tilewright.tile.search.residency import plan_residency

        plan = plan_residency(step_tilings, request.longest if step_tilings.steady else 1)
        if isinstance(plan, tuple):
            raise _failure_of(step_tilings, plan)
        search = step_tilings.steady and request.longest != 1
        bases = [plan, *([nothing_resident(step_tilings)] if search and plan.resident and plan.moves_much else [])]
        return grouped(step_tilings, request, bases, search=search)

    def cycles_alone(self, request: TilingRequest, steps: Collection[str]) -> dict[str, float] | None:
        """What some steps take, each tiled for itself; None on machines without scratchpads. TilewrightError TW5101
        (exit 5) for steps of these that no tiling makes fit.
        """
        step_tilings = self._of(request)
        if step_tilings is None:
            return None
        numbers = [step_tilings.machine.numbers[name] for name in steps]
        tilings = {number: step_tilings.tiling(number) for number in sorted(numbers)}
        if failures := [number for number, tiling in tilings.items() if tiling is None]:
            raise _failure_of(step_tilings, failures)
        all_steps = request.scheduled.steps
        return {all_steps[number].name: tiling.cycles for number, tiling in tilings.items() if tiling is not None}

    def _of(self, request: TilingRequest) -> StepTilings | None:
        """The tilings of the steps; None where there is no scratchpad to copy to."""
        if not request.scheduled.bound.platform.inner:
            return None
        from tilewright.tile.machine import ScheduledMachine
        from tilewright.tile.search.residency import decided

        machine = ScheduledMachine(
            request.scheduled, request.operators, decided(request.decisions, request.decisions.tiles)
        )
        return self.step_tilings(machine, request) if machine.hops else None

    def step_tilings(self, machine: ScheduledMachine, request: TilingRequest) -> StepTilings:
        """The tilings that it takes for single steps."""
        from tilewright.tile.search.step_tilings import StepTilings
        from tilewright.tile.search.tiling_search import TilingSearch, first_fitting

        def find(
            space: TilingSpace,
            index: int,
            buffering: Buffering,
            tables: SpaceTables | None,
            beat: Sequence[EstimatedTiling],
        ) -> tuple[EstimatedTiling, ...]:
            least = beat[0] if beat else None
            if self.name == "auto" or self.name == "cost":
                result = TilingSearch(space, buffering, tables).best(least)
            else:
                result = first_fitting(space, buffering, self.name, request.seed + index, least)
            return () if result is None else (result,)

        return StepTilings(machine, find, request, name=self.name, steady=self.name in ("auto", "cost"))


def grouped(
    step_tilings: StepTilings, request: TilingRequest, bases: Sequence[ResidencyPlan], *, search: bool
) -> tuple[Group, ...]:
    """The best of some plans of single steps, with steps tiled together: pinned ones and with `search` what gains."""
    from tilewright.tile.grouping import Grouping
    from tilewright.tile.space.fusion import StepAnalyses

    known, calls = request.known.setdefault("groups", {}), request.known.setdefault("calls", {})
    analyses = StepAnalyses(step_tilings.machine, calls=calls)
    best: Partition | None = None
    for base in bases:
        grouping = Grouping(
            step_tilings=step_tilings,
            plan=base,
            buffering=request.buffering,
            longest=request.longest,
            known=known,
            analyses=analyses,
        )
        result = grouping.partition(request.decisions.groups, search=search, other=best)
        if result is not None:
            best = result if best is None else min(best, result, key=lambda partition: partition.merit)
    return best.groups if best is not None else ()


def _failure_of(step_tilings: StepTilings, numbers: Sequence[int]) -> TilewrightError:
    """The error of the first of some steps, with those of the others; each has the least memory that does for it."""
    from tilewright.tile.search.no_tiling import does_not_fit

    machine, errors = step_tilings.machine, list[TilewrightError]()
    for number in numbers:
        blocked = step_tilings.blocked(number)
        if blocked is None:
            raise ValueError(f"step {number} fits")
        errors.append(does_not_fit(machine, machine.scheduled.steps[number], blocked.space, blocked.memories.inner))
    return amended(errors[0], others=tuple(errors[1:]))


TILERS = (
    StepTiler(name="auto", summary="cost on machines with a scratchpad, whole on others"),
    StepTiler(name="cost", summary="the fastest tiles: computation and copies with their overlap"),
    StepTiler(name="min", summary="the smallest tiles: the least scratchpad that works"),
    StepTiler(name="max", summary="the largest tiles that fit"),
    StepTiler(name="random-max", summary="large tiles in random directions; --seed chooses"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTiler:
    """No tiles: for machines with one memory."""

    name: str = "whole"
    summary: str = "every layer in one piece; for machines with one memory"

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`."""
        by_rows = {
            name: region for region in request.decisions.tiles.values() if region.line_buffers for name in region.steps
        }
        if any(len(names) > 1 and names[-1] not in by_rows for names in request.decisions.groups):
            raise not_together([], "this machine has no scratchpad that they would stay in")
        numbers = {step.name: number for number, step in enumerate(request.scheduled.steps)}
        for rows in by_rows.values():
            first_of(rows.steps, numbers)
        groups, steps = list[Group](), None
        for step in request.scheduled.steps:
            region = by_rows.get(step.name)
            if region is None:
                groups.append(_alone(step, request))
            elif region.name == step.name and region.line_buffers is not None:
                from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
                from tilewright.tile.line_buffers.buffers import line_buffered_cycles
                from tilewright.tile.machine import ScheduledMachine

                machine = ScheduledMachine(request.scheduled, request.operators, request.decisions)
                steps = steps or LineBufferAnalysis(machine)
                groups.append(Group(region=region, cycles=line_buffered_cycles(steps, region, region.line_buffers)))
        return tuple(groups)


def _alone(step: Step, request: TilingRequest) -> Group:
    binding = request.scheduled.bound.bindings[step.name]
    cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
    return Group(region=Region(steps=(step.name,)), cycles=cycles)
