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
