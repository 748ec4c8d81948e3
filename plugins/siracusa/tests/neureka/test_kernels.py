"""Layers on N-EUREKA equal the references, on the twin: windows, strides, borders, types, several jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.runners.twin import TwinRunner
from tilewright.validation.validation import validate, vectors_of

TYPES = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8}
RUNNER = TwinRunner(seeds=(0, 1))
pytestmark = pytest.mark.slow


class Draft:
    """A network of layers with quantised operands."""

    def __init__(self, kind: Any, shape: tuple[int, ...], zero: int) -> None:
        self.rng = np.random.default_rng(5)
        self.kind, self.zero, self.value, self.channels = kind, zero, "x", shape[1]
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.input = helper.make_tensor_value_info("x", TYPES[kind], shape)

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _tail(self, outputs: int, depth: int, spread: bool) -> list[str]:
        """Scales and zero points behind X, and the bias at the end."""
        scales = self.rng.uniform(0.5, 1.5, outputs if spread else ()).astype(np.float32)
        return [
            self.constant(scales), self.constant(np.zeros(scales.shape, np.int8)),
            self.constant(np.float32(60 * np.sqrt(depth))), self.constant(self.kind(self.zero)),
        ]  # fmt: skip

    def conv(
        self, outputs: int, side: int, stride: int = 1, pads: Any = 0, group: int = 1, spread: bool = True
    ) -> None:
        inputs = self.channels // group
        weights = self.rng.integers(-128, 128, (outputs, inputs, side, side)).astype(np.int8)
        scales, zeros, y_scale, y_zero = self._tail(outputs, weights[0].size, spread)
        bias = self.constant(self.rng.integers(-3000, 3000, outputs).astype(np.int32))
        x = [self.value, self.constant(np.float32(1)), self.constant(self.kind(self.zero))]
        self.value = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(
            "QLinearConv", [*x, self.constant(weights), scales, zeros, y_scale, y_zero, bias], [self.value],
            f"n{len(self.nodes)}", strides=[stride] * 2, pads=np.resize(pads, 4).tolist(), group=group,
        ))  # fmt: skip
        self.channels = outputs

    def model(self) -> bytes:
        end = helper.make_tensor_value_info(self.value, TYPES[self.kind], None)
        graph = helper.make_graph(self.nodes, "g", [self.input], [end], self.constants)
        opsets = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def demand_exact(model: bytes, used: set[str], arithmetic: Any = (), memory: int = 40 << 10) -> None:
    options = Options(settings={"engine": "neureka"}, memory={"l1": memory}, arithmetic=arithmetic, groups=1)
    plan = Deployment(model, "siracusa", options)
    kernels = {binding.kernel.name.removeprefix("siracusa.neureka_") for binding in plan.bound.bindings.values()}
    assert used <= kernels, kernels
    found = validate(plan, RUNNER, vectors_of(plan, None, 1))
    assert [step.name for step in found.verdict.steps if not step.exact] == []
    assert found.passed


@pytest.mark.parametrize(("kind", "zero"), [(np.int8, -128), (np.int8, 3), (np.uint8, 0), (np.uint8, 7)])
def test_windows_strides_and_borders(kind: Any, zero: int) -> None:
    draft = Draft(kind, (1, 3, 21, 17), zero)
    draft.conv(30, 3, 2, pads=1)
    draft.conv(30, 3, pads=1, group=30)
    draft.conv(40, 1)
    draft.conv(33, 3, pads=(0, 1, 1, 0))
    draft.conv(33, 3, 2, pads=(1, 0, 0, 1), group=33)
    draft.conv(7, 1, 2)
    demand_exact(draft.model(), {"conv", "depthwise"})


def test_the_engine_requantises_where_that_is_proved() -> None:
    draft = Draft(np.uint8, (1, 64, 9, 8), 0)
    draft.conv(40, 1, spread=False)
    draft.conv(40, 3, pads=1, group=40, spread=False)
    draft.conv(12, 3, pads=1, spread=False)
    shifted = (("*", "pulp-shift"),)
    demand_exact(draft.model(), {"conv_scaled", "depthwise_scaled"}, shifted)


def test_small_memory_makes_many_jobs() -> None:
    draft = Draft(np.int8, (1, 16, 20, 20), -128)
    draft.conv(64, 3, pads=1)
    draft.conv(70, 1)
    demand_exact(draft.model(), {"conv"}, memory=24 << 10)


def test_the_cores_compute_another_branch_beside_a_job() -> None:
    """The results of the engine are taken behind the step that ran meanwhile."""
    draft = Draft(np.uint8, (1, 64, 12, 12), 0)
    draft.conv(64, 1, spread=False)
    pool = helper.make_node("MaxPool", ["x"], ["p"], "pool", kernel_shape=[3, 3], pads=[1] * 4)
    ends = [helper.make_tensor_value_info(name, TensorProto.UINT8, None) for name in (draft.value, "p")]
    graph = helper.make_graph([*draft.nodes, pool], "g", [draft.input], ends, draft.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()
    options = Options(settings={"engine": "neureka"}, memory={"l1": 64 << 10}, arithmetic=(("*", "pulp-shift"),))
    plan = Deployment(model, "siracusa", options)
    assert list(plan.allocated.tiled.scheduled.deferred.values()) == ["pool"]
    assert sum(group.hidden_cycles for group in plan.allocated.tiled.groups) > 2000
    found = validate(plan, RUNNER, vectors_of(plan, None, 1))
    assert [step.name for step in found.verdict.steps if not step.exact] == []
    assert found.passed
