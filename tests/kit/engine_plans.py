"""A made-up machine with an engine beside its cores, and the program of a network on it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.machines.kernel import Finish, Kernel
from tilewright.ir.machines.platform import Engine
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.program import Program
from tilewright.lower import lower
from tilewright.testing.cluster import cluster, registry_for

ENGINE = Engine(name="npu", queue=2, finishing_cores=4, preferred=True)
FINISH = Finish(call="limit(${scratch}, ${Y});", parallel=("i",), cycles=lambda tile: 2.0 * tile.extent("i"))
KERNEL = Kernel(
    name="made.clip",
    op="Clip",
    engine="npu",
    access="i : X[i] -> Y[i]",
    scratch_bytes=lambda tile: 2 * (8 * tile.extent("i") + 8),
    cycles=lambda tile: 40.0 + tile.extent("i"),
    call="begin(${X}, ${scratch});",
    wait="join(${behind});",
    finish=FINISH,
)


@cache
def program(*, queue: int = 2, finish: bool = True, count: int = 3000) -> Program:
    """Of a vector that is limited once, in a scratchpad that has room for a part of it."""
    from onnx import TensorProto, helper, numpy_helper

    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [count])] for name in "xy"]
    limits = [numpy_helper.from_array(np.int8(value), name) for name, value in (("low", -9), ("high", 9))]
    node = helper.make_node("Clip", ["x", "low", "high"], ["y"], "clip")
    model = helper.make_model(
        helper.make_graph([node], "g", *ends, limits), opset_imports=[helper.make_opsetid("", 13)]
    )
    platform = cluster(8 << 10)
    platform = replace(platform, engines=(*platform.engines, replace(ENGINE, queue=queue)))
    registry = registry_for(platform)
    kernel = KERNEL if finish else replace(KERNEL, finish=None)
    registry = replace(registry, kernels=MappingProxyType({**registry.kernels, kernel.name: kernel}))
    plan = Deployment(model.SerializeToString(), platform.name, Options(), registry)
    return lower(plan.allocated, plan.registry.operators, "net")


def chained(count: int = 12000) -> Deployment:
    """A vector that is limited by the engine, and turned round by the cores in the same tiles."""
    from onnx import TensorProto, helper, numpy_helper

    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [count])] for name in "xz"]
    limits = [numpy_helper.from_array(np.int8(value), name) for name, value in (("low", -9), ("high", 9))]
    nodes = [
        helper.make_node("Clip", ["x", "low", "high"], ["y"], "job"),
        helper.make_node("Neg", ["y"], ["z"], "one"),
    ]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    platform = cluster(8 << 10)
    platform = replace(platform, engines=(*platform.engines, ENGINE))
    registry = registry_for(platform)
    kernel = replace(KERNEL, cycles=lambda tile: 40.0 + 3.0 * tile.extent("i"))
    registry = replace(registry, kernels=MappingProxyType({**registry.kernels, kernel.name: kernel}))
    return Deployment(model.SerializeToString(), platform.name, Options(), registry)


def branches(
    pins: Decisions | None = None,
    *,
    kernel: Kernel = KERNEL,
    memory: int = 8 << 10,
    engine_cycles: float = 4000.0,
    queue: int = 2,
) -> Deployment:
    """A vector of 200 bytes limited by the engine, and beside that turned round twice by the cores; then the larger
    one of both. In the file the cores come first.
    """
    from onnx import TensorProto, helper, numpy_helper

    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [200])] for name in "xz"]
    limits = [numpy_helper.from_array(np.int8(value), name) for name, value in (("low", -9), ("high", 9))]
    nodes = [
        helper.make_node("Neg", ["x"], ["n"], "one"),
        helper.make_node("Abs", ["n"], ["m"], "two"),
        helper.make_node("Clip", ["x", "low", "high"], ["y"], "job"),
        helper.make_node("Max", ["m", "y"], ["z"], "both"),
    ]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    platform = cluster(memory)
    platform = replace(platform, engines=(*platform.engines, replace(ENGINE, queue=queue)))
    registry = registry_for(platform)
    kernel = replace(kernel, cycles=lambda tile: 40.0 + engine_cycles * tile.extent("i") / 200)
    registry = replace(registry, kernels=MappingProxyType({**registry.kernels, kernel.name: kernel}))
    options = Options(groups=1, pins=pins or Decisions())
    return Deployment(model.SerializeToString(), platform.name, options, registry)


def two_jobs(pins: Decisions | None = None, *, engine_cycles: float = 200.0, preferred: bool = False) -> Deployment:
    """A vector of 200 bytes limited twice, each for itself, and the larger one of both. The cores take some 300
    cycles for each.
    """
    from onnx import TensorProto, helper, numpy_helper

    ends = [[helper.make_tensor_value_info(name, TensorProto.INT8, [200])] for name in "xz"]
    limits = [numpy_helper.from_array(np.int8(value), f"at{value}") for value in (-9, 9, -7, 7)]
    nodes = [
        helper.make_node("Clip", ["x", "at-9", "at9"], ["a"], "left"),
        helper.make_node("Clip", ["x", "at-7", "at7"], ["b"], "right"),
        helper.make_node("Max", ["a", "b"], ["z"], "both"),
    ]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    platform = cluster(8 << 10)
    cores = replace(platform.engines[0], cores=2)
    platform = replace(platform, engines=(cores, replace(ENGINE, preferred=preferred, finishing_cores=2)))
    registry = registry_for(platform)
    kernel = replace(
        KERNEL,
        cycles=lambda tile: engine_cycles * tile.extent("i") / 200,
        finish=replace(FINISH, cycles=lambda tile: 0.02 * tile.extent("i")),
    )
    registry = replace(registry, kernels=MappingProxyType({**registry.kernels, kernel.name: kernel}))
    return Deployment(model.SerializeToString(), platform.name, Options(groups=1, pins=pins or Decisions()), registry)
