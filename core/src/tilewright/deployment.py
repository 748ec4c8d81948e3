"""Knows the whole flow: a model, a target and options, and every stage between them and the files.
Does not know what any stage does.

    model file -> Graph -> Bound -> Scheduled -> Tiled -> Allocated -> Program -> Artifact
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tilewright.allocate.auto import EXACT
from tilewright.allocate.limits import beyond_machine_warnings, memory_bytes
from tilewright.config.flag_conflicts import bound_of, decided_already, demand_same, demand_same_border, idle_flags
from tilewright.config.graph_io import demand_one_memory, streamed_io
from tilewright.config.machine import board_notes
from tilewright.config.options import Options
from tilewright.config.recurrent_state import RecurrentState, initial_states, states_of, states_of_plan, with_states
from tilewright.errors import Diagnostic, TilewrightError
from tilewright.frontend.reading.model_digest import model_digest
from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated, Artifact, Bound, Scheduled, Tiled
from tilewright.network import imported_with, importers_for, is_for_another, ordered_with, rewritten_with, slid_with
from tilewright.plugins.loading import load_for
from tilewright.plugins.offers import StageEvent

if TYPE_CHECKING:
    from tilewright.comparison.verdicts import Move
    from tilewright.emit import Vector
    from tilewright.frontend.load import Imported
    from tilewright.ir.graphs.model_formats import KeptState
    from tilewright.ir.programs.program import Program
    from tilewright.plan.kernel_fallback import Answer
    from tilewright.plan.line_buffers.front import FrontPoint
    from tilewright.plan.open_settings import Contest
    from tilewright.plan.proposals.planner import Optimize
    from tilewright.plan.proposals.work import Work
    from tilewright.planning import Planning, Stage
    from tilewright.plugins.registry import Registry
    from tilewright.rewrite import Rewritten
    from tilewright.rewrite.slide.slide import Slid

Value = TypeVar("Value")


class Deployment:
    """One model on one target. Every stage is a cached attribute; nothing runs before it is asked for.

    Two deployments never influence each other: everything is a value, and there is no global state.
    """

    def __init__(
        self, model: Path | str | bytes, target: str, options: Options | None = None, registry: Registry | None = None
    ) -> None:
        self.model = Path(model) if isinstance(model, str) else model
        self.target, self.options, self._registry = target, options or Options(), registry
        self._given: dict[type, Stage] = {}
        self._from_observers: list[Diagnostic] = []
        self._known: dict[Hashable, Any] = {}  # what tilers found: rival settings ask for much of it again

    @cached_property
    def registry(self) -> Registry:
        """The plugins that this compilation needs, and no others."""
        if self._registry is not None:
            return self._registry
        return load_for(
            target=self.target,
            allocator=self.options.allocator,
            tiler=self.options.tiler,
            memory_hierarchy=self.options.memory_hierarchy,
            exporters=self.options.emit,
            welcome=(*([("allocator", EXACT)] if self.options.allocator == "auto" else ()), *self._importers),
        )

    @cached_property
    def platform(self) -> Platform:
        """The target, configured; where it leaves settings open, with those whose plan is the best."""
        return self._configured(self.contest.settings)

    @cached_property
    def planning(self) -> Planning:
        """What is asked for, as the planner takes it."""
        from tilewright.planning import Planning

        begun, slid = Graph in self._given, () if Graph in self._given or not self.slid else (self.slid.note,)
        return Planning(
            graph=self.graph,
            platform=self.platform,
            options=self.options,
            registry=self.registry,
            states=self.states,
            saved=self._given,
            imported=None if self._given else self.imported.graph,
            known=self._known,
            diagnostics=() if begun else (*self.imported.diagnostics, *self.rewritten.diagnostics, *slid),
        )

    @property
    def rival_settings(self) -> tuple[Mapping[str, str], ...]:
        """Of the target, where nobody chose. None where a saved state brings its own."""
        platform = self._configured({})
        return platform.rivals(platform) if platform.rivals and Bound not in self._given else ()

    @cached_property
    def contest(self) -> Contest:
        """Each of the rival settings planned with."""
        from tilewright.plan.open_settings import contest

        return contest(self.rival_settings, [self.planned_with])

    @cached_property
    def imported(self) -> Imported:
        """What the model means, in normal form."""
        return self._finished("frontend", imported_with(self.model, self.options, self.registry))

    @cached_property
    def rewritten(self) -> Rewritten:
        """After every graph pass."""
        platform = self._configured({}) if self.target else None
        return self._finished("rewrite", rewritten_with(self.imported, self.options, self.registry, platform))

    @cached_property
    def slid(self) -> Slid | None:
        """The network that is called with what is new of a window; None where no input slides."""
        return slid_with(self.rewritten.graph, self.options, self.registry) if self.options.slide else None

    @cached_property
    def bound(self) -> Bound:
        """Kernels, layouts, packed constants."""
        if isinstance(saved := self._given.get(Bound), Bound):
            return saved
        return self._finished("bind", self.planning.bound)

    @cached_property
    def allocated(self) -> Allocated:
        """The plan: every decision taken, every byte placed, everything checked."""
        from tilewright.plan.placed_packing import packed_for_places
        from tilewright.plan.proposals.other_kernels import is_other
        from tilewright.plan.tile_packing import packed_for_tiles

        if isinstance(saved := self._given.get(Allocated), Allocated):
            return packed_for_places(saved, self.registry.operators)
        best, bound = self.contest.taken, self.bound
        plan = packed_for_tiles(best.plans[0] if best else self.planning.plan(self.planned_with))
        plan = packed_for_places(plan, self.registry.operators)
        if is_other(plan.tiled.scheduled.bound, bound):
            self._finished("bind", plan.tiled.scheduled.bound)  # again, with other kernels or nodes
        self._finished("schedule", plan.tiled.scheduled)
        self._finished("tile", plan.tiled)
        return self._finished("allocate", plan)

    @cached_property
    def front(self) -> tuple[FrontPoint, ...]:
        """Bytes against cycles: this plan, and others that flags lead to. Of a state that was imported, this one."""
        return self.planning.front(self.allocated)

    @cached_property
    def further_front(self) -> tuple[FrontPoint, ...]:
        """`front` where the application does more: inputs and outputs stay in its buffers, or pass in rows. Nothing of
        a state that was imported.
        """
        from tilewright.plan.line_buffers.ends_front import ends_front

        if self._given or not self.front:
            return ()
        return ends_front(self.allocated, self.options.optimize, self._planned_with_ends)

    @cached_property
    def program(self) -> Program:
        """The C syntax tree, after the code passes."""
        from tilewright.lower import lower
        from tilewright.transform import transform

        program = self._finished("lower", lower(self.allocated, self.registry.operators, self.prefix))
        names, passes = self.options.code_passes, tuple(self.registry.code_passes.values())
        return self._finished("transform", transform(program, passes, names, names, self.registry.owners("code_pass")))

    @cached_property
    def artifact(self) -> Artifact:
        """The generated files."""
        from tilewright.comparison.outputs import half_share
        from tilewright.emit import EmitOptions, emit

        chosen, share = self.options, half_share(self.graph)
        vectors = self._vectors if chosen.selftest else ()
        emitted = EmitOptions(const_format=chosen.const_format, layout=chosen.layout, vectors=vectors, half_share=share)
        return self._finished("emit", replace(emit(self.program, emitted), package=chosen.package, board=chosen.board))

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """The artifact in the layout of every build system asked for: relative path -> bytes."""
        from tilewright.exporters.export import export

        return export([self.registry.exporters[name] for name in self.options.emit], self.allocated, self.artifact)

    @cached_property
    def graph(self) -> Graph:
        """The graph that is compiled: imported, rewritten, and with what passes its border in rows."""
        if isinstance(saved := self._given.get(Graph), Graph):
            return saved
        from tilewright.rewrite.insert_streamed_io import with_streamed_io

        ends = streamed_io(with_states(self.options, self._kept), self.rewritten.graph)
        for whose in ends.values():
            demand_one_memory(self.platform, whose)
        graph = with_streamed_io((self.slid or self.rewritten).graph, ends)
        return ordered_with(graph, self.options, self._kept, self._configured({}))

    @cached_property
    def with_whole_windows(self) -> Deployment:
        """The same, where no input slides."""
        other = Deployment(self.model, self.target, replace(self.options, slide=""), self._registry)
        other.imported, other.rewritten = self.imported, self.rewritten
        return other

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """How far lossy passes have moved the outputs, over random inputs; nothing is known of an imported state."""
        from tilewright.comparison.moves import lossy_runs
        from tilewright.comparison.random_moves import random_moves

        if self._given or not (runs := lossy_runs(self.imported.graph, self.rewritten.trail)):
            return ()
        if self.slid:
            return self.with_whole_windows.moves
        begun = initial_states(self.states)
        return random_moves(runs, self.inputs, begun, self.options.seed, self.graph, self.registry.operators)

    @property
    def tiled(self) -> Tiled:
        """Every buffer with its final size."""
        return self.allocated.tiled

    @property
    def scheduled(self) -> Scheduled:
        """Steps in order, lifetimes, views."""
        return self.allocated.tiled.scheduled

    @property
    def inputs(self) -> Mapping[str, Tensor]:
        """The graph's inputs by name, without those that are state."""
        kept = {state.input for state in self.states}
        return {name: self.graph.tensors[name] for name in self.graph.inputs if name not in kept}

    @property
    def outputs(self) -> Mapping[str, Tensor]:
        """The graph's outputs by name, without those that are state."""
        kept = {state.output for state in self.states}
        return {name: self.graph.tensors[name] for name in self.graph.outputs if name not in kept}

    @cached_property
    def states(self) -> tuple[RecurrentState, ...]:
        """Outputs that are inputs of the next run."""
        if isinstance(saved := self._given.get(Allocated), Allocated):
            return states_of_plan(saved)
        options = with_states(self.options, self._kept)
        kept = states_of(options.states, self.graph, options.states_folder, self._kept)
        if not self.slid:
            return kept
        of_window = (RecurrentState(input=s.input, output=s.output, initial=s.initial) for s in self.slid.states)
        return (*kept, *of_window)

    @property
    def number_of_ops(self) -> int:
        """Multiply-accumulates of one inference, each one operation (not two); all else counts nothing."""
        return sum(self.registry.operators[site.node.op].macs(site) for site in self.graph.sites())

    @property
    def worst_case_buffer_size(self) -> Mapping[str, int]:
        """Bytes that the plan takes of each memory, what lasts from run to run included."""
        return {pool.memory: memory_bytes(self.allocated, pool.memory) for pool in self.allocated.pools}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the user should know: about plugins left out, the model, and whatever stage has run so far."""
        planned: tuple[Diagnostic, ...] = ()
        if "allocated" in self.__dict__:
            from tilewright.planning import plan_notes

            planned = tuple(plan_notes(self.allocated, self.registry.operators))
            if not self._given:
                planned += tuple(idle_flags(self.allocated, self.options, self.planning.decisions.memories))
        offered = self.registry.platforms[self.target], self.options, self.registry.memory_hierarchies
        bound, notes = self._settled, (*board_notes(*offered), *self.contest.notes())
        planning = (*bound.diagnostics, *notes, *beyond_machine_warnings(bound.platform), *planned)
        return tuple(dict.fromkeys((*self.registry.diagnostics, *planning, *self._from_observers)))

    @property
    def prefix(self) -> str:
        """The C prefix of every external symbol. TilewrightError TW1004 (exit 2) where C does not take the name."""
        from tilewright.c_text.identifiers import demand_prefix, prefix_from_file

        name = self.options.name or prefix_from_file(self.model.stem if isinstance(self.model, Path) else "model")
        demand_prefix(name)
        return name

    def compile(self) -> Artifact:
        """The generated files; the same bytes for the same model, options and versions."""
        return self.artifact

    def export_state(self, folder: Path, stage: str = "allocated") -> None:
        """Write one stage's value ("rewritten", "bound", "scheduled", "tiled", "allocated") as JSON and npz."""
        from tilewright.snapshot.saved_stage import save_stage

        name = {"rewritten": "graph", "bound": "_settled"}.get(stage, stage)
        save_stage(getattr(self, name), folder, model_digest(self.model))

    def import_state(self, folder: Path) -> Deployment:
        """The same deployment, continuing from a state that was exported (and perhaps edited). Verified again.

        TilewrightError TW1220 to TW1223 for a state that cannot be read, is not sound, or contradicts the options.
        """
        from tilewright.snapshot.saved_stage import read_stage

        value = read_stage(folder, self.registry, model_digest(self.model))
        if isinstance(value, Decisions):
            pinned = replace(self.options, pins=self.options.pins.pinned_by(value))
            return Deployment(self.model, self.target, pinned, self._registry)
        continued = Deployment(self.model, self.target, self.options, self._registry)
        continued._from_observers.extend(decided_already(value, self.options))
        if isinstance(value, Graph):
            continued._given = {Graph: value}
            demand_same_border(value, self.options)
        else:
            bound = bound_of(value)
            continued._given = {type(value): value, Bound: bound, Graph: bound.graph}
            demand_same(value, bound, self.target, self.options)
        return continued

    def planned_with(self, settings: Mapping[str, str], beat: float | None, work: Work | None = None) -> Answer:
        """The plan with other settings of the target; why none fits; () where it cannot take fewer cycles than `beat`.
        No observer hears of it.
        """
        return self._unobserved(self._options_with(settings)).planning.plan_within(beat, work)

    def _unobserved(self, options: Options) -> Deployment:
        """The same network with other options, of which no observer hears."""
        other = Deployment(self.model, self.target, options, replace(self.registry, observers=()))
        other._given, other._known = self._given, self._known
        if not self._given:
            other.imported, other.rewritten, other.slid = self.imported, self.rewritten, self.slid
        return other

    def _planned_with_ends(self, owners: Mapping[str, IoOwner], optimize: Optimize) -> Allocated | None:
        """The plan with inputs and outputs elsewhere; None where there is none. No observer hears of it."""
        options = replace(self.options, io_of={**self.options.io_of, **owners}, optimize=optimize)
        try:
            return self._unobserved(options).allocated
        except TilewrightError:
            return None

    @cached_property
    def _importers(self) -> tuple[tuple[str, str], ...]:
        return importers_for(self.model, self.options)

    @cached_property
    def _kept(self) -> tuple[KeptState, ...]:
        """What the model keeps by its own word, and weights that `--state` keeps: for these ONNX is imported."""
        other = bool(self._importers) and is_for_another(self.model, self.options, self.registry)
        return self.imported.states if other or self.options.states else ()

    @property
    def _settled(self) -> Bound:
        """The binding; once there is a plan, that of the plan."""
        if "allocated" not in self.__dict__:
            return self.bound
        from tilewright.plan.proposals.other_kernels import is_other

        planned = self.allocated.tiled.scheduled.bound
        return planned if is_other(planned, self.bound) else self.bound

    @property
    def _vectors(self) -> tuple[Vector, ...]:
        """One set of random inputs and what the reference makes of it, for the self-test."""
        from tilewright.comparison.reference import run
        from tilewright.comparison.vectors import random_vectors
        from tilewright.emit import Vector

        (drawn,) = random_vectors(self.inputs, 1, self.options.seed, self.graph)
        values = run(self.graph, {**drawn.inputs, **initial_states(self.states)}, self.registry.operators)
        return (Vector(inputs=drawn.inputs, outputs={name: values[name] for name in self.outputs}),)

    def _configured(self, settings: Mapping[str, str]) -> Platform:
        """The target with what is asked for, and with these settings."""
        from tilewright.planning import configured

        return configured(self.target, self._options_with(settings), self.registry)

    def _options_with(self, settings: Mapping[str, str]) -> Options:
        return replace(self.options, settings={**self.options.settings, **settings})

    def _finished(self, stage: str, value: Value) -> Value:
        """Tell the observers, and hand `value` on."""
        self._from_observers.extend(self.registry.stage_finished(StageEvent(stage=stage, value=value)))
        return value
