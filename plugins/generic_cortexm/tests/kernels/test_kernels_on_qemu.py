"""The instructions themselves: many odd shapes on an emulated core, every step equal to the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.deployment import Deployment
from tilewright.dtypes import DType
from tilewright.graph import Attribute, Graph, Site
from tilewright.operator import Operator
from tilewright.operators.qconv import QCONV
from tilewright.operators.qgemm import QGEMM
from tilewright.requant import Requant
from tilewright.runners.runner import Job
from tilewright.testing.integer_values import byte_array, make_requant
from tilewright.testing.operator_sites import site_of
from tilewright.validation import judge_steps
from tilewright_cortexm.qemu.runner import QemuRunner

Array = npt.NDArray[np.generic]
Case = tuple[Operator, list[Array | None], dict[str, Attribute]]
KINDS = ("random", "ties", "coarse")


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)


def requant_of(rng: np.random.Generator, channels: int, dtype: DType, depth: int, index: int) -> Requant:
    requant = make_requant(rng, channels, dtype, 255 * 60 * np.sqrt(depth), KINDS[index % 3])
    low, high = dtype.limits
    limits = [(low, high), (low, high), (low + 30, high), (low + 2, high - 77)][index % 4]
    return replace(requant, low=limits[0], high=limits[1])


def conv_case(rng: np.random.Generator, index: int) -> Case:
    x_type, y_type = (DType.I8, DType.U8)[index % 2], (DType.I8, DType.U8)[index // 2 % 2]
    depthwise = index % 3 == 0
    channels, outputs = int(rng.choice([1, 3, 4, 6, 8, 13, 16, 19, 32])), int(rng.choice([1, 2, 3, 4, 5, 7, 8, 9]))
    kernel = (3, 3) if depthwise else tuple(int(k) for k in rng.integers(1, 4, 2))
    strides, pads = tuple(int(s) for s in rng.integers(1, 3, 2)), tuple(int(p) for p in rng.integers(0, 2, 4))
    extents = tuple(int(k + more) for k, more in zip(kernel, rng.integers(0, 6, 2), strict=True))
    channels, outputs = (max(channels, 4),) * 2 if depthwise else (channels, outputs)
    x = byte_array(rng, x_type, (1 + index % 2, channels, *extents), index % 5 == 0)
    w = byte_array(rng, DType.I8, (outputs, 1 if depthwise else channels, *kernel), index % 5 == 1)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": strides, "dilations": (1, 1), "pads": pads, "ceil_mode": 0,
        "group": channels if depthwise else 1, "requant": requant_of(rng, outputs, y_type, w[0].size, index),
        "x_zero_point": int(rng.integers(*x_type.limits)), "pad_value": int(rng.integers(*x_type.limits)),
        "w_zero_point": (0,), "output_type": y_type.value,
    }  # fmt: skip
    return QCONV, [x, w, rng.integers(-3000, 3000, outputs).astype(np.int32)], attributes


def gemm_case(rng: np.random.Generator, index: int) -> Case:
    a_type, y_type = (DType.I8, DType.U8)[index % 2], (DType.I8, DType.U8)[index // 2 % 2]
    rows, depth, columns = int(rng.integers(1, 6)), int(rng.integers(1, 80)), int(rng.integers(1, 13))
    attributes: dict[str, Attribute] = {
        "a_zero_point": int(rng.integers(*a_type.limits)), "b_zero_point": (0,),
        "requant": requant_of(rng, columns, y_type, depth, index), "output_type": y_type.value,
    }  # fmt: skip
    b = byte_array(rng, DType.I8, (depth, columns), False)
    bias = rng.integers(-3000, 3000, columns).astype(np.int32)
    return QGEMM, [byte_array(rng, a_type, (rows, depth), False), b, bias], attributes


def graph_of(cases: list[Case]) -> tuple[Graph, dict[str, Array]]:
    """All of them side by side in one graph: constants inside, the first operand of each a graph input."""
    tensors, nodes, constants, inputs = {}, [], {}, {}
    for index, (operator, arrays, attributes) in enumerate(cases):
        site = renamed(site_of(operator, arrays, attributes, (1, 2)), f"n{index}_")
        tensors |= {tensor.name: tensor for tensor in (*site.inputs, *site.outputs) if tensor}
        constants |= site.constants
        nodes.append(site.node)
        inputs[site.node.inputs[0]] = arrays[0]
    outputs = tuple(node.outputs[0] for node in nodes)
    graph = Graph(
        name="many", tensors=tensors, nodes=tuple(nodes), constants=constants, inputs=tuple(inputs), outputs=outputs
    )
    return graph, inputs


def renamed(site: Site, prefix: str) -> Site:
    node = site.node
    named = replace(
        node,
        name=f"{prefix}{node.op}",
        inputs=tuple(prefix + name for name in node.inputs),
        outputs=tuple(prefix + name for name in node.outputs),
    )
    return replace(
        site,
        node=named,
        inputs=tuple(tensor and replace(tensor, name=prefix + tensor.name) for tensor in site.inputs),
        outputs=tuple(replace(tensor, name=prefix + tensor.name) for tensor in site.outputs),
        constants={prefix + name: array for name, array in site.constants.items()},
    )


@pytest.mark.parametrize(("core", "engine"), [("m4", "dsp"), ("m55", "mve")])
def test_odd_shapes(core: str, engine: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    graph, inputs = graph_of([conv_case(rng, i) for i in range(36)] + [gemm_case(rng, i) for i in range(8)])
    plan = Deployment(b"", f"cortex-{core}")
    plan._given = {Graph: graph}  # no model: the graph is made here
    bindings = plan.bound.bindings.values()
    used = {binding.kernel.engine for binding in bindings if not binding.kernel.name.startswith("portable")}
    assert engine in used and sum(binding.kernel.engine == engine for binding in bindings) >= 24
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    result = QemuRunner().run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(plan.scheduled.bound.graph, executed, plan.registry.operators, (inputs,), result.values)
    assert [(verdict, plan.bound.bindings[verdict.name].kernel.name) for verdict in verdicts if not verdict.exact] == []
