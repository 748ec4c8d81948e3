"""What kernels want of the addresses of values and constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.bind import bind
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.operand_aligns import aligns_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.random_graphs import small_world

WORLD = small_world()


def test_the_most_that_any_kernel_wants_counts() -> None:
    wanted = {"Add": {"B": 32, WORLD.operators["Add"].outputs[0]: 16, "scratch": 64}, "Clip": {"X": 8, "Y": 4}}
    kernels = {name: replace(one, align=wanted.get(one.op, {})) for name, one in WORLD.kernels.items()}
    nodes = (
        Node(name="sum", op="Add", inputs=("x", "b"), outputs=("s",)),
        Node(name="clip", op="Clip", inputs=("s",), outputs=("y",)),
    )
    graph = Graph(
        name="g",
        inputs=("x",),
        outputs=("y",),
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(3,)) for name in "xbsy"},
        constants={"b": np.ones(3, np.float32)},
    )
    machine = Platform(name="one", memories=(Memory(name="ram", size_bytes=None),))
    bound = bind(graph, machine, WORLD.operators, kernels, Decisions())
    assert aligns_of(bound, WORLD.operators) == {"s": 16, "y": 4, "sum.B": 32}
    plain = bind(graph, machine, WORLD.operators, WORLD.kernels, Decisions())
    assert aligns_of(plain, WORLD.operators) == {}
