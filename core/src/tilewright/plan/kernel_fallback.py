"""Knows how a plan is found where memory is short: with other kernels than the fastest; and what to type if none fit.
Does not know tiles, nor how kernels are bound.
One loop: bind, plan, take back why it does not fit, refuse the kernels that are in the way, and bind again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tilewright.allocate.overflow import MIGHT_FIT
from tilewright.errors import TilewrightError, amended, typed
from tilewright.ir.log_span import INFO, with_log_span
from tilewright.ir.plans.decisions import STREAMED
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.least_memory import with_least_memory
from tilewright.plan.line_buffer_bound import can_never_fit, line_buffers_may_help
from tilewright.plan.line_buffers.candidates import Rebind
from tilewright.plan.open_settings import least_cycles
from tilewright.plan.proposals.engine_exchange import with_exchanges
from tilewright.plan.proposals.other_kernels import exchanged, extra_cycles, faster_in_tiles, slower_kernels
from tilewright.plan.proposals.planner import Planner, merit
from tilewright.plan.proposals.shortfall import (
    PlanFailure,
    Refused,
    choice_of,
    joined,
    least_scratch,
    refusals,
    regained,
    stuck_steps,
)
from tilewright.plan.proposals.work import WorkDone, place_units, tile_units
from tilewright.plan.recompute_choice import with_recomputation
from tilewright.plan.suggestions import (
    Change,
    Plan,
    Request,
    Trials,
    changed_planner,
    limits_as_planned,
    limits_for_constants,
    suggestions,
    too_much_for_machine,
    with_limits_cost,
    with_memories,
    with_suggestions,
)

Answer = Allocated | tuple[PlanFailure, ...]
Kernels = tuple[tuple[str, str], ...]  # node and kernel, sorted
_MOST_LIMITS = 40  # that are tried: each is what one more step needs, whatever its kernel
_MOST_TRIES = 4  # to make scratch smaller just where it is in the way, before it is made as small as it can be


@dataclass(frozen=True, slots=True, kw_only=True)
class _Proposal:
    """Kernels instead of the fastest, and why."""

    kernels: Mapping[str, str] = field(default_factory=dict)  # node -> name
    refused: Refused = field(default_factory=dict)
    memories: tuple[str, ...] = ()  # that were short
    extra_cycles: float = 0.0
    last: bool = False  # of least scratch: there is nothing else to propose


@dataclass(slots=True)
class _Queue:
    """Proposals that were not tried yet."""

    waiting: list[_Proposal] = field(default_factory=list)
    seen: list[Mapping[str, str]] = field(default_factory=list)
    tries: int = 0  # that overflowed

    def add(self, proposals: Iterable[_Proposal]) -> None:
        """All that are new."""
        for proposal in proposals:
            if proposal.kernels not in self.seen:
                self.seen.append(proposal.kernels)
                self.waiting.append(proposal)

    def cheapest(self) -> _Proposal | None:
        """The first of the cheapest, taken out; None where there is none, or enough were tried."""
        if not self.waiting or self.tries > _MOST_TRIES:
            return None
        cheapest = min(self.waiting, key=lambda proposal: proposal.extra_cycles)
        self.waiting.remove(cheapest)
        return cheapest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What became of the last proposal, and why those before it did not fit."""

    proposal: _Proposal
    plan: Allocated | None
    failures: tuple[PlanFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """One model on one platform."""

    planner: Planner
    rebind: Rebind | None = None  # None: kernels are settled
    recompute: bool = True  # cheap values, where that is worth it
    bindings: dict[Kernels, Bound] = field(default_factory=dict, compare=False, repr=False)  # that were made before

    @with_log_span(INFO, "plan: schedule, tile, allocate")
    def plan(self, bound: Bound) -> Allocated:
        """The best plan with the fastest kernels; with others where it does not fit, which a note TW5035 then tells;
        where nothing else does, or less memory is asked for, with line-buffered steps. Where that takes much longer
        than with inputs and outputs that stay with the caller, the note TW5039 says so.

        Raises a TilewrightError (exit 5) where none fits. Its `try:` lines have been planned with; of a memory that is
        too small, the size in them is the least that was found to do.
        """
        self.planner.work.begin()
        found, one_plan = self.found(bound), tile_units(bound) + place_units(bound)
        answer = self.least(bound, found)
        with self.planner.work.limited(one_plan):
            if isinstance(answer, Allocated) and answer is not found:
                return answer
            if isinstance(answer, Allocated):
                return with_limits_cost(bound, answer, Trials(self._changed_plan(bound)), self._asked(bound))
            raise self._error_of(bound, answer) from None

    def found(self, bound: Bound) -> Answer:
        """The plan, or why each of the proposals did not fit. Where nothing can, that of least scratch."""
        if can_never_fit(bound, self.planner.pins):
            return self._line_buffered(self._searched(bound, self.planner.first).failures[-1:], None)
        search, rebind = self._searched(bound, self.planner.best), self._rebound(bound)
        if self.planner.first_fit and search.plan is not None and not self.planner.pins.streams_io:
            return _settled(search.plan, bound)
        layers = search.failures if search.plan is None else self._regained(bound, search, search.plan)
        layers = self._exchanged(bound, layers) if isinstance(layers, Allocated) else layers
        answer = self._line_buffered(layers, rebind)
        if isinstance(answer, Allocated) and search.failures and search.plan is not None:
            from tilewright.plan.line_buffers.choice import faster_line_buffered

            answer = faster_line_buffered(self.planner, answer, search.failures[0], rebind)
        if self.recompute:
            settled = replace(self, rebind=None, recompute=False)
            answer = with_recomputation(self.planner, answer, settled.found)
        return _settled(answer, bound) if isinstance(answer, Allocated) else answer

    def _line_buffered(self, layers: Answer, rebind: Rebind | None) -> Answer:
        """The answer with line buffers where they may help."""
        if isinstance(layers, Allocated) and not line_buffers_may_help(self.planner, layers):
            return layers
        from tilewright.plan.line_buffers.choice import with_line_buffers

        return with_line_buffers(self.planner, layers, rebind)

    def faster(self, bound: Bound, beat: float | None) -> Answer:
        """The same; () where no plan of these nodes takes less than `beat` cycles, an estimate."""
        slow = beat is not None and least_cycles(bound, self.planner.orders().pieces(bound).views) > beat
        return () if slow else self.least(bound, self.found(bound))

    def least(self, bound: Bound, answer: Answer) -> Answer:
        """The answer, or a smaller plan with kernels of less scratch where less memory is asked for."""
        return answer if self.rebind is None else with_least_memory(self.planner, bound, answer, self.found)

    def _rebound(self, first: Bound) -> Rebind | None:
        """How to bind again on the same machine, with nobody failure."""
        rebind = self.rebind
        return None if rebind is None else lambda kernels: self._with_kernels(first, rebind, kernels)

    def _searched(self, first: Bound, plan: Callable[[Bound], Answer]) -> _Search:
        """Propose, plan, take the reasons back, propose again."""
        proposal, queue = _Proposal(), _Queue()
        failures: tuple[PlanFailure, ...] = ()
        while True:
            bound = self._bound(first, proposal)
            answer = plan(bound)
            if isinstance(answer, Allocated):
                return _Search(proposal=proposal, plan=answer, failures=failures)
            failures = (*failures, *answer)
            following = self._following(bound, proposal, answer, failures, queue)
            if following is None:
                choice = choice_of(bound, self.planner.operators, self.planner.pins)
                stuck = stuck_steps(failures[-1], choice, proposal.refused)
                return _Search(
                    proposal=proposal, plan=None, failures=(*failures[:-1], replace(failures[-1], stuck=stuck))
                )
            proposal = following

    def _following(
        self,
        bound: Bound,
        proposal: _Proposal,
        answer: Sequence[PlanFailure],
        failures: Sequence[PlanFailure],
        queue: _Queue,
    ) -> _Proposal | None:
        """The cheapest of everything that could be done so far; at last the one of least scratch."""
        if self.rebind is None or proposal.last:
            return None
        if can_never_fit(bound, self.planner.pins):
            return self._least_scratch(bound, proposal, failures)
        queue.tries += answer[0].overflow is not None
        queue.add(self._candidates(bound, proposal, answer))
        return queue.cheapest() or self._least_scratch(bound, proposal, failures)

    def _candidates(self, bound: Bound, proposal: _Proposal, answer: Sequence[PlanFailure]) -> Iterator[_Proposal]:
        """For each reason, the cheapest kernels without those that are in the way; none where a step has none left.

        Orders differ in what is alive when. A step that no tile fits is in the way whatever the order is.
        """
        choice = choice_of(bound, self.planner.operators, self.planner.pins)
        for failure in answer if answer[0].overflow is not None else answer[:1]:
            more = refusals(failure, choice, proposal.refused)
            if not more:
                continue
            refused = joined(proposal.refused, more)
            other = {step: choice.candidates(step, refused)[0].kernel.name for step in more}
            kernels = {**proposal.kernels, **other}
            yield _Proposal(
                kernels=kernels,
                refused=refused,
                memories=tuple(dict.fromkeys((*proposal.memories, failure.memory))),
                extra_cycles=extra_cycles(bound, kernels),
            )

    def _least_scratch(self, bound: Bound, proposal: _Proposal, failures: Sequence[PlanFailure]) -> _Proposal | None:
        """Everything that any overflow so far could be cured with."""
        choice = choice_of(bound, self.planner.operators, self.planner.pins)
        kernels: dict[str, str] = {}
        for failure in failures:
            kernels |= least_scratch(failure, choice, proposal.refused)
        if not kernels:
            return None
        short = dict.fromkeys(failure.memory for failure in failures)
        return replace(proposal, kernels={**proposal.kernels, **kernels}, memories=tuple(short), last=True)

    def _regained(self, first: Bound, search: _Search, plan: Allocated) -> Allocated:
        """The same with faster kernels where the plan has room for their scratch, if one is found with them."""
        if not search.failures:
            return plan
        choice = choice_of(plan.tiled.scheduled.bound, self.planner.operators, self.planner.pins)
        faster = regained(plan, search.failures[0], choice)
        if faster:
            kernels = {**search.proposal.kernels, **faster}
            answer = self.planner.best(self._bound(first, replace(search.proposal, kernels=kernels)))
            plan = answer if isinstance(answer, Allocated) else plan
        return self._with_other_orders(first, search, plan)

    def _exchanged(self, first: Bound, plan: Allocated) -> Allocated:
        """The same with kernels that have faster tiles, or run beside an engine, where the whole is faster so."""
        before, rebind, planner = plan.tiled.scheduled.bound, self.rebind, self.planner
        if rebind is None or not before.platform.inner:
            return plan
        settled, notes = exchanged(before, first), before.diagnostics  # what memory was short for

        def bind(kernels: Mapping[str, str]) -> Bound:
            return replace(self._with_kernels(first, rebind, {**settled, **kernels}), diagnostics=notes)

        kernels = faster_in_tiles(plan, planner, choice_of(before, planner.operators, planner.pins), bind)
        answer = planner.best(bind(kernels)) if kernels else plan
        if isinstance(answer, Allocated) and merit(answer) < merit(plan):
            plan, settled = answer, {**settled, **kernels}
        return with_exchanges(plan, planner, bind)

    def _with_other_orders(self, first: Bound, search: _Search, plan: Allocated) -> Allocated:
        """The same with the fastest kernels in those steps, the slowest first, for which another order has room."""
        bound = plan.tiled.scheduled.bound
        kernels = {} if bound.platform.inner else exchanged(bound, first)
        slowest = sorted(kernels, key=lambda step: -extra_cycles(bound, {step: kernels[step]}))
        for step in slowest[:_MOST_TRIES]:
            others = {name: kernel for name, kernel in kernels.items() if name != step}
            answer = self.planner.best(self._bound(first, replace(search.proposal, kernels=others)))
            if isinstance(answer, Allocated):
                plan, kernels = answer, others
        return plan

    def _bound(self, first: Bound, proposal: _Proposal) -> Bound:
        """The proposal's binding, with a note about what is slower."""
        if self.rebind is None or not proposal.kernels:
            return first
        bound = self._with_kernels(first, self.rebind, proposal.kernels)
        return replace(bound, diagnostics=(*bound.diagnostics, *slower_kernels(bound, first, proposal.memories)))

    def _with_kernels(self, first: Bound, rebind: Rebind, kernels: Mapping[str, str]) -> Bound:
        """Bound again on the same machine, with what these kernels need of it; once for the same kernels."""
        key = tuple(sorted(kernels.items()))
        if key not in self.bindings:
            self.bindings[key] = rebind(kernels)
        bound = self.bindings[key]
        running = (binding.kernel.name for binding in bound.bindings.values())
        return replace(bound, platform=first.platform.running(running))

    def _error_of(self, first: Bound, failures: Sequence[PlanFailure]) -> TilewrightError:
        """The reason that is nearest to fitting, with what to change."""
        crowded = [failure for failure in failures if failure.overflow is not None]
        if crowded:
            return self._with_suggestions(first, min(crowded, key=lambda failure: failure.excess_bytes))
        error = failures[0].error
        try:
            least = self._least(first, failures) if self.rebind is not None else None
        except WorkDone:
            return with_suggestions(error, (), ("--memory for all steps",))
        if least is not None:
            memory, size_bytes = least
            return amended(
                error, fix=(typed("--memory", f"{memory}={size_bytes}", gives="is the least that does for all steps"),)
            )
        return error if error.fix else self._with_suggestions(first, failures[0])

    def _least(self, first: Bound, failures: Sequence[PlanFailure]) -> tuple[str, int] | None:
        """The least size of the memory that no tile fits with which a plan is found; None where none is known.

        Nothing smaller does than what the last step needs that had no other kernel. What that leaves open is the next
        such step, so sizes rise to the least one.
        """
        planner = replace(self.planner, longest=1)
        least = _needed(failures)
        for _ in range(_MOST_LIMITS):
            if least is None:
                return None
            search = replace(self, planner=planner)._searched(with_memories(first, dict([least])), planner.first)
            if search.plan is not None:
                return least
            before, least = least, _needed(search.failures)
            if least is not None and (least[0] != before[0] or least[1] <= before[1]):
                return None
        return None

    def _with_suggestions(self, first: Bound, failure: PlanFailure) -> TilewrightError:
        """Changes after which the model fits, each proved by planning with it."""
        trials, short = Trials(self._changed_plan(first)), failure.overflow
        result = tuple(self._suggestions(first, failure, trials))
        if trials.untried and not result and short is not None:
            with self.planner.work.unlimited():  # nothing to try is no answer
                result = limits_as_planned(first, trials.plan, short.memory, short.needed_bytes)
        error = amended(failure.error, fix=() if result else failure.error.fix)
        if failure.of_constants and (too_much := too_much_for_machine(first)):
            error = amended(error, details=(*error.details, too_much))
        return with_suggestions(error, result, trials.untried)

    def _changed_plan(self, first: Bound) -> Plan:
        """How to plan with something changed; `first` is what would be bound without limits."""

        def plan(changed: Bound, change: Change) -> Allocated | None:
            fitting = replace(self, planner=changed_planner(self.planner, first.graph, change))
            try:
                if change.settled:
                    least = replace(fitting, planner=replace(fitting.planner, optimize="ram"))
                    answer = least._line_buffered(least.planner.best(changed), None)
                else:
                    answer = fitting.found(replace(first, platform=changed.platform))
            except TilewrightError:
                return None  # the change itself is not possible
            return answer if isinstance(answer, Allocated) else None

        return plan

    def _asked(self, first: Bound) -> Request:
        """What could be changed, whether or not anything fits."""
        pins = self.planner.pins
        return Request(
            placeable=False,
            effort=self.planner.budget.work,
            pinned=bool(pins.memories or pins.offsets),
            staged=bool(pins.staged),
            io={name: whose for name, whose in pins.io.items() if whose in STREAMED}
            | {name: "user" for name in self.planner.named_io if pins.io.get(name) == "pool"},
            io_pinned=not pins.memories.keys().isdisjoint((*first.graph.inputs, *first.graph.outputs)),
        )

    def _suggestions(self, first: Bound, failure: PlanFailure, trials: Trials) -> tuple[str, ...]:
        kernels = exchanged(failure.tiled.scheduled.bound, first) if failure.tiled else {}
        short = failure.overflow if failure.of_constants else None
        placeable = any(MIGHT_FIT in detail for detail in failure.error.details)
        request = replace(self._asked(first), placeable=placeable, of_constants=short is not None)
        if short is not None:
            result = limits_for_constants(first, trials, request, short.memory, short.needed_bytes)
            if result or too_much_for_machine(first):
                return result
        return suggestions(self._bound(first, _Proposal(kernels=kernels)), trials, request)


def _settled(plan: Allocated, first: Bound) -> Allocated:
    """The same plan, its other kernels among its decisions: pinned, these give it again."""
    kernels = exchanged(plan.tiled.scheduled.bound, first)
    return replace(plan, decisions=replace(plan.decisions, kernels={**plan.decisions.kernels, **kernels}))


def _needed(failures: Sequence[PlanFailure]) -> tuple[str, int] | None:
    """A memory, and the least size of it that all steps of the last error need, whichever of their kernels is taken."""
    steps = failures[-1].stuck or (failures[-1].error.subject,)
    result = [_least_needed(failures, step) for step in steps]
    known = [size for size in result if size is not None and size[0] == failures[-1].memory]
    return max(known, key=lambda size: size[1]) if len(known) == len(result) else None


def _least_needed(failures: Sequence[PlanFailure], step: str) -> tuple[str, int] | None:
    """By the kernel that needs least; None where that is not known of all."""
    about = [error.needs for failure in failures for error in failure.errors if error.subject == step]
    known = [needs for needs in about if needs is not None]
    return min(known, key=lambda needs: needs[1]) if len(known) == len(about) else None
