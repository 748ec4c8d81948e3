"""Functions of floats that the cluster has kernels for, in tiles, on the twin: inside the error model, no byte too many
in L1, and the kernels really chosen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.plugins import load_for
from tilewright.runners.twin import TwinRunner
from tilewright.transform import transform

ROWS, FEATURES = 13, 37
OPERATORS = (
    "Sigmoid", "Tanh", "Erf", "Exp", "Sqrt", "LeakyRelu",
    "HardSwish", "HardSigmoid", "Abs", "Neg", "Reciprocal", "Relu",
)  # fmt: skip


def model(folder: Path) -> Path:
    """A chain in which each function is followed by what rescales its result."""
    random, nodes, constants = np.random.default_rng(0), [], []

    def constant(values: Any) -> str:
        constants.append(numpy_helper.from_array(np.asarray(values, np.float32), f"c{len(constants)}"))
        return str(constants[-1].name)

    def node(op: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(op, list(inputs), [f"v{len(nodes)}"], **attributes))
        return f"v{len(nodes) - 1}"

    value = "x"
    for index, op in enumerate(OPERATORS):
        if op in ("Sqrt", "Reciprocal"):
            value = node("Add", node("Abs", value), constant(0.5))
        if op == "Exp":
            value = node("Clip", value, constant(-3), constant(3))
        value = node(("Div", "Sub", "Mul")[index % 3], node(op, value), constant(random.uniform(0.5, 2, FEATURES)))
        if index % 4 == 1:
            parts = [constant(random.normal(size=FEATURES)) for _ in range(2)]
            value = node("LayerNormalization", value, *parts, axis=-1)
        if index % 4 == 2:
            value = node("Softmax", value, axis=(2, 1)[index == 6])
        if index % 4 == 3:
            value = node("Gelu", value, approximate="tanh" if index == 3 else "none")
    nodes.append(helper.make_node("LogSoftmax", [value], ["y"], axis=-1))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, ROWS, FEATURES]) for name in "xy"]
    graph = helper.make_graph(nodes, "functions", ends[:1], ends[1:], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.checker.check_model(made)
    path = folder / "functions.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("scratchpad_bytes", "sanitize"), [(2 << 10, True), (64 << 10, False)])
def test_inside_the_error_model(scratchpad_bytes: int, sanitize: bool, tmp_path: Path) -> None:
    options = Options(memory={"l1": scratchpad_bytes})
    plan = Deployment(model(tmp_path), "siracusa", options, load_for(target="siracusa"))
    bound = plan.scheduled.bound
    kernels = [bound.bindings[step.name].kernel for step in plan.scheduled.steps]
    assert {kernel.op for kernel in kernels if kernel.target == "*"} <= {"Transpose"}
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    artifact = emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())
    x = np.random.default_rng(1).normal(0, 3, (1, ROWS, FEATURES)).astype(np.float32)
    hard = x.copy()
    hard[0, ::3, 0], hard[0, 1, :4], hard[0, 2, 3] = -1e-40, (1e30, -1e30, -88, -np.inf), np.nan
    job = Job(
        artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": x}, {"x": hard}), trace=True,
        sanitize=sanitize,
    )  # fmt: skip
    result = TwinRunner(seeds=(0, 2)).run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    with np.errstate(all="ignore"):
        verdicts = judge_steps(bound.graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert verdicts
    assert plan.worst_case_buffer_size["l1"] + bound.platform.runtime_bytes["l1"] <= scratchpad_bytes
