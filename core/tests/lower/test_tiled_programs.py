"""Random networks, randomly tiled, run by teams of threads: every output is what the operators' references say.

Values are small whole numbers in float32, so that no order of additions changes a bit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from random_chains import OPERATORS, random_chain, three_levels
from team_run import run_team
from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, SplitReduction, Tiles, key_of
from tilewright.ir.plans.stages import Artifact, Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.programs.program import Program
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster
from tilewright.tile.space.tiling_space import cuttable
from tilewright.transform import HOOKS, LIFETIMES, transform

pytestmark = pytest.mark.slow

KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}
SANITIZERS = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

# A seed cannot be made smaller, so nothing is shrunk.
RANDOMLY = settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomTiler:
    """Cuts whatever may be cut, anyhow."""

    seed: int
    hops: tuple[tuple[str, str], ...] = (("l2", "l1"),)
    name: str = "random"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        draw = random.Random(self.seed)
        return tuple(Group(region=self._tile(one.name, request, draw)) for one in request.scheduled.steps)

    def _tile(self, step: str, request: TilingRequest, draw: random.Random) -> Region:
        bound = request.scheduled.bound
        layer = bound.layers[step]
        kernel, access = layer.kernel, layer.access
        loops = [] if not isinstance(access, MapAccess) else list(cuttable(access, kernel)[0])
        held = {loop.name: loop.extent for loop in loops}
        hops: list[Hop] = []
        parts: dict[str, SplitReduction] = {}
        constants, there = set(bound.bindings[step].constants), set(access.inputs) | set(access.outputs)
        for far, near in self.hops:
            chosen = draw.sample(loops, draw.randint(0, len(loops)))
            nest = tuple(Cut(loop.name, draw.randint(1, held[loop.name])) for loop in chosen)
            held |= dict(nest)
            moved = sorted(there - constants if near != self.hops[-1][1] else there)  # flash is beside l1
            copies = {name: self._copy(len(nest), draw) for name in moved if draw.random() < 0.85}
            form = layer.sums if near == self.hops[-1][1] else None
            if form and draw.random() < 0.7:  # inside everything else; outputs leave outside of them
                inside = tuple(
                    Cut(loop.name, draw.randint(1, loop.extent)) for loop in access.loops if loop.name in form.loops
                )
                parts = {step: SplitReduction(loops=tuple(cut.loop for cut in inside), dtype=form.dtype)}
                inputs = {name: self._copy(len((*nest, *inside)), draw) for name in copies if name in access.inputs}
                nest, copies = (*nest, *inside), {**copies, **inputs}
            there = set(copies) | constants
            keyed = {key_of(step, name): copy for name, copy in copies.items()}
            hops.append(Hop(outer=far, inner=near, nest=nest, copies=keyed))
        return Region(steps=(step,), schedule=Tiles(hops=tuple(hops)), sums=parts)

    @staticmethod
    def _copy(loops: int, draw: random.Random) -> Copy:
        level = draw.randint(0, loops)
        return Copy(level=level, buffers=draw.randint(1, 3) if level else 1)


def built(graph: Graph, tiler: RandomTiler, platform: Platform, wanted: Sequence[str] = ()) -> tuple[Program, Artifact]:
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=tiler, allocator=BestFit(), pins=Decisions())
    plan = planner.plan(planner.bind(graph, platform))
    program = transform(lower(plan, OPERATORS, "net"), (HOOKS, LIFETIMES), wanted)
    return program, emit(program, EmitOptions(generator="tilewright 0"))


def check(graph: Graph, program: Program, artifact: Artifact, folder: Path, **how: object) -> None:
    inputs = {
        name: np.random.default_rng(7).integers(-4, 5, graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    expected = run(graph, inputs, OPERATORS)
    found = run_team(artifact, program, inputs, folder, **how)
    for name in graph.outputs:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@given(st.integers(0, 10**9))
@RANDOMLY
def test_one_hop(tmp_path: Path, seed: int) -> None:
    graph = random_chain(seed)
    program, artifact = built(graph, RandomTiler(seed=seed), cluster(1 << 20), ["lifetimes"] if seed % 2 else [])
    check(graph, program, artifact, tmp_path, cores=1 + seed % 8, dma_core=bool(seed % 3))


@given(st.integers(0, 10**9))
@RANDOMLY
def test_two_hops(tmp_path: Path, seed: int) -> None:
    graph = random_chain(seed)
    tiler = RandomTiler(seed=seed, hops=(("l3", "l2"), ("l2", "l1")))
    program, artifact = built(graph, tiler, three_levels(), ["lifetimes"] if seed % 2 else [])
    check(graph, program, artifact, tmp_path, cores=1 + seed % 8, dma_core=bool(seed % 3))
