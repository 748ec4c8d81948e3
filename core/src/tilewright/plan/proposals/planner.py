"""Knows how decisions about one binding are proposed: run the stages for each, keep the plan that needs least memory.
Does not know how any stage works, nor any target, nor which other binding would fit: that is `kernel_fallback`.

Memory, layout, order and tiles depend on each other, and a chain of stages cannot go back. So a proposal is a
`Decisions` value, the stages are pure functions of it, and what does not fit comes back as a reason, a `PlanFailure`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tilewright.allocate import allocate
from tilewright.allocate.allocate import attempt, constants_overflow
from tilewright.allocate.overflow import Overflow, does_not_fit
from tilewright.allocate.request import arrays_bytes
from tilewright.bind import bind
from tilewright.bind.recompute import recomputed
from tilewright.check.stages import verify_allocated, verify_bound, verify_scheduled, verify_tiled
from tilewright.errors import Diagnostic, Exit, TilewrightError, memory_error, usage_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.log_span import DEBUG, INFO, log_span, with_log_span
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.allocation import Allocator, Budget
from tilewright.ir.plans.constant_copies import misplaced_copy, needed_copies
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated, Bound, Group, Scheduled, Tiled
from tilewright.ir.plans.tiler import Buffering, Tiler, TilingRequest
from tilewright.plan.proposals.constant_copy_costs import proposals
from tilewright.plan.proposals.deferred_waits import proposals as proposals_to_wait_later
from tilewright.plan.proposals.deferred_waits import with_gains
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.shortfall import PlanFailure
from tilewright.plan.proposals.step_orders import StepOrders
from tilewright.plan.proposals.work import PlanCache, Work, boundless, place_units, tile_units
from tilewright.schedule import schedule
from tilewright.tile.line_buffers.lifetimes import CallCache
from tilewright.tile.memory_path import hops_of
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import constants_alone, groups_by, tile

Optimize = Literal["speed", "balanced", "ram"]
_NO_COPY = "name other constants there: `compile --dump-after bound` lists them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Everything that stays the same while proposals change. `pins` overrule every proposal."""

    operators: Mapping[str, Operator]
    kernels: Mapping[str, Kernel]
    tiler: Tiler
    allocator: Allocator
    pins: Decisions = field(default_factory=Decisions)
    named_io: Collection[str] = ()  # inputs and outputs of which it was said one by one where they are
    buffering: Buffering = "auto"
    longest: int | None = None  # chain of steps joined by values that stay in the scratchpad
    budget: Budget = field(default_factory=Budget)
    optimize: Optimize = "speed"  # what line-buffered plans are chosen for, see `choice`
    first_fit: bool = False  # whether anything fits is all that is asked: a better plan is not looked for
    recompute: float = 1.0  # operations that a line-buffered plan may take, times those of the network
    choose_constant_copies: bool = False  # copy constants where the memories' speeds favour it
    layers: Layers | None = None  # what is known of them from binding before
    chains: bool = True  # whether kernels that compute several nodes as one may be bound
    known: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # by the tiler, of equal layers
    tilings: PlanCache[Tiled] = field(default_factory=PlanCache, compare=False, repr=False)
    plan_cache: PlanCache[tuple[Group, ...]] = field(default_factory=PlanCache, compare=False, repr=False)
    line_buffer_candidates: PlanCache[tuple[LineBufferedPlan, ...]] = field(
        default_factory=PlanCache, compare=False, repr=False
    )
    line_buffer_calls: PlanCache[CallCache] = field(default_factory=PlanCache, compare=False, repr=False)
    work: Work = field(default_factory=Work, compare=False, repr=False)  # that was done

    @with_log_span(INFO, "bind: kernels and layouts")
    def bind(self, graph: Graph, platform: Platform, diagnostics: tuple[Diagnostic, ...] = ()) -> Bound:
        """Kernels and layouts; the same for every proposal of this planner."""
        bound = bind(graph, platform, self.operators, self.kernels, self.pins, diagnostics, self.layers, self.chains)
        return verify_bound(recomputed(bound, self.pins.recomputed))

    def plan(self, bound: Bound) -> Allocated:
        """The best plan over all proposals. Raises TilewrightError (exit 5) when none fits: the first one's reason."""
        return _demanded(self.best(bound))

    def best(self, bound: Bound) -> Allocated | tuple[PlanFailure, ...]:
        """The same, where not fitting is an answer: why each of the proposals does not."""
        plans, failures = self._attempts(bound)
        if not plans:
            return tuple(failures)
        best = min(plans, key=merit)  # the first of equals
        best = self._with_copies(bound, best) if self.choose_constant_copies else best
        best = self._with_deferred_waits(bound, best) if not self.first_fit else best
        return replace(best, order_bound_bytes=self.orders().lower_bound_bytes(bound))

    def first(self, bound: Bound) -> Allocated | tuple[PlanFailure, ...]:
        """The plan of the first proposal, whether or not others are better."""
        answer = self.attempt(bound, next(self.proposals(bound)))
        return answer if isinstance(answer, Allocated) else (answer,)

    def _with_copies(self, bound: Bound, plan: Allocated) -> Allocated:
        """The plan with the best set of copies of constants that fits; itself where none does."""
        for staged in proposals(plan, self.operators):
            wanted = replace(self.pins, order=plan.decisions.order, staged={**self.pins.staged, **staged})
            answer = replace(self, pins=wanted).attempt(bound, wanted)
            if isinstance(answer, Allocated):
                return answer
        return plan

    def _with_deferred_waits(self, bound: Bound, plan: Allocated) -> Allocated:
        """The plan with engines that are waited for behind later steps, where that is faster and fits."""
        plans = [plan]
        for decisions in proposals_to_wait_later(plan, self.operators, self.pins):
            answer = self.attempt(bound, decisions)
            if isinstance(answer, Allocated):
                plans.append(answer)
                gaining = with_gains(answer, plan)
                if 0 < len(gaining) < len(decisions.deferred):
                    plans += _plans([self.attempt(bound, replace(decisions, deferred=gaining))])
        return min(plans, key=merit)

    def proposals(self, bound: Bound) -> Iterator[Decisions]:
        """Orders worth trying, the graph's own first."""
        seen = set()
        for order in self.orders().worth_trying(bound):
            proposal = Decisions(order=order).pinned_by(self.pins)
            if proposal.order not in seen:
                seen.add(proposal.order)
                yield proposal

    def orders(self) -> StepOrders:
        """Which orders of the nodes are worth planning with."""
        return StepOrders(operators=self.operators, pins=self.pins, work=self.budget.work, known=self.known)

    def carry_out(self, bound: Bound, decisions: Decisions) -> Allocated:
        """Schedule, tile and allocate as decided. Raises TilewrightError (exit 5) when that does not fit."""
        return _demanded(self._carried_out(bound, decisions))

    def attempt(self, bound: Bound, decisions: Decisions) -> Allocated | PlanFailure:
        """The same, where not fitting is an answer, whichever stage gives it."""
        try:
            return self._carried_out(bound, decisions)
        except TilewrightError as error:
            if error.exit_code is not Exit.DOES_NOT_FIT:
                raise
            return PlanFailure(error=error)

    def _carried_out(self, bound: Bound, decisions: Decisions) -> Allocated | PlanFailure:
        """What was to stay in the scratchpad but finds no place is copied."""
        decisions = _with_needed_copies(bound, decisions)
        with log_span(DEBUG, "schedule: an order, and what is alive when"):
            scheduled = verify_scheduled(schedule(bound, self.operators, decisions))
        constants = constants_alone(scheduled, self.operators, decisions)
        if overflow := constants_overflow(constants, decisions, self.allocator, self.budget):
            return PlanFailure(error=does_not_fit(constants, overflow), tiled=constants, overflow=overflow)
        copied: dict[str, str] = {}
        while True:
            proposal = replace(decisions, memories={**decisions.memories, **copied})
            with log_span(DEBUG, "tile: tiler '%s'", self.tiler.name):
                tiled = self.tile(scheduled, proposal)
            with log_span(DEBUG, "allocate: allocator '%s'", self.allocator.name):
                self.work.spend(place_units(bound))
                answer = attempt(tiled, proposal, self.allocator, self.budget)
            if isinstance(answer, Allocated):
                with self._tiles_kept():
                    return verify_allocated(answer, self.operators)
            sent = least_useful(tiled, answer)
            if not sent:
                bytes_short = None if answer.fault else answer
                return PlanFailure(error=does_not_fit(tiled, answer), tiled=tiled, overflow=bytes_short)
            copied |= dict.fromkeys(sent, bound.platform.backing_memory().name)

    def tile(self, scheduled: Scheduled, decisions: Decisions) -> Tiled:
        """The `tile` stage with this planner's tiler. TilewrightError TW4043 (exit 5): pinned tiles cannot be kept."""
        if fault := _fault_of_tiles(self.pins.tiles, {step.name for step in scheduled.steps}):
            raise _tiles_not_kept(fault)
        decisions = _with_needed_copies(scheduled.bound, decisions)
        question = self._question(scheduled, decisions)
        known = self.tilings.found(scheduled.bound, *question)
        if known is not None:
            return replace(known, scheduled=scheduled)
        self.work.spend(tile_units(scheduled.bound))
        return self.tilings.keep(self._newly_tiled(scheduled, decisions), scheduled.bound, *question)

    def groups(self, scheduled: Scheduled, decisions: Decisions) -> tuple[Group, ...]:
        """What this planner's tiler answers, for what is compared and not taken: no buffer is listed, no tile checked.
        TilewrightError (exit 5) for steps that no tile fits.
        """
        question = self._question(scheduled, decisions)
        known = self.plan_cache.found(scheduled.bound, *question)
        if known is not None:
            return known
        self.work.spend(tile_units(scheduled.bound))
        with self._tiles_kept():
            answer = groups_by(self.tiler, self._request(scheduled, decisions))
        return self.plan_cache.keep(answer, scheduled.bound, *question)

    def cycles_alone(
        self, scheduled: Scheduled, decisions: Decisions, steps: Collection[str]
    ) -> Mapping[str, float] | None:
        """What some steps take, each tiled for itself; None where only all of them can be asked for. TilewrightError
        (exit 5) for steps of these that no tile fits.
        """
        if not isinstance(self.tiler, StepTiler) or decisions.tiles or decisions.groups:
            return None
        self.work.spend(tile_units(scheduled.bound))
        return self.tiler.cycles_alone(self._request(scheduled, decisions), steps)

    def _request(self, scheduled: Scheduled, decisions: Decisions) -> TilingRequest:
        return TilingRequest(
            scheduled=scheduled,
            operators=self.operators,
            decisions=decisions,
            buffering=self.buffering,
            seed=self.budget.seed,
            longest=self.longest,
            known=self.known,
        )

    def _question(self, scheduled: Scheduled, decisions: Decisions) -> tuple[object, ...]:
        """All that the tiler's answer depends on, but for the kernels."""
        hops = hops_of(scheduled.bound.platform)
        platform = boundless(scheduled.bound.platform, but={hop.inner for hop in hops})
        how = self.tiler, self.buffering, self.budget.seed, self.longest
        return how, decisions, scheduled.steps, scheduled.in_place, platform

    def _newly_tiled(self, scheduled: Scheduled, decisions: Decisions) -> Tiled:
        with self._tiles_kept():
            tiled = tile(
                scheduled,
                self.operators,
                self.tiler,
                decisions,
                self.buffering,
                self.budget.seed,
                self.longest,
                self.known,
            )
            return verify_tiled(tiled, self.operators)

    @contextmanager
    def _tiles_kept(self) -> Iterator[None]:
        """What is not sound or not there is the fault of pinned tiles, where there are some: TW4043 (exit 5)."""
        try:
            yield
        except TilewrightError as error:
            if not self.pins.tiles or error.exit_code is not Exit.INTERNAL:
                raise
            raise _tiles_not_kept(error.message, *error.details) from error
        except (KeyError, IndexError, ValueError, ArithmeticError) as error:
            if not self.pins.tiles:
                raise
            raise _tiles_not_kept(f"no such loop, operand, memory or size: {error}") from error

    def allocate(self, tiled: Tiled, decisions: Decisions) -> Allocated:
        """The `allocate` stage with this planner's allocator, checked by something that trusts neither."""
        decisions = _with_needed_copies(tiled.scheduled.bound, decisions)
        return verify_allocated(allocate(tiled, decisions, self.allocator, self.budget), self.operators)

    def _attempts(self, bound: Bound) -> tuple[list[Allocated], list[PlanFailure]]:
        """Every proposal that fits, and why the others do not."""
        answers: list[Allocated | PlanFailure] = []
        for proposal in self.proposals(bound):
            answers.append(self.attempt(bound, proposal))
            if isinstance(answers[-1], PlanFailure) and answers[-1].of_constants:
                break  # no other order needs fewer
            if isinstance(answers[-1], Allocated) and self.first_fit:
                return _plans(answers), []
        plans = _plans(answers)
        if plans and bound.platform.inner:
            answers.extend(self.attempt(bound, proposal) for proposal in self._apart(bound, min(plans, key=merit)))
        return _plans(answers), [answer for answer in answers if isinstance(answer, PlanFailure)]

    def _apart(self, bound: Bound, best: Allocated) -> Iterator[Decisions]:
        """The best order again with no value in another's bytes: in a scratchpad those would have to stay together."""
        scheduled = best.tiled.scheduled
        kept = {scheduled.storage[value].buffer for group in best.tiled.groups for value in group.region.resident}
        kept |= self.pins.offsets.keys()
        pairs = [value for value in scheduled.in_place if scheduled.storage[value].buffer not in kept]
        if pairs and self.longest != 1 and not self.pins.in_place:
            order = best.decisions.order
            yield Decisions(order=order, in_place=dict.fromkeys(pairs, "")).pinned_by(self.pins)


