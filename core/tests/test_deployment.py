"""A deployment takes the cheapest kernels, and another one where no tile of the cheapest fits the near memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from onnx import TensorProto, helper

from tilewright.decisions import Decisions
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.options import Options
from tilewright.plugins import load_for
from tilewright.testing.cluster import CLUSTER

NEAR_BYTES = 2048


def model() -> bytes:
    """Two Sigmoid nodes over 64 x 64 floats."""
    nodes = [helper.make_node("Sigmoid", [a], [b], f"sigmoid_{b}") for a, b in ("xm", "my")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(scratch_bytes: int, pins: Decisions | None = None) -> Deployment:
    """With a kernel that is said to cost nothing and to need scratch, beside the portable one."""
    registry = load_for(target="generic")
    portable = registry.kernels["portable.sigmoid"]
    quick = replace(
        portable,
        name="test.sigmoid",
        target=CLUSTER.name,
        cycles=lambda tile: 1.0,
        scratch_bytes=lambda tile: scratch_bytes,
    )
    registry = replace(registry, platforms={CLUSTER.name: CLUSTER}, kernels={**registry.kernels, quick.name: quick})
    options = Options(memory={"l1": NEAR_BYTES}, pins=pins or Decisions())
    return Deployment(model(), CLUSTER.name, options, registry)


def kernels(plan: Deployment) -> set[str]:
    return {binding.kernel.name for binding in plan.scheduled.bound.bindings.values()}


def test_the_cheapest_kernel_is_taken() -> None:
    assert kernels(deployment(16)) == {"test.sigmoid"}


def test_another_kernel_is_taken_where_no_tile_of_the_cheapest_fits() -> None:
    plan = deployment(NEAR_BYTES)
    assert kernels(plan) == {"portable.sigmoid"}
    assert plan.worst_case_buffer_size["l1"] <= NEAR_BYTES - CLUSTER.runtime_bytes["l1"]


def test_a_kernel_that_is_pinned_is_not_exchanged() -> None:
    with pytest.raises(TilewrightError, match="TW5101"):
        deployment(NEAR_BYTES, Decisions(kernels={"sigmoid_m": "test.sigmoid"})).compile()
