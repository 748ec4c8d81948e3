"""Random chains in random regions, over one copy or two, run by teams: every output is what the references say.

Whatever a `Region` can say is drawn: cuts on any hop, how values are held, windows that keep rows, split reductions
with sums of their own or in the output's tile, values that leave. The independent checker has to accept each of them.
Values are small whole numbers in float32, so that no order of additions changes a bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from team_run import run_team
from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels, tilewright_operators
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import PartialSums
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Form, Hop, InternalValue, Region, SplitReduction, Tiles, key_of
from tilewright.ir.plans.stages import Artifact, Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of, roll_along
from tilewright.tile.cost.traffic import traffic_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis, RegionStep, StepAnalyses, region_analysis
from tilewright.tile.space.tiling_space import CopiedOperand, cuttable
from tilewright.transform import HOOKS, LIFETIMES, transform

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}
RANDOMLY = settings(  # a seed cannot be made smaller, so nothing is shrunk
    max_examples=16,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyTiler:
    """Steps in regions of drawn lengths, tiled anyhow."""

    seed: int
    name: str = "any"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        draw = random.Random(self.seed)
        analyses = StepAnalyses(ScheduledMachine(request.scheduled, request.operators, request.decisions))
        groups: list[Group] = []
        left = list(request.scheduled.steps)
        while left:
            at = len(request.scheduled.steps) - len(left)
            found: RegionAnalysis | str = ""
            for count in range(draw.randint(1, len(left)), 0, -1):
                found = region_analysis(analyses.machine, at, left[:count], analyses=analyses)
                if isinstance(found, RegionAnalysis):
                    break
            assert isinstance(found, RegionAnalysis)
            groups.append(Group(region=next(regions(found, draw))))
            left = left[len(found.members) :]
        return tuple(groups)


def regions(analysis: RegionAnalysis, draw: random.Random) -> Iterator[Region]:
    """Drawn ones that the engine takes."""
    for _ in range(60):
        found = Drawn(analysis, draw).region()
        if found is not None:
            yield found


class Drawn:
    """One region of the steps of a chain."""

    def __init__(self, analysis: RegionAnalysis, draw: random.Random) -> None:
        self.analysis, self.draw, self.sink = analysis, draw, analysis.sink
        self.sums: tuple[Cut, ...] = ()

    def region(self) -> Region | None:
        form = self.sink.space.kernel.accumulates(self.sink.space.site)
        hops, forms = self.nests(form), self.forms()
        boxes = boxes_of(self.analysis, hops, forms)
        if boxes.faults:
            return None
        hops = tuple(replace(hop, copies=self.copies(boxes, at)) for at, hop in enumerate(hops))
        near, name = self.analysis.hops[-1].inner, self.sink.step.name
        region = Region(
            steps=tuple(member.step.name for member in self.analysis.members),
            schedule=Tiles(hops=hops),
            internal_values={
                member.output.value: InternalValue(
                    memory=near, form=forms[member.output.value], live_out=member.live_out
                )
                for member in self.analysis.members[:-1]
            },
            sums={name: self.split(form, hops[-1])} if form and self.sums else {},
        )
        traffic = traffic_of(boxes_of(self.analysis, hops, forms))
        return None if any(one.fault for here in traffic for one in here) else region

    def nests(self, form: PartialSums | None) -> tuple[Hop, ...]:
        access, kernel = self.sink.access, self.sink.space.kernel
        loops = list(cuttable(access, kernel)[0]) if isinstance(access, MapAccess) else []
        held, hops = {loop.name: loop.extent for loop in loops}, []
        for way in self.analysis.hops:
            last = way is self.analysis.hops[-1]
            some = self.draw.randint(0, min(2, len(loops))) if last or self.draw.random() < 0.7 else 0
            nest = [Cut(loop.name, self.draw.randint(1, held[loop.name])) for loop in self.draw.sample(loops, some)]
            held |= dict(nest)
            if last and form and self.draw.random() < 0.5:
                cuts = (
                    Cut(one.name, self.draw.randint(1, one.extent)) for one in access.loops if one.name in form.loops
                )
                extents = {one.name: one.extent for one in access.loops}
                self.sums = tuple(cut for cut in cuts if cut.size < extents[cut.loop])
                nest += self.sums
            hops.append(Hop(outer=way.outer, inner=way.inner, nest=tuple(nest)))
        return tuple(hops)

    def forms(self) -> Mapping[str, Form]:
        anyhow: Sequence[Form] = ("recomputed", "rolling", "rolling", "whole")
        return {
            member.output.value: self.draw.choice(anyhow[1:] if member.live_out else anyhow)
            for member in self.analysis.members[:-1]
        }

    def copies(self, boxes: Boxes, at: int) -> Mapping[str, Copy]:
        last, hop = at + 1 == len(boxes.hops), boxes.hops[at]
        if not last and not hop.nest and len(self.analysis.members) > 1:
            return {key_of(member.step.name, item.name): Copy(level=0) for member, item in self.analysis.crossing(at)}
        return {
            key_of(member.step.name, item.name): self.copy(boxes, at, number, member, item)
            for number, member in enumerate(self.analysis.members)
            for item in member.spaces[at].copied
            if len(boxes.hops) > 1 or (item.written and member is not self.sink) or self.draw.random() < 0.9
        }

    def copy(self, boxes: Boxes, at: int, number: int, member: RegionStep, item: CopiedOperand) -> Copy:
        last, loops = at + 1 == len(boxes.hops), len(boxes.hops[at].nest)
        least = min(max(boxes.copy_level_of(number, item.name) - boxes.starts[at], 0), loops)
        most = loops - len(self.sums) if item.written and last else loops
        if item.written and member is not self.sink:
            return Copy(level=min(least, most), buffers=1 if last else self.draw.randint(1, 2))
        level = self.draw.randint(0, most)
        if len(self.analysis.members) > 1:
            level = max(level, min(least, most))
        if not item.written and last and level and self.draw.random() < 0.5 and self.rolls(boxes, number, item, level):
            return Copy(level=level, window="rolling")
        return Copy(level=level, buffers=self.draw.randint(1, 3) if level else 1)

    def rolls(self, boxes: Boxes, number: int, item: CopiedOperand, level: int) -> bool:
        """Whether rows of an operand's window may stay."""
        copy_level = boxes.starts[-2] + level
        roll = roll_along(boxes.windows(number, item.name, copy_level), range(boxes.starts[-2], copy_level))
        if isinstance(roll, str) or roll is None:
            return False
        access = self.analysis.members[number].access
        whole = access.window(item.name, {loop.name: (0, loop.extent) for loop in access.loops})
        return whole[roll.axis].step == 1

    def split(self, form: PartialSums, hop: Hop) -> SplitReduction:
        copied = key_of(self.sink.step.name, self.sink.output.name) in hop.copies
        same = self.sink.space.site.outputs[0].dtype is form.dtype
        loops = tuple(cut.loop for cut in self.sums)
        return SplitReduction(loops=loops, dtype=form.dtype, in_output=copied and same and self.draw.random() < 0.7)