def _with_needed_copies(bound: Bound, decisions: Decisions) -> Decisions:
    """With the copies of constants without which steps would not find them, where nobody has decided otherwise.
    TilewrightError TW5033 (exit 2): what was decided leaves a kernel nothing to read.
    """
    if fault := misplaced_copy(bound, decisions):
        raise usage_error("TW5033", fault, where="--stage, or `staged` in the pinned decisions", fix=(_NO_COPY,))
    return replace(decisions, staged={**needed_copies(bound), **decisions.staged})


def _fault_of_tiles(tiles: Mapping[str, Region], steps: Collection[str]) -> str:
    """Why regions, each under its last step, are not of these steps, each at most once; "" where they are."""
    seen = set[str]()
    for name, region in tiles.items():
        for step in (name, *region.steps):
            if step not in steps:
                return f"there is no step '{step}'"
        if name not in region.steps[-1:]:
            return f"under '{name}' are tiles of {', '.join(region.steps) or 'no step'}"
        if twice := [step for number, step in enumerate(region.steps) if step in seen or step in region.steps[:number]]:
            return f"step '{twice[0]}' is tiled twice"
        seen.update(region.steps)
    return ""


def _tiles_not_kept(*reasons: str) -> TilewrightError:
    return memory_error(
        "TW4043",
        "pinned tiles cannot be kept",
        details=reasons,
        fix=(
            "remove `tiles` of that step from the pinned decisions, or take them from a state saved with these flags",
        ),
    )


