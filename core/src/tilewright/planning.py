"""Knows how one network is planned on one target: what the planner takes of what the user asks for, where a saved state
lets it begin, and what is tried where nothing fits.
Does not know the stages before a graph is bound, those after it is planned, nor who observes them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tilewright.allocate.auto import chosen
from tilewright.allocate.limits import soft_limit_warnings
from tilewright.config.graph_io import io_owners
from tilewright.config.machine import machine
from tilewright.config.name_patterns import values_named
from tilewright.config.options import Options
from tilewright.config.recurrent_state import RecurrentState, demand_stored_for, initial_constants
from tilewright.config.user_decisions import decided, decides, demand_borders
from tilewright.errors import Diagnostic, Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.graphs.stored_sites import SUFFIX as STORED
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Tiled
from tilewright.plan.kernel_fallback import Answer, Fitting
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.work import Work
from tilewright.plugins.registry import Registry

if TYPE_CHECKING:
    from tilewright.plan.line_buffers.front import FrontPoint

Stage = Graph | Bound | Scheduled | Tiled | Allocated
PlanWith = Callable[[Mapping[str, str], float | None, Work | None], Answer]  # settings, cycles to beat, work


def configured(target: str, options: Options, registry: Registry) -> Platform:
    """The target with what the user asks for, and as the code passes need it that he asks for."""
    platform = machine(registry.platforms[target], options, registry.memory_hierarchies)
    if not options.code_passes:
        return platform
    from tilewright.transform.passthrough import platform_for

    return platform_for(platform, tuple(registry.code_passes.values()), options.code_passes)


@dataclass(frozen=True, slots=False, kw_only=True)  # slots=False: for cached properties
class Planning:
    """A graph, the platform, and what the user asks for. Everything is worked out once, and not before it is asked for.

    `saved`: the stages of a saved state, by their type. `imported`: the graph as the model has it, whose names patterns
    may be about, where no state was saved. `diagnostics`: of the stages before.
    """

    graph: Graph
    platform: Platform
    options: Options
    registry: Registry
    states: tuple[RecurrentState, ...]
    saved: Mapping[type, Stage]
    imported: Graph | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    chains: bool = True  # whether kernels that compute several nodes as one may be bound
    known: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)  # of other plans: see `Planner`

    @cached_property
    def planner(self) -> Planner:
        """What turns a bound graph into a plan."""
        return Planner(
            operators=self.registry.operators,
            kernels=self.registry.kernels,
            tiler=self.registry.tilers[self.options.tiler],
            allocator=chosen(self.registry.allocators, self.options.allocator),
            pins=self._pins,
            named_io=tuple(self.options.io_of),
            buffering=self.options.buffering,
            longest=self.options.groups,
            budget=Budget(work=self.options.effort, seed=self.options.seed),
            optimize=self.options.optimize,
            recompute=self.options.recompute,
            choose_constant_copies=self.options.choose_constant_copies,
            layers=self.known.setdefault("layers", Layers(operators=self.registry.operators)),
            chains=self.chains,
            known=self.known,
        )

    @cached_property
    def bound(self) -> Bound:
        """Kernels, layouts, packed constants. TilewrightError TW1223 (exit 2) where a saved one keeps other state."""
        bound = self.saved.get(Bound)
        if not isinstance(bound, Bound):
            return self._bound_with({})
        demand_stored_for(self.states, bound)
        return bound

    @cached_property
    def decisions(self) -> Decisions:
        """The user's decisions; with patterns of names, what they decide about the bound graph."""
        if not decides(self.options):
            return self._pins
        return decided(self._pins, self.options, self.bound, self.imported)

    def plan(self, plan_with: PlanWith) -> Allocated:
        """The plan, from wherever a saved state lets it begin: where memory is short, without kernels that compute
        several nodes as one. TilewrightError (exit 5) where none fits: with settings of the target among what to try,
        where `plan_with` finds a plan with these.
        """
        try:
            return self._plan()
        except TilewrightError as error:
            if error.exit_code is not Exit.DOES_NOT_FIT or self.saved:
                raise
            if self._of_chains:
                return self._node_by_node.plan(plan_with)
            from tilewright.plan.suggestions import settings_that_fit, with_suggestions

            work = self.planner.work
            more = settings_that_fit(self.platform.roomier, lambda settings: plan_with(settings, None, work), work)
            raise with_suggestions(error, *more) from error.__cause__

    def plan_within(self, beat: float | None, work: Work | None) -> Answer:
        """The plan, or why none fits; () where it cannot take fewer cycles than `beat`. With `work`, all that is asked
        is whether a plan fits within it: layer by layer, where that does.
        """
        if work is None:
            answer = self._fitting(self.planner.work).faster(self.bound, beat)
            short = answer and not isinstance(answer, Allocated) and self._of_chains
            return self._node_by_node.plan_within(beat, work) if short else answer
        fitting = self._fitting(work)
        planner = replace(fitting.planner, first_fit=True)
        pinned = planner.longest is not None or planner.pins.groups or planner.pins.tiles
        layers = () if pinned else replace(fitting, planner=replace(planner, longest=1)).found(self.bound)
        return layers if isinstance(layers, Allocated) else replace(fitting, planner=planner).found(self.bound)

    @property
    def _of_chains(self) -> tuple[Node, ...]:
        """The nodes that kernels compute as one with those before them, or on values in forms of their own; none where
        such a kernel is pinned.
        """
        nodes = self.bound.graph.nodes if self.chains else ()
        chains = tuple(node for node in nodes if node.links or node.op.endswith(STORED))
        return () if any(node.name in self._pins.kernels for node in chains) else chains

    @property
    def _node_by_node(self) -> Planning:
        """The same without such kernels."""
        return replace(self, chains=False, diagnostics=(*self.diagnostics, *_unlinked(self._of_chains)))

    def front(self, plan: Allocated) -> tuple[FrontPoint, ...]:
        """Bytes against cycles: this plan, and others that flags lead to. Of a saved state, this one."""
        from tilewright.plan.least_memory import least_plan
        from tilewright.plan.line_buffers.front import memory_front

        planner = replace(self.planner, pins=self.decisions)
        if self.saved:
            return memory_front(planner, plan, self.bound, None)
        least = least_plan(planner, self.bound, plan, self._fitting(self.planner.work).found)
        return memory_front(planner, plan, self.bound, self._bound_with, least)

    def _plan(self) -> Allocated:
        bound, fitting, decisions = self.bound, self._fitting(self.planner.work), self.decisions
        if isinstance(tiled := self.saved.get(Tiled), Tiled):
            return fitting.planner.allocate(tiled, decisions)
        if isinstance(scheduled := self.saved.get(Scheduled), Scheduled):
            return fitting.planner.allocate(fitting.planner.tile(scheduled, decisions), decisions)
        return fitting.plan(bound)

    def _fitting(self, work: Work) -> Fitting:
        rebind = None if Bound in self.saved else self._bound_with
        return Fitting(planner=replace(self.planner, pins=self.decisions, work=work), rebind=rebind)

    def _bound_with(self, kernels: Mapping[str, str]) -> Bound:
        """The graph bound, with these kernels (node -> name) unless others are pinned."""
        decided = Decisions(kernels=kernels, memories=self._placed_by_name)
        planner = replace(self.planner, pins=decided.pinned_by(self._pins))
        bound = planner.bind(self.graph, self.platform, self.diagnostics)
        return replace(bound, constants={**bound.constants, **initial_constants(self.states, bound.layouts)})

    @property
    def _placed_by_name(self) -> Mapping[str, str]:
        """The values that `--pin` names, -> memory: they must be values, not inside of a chain. Patterns, such as
        `*`, stand for what there is when everything is bound.
        """
        constant = {memory.name for memory in self.platform.of_kind("const")}
        rules = [(name, pool) for name, pool in self.options.memory_pins if pool not in constant]
        return {value: pool for name, pool in rules for value in values_named(name, self.graph, self.imported)}

    @cached_property
    def _pins(self) -> Decisions:
        """The user's decisions that need no bound graph."""
        following = {state.input: state.output for state in self.states}
        inputs = {name: self.graph.tensors[name] for name in self.graph.inputs if name not in following}
        kept = set(following.values())
        outputs = {name: self.graph.tensors[name] for name in self.graph.outputs if name not in kept}
        demand_borders(self.options, (*inputs, *outputs), following)
        decisions = Decisions(io=io_owners(self.options, inputs, outputs), state=following)
        return decisions.pinned_by(self.options.pins)