def network(seed: int) -> Graph:
    """A chain of windows, elementwise operators and sums of two branches; more than its end may be wanted outside."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    sketch = Sketch(operators=OPERATORS)

    def whole(*shape: int) -> Array:
        return numbers.integers(-2, 3, shape).astype(np.float32)

    x = sketch.input("x", DType.F32, (1, draw.choice([2, 4]), draw.randint(6, 15), draw.randint(6, 12)))
    for op in [draw.choice(["conv", "conv", "depthwise", "pointwise", "pool", "clip", "add"]) for _ in range(4)]:
        _, c, h, w = sketch.tensors[x].shape
        if op in ("conv", "depthwise", "pointwise", "pool") and min(h, w) > 3:
            kernel = (1, 1) if op == "pointwise" else (draw.randint(1, 4), draw.randint(1, 3))
            pads = tuple(draw.randint(0, kernel[axis % 2] - 1) for axis in range(4))
            strides = (draw.choice([1, 1, 2, 3]), draw.choice([1, 1, 2]))
            windows = {"kernel_shape": kernel, "strides": strides, "dilations": (1, 1), "pads": pads, "ceil_mode": 0}
            if op == "pool":
                x = sketch.node("MaxPool", (x,), windows)
                continue
            group = c if op == "depthwise" else 1
            weights = whole(group * draw.randint(1, 2) if group > 1 else draw.randint(1, 4), c // group, *kernel)
            x = sketch.node("Conv", (x, sketch.constant(weights)), {**windows, "group": group})
        elif op == "add":
            same = [name for name, one in sketch.tensors.items() if one.shape == sketch.tensors[x].shape and name != x]
            other = draw.choice([*same, sketch.constant(whole(c, 1, 1))])
            x = sketch.node("Add", (x, other))
        else:
            x = sketch.node("Clip", (x,), {"min": -40.0, "max": 50.0})
    graph = sketch.finish(x)
    wanted = (node.outputs[0] for node in graph.nodes[:-1] if draw.random() < 0.2)
    return replace(graph, outputs=(*graph.outputs, *(value for value in wanted if value not in graph.outputs)))


def nested() -> Platform:
    """The cluster with a memory behind its backing memory, where values live, and constants that come the same way."""
    near = cluster(1 << 20)
    behind = Memory(name="l3", size_bytes=None, access={near.engines[0].name: "none"})
    copies = (copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("l2", "l1"), copy_path("l1", "l2"))
    return replace(
        near, memories=(behind, *near.memories), copies=(*copies, copy_path("flash", "l2")), backing="l3"
    )  # fmt: skip


def built(graph: Graph, tiler: AnyTiler, wanted: list[str], platform: Platform) -> tuple[Program, Artifact]:
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=tiler, allocator=BestFit(), pins=Decisions())
    plan = planner.plan(planner.bind(graph, platform))
    program = transform(lower(plan, OPERATORS, "net"), (HOOKS, LIFETIMES), wanted)
    return program, emit(program, EmitOptions(generator="tilewright 0"))


@pytest.mark.slow
@given(st.integers(0, 10**9))
@RANDOMLY
def test_regions(tmp_path: Path, seed: int) -> None:
    graph = network(seed)
    platform = nested() if seed % 3 == 0 else cluster(1 << 20)
    try:
        program, artifact = built(graph, AnyTiler(seed=seed), ["lifetimes"] if seed % 2 else [], platform)
    except TilewrightError as error:
        assert error.code == "TW4041"  # sound, but no code is generated: loops on both sides of a level move an operand
        return
    inputs = {
        name: np.random.default_rng(7).integers(-3, 4, graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    expected = run(graph, inputs, OPERATORS)
    found = run_team(artifact, program, inputs, tmp_path / str(seed), cores=1 + seed % 8, dma_core=bool(seed // 3 % 3))
    for name in graph.outputs:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
