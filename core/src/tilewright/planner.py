"""Knows how decisions are proposed: run the stages for each proposal, keep the plan that needs least memory.
Does not know how any stage works, nor any target.

Memory, layout, order and tiles depend on each other, and a chain of stages cannot go back. So a proposal is a
`Decisions` value, the stages are pure functions of it, and what does not fit comes back as a reason.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tilewright.allocate import allocate
from tilewright.allocate.overflow import MIGHT_FIT, Overflow, does_not_fit
from tilewright.allocate.problem import Allocator, Budget
from tilewright.allocate.stage import attempt
from tilewright.bind import bind
from tilewright.decisions import Decisions
from tilewright.errors import Diagnostic, Exit, TilewrightError, memory_error
from tilewright.graph import Graph
from tilewright.kernel import Kernel
from tilewright.operator import Operator
from tilewright.platform import Platform
from tilewright.schedule import schedule
from tilewright.schedule.order import frugal_order, given_order
from tilewright.schedule.order_search import search_order
from tilewright.schedule.order_task import order_task
from tilewright.stages import Allocated, Bound, Scheduled, Tiled
from tilewright.staging_costs import proposals
from tilewright.tile.stage import tile
from tilewright.tile.tiler import Buffering, Tiler
from tilewright.verify import verify_allocated, verify_bound, verify_scheduled, verify_tiled
from tilewright.ways_out import Change, ways_out

_FEWEST_TO_ORDER = 3  # nodes, below which there is nothing to choose
_ORDER_SHARE = 10  # of the budget goes into the search for an order


@dataclass(frozen=True, slots=True, kw_only=True)
class Planner:
    """Everything that stays the same while proposals change. `pins` overrule every proposal."""

    operators: Mapping[str, Operator]
    kernels: Mapping[str, Kernel]
    tiler: Tiler
    allocator: Allocator
    pins: Decisions = field(default_factory=Decisions)
    buffering: Buffering = "auto"
    longest: int | None = None  # chain of steps joined by values that stay in the near memory
    budget: Budget = field(default_factory=Budget)
    stage_constants: bool = False  # copy constants where the memories' speeds favour it
    known: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # by the tiler, of equal layers

    def bind(self, graph: Graph, platform: Platform, diagnostics: tuple[Diagnostic, ...] = ()) -> Bound:
        """Kernels and layouts; the same for every proposal of this planner."""
        return verify_bound(bind(graph, platform, self.operators, self.kernels, self.pins, diagnostics))

    def plan(self, bound: Bound) -> Allocated:
        """The best plan over all proposals.

        Raises TilewrightError (exit 5) when none fits, with `try:` lines found by planning again.
        """
        plans, failures = self._attempts(bound)
        if plans:
            best = min(plans, key=merit)  # the first of equals
            return self._with_copies(bound, best) if self.stage_constants else best
        raise failures[0] if failures[0].fix else with_fix(failures[0], self._ways_out(bound, failures[0]))

    def first(self, bound: Bound) -> Allocated:
        """The plan of the first proposal, whether or not others are better. Raises TilewrightError as `plan` does."""
        return self.carry_out(bound, next(self.proposals(bound)))

    def _with_copies(self, bound: Bound, plan: Allocated) -> Allocated:
        """The plan with the best set of copies of constants that fits; itself where none does."""
        for staged in proposals(plan, self.operators):
            wanted = replace(self.pins, order=plan.decisions.order, staged={**self.pins.staged, **staged})
            try:
                return replace(self, pins=wanted).carry_out(bound, wanted)
            except TilewrightError as error:
                if error.exit_code is not Exit.DOES_NOT_FIT:
                    raise
        return plan

    def proposals(self, bound: Bound) -> Iterator[Decisions]:
        """Orders worth trying, the graph's own first."""
        seen = set()
        for order in self._orders(bound):
            proposal = Decisions(order=order).pinned_by(self.pins)
            if proposal.order not in seen:
                seen.add(proposal.order)
                yield proposal

    def _orders(self, bound: Bound) -> Iterator[tuple[str, ...]]:
        """The given order, a frugal one, and the best one of a search."""
        given, frugal = given_order(bound.graph), frugal_order(bound.graph)
        yield given
        if self.pins.order or len(given) < _FEWEST_TO_ORDER:
            return
        yield frugal
        theirs = [*self.pins.state, *(value for value, whose in self.pins.io.items() if whose == "user")]
        task = order_task(bound, self.operators, theirs)
        position = {name: index for index, name in enumerate(task.nodes)}
        found = search_order(task, self.budget.work // _ORDER_SHARE, ([position[name] for name in frugal],))
        yield tuple(task.nodes[index] for index in found.order)

    def carry_out(self, bound: Bound, decisions: Decisions) -> Allocated:
        """Schedule, tile and allocate as decided; what was to stay in the near memory but finds no place travels."""
        scheduled = verify_scheduled(schedule(bound, self.operators, decisions))
        travelling: dict[str, str] = {}
        while True:
            proposal = replace(decisions, memories={**decisions.memories, **travelling})
            tiled = self.tile(scheduled, proposal)
            answer = attempt(tiled, proposal, self.allocator, self.budget)
            if isinstance(answer, Allocated):
                return verify_allocated(answer, self.operators)
            sent = least_useful(tiled, answer)
            if not sent:
                raise does_not_fit(tiled, answer)
            travelling |= dict.fromkeys(sent, bound.platform.home_memory().name)

    def tile(self, scheduled: Scheduled, decisions: Decisions) -> Tiled:
        """The `tile` stage with this planner's tiler. TilewrightError TW4043 (exit 5): pinned tiles cannot be kept."""
        unknown = sorted(self.pins.tiles.keys() - {step.name for step in scheduled.steps})
        if unknown:
            raise _tiles_not_kept(f"there is no step '{unknown[0]}'")
        try:
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
        return verify_allocated(allocate(tiled, decisions, self.allocator, self.budget), self.operators)

    def _attempts(self, bound: Bound) -> tuple[list[Allocated], list[TilewrightError]]:
        """Every proposal that fits, and why the others do not."""
        plans: list[Allocated] = []
        failures: list[TilewrightError] = []

        def attempt_one(proposal: Decisions) -> None:
            try:
                plans.append(self.carry_out(bound, proposal))
            except TilewrightError as error:
                if error.exit_code is not Exit.DOES_NOT_FIT:
                    raise
                failures.append(error)

        for proposal in self.proposals(bound):
            attempt_one(proposal)
        if plans and bound.platform.near:
            apart = self._apart(bound, min(plans, key=merit))
            for proposal in apart:
                attempt_one(proposal)
        return plans, failures

    def _apart(self, bound: Bound, best: Allocated) -> Iterator[Decisions]:
        """The best order again with no value in another's bytes: in a near memory those would have to stay together."""
        scheduled = best.tiled.scheduled
        kept = {scheduled.storage[value].buffer for group in best.tiled.groups for value in group.tile.kept}
        pairs = [value for value in scheduled.in_place if scheduled.storage[value].buffer not in kept]
        if pairs and self.longest != 1 and not self.pins.in_place:
            order = best.decisions.order
            yield Decisions(order=order, in_place=dict.fromkeys(pairs, "")).pinned_by(self.pins)

    def _ways_out(self, bound: Bound, failure: TilewrightError) -> tuple[str, ...]:
        """Changes after which the model fits, each proved by planning with it."""
        kept = {*self.pins.state, *self.pins.state.values()}
        tensors = [name for name in (*bound.graph.inputs, *bound.graph.outputs) if name not in kept]
        ends: dict[str, Literal["pool", "user"]] = dict.fromkeys(tensors, "user")

        def plan(changed: Bound, change: Change) -> Allocated | None:
            pins = replace(
                self.pins,
                io=ends if change.users else self.pins.io,
                memories={} if change.unpinned else self.pins.memories,
                staged={} if change.unstaged else self.pins.staged,
            )
            budget = replace(self.budget, work=self.budget.work * change.effort)
            try:
                plans, _ = replace(self, pins=pins, budget=budget)._attempts(changed)
            except TilewrightError:
                return None  # the change itself is not possible
            return min(plans, key=merit, default=None)

        return ways_out(
            bound,
            plan,
            placeable=any(MIGHT_FIT in detail for detail in failure.details),
            effort=self.budget.work,
            pinned=bool(self.pins.memories),
            staged=bool(self.pins.staged),
        )


def _tiles_not_kept(*reasons: str) -> TilewrightError:
    return memory_error(
        "TW4043",
        "pinned tiles cannot be kept",
        details=reasons,
        fix=(
            "remove `tiles` of that step from the pinned decisions, or take them from a state saved with these flags",
        ),
    )


def other_kernels(bound: Bound, refused: Mapping[str, frozenset[str]], pins: Decisions) -> dict[str, str] | None:
    """For each step whose kernels in `refused` do not fit, the cheapest of the others. None: a step has no other."""
    found: dict[str, str] = {}
    for step, names in refused.items():
        left = [one for one in bound.bindings[step].candidates if one.kernel.name not in names]
        if not left or step in pins.kernels:
            return None
        found[step] = min(left, key=lambda one: one.cycles).kernel.name
    return found


def merit(allocated: Allocated) -> tuple[float, int]:
    """Smaller is better: time first where tiles travel between memories, then bytes."""
    tiled = allocated.tiled
    near = tiled.scheduled.bound.platform.near
    return (sum(group.cycles for group in tiled.groups) if near else 0.0), ram_bytes(allocated)


def least_useful(tiled: Tiled, overflow: Overflow) -> tuple[str, ...]:
    """The values of a buffer that stays in the memory which is too small: of those there at the step, the one whose
    absence costs least. () where none does.
    """
    kept = {value for group in tiled.groups for value in group.tile.kept}
    staying = [buffer for buffer in overflow.live if not kept.isdisjoint(buffer.values)]
    enough = [buffer for buffer in staying if buffer.size_bytes >= overflow.excess_bytes]
    chosen = min(enough, key=lambda buffer: buffer.size_bytes, default=None) or (staying[0] if staying else None)
    return chosen.values if chosen else ()


def ram_bytes(allocated: Allocated) -> int:
    """Bytes that the plan takes of all memories that are written."""
    return sum(pool.used_bytes for pool in allocated.pools if pool.kind != "const")


def with_fix(error: TilewrightError, fix: tuple[str, ...]) -> TilewrightError:
    """The same error with other next steps, where there are any."""
    return replace(error, fix=fix or error.fix)
