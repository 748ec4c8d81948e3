"""Random chains, tiled together at random, over one copy or two, run by teams: every output is what the references say.

Values are small whole numbers in float32, so that no order of additions changes a bit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels, tilewright_operators
from tilewright.decisions import Decisions, GroupTile
from tilewright.dtypes import DType
from tilewright.emit import EmitOptions, emit
from tilewright.graph import Graph
from tilewright.lower import lower
from tilewright.planner import Planner
from tilewright.platform import Memory, Platform
from tilewright.program import Program
from tilewright.reference import run
from tilewright.stages import Artifact, Group
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.sketch import Sketch
from tilewright.testing.team_run import run_team
from tilewright.tile.fuse import Chain, chain_of
from tilewright.tile.fuse_boxes import boxes_of
from tilewright.tile.fuse_search import tile_of
from tilewright.tile.space import cuttable
from tilewright.tile.spaces import Machine
from tilewright.tile.tiler import TilingRequest
from tilewright.transform import HOOKS, LIFETIMES, transform

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}
RANDOMLY = settings(  # a seed cannot be made smaller, so nothing is shrunk
    max_examples=12,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

Array = npt.NDArray[np.generic]
Mode = Literal["whole", "recompute", "slide"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTiler:
    """One group of everything, cut anyhow; what it cannot hold together stays alone."""

    seed: int
    name: str = "fused"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        draw = random.Random(self.seed)
        machine = Machine(request.scheduled, request.operators, request.decisions)
        steps, at = request.scheduled.steps, 0
        groups: list[Group] = []
        while at < len(steps):
            count = next(
                count for count in range(len(steps) - at, 0, -1)
                if count == 1 or isinstance(chain_of(machine, at, steps[at : at + count]), Chain)
            )  # fmt: skip
            names = tuple(step.name for step in steps[at : at + count])
            chain = chain_of(machine, at, steps[at : at + count])
            tile = GroupTile() if count == 1 or isinstance(chain, str) else self._tile(chain, draw)
            groups.append(Group(name=names[-1], steps=names, tile=tile))
            at += count
        return tuple(groups)

    def _tile(self, chain: Chain, draw: random.Random) -> GroupTile:
        cuts = list(cuttable(chain.sink.access, chain.sink.space.kernel)[0])
        chosen = draw.sample(cuts, draw.randint(min(1, len(cuts)), min(3, len(cuts))))
        nest = tuple((loop.name, draw.randint(1, max(1, loop.extent - 1))) for loop in chosen)
        modes: tuple[Mode, ...] = ("recompute", "slide", "slide", "whole")
        inner: dict[str, Mode] = {value: draw.choice(modes) for value in chain.inner}
        boxes = boxes_of(chain, nest, inner)
        if boxes.faults:
            inner = dict.fromkeys(inner, "recompute")
        tile = tile_of(chain, ("l2", "l1"), nest, inner)
        *outer, hop = tile.hops
        copies = {
            key: replace(copy, buffers=draw.randint(1, 3) if copy.depth else 1)
            for key, copy in hop.copies.items()
            if draw.random() < 0.85
        }
        return replace(tile, hops=(*outer, replace(hop, copies=copies)))


def network(seed: int) -> Graph:
    """A chain of windows, elementwise operators and sums of two branches."""
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
    return sketch.finish(x)


def nested() -> Platform:
    """The cluster with a memory behind its home memory, where values live, and constants that come the same way."""
    near = cluster(1 << 20)
    behind = Memory(name="l3", size_bytes=None, access={near.engines[0].name: "none"})
    copies = (copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("l2", "l1"), copy_path("l1", "l2"))
    return replace(
        near, memories=(behind, *near.memories), copies=(*copies, copy_path("flash", "l2")), home="l3"
    )  # fmt: skip


def built(graph: Graph, tiler: GroupTiler, wanted: list[str], platform: Platform) -> tuple[Program, Artifact]:
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=tiler, allocator=BestFit(), pins=Decisions())
    plan = planner.plan(planner.bind(graph, platform))
    program = transform(lower(plan, OPERATORS, "net"), (HOOKS, LIFETIMES), wanted)
    return program, emit(program, EmitOptions(generator="tilewright 0"))


@given(st.integers(0, 10**9))
@RANDOMLY
def test_chains(tmp_path: Path, seed: int) -> None:
    graph = network(seed)
    platform = nested() if seed % 3 == 0 else cluster(1 << 20)
    program, artifact = built(graph, GroupTiler(seed=seed), ["lifetimes"] if seed % 2 else [], platform)
    inputs = {
        name: np.random.default_rng(7).integers(-3, 4, graph.tensors[name].shape).astype(np.float32)
        for name in graph.inputs
    }
    expected = run(graph, inputs, OPERATORS)
    found = run_team(artifact, program, inputs, tmp_path / str(seed), cores=1 + seed % 8, mover=bool(seed // 3 % 3))
    for name in graph.outputs:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
