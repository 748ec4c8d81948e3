"""Knows how to tile layers one by one for scratchpads of their own, and how to run them all in one program.
Does not know any operator.

Compiling takes most of the time of a run; so the tiles of each layer are found where the scratchpad is small, and
pinned in a program of all layers whose scratchpad is large enough for any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.allocate.best_fit import BestFit
from tilewright.comparison.verdicts import judge_steps
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.plans.tiler import Buffering
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import SCRATCHPAD_BYTES, cluster, copy_path
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import Sample, site_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.search.tiling_search import smallest_bytes
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace
from tilewright.tile.strategies import StepTiler
from tilewright.transform import HOOKS, LIFETIMES, transform

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LITTLE_WORK = 2000  # of the allocator: nobody looks at where it puts what


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A layer, the bytes of the scratchpad that its tiles may take, and how they are buffered."""

    layer: Sample
    room_bytes: int
    buffering: Buffering
    number: int = 0

    @property
    def name(self) -> str:
        """Unique in a program; an identifier of C."""
        return f"{self.layer.name.lower()}_{self.number}"


def two_hops(scratchpad_bytes: int, middle_bytes: int) -> Platform:
    """The made-up cluster with a memory further out, where values live; constants enter at the scratchpad."""
    base = cluster(scratchpad_bytes)
    memories = (replace(memory, size_bytes=middle_bytes) if memory.name == "l2" else memory for memory in base.memories)
    return replace(
        base,
        memories=(Memory(name="l3", size_bytes=None, bytes_per_cycle=1.0, latency_cycles=60.0), *memories),
        copies=(*base.copies, copy_path("l3", "l2"), copy_path("l2", "l3")),
        backing="l3",
    )


def network(cases: Sequence[Case]) -> tuple[Graph, Mapping[str, Array]]:
    """A graph of one node for each case, none reading another, and its inputs."""
    graph = Graph(name="layers", inputs=(), outputs=(), nodes=(), tensors={}, constants={})
    given: dict[str, Array] = {}
    for case in cases:
        site = site_of(vocabulary()[case.layer.op], case.layer.inputs, case.layer.attributes, case.layer.constants)
        known = {tensor.name: tensor for tensor in (*site.inputs, *site.outputs) if tensor is not None}
        names = {name: f"{case.name}_{name}" for name in known}
        node = replace(
            site.node,
            name=case.name,
            inputs=tuple(names.get(name, "") for name in site.node.inputs),
            outputs=tuple(names[name] for name in site.node.outputs),
        )
        arrays = {names[f"in{at}"]: array for at, array in enumerate(case.layer.inputs) if array is not None}
        constants = {names[name]: array for name, array in site.constants.items()}
        given |= {name: array for name, array in arrays.items() if name not in constants}
        graph = replace(
            graph,
            inputs=(*graph.inputs, *(name for name in arrays if name not in constants)),
            outputs=(*graph.outputs, *node.outputs),
            nodes=(*graph.nodes, node),
            tensors={**graph.tensors, **{names[name]: replace(one, name=names[name]) for name, one in known.items()}},
            constants={**graph.constants, **constants},
        )
    return graph.verify(), given


def planned(cases: Sequence[Case], platform: Platform, pins: Decisions, buffering: Buffering) -> Allocated:
    """The cases in one program, layer by layer, through every check. TilewrightError where one does not fit."""
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        budget=Budget(work=_LITTLE_WORK),
        pins=pins,
        buffering=buffering,
        longest=1,
    )
    graph, _ = network(cases)
    return planner.carry_out(planner.bind(graph, platform), pins)


def tiles_of(case: Case, platform: Platform) -> Allocated:
    """The plan of one case, no value being taken for another's part and none but tiles in the scratchpad.

    `platform` is given a scratchpad that leaves the case its room.
    """
    return planned((case,), _with_near(platform, case.room_bytes), _apart((case,)), case.buffering)


def least_room(layer: Sample, platform: Platform) -> int:
    """The least bytes that tiles of a layer can do with over the last hop, reductions cut where they may be."""
    return smallest_bytes(layer_space(layer, platform, split=True), "single")


def layer_space(layer: Sample, platform: Platform, *, split: bool) -> TilingSpace:
    """The tilings of a layer over the last hop, the hops before moving it in one piece."""
    case = Case(layer=layer, room_bytes=0, buffering="single")
    large = _with_near(platform, 1 << 24)
    scheduled = planned((case,), large, _apart((case,)), "single").tiled.scheduled
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    way = machine.hops[-1]
    return step_space(machine, 0, scheduled.steps[0], way.inner, split=split)


def run_on_twin(cases: Sequence[Case], platform: Platform, folder: Path, runner: TwinRunner) -> list[str]:
    """Run all cases with the tiles that each has alone; what is wrong with their results, empty when nothing is."""
    tiles = {case.name: group.region for case in cases for group in tiles_of(case, platform).tiled.groups}
    pins = replace(_apart(cases), tiles=tiles)
    plan = planned(cases, _with_near(platform, SCRATCHPAD_BYTES), pins, "auto")
    _, inputs = network(cases)
    program = lower(plan, vocabulary(), "layers")
    code = emit(transform(program, (HOOKS, LIFETIMES), ("lifetimes",)), EmitOptions())
    job = Job(artifact=code, plan=plan, prefix="layers", input_sets=(inputs,), trace=True)
    result = runner.run(job, folder)
    graph = plan.tiled.scheduled.bound.graph
    verdicts = judge_steps(graph, [case.name for case in cases], vocabulary(), job.input_sets, result.values)
    missing = {case.name for case in cases} - {verdict.name for verdict in verdicts}
    return [*sorted(missing), *(verdict.name for verdict in verdicts if not verdict.exact)]


def _with_near(platform: Platform, room_bytes: int) -> Platform:
    size = room_bytes + platform.runtime_bytes.get(platform.inner, 0)
    memories = (replace(one, size_bytes=size) if one.name == platform.inner else one for one in platform.memories)
    return replace(platform, memories=tuple(memories))


def _apart(cases: Sequence[Case]) -> Decisions:
    """Nothing takes the bytes of anything else: a reshape copies, and every layer is a step."""
    outputs = (f"{case.name}_out{at}" for case in cases for at in range(len(vocabulary()[case.layer.op].outputs)))
    return Decisions(in_place=dict.fromkeys(outputs, ""), order=tuple(case.name for case in cases))
