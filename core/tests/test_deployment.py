"""A deployment takes the cheapest kernels, and another one where no tile of the cheapest fits the scratchpad; it goes
on from whatever was saved."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from row_networks import ONE_MEMORY
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.layout import channels_last, row_major
from tilewright.testing.cluster import CLUSTER, registry_for

SCRATCHPAD_BYTES = 2048


def model() -> bytes:
    """Two Sigmoid nodes over 64 x 64 floats."""
    nodes = [helper.make_node("Sigmoid", [a], [b], f"sigmoid_{b}") for a, b in ("xm", "my")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(scratch_bytes: int, pins: Decisions | None = None, *, columns_first: bool = False) -> Deployment:
    """With a kernel that is said to cost nothing and to need scratch, beside the portable one."""
    registry = registry_for(CLUSTER)
    portable = registry.kernels["portable.sigmoid"]
    quick = replace(
        portable,
        name="test.sigmoid",
        target=CLUSTER.name,
        cycles=lambda tile: 1.0,
        scratch_bytes=lambda tile: scratch_bytes,
        requires=(lambda site: {"X": (1, 0)}) if columns_first else portable.requires,
    )
    registry = replace(registry, kernels={**registry.kernels, quick.name: quick})
    options = Options(memory={"l1": SCRATCHPAD_BYTES}, pins=pins or Decisions())
    return Deployment(model(), CLUSTER.name, options, registry)


def kernels(plan: Deployment) -> set[str]:
    return {binding.kernel.name for binding in plan.scheduled.bound.bindings.values()}


@pytest.mark.slow
def test_numbers_come_with_a_model() -> None:
    code = "import sys, tilewright.deployment; print({'numpy', 'onnx', 'mako'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_cheapest_kernel_is_taken() -> None:
    assert kernels(deployment(16)) == {"test.sigmoid"}


def test_another_kernel_is_taken_where_no_tile_of_the_cheapest_fits() -> None:
    plan = deployment(SCRATCHPAD_BYTES)
    assert kernels(plan) == {"portable.sigmoid"}
    assert plan.worst_case_buffer_size["l1"] <= SCRATCHPAD_BYTES - CLUSTER.runtime_bytes["l1"]


@pytest.mark.slow
def test_a_kernel_that_is_pinned_is_not_exchanged() -> None:
    with pytest.raises(TilewrightError, match="TW5101"):
        deployment(SCRATCHPAD_BYTES, Decisions(kernels={"sigmoid_m": "test.sigmoid"})).compile()


@pytest.mark.parametrize("stage", ["rewritten", "bound", "scheduled", "tiled", "allocated"])
def test_what_is_saved_after_any_stage_gives_the_same_program(stage: str, tmp_path: Path) -> None:
    first = deployment(16, columns_first=True)
    assert any(step.name.endswith(":X") for step in first.scheduled.steps)  # binding added steps of its own
    first.export_state(tmp_path, stage)
    assert first.import_state(tmp_path).artifact == first.artifact


def stream() -> bytes:
    """Two rows of what a convolution computes are kept, and another reads them with the new one."""
    weights = numpy_helper.from_array(np.ones((8, 8, 1, 1), np.float32), "w")
    cut = [numpy_helper.from_array(np.array([value], np.int64), name) for name, value in (("s", 1), ("e", 3), ("a", 2))]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["row"]),
        helper.make_node("Concat", ["kept", "row"], ["rows"], axis=2),
        helper.make_node("Slice", ["rows", "s", "e", "a"], ["keeps"]),
        helper.make_node("Conv", ["rows", "w"], ["y"]),
    ]
    x, kept, y, keeps = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, rows, 4])
        for name, rows in (("x", 1), ("kept", 2), ("y", 3), ("keeps", 2))
    )
    graph = helper.make_graph(nodes, "g", [x, kept], [y, keeps], [weights, *cut])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("stage", ["bound", "scheduled", "tiled"])
def test_a_saved_state_that_is_stored_in_its_own_order_is_kept_by_the_same_flag(stage: str, tmp_path: Path) -> None:
    offered = registry_for(ONE_MEMORY)
    asked = Options(states=("keeps:kept=0.5",))
    first = Deployment(stream(), ONE_MEMORY.name, asked, offered)
    layouts = first.scheduled.bound.layouts
    assert layouts["kept"] == layouts["keeps"] == channels_last(4) and layouts["y"] == row_major(4)
    first.export_state(tmp_path, stage)
    assert first.import_state(tmp_path).artifact == first.artifact
    with pytest.raises(TilewrightError, match="'kept' as what is kept from run to run") as caught:
        Deployment(stream(), ONE_MEMORY.name, Options(), offered).import_state(tmp_path).compile()
    assert (caught.value.code, caught.value.exit_code) == ("TW1223", Exit.USAGE)


@pytest.mark.parametrize(("stage", "kept"), [("scheduled", False), ("tiled", True)])
def test_rows_are_kept_by_a_state_that_has_tiles_and_found_by_none_that_has_an_order(
    stage: str, kept: bool, tmp_path: Path
) -> None:
    """As the explanation of TW1227 says, which is the note."""
    nodes = [
        helper.make_node("MaxPool", [a], [b], b, kernel_shape=[3, 3], strides=[step, step])
        for a, b, step in (("x", "m", 1), ("m", "y", 2))
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, size, size])
        for name, size in (("x", 24), ("y", 10))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    pools = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    first = Deployment(pools, ONE_MEMORY.name, Options(optimize="ram"), registry_for(ONE_MEMORY))
    first.export_state(tmp_path, stage)
    second = first.import_state(tmp_path)
    assert [any(region.line_buffers for region in plan.tiled.regions) for plan in (first, second)] == [True, kept]
    assert any(note.code == "TW1227" for note in second.diagnostics)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"memory": {"l1": 4096}}, f"l1=4096: it has {SCRATCHPAD_BYTES}"),
        ({"settings": {"home": "l9"}}, "no such setting"),
    ],
)
def test_a_saved_plan_is_not_continued_under_flags_that_it_does_not_follow(
    asked: dict[str, Any], said: str, tmp_path: Path
) -> None:
    first = deployment(16)
    first.export_state(tmp_path, "tiled")
    other = Deployment(model(), CLUSTER.name, Options(**asked), first.registry)
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        other.import_state(tmp_path)
    assert said in " ".join(caught.value.details)
    assert (
        Deployment(model(), CLUSTER.name, Options(), first.registry).import_state(tmp_path).artifact == first.artifact
    )


def test_a_network_of_more_steps_than_may_be_planned_is_refused_with_the_flag_that_takes_it() -> None:
    asked = Options(limits={"steps": 1})
    with pytest.raises(TilewrightError, match="network has 2 steps") as caught:
        _ = Deployment(model(), CLUSTER.name, asked, registry=registry_for(CLUSTER)).rewritten
    assert caught.value.code == "TW1203"
    assert "--limit steps=2" in str(caught.value)
    enough = Options(limits={"steps": 2})
    assert Deployment(model(), CLUSTER.name, enough, registry=registry_for(CLUSTER)).rewritten.graph.nodes
