"""A trace is written for every runner: without a clock it has the estimate alone, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from tilewright.cli.running import write_trace
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import RunResult, Timeline
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.registry import registry_for


def deployment() -> Deployment:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"])], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER))


@pytest.mark.parametrize(("timeline", "told"), [(None, True), (Timeline(spans=()), False)])
def test_what_the_trace_holds_is_said(
    timeline: Timeline | None, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trace(deployment(), RunResult(outputs=(), timeline=timeline), tmp_path / "trace.json")
    assert ("the plan's estimate only" in capsys.readouterr().err) is told
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