def _unlinked(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """The notes about nodes that memory has no room for as kernels would compute them: TW5041 of several as one, TW5082
    of those on values in forms of their own.
    """
    chains, stored = [node for node in nodes if node.links], [node for node in nodes if not node.links]
    are = "1 chain is" if len(chains) == 1 else f"{len(chains)} chains are"
    have = "1 step has" if len(stored) == 1 else f"{len(stored)} steps have"
    said = (
        ("TW5041", f"{are} computed node by node", chains),
        ("TW5082", f"{have} values without padding, and other kernels", stored),
    )
    for code, message, named in said:
        if named:
            details = tuple(f"'{node.name}': {node.op.removesuffix(STORED)}" for node in named)
            yield Diagnostic(severity="note", code=code, message=f"memory is short: {message}", details=details)


def plan_notes(plan: Allocated, operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """What a plan has to tell its user: soft limits that it exceeds, line-buffered steps, values computed again, limits
    that cost much. Warnings first.
    """
    from tilewright.plan.line_buffers.plan_costs import line_buffer_notes
    from tilewright.plan.recompute_choice import recomputation_notes
    from tilewright.plan.suggestions import limit_notes

    yield from soft_limit_warnings(plan)
    yield from line_buffer_notes(plan, operators)
    yield from recomputation_notes(plan)
    yield from limit_notes(plan)
