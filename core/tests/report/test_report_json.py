"""The report of a deployment: figures that add up, plain data, the same each time, and what is only there if asked."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import jsonschema
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from row_networks import ONE_MEMORY
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.machines.platform import Memory
from tilewright.report.report_json import build_report, level
from tilewright.testing.cluster import CLUSTER, registry_for


@cache
def model() -> bytes:
    """x (2 x 8) -> MatMul -> Reshape -> Sigmoid -> y (16); beside it Add of a constant -> z."""
    ends = [helper.make_tensor_value_info(*end) for end in (("x", 1, [2, 8]), ("y", 1, [8]), ("z", 1, [2, 8]))]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "mul"),
        helper.make_node("Reshape", ["a", "shape"], ["b"], "flat"),
        helper.make_node("Sigmoid", ["b"], ["y"], "squash"),
        helper.make_node("Add", ["x", "k"], ["z"], "add"),
    ]
    constants = {"w": np.ones((8, 4), np.float32), "shape": np.array([8]), "k": np.full((2, 8), 3, np.float32)}
    held = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], held)
    assert TensorProto.FLOAT == 1
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(target: Any = CLUSTER, **options: Any) -> Deployment:
    return Deployment(model(), target.name, Options(**options), registry=registry_for(target))


@pytest.mark.parametrize("target", [CLUSTER, ONE_MEMORY], ids=lambda target: target.name)
def test_figures_add_up_and_the_schema_holds(target: Any) -> None:
    deployed = deployment(target)
    report = build_report(deployed, front=True)
    schema = json.loads((files("tilewright.report") / "report-2.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    steps = report["steps"]
    assert report["macs"] == sum(step["macs"] for step in steps) == 64
    assert report["constants_bytes"] == 8 * 4 * 4 + 2 * 8 * 4
    for kind in ("compute", "copy", "total"):
        assert report["cycles"][kind] == round(sum(step["cycles"][kind] for step in steps))
    for pool in report["pools"]:
        assert pool["gap_bytes"] == pool["used_bytes"] - pool["lower_bound_bytes"] >= 0
        assert pool["optimal"] is False or pool["gap_bytes"] == 0 or pool["kind"] == "ram"
    assert report["model"]["sha256"] == hashlib.sha256(model()).hexdigest()
    assert {item["path"]: item["bytes"] for item in report["artifacts"]} == {
        path: len(content) for path, content in deployed.files.items()
    }


@pytest.mark.slow
def test_a_report_is_plain_data_and_the_same_each_time() -> None:
    one, other = (json.dumps(build_report(deployment())) for _ in range(2))
    assert one == other and json.loads(one) == build_report(deployment())


def test_inputs_of_a_step_are_what_is_written_before_it_through_views_and_without_constants() -> None:
    steps = {step["name"]: step for step in build_report(deployment(), artifacts=False)["steps"]}
    assert "flat" not in steps  # a view: nothing is executed
    assert steps["squash"]["inputs"] == ["a"]
    assert steps["add"]["inputs"] == steps["mul"]["inputs"] == ["x"]
    assert steps["add"]["outputs"] == [{"name": "z", "type": "f32", "shape": [2, 8]}]


def test_time_and_files_are_there_where_they_are_asked_for() -> None:
    report = build_report(deployment(), artifacts=False)
    assert "time" not in report and report["artifacts"] == []
    timed = build_report(deployment(clock_hz=1_000_000), artifacts=False)
    assert timed["time"]["milliseconds"] == pytest.approx(timed["cycles"]["total"] / 1000, abs=1e-3)
    assert timed["time"]["kind"] == "estimate"


def test_what_is_in_no_pool_has_no_place(target: Any = ONE_MEMORY) -> None:
    report = build_report(deployment(target, io_of={"x": "user"}), artifacts=False)
    (buffer,) = (item for item in report["buffers"] if item["values"] == ["x"])
    assert (buffer["pool"], buffer["offset_bytes"]) == (None, None)


def test_what_a_memory_holds() -> None:
    l1, l2 = Memory(name="l1", size_bytes=256, align=16), Memory(name="l2", size_bytes=None)
    platform = SimpleNamespace(runtime_bytes={"l1": 100}, inner="l1", memory={"l1": l1, "l2": l2}.get)
    bound = SimpleNamespace(platform=platform)
    pools = [SimpleNamespace(memory=memory, used_bytes=size) for memory, size in (("l1", 30), ("l2", 500), ("l1", 4))]
    plan: Any = SimpleNamespace(tiled=SimpleNamespace(scheduled=SimpleNamespace(bound=bound)), pools=pools)
    assert level(l1, plan) == {  # 4 bytes, and 30 where an array may begin next
        "name": "l1", "limit_bytes": 256, "used_bytes": 136, "planned_bytes": 36, "runtime_bytes": 100, "inner": True,
    }  # fmt: skip
    assert level(l2, plan)["used_bytes"] == 500
