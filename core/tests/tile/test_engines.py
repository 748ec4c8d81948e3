"""Two engines, and memories that not both of them can use: no buffer is ever where its engine cannot reach it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.check.plans.plan import plan_faults
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler

WORLD = small_world()
KERNELS = {
    name: replace(kernel, engine="npu") if kernel.op == "Clip" else kernel for name, kernel in WORLD.kernels.items()
}
ONLY_CPU = Memory(name="dtcm", size_bytes=None, access={"npu": "none"})
BOTH = Memory(name="sram", size_bytes=None)
CPU_READS = Memory(name="shared", size_bytes=None, access={"cpu": "ro"})
PRIVATE = Memory(name="private", size_bytes=None, access={"cpu": "none"})


def _platform(*memories: Memory) -> Platform:
    return Platform(name="two", memories=memories, engines=(Engine(name="cpu"), Engine(name="npu")))


def _planner(kernels: dict[str, Kernel] = KERNELS) -> Planner:
    return Planner(
        operators=WORLD.operators,
        kernels=kernels,
        tiler=WholeTiler(),
        allocator=BestFit(),
        budget=Budget(work=500),
    )


def _plan(graph: Graph, *memories: Memory) -> Allocated:
    planner = _planner()
    return planner.plan(planner.bind(graph, _platform(*memories)))


def _chain() -> Graph:
    """cpu: s = x + b; npu: c = clip(s), d = clip(c); cpu: y = d + x."""
    nodes = (
        Node(name="sum", op="Add", inputs=("x", "b"), outputs=("s",)),
        Node(name="first", op="Clip", inputs=("s",), outputs=("c",)),
        Node(name="second", op="Clip", inputs=("c",), outputs=("d",)),
        Node(name="last", op="Add", inputs=("d", "x"), outputs=("y",)),
    )
    return Graph(
        name="g",
        inputs=("x",),
        outputs=("y",),
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(2, 3)) for name in "xbscdy"},
        constants={"b": np.ones((2, 3), np.float32)},
    )


def _memory_of(plan: Allocated, value: str) -> str:
    return plan.placements[plan.tiled.scheduled.storage[value].buffer].memory


def test_what_the_other_engine_touches_is_in_a_memory_of_both() -> None:
    plan = _plan(_chain(), ONLY_CPU, BOTH)
    found = {value: _memory_of(plan, value) for value in "xscdy"}
    assert found == {"x": "dtcm", **dict.fromkeys("scdy", "sram")}  # y is written over d, and so is where d is


def test_a_private_memory_of_the_other_engine_is_for_what_only_it_uses() -> None:
    plan = replace(_planner(), pins=Decisions(in_place={"c": "", "d": "", "y": ""}))
    chosen = plan.plan(plan.bind(_chain(), _platform(PRIVATE, BOTH)))
    assert {value: _memory_of(chosen, value) for value in "xscdy"} == {
        **dict.fromkeys("xsdy", "sram"),
        "c": "private",
    }


def test_who_may_only_read_does_not_write() -> None:
    plan = replace(_planner(), pins=Decisions(in_place={"c": "", "d": "", "y": ""}))
    chosen = plan.plan(plan.bind(_chain(), _platform(CPU_READS, BOTH)))
    assert {value: _memory_of(chosen, value) for value in "xscdy"} == {
        **dict.fromkeys("xsy", "sram"),
        **dict.fromkeys("cd", "shared"),
    }


def test_constants_are_where_their_engine_reads() -> None:
    itcm = Memory(name="itcm", size_bytes=None, kind="const", access={"cpu": "none"})
    flash = Memory(name="flash", size_bytes=None, kind="const")
    plan = _plan(_chain(), BOTH, itcm, flash)
    assert plan.placements["sum.B"].memory == "flash"
    assert _plan(_chain(), BOTH, flash, itcm).placements["sum.B"].memory == "flash"


def test_no_memory_in_common_is_an_error_that_says_who_can_do_what() -> None:
    with pytest.raises(TilewrightError) as caught:
        _plan(_chain(), ONLY_CPU, PRIVATE)
    assert (caught.value.code, caught.value.exit_code) == ("TW5032", Exit.UNSUPPORTED)
    assert "engine 'npu' reads it" in caught.value.details or "engine 'npu' writes it" in caught.value.details
    assert any("npu has none" in line for line in caught.value.details)


def test_a_kernel_whose_engine_can_write_nothing_is_refused() -> None:
    mute = Memory(name="ram", size_bytes=None, access={"npu": "ro"})
    both = {**WORLD.kernels, "npu.clip": replace(WORLD.kernels["portable.clip"], name="npu.clip", engine="npu", rank=9)}
    planner = _planner(both)
    binding = planner.bind(_chain(), _platform(mute)).bindings["first"]
    assert binding.engine == "cpu"
    assert any("can write no memory" in refusal.reason for refusal in binding.refusals)
    assert planner.bind(_chain(), _platform(BOTH)).bindings["first"].engine == "npu"


def test_the_checker_sees_a_buffer_that_was_moved_out_of_reach() -> None:
    plan = _plan(_chain(), ONLY_CPU, BOTH)
    buffer = plan.tiled.scheduled.storage["s"].buffer
    assert plan_faults(plan, WORLD.operators) == ()
    buffers = tuple(
        replace(one, memories=("sram", "dtcm")) if one.name == buffer else one for one in plan.tiled.buffers
    )
    moved = replace(
        plan,
        tiled=replace(plan.tiled, buffers=buffers),
        placements={**plan.placements, buffer: Placement(memory="dtcm", offset_bytes=1024)},
    )
    assert any("engine 'npu' of 'first' cannot use" in fault for fault in plan_faults(moved, WORLD.operators))


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_on_two_engines(seed: int) -> None:
    """Every plan is checked by `verify_allocated`, which asks the accesses anew."""
    chance = random.Random(seed)
    memories = [replace(ONLY_CPU, size_bytes=chance.choice([64, 200, None])), BOTH, CPU_READS]
    chance.shuffle(memories)
    plan = _plan(random_graph(chance, WORLD.operators), *memories)
    graph, storage = plan.tiled.scheduled.bound.graph, plan.tiled.scheduled.storage
    for node in graph.nodes:
        if node.op == "Clip" and node.name in {step.name for step in plan.tiled.scheduled.steps}:
            touched = [storage[value].buffer for value in (*node.inputs, *node.outputs) if value in storage]
            assert all(plan.placements[name].memory != "dtcm" for name in touched)
