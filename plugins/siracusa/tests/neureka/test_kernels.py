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
from tilewright_siracusa.neureka.kernels import KERNELS
from tilewright_siracusa.neureka.packing import offset_and_bits

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
        self, outputs: int, side: int, stride: int = 1, pads: Any = 0, group: int = 1, spread: bool = True,
        weights: tuple[int, int] = (-128, 127), kind: Any = None,
    ) -> None:  # fmt: skip
        """`weights`: least and most, in unsigned bytes where none is negative; `kind`: another type of outputs."""
        least, most = weights
        shape = (outputs, self.channels // group, side, side)
        stored = self.rng.integers(least, most + 1, shape).astype(np.int8 if least < 0 else np.uint8)
        x = [self.value, self.constant(np.float32(1)), self.constant(self.kind(self.zero))]
        if kind:
            self.kind, self.zero = kind, 0
        scales, zeros, y_scale, y_zero = self._tail(outputs, max((most - least) * stored[0].size // 255, 1), spread)
        if least >= 0:
            zeros = self.constant(np.zeros(outputs if spread else (), np.uint8))
        bias = self.constant(self.rng.integers(-3000, 3000, outputs).astype(np.int32))
        named = self.constant(stored)
        self.value = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(
            "QLinearConv", [*x, named, scales, zeros, y_scale, y_zero, bias], [self.value],
            f"n{len(self.nodes)}", strides=[stride] * 2, pads=np.resize(pads, 4).tolist(), group=group,
        ))  # fmt: skip
        self.channels = outputs

    def model(self) -> bytes:
        end = helper.make_tensor_value_info(self.value, TYPES[self.kind], None)
        graph = helper.make_graph(self.nodes, "g", [self.input], [end], self.constants)
        opsets = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def demand_exact(
    model: bytes, used: set[str], arithmetic: Any = (), memory: int = 40 << 10, weights: str = "l1"
) -> Deployment:
    settings = {"engine": "neureka", "weight_memory": weights}
    options = Options(settings=settings, memory={"l1": memory}, arithmetic=arithmetic, groups=1)
    plan = Deployment(model, "siracusa", options)
    kernels = {binding.kernel.name.removeprefix("siracusa.neureka_") for binding in plan.bound.bindings.values()}
    assert used <= kernels, kernels
    found = validate(plan, RUNNER, vectors_of(plan, None, 1))
    assert [step.name for step in found.verdict.steps if not step.exact] == []
    assert found.passed
    return plan


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


@pytest.mark.parametrize(("weights", "arithmetic"), [("mram", ()), ("sram", ()), ("mram", (("*", "pulp-shift"),))])
def test_weights_stay_in_the_memory_that_the_engine_reads(weights: str, arithmetic: Any) -> None:
    draft = Draft(np.uint8, (1, 30, 9, 8), 0)
    draft.conv(40, 3, pads=1, spread=False)
    draft.conv(40, 1, spread=False)
    draft.conv(20, 3, 2, pads=1, spread=False)
    kernels = {"conv_scaled_wmem", "points_scaled_wmem"} if arithmetic else {"conv_wmem", "points_wmem"}
    plan = demand_exact(draft.model(), kernels, arithmetic, weights=weights)
    placed = plan.allocated.placements
    named = [f"{use.constants['W']}" for use in plan.scheduled.bound.bindings.values() if "W" in use.constants]
    wanted = {f"{name}@sram": "sram" for name in named} if weights == "sram" else dict.fromkeys(named, "mram")
    assert {name: placed[name].memory for name in wanted} == wanted
    assert not any(buffer.memories == ("l1",) and ".W" in buffer.name for buffer in plan.allocated.tiled.buffers)


NARROW = [(-2, 1), (-4, 3), (-8, 7), (-16, 15), (-32, 31), (-64, 63), (0, 255), (0, 15), (3, 40)]


@pytest.mark.parametrize("arithmetic", [(), (("*", "pulp-shift"),)], ids=["onnx", "shift"])
@pytest.mark.parametrize("kinds", [(np.int8, np.uint8), (np.uint8, np.int8)], ids=["i8", "u8"])
def test_weights_have_the_bits_that_they_need(kinds: Any, arithmetic: Any) -> None:
    """Of every width, between values of both types."""
    draft = Draft(kinds[0], (1, 12, 8, 7), 0)
    for at, weights in enumerate(NARROW):
        side, group = ((3, 1), (3, 12), (1, 1))[at % 3]
        kind = kinds[1 - at % 2]
        draft.conv(12, side, 1, side // 2, group, spread=not arithmetic, weights=weights, kind=kind)
    plan = demand_exact(draft.model(), {"conv_scaled" if arithmetic else "conv"}, arithmetic)
    sites = plan.scheduled.bound.graph.sites()
    bits = [offset_and_bits(np.asarray(site.constant(1), np.int64)) for site in sites if site.node.op == "QConv"]
    assert [None if stored is None else stored[1] for stored in bits] == [2, 3, 4, 5, 6, 7, 8, 4, 6]


def test_kernels_keep_narrow_weights_but_where_words_have_room_for_bytes() -> None:
    kept = {kernel.name.split("_")[1] for kernel in KERNELS if {2, 4, 8} <= set(kernel.weight_bits)}
    widened = {kernel.name.split("_")[1] for kernel in KERNELS if kernel.weight_bits == (8,)}
    assert (kept, widened) == ({"conv", "depthwise"}, {"points", "gemm"})


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
