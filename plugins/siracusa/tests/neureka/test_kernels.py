"""Layers on N-EUREKA equal the references, on the twin: windows, strides, borders, types, several jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from byte_convolutions import Draft
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.runners.twin import TwinRunner
from tilewright.validation.validation import validate, vectors_of
from tilewright_siracusa.neureka.kernels import KERNELS
from tilewright_siracusa.neureka.packing import offset_and_bits

RUNNER = TwinRunner(seeds=(0, 1))
pytestmark = pytest.mark.slow


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
