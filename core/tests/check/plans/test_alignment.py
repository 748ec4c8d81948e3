"""Operands that begin where their kernel cannot take them are seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.allocate.best_fit import BestFit
from tilewright.check.plans.alignment import alignment_faults
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.random_graphs import small_world
from tilewright.tile.strategies import WholeTiler

WORLD = small_world()
RAM, ROM = Memory(name="ram", size_bytes=None, align=64), Memory(name="rom", size_bytes=None, kind="const", align=64)


def plan() -> Allocated:
    """s = x + b, with everything of the sum at multiples of its own."""
    wanted = {"A": 8, "B": 32, WORLD.operators["Add"].outputs[0]: 16}
    kernels = {name: replace(one, align=wanted) if one.op == "Add" else one for name, one in WORLD.kernels.items()}
    planner = Planner(
        operators=WORLD.operators, kernels=kernels, tiler=WholeTiler(), allocator=BestFit(), budget=Budget(work=100)
    )
    graph = Graph(
        name="g",
        inputs=("x",),
        outputs=("s",),
        nodes=(Node(name="sum", op="Add", inputs=("x", "b"), outputs=("s",)),),
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(3, 3)) for name in "xbs"},
        constants={"b": np.ones((3, 3), np.float32)},
    )
    return planner.plan(planner.bind(graph, Platform(name="one", memories=(RAM, ROM))))


def test_a_plan_aligns_every_operand_as_its_kernel_wants() -> None:
    made = plan()
    assert {buffer.name: buffer.align for buffer in made.tiled.buffers} == {"x": 8, "s": 16, "sum.B": 32}
    assert list(alignment_faults(made, WORLD.operators)) == []


def test_what_was_moved_is_seen() -> None:
    made = plan()
    moved = replace(made, placements={**made.placements, "sum.B": Placement(memory="rom", offset_bytes=48)})
    (fault,) = alignment_faults(moved, WORLD.operators)
    assert fault.endswith("of 'sum' finds B at 48 of memory 'rom', no multiple of 32 bytes")