def _demanded(answer: Allocated | PlanFailure | tuple[PlanFailure, ...]) -> Allocated:
    """The plan; where there is none, the first reason is raised."""
    if isinstance(answer, Allocated):
        return answer
    raise (answer if isinstance(answer, PlanFailure) else answer[0]).error


def _plans(answers: list[Allocated | PlanFailure]) -> list[Allocated]:
    return [answer for answer in answers if isinstance(answer, Allocated)]


def merit(allocated: Allocated) -> tuple[float, int]:
    """Smaller is better: time first where tiles are copied between memories, then bytes."""
    tiled = allocated.tiled
    is_copied = tiled.scheduled.bound.platform.inner
    return (sum(group.cycles for group in tiled.groups) if is_copied else 0.0), ram_bytes(allocated)


def least_useful(tiled: Tiled, overflow: Overflow) -> tuple[str, ...]:
    """The values of a buffer that stays in the memory which is too small: of those there at the step, the one whose
    absence costs least. () where none does.
    """
    kept = {value for group in tiled.groups for value in group.region.resident}
    staying = [buffer for buffer in overflow.live if not kept.isdisjoint(buffer.values)]
    enough = [buffer for buffer in staying if buffer.size_bytes >= overflow.excess_bytes]
    chosen = min(enough, key=lambda buffer: buffer.size_bytes, default=None) or (staying[0] if staying else None)
    return chosen.values if chosen else ()


def ram_bytes(allocated: Allocated) -> int:
    """Bytes that the plan takes of all memories that are written, where arrays of one begin as its alignment asks."""
    platform, sizes = allocated.tiled.scheduled.bound.platform, dict[str, list[int]]()
    for pool in allocated.pools:
        if pool.kind != "const":
            sizes.setdefault(pool.memory, []).append(pool.used_bytes)
    return sum(arrays_bytes(own, platform.memory(name).align) for name, own in sizes.items())
