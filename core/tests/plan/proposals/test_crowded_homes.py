"""Which steps take other kernels where constants are too many for the memory of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate.overflow import Overflow
from tilewright.bind import bind
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound, Buffer, Candidate
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.crowded_homes import CrowdedMemory
from tilewright.testing.random_graphs import small_world

WORLD = small_world()
MACHINE = Platform(
    name="two",
    memories=(
        Memory(name="ram", size_bytes=None),
        Memory(name="rom", size_bytes=None, kind="const"),
        Memory(name="mram", size_bytes=1, kind="const", access={"cpu": "none"}),
    ),
    engines=(Engine(name="cpu"), Engine(name="npu")),
)
ADD = next(kernel for kernel in WORLD.kernels.values() if kernel.op == "Add")
NPU = replace(ADD, name="npu.add", engine="npu", memories={"B": ("mram",)}, cycles=lambda tile: 1.0)
WIDTHS = {"small": 10, "large": 100}


def bound() -> Bound:
    """Two sums, each with a constant of its own."""
    nodes, tensors, constants = [], {}, {}
    for name, width in WIDTHS.items():
        nodes.append(Node(name=name, op="Add", inputs=(f"x{name}", f"b{name}"), outputs=(f"y{name}",)))
        constants[f"b{name}"] = np.full(width, float(width), np.float32)
        tensors |= {f"{key}{name}": Tensor(name=f"{key}{name}", dtype=DType.F32, shape=(width,)) for key in "xby"}
    graph = Graph(
        name="g",
        inputs=tuple(f"x{name}" for name in WIDTHS),
        outputs=tuple(f"y{name}" for name in WIDTHS),
        nodes=tuple(nodes),
        tensors=tensors,
        constants=constants,
    )
    return bind(graph, MACHINE, WORLD.operators, {**WORLD.kernels, NPU.name: NPU}, Decisions())


def crowded(missing: int, memory: str = "mram", pinned: Sequence[str] = ()) -> dict[str, frozenset[str]]:
    made = bound()
    live = tuple(
        Buffer(name=f"{name}.B", kind="constant", size_bytes=4 * width, align=4, first=0, last=1)
        for name, width in WIDTHS.items()
    )
    overflow = Overflow(memory=memory, needed_bytes=missing, available_bytes=0, lower_bound_bytes=0, step=-1, live=live)

    def left(step: str) -> tuple[Candidate, ...]:
        return () if step in pinned else made.bindings[step].candidates

    return CrowdedMemory(overflow=overflow, bound=made, left=left).kernels_that_go()


@pytest.mark.parametrize(
    ("missing", "memory", "pinned", "gone"),
    [
        (300, "mram", (), {"small", "large"}),
        (420, "mram", (), {"small", "large"}),
        (441, "mram", (), set()),  # more than all of them
        (40, "rom", (), set()),  # nobody has to read there
        (40, "mram", ("large",), {"small"}),
        (41, "mram", ("large",), set()),
    ],
)
def test_constants_leave_until_the_rest_fits(
    missing: int, memory: str, pinned: tuple[str, ...], gone: set[str]
) -> None:
    result = crowded(missing, memory, pinned)
    assert gone >= set(result) and bool(result) is bool(gone)
    assert all(names == {"npu.add"} for names in result.values())
    assert missing <= sum(4 * WIDTHS[step] for step in result) or not result
