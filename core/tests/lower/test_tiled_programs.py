"""Random networks, randomly tiled, run by teams of threads: every output is what the operators' references say.

Values are small whole numbers in float32, so that no order of additions changes a bit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
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
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, SplitReduction, Tiles, key_of
from tilewright.ir.plans.stages import Artifact, Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.programs.program import Program
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.sketch import Sketch
from tilewright.tile.space.tiling_space import cuttable
from tilewright.transform import HOOKS, LIFETIMES, transform

pytestmark = pytest.mark.slow

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
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


def three_levels() -> Platform:
    """The cluster with a far memory where values live: two hops."""
    base = cluster(1 << 20)
    return replace(
        base,
        memories=(Memory(name="l3", size_bytes=None), *base.memories),
        copies=(*base.copies, copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("flash", "l2")),
        backing="l3",
    )


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


def network(seed: int) -> Graph:
    """A chain of operators with drawn attributes."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    sketch = Sketch(operators=OPERATORS)

    def whole(*shape: int) -> Array:
        return numbers.integers(-3, 4, shape).astype(np.float32)

    shape = (1, draw.choice([2, 4]), draw.randint(5, 9), draw.randint(5, 9))
    x = sketch.input("x", DType.F32, shape)
    for op in draw.sample(["conv", "pool", "add", "transpose", "pad", "concat", "slice", "clip"], 4):
        n, c, h, w = sketch.tensors[x].shape
        if op == "conv":
            group, kernel = draw.choice([1, 1, 2 if c % 2 == 0 else 1, c]), draw.randint(1, 3)
            pads = tuple(draw.randint(0, kernel - 1) for _ in range(4))
            weights = sketch.constant(whole(group * draw.randint(1, 3), c // group, kernel, kernel))
            bias = sketch.constant(whole(sketch.tensors[weights].shape[0]))
            windows = {"kernel_shape": (kernel, kernel), "strides": (draw.randint(1, 2), 1), "dilations": (1, 1)}
            x = sketch.node("Conv", (x, weights, bias), {**windows, "pads": pads, "ceil_mode": 0, "group": group})
        elif op == "pool":
            windows = {"kernel_shape": (2, 3), "strides": (2, 1), "dilations": (1, 1), "pads": (0, 1, 1, 1)}
            x = sketch.node("MaxPool", (x,), {**windows, "ceil_mode": draw.randint(0, 1)})
        elif op == "add":
            x = sketch.node("Add", (x, sketch.constant(whole(*draw.choice([(1,), (c, 1, 1), (n, c, h, w)])))))
        elif op == "transpose":
            x = sketch.node("Transpose", (x,), {"perm": draw.choice([(0, 2, 3, 1), (0, 1, 3, 2)])})
        elif op == "pad":
            x = sketch.node("Pad", (x,), {"pads": (0, 0, 1, 2, 0, 1, 0, 1), "mode": "constant", "value": 2.0})
        elif op == "concat":
            x = sketch.node("Concat", (x, x), {"axis": draw.randint(1, 3)})
        elif op == "slice" and h > 1:
            x = sketch.node(
                "Slice", (x,), {"starts": (0, 0, 1, 0), "steps": (1, 1, 1, 2), "shape": (n, c, h - 1, ceil_div(w, 2))}
            )
        else:
            x = sketch.node("Clip", (x,), {"min": -4.0, "max": 5.0})
    flat = sketch.node("Reshape", (x,), {"shape": (1, int(np.prod(sketch.tensors[x].shape)))})
    weights = sketch.constant(whole(sketch.tensors[flat].shape[1], 5))
    return sketch.finish(x, sketch.node("MatMul", (flat, weights)))


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
    graph = network(seed)
    program, artifact = built(graph, RandomTiler(seed=seed), cluster(1 << 20), ["lifetimes"] if seed % 2 else [])
    check(graph, program, artifact, tmp_path, cores=1 + seed % 8, dma_core=bool(seed % 3))


@given(st.integers(0, 10**9))
@RANDOMLY
def test_two_hops(tmp_path: Path, seed: int) -> None:
    graph = network(seed)
    tiler = RandomTiler(seed=seed, hops=(("l3", "l2"), ("l2", "l1")))
    program, artifact = built(graph, tiler, three_levels(), ["lifetimes"] if seed % 2 else [])
    check(graph, program, artifact, tmp_path, cores=1 + seed % 8, dma_core=bool(seed % 3))
