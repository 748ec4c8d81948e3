"""A program for several cores on threads of this machine: the same results however many compute, and errors seen."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from team_run import build_team, run_team
from tilewright.deployment import Deployment
from tilewright.testing.cluster import CLUSTER, registry_for

X = np.linspace(-3, 3, 12 * 33).astype(np.float32).reshape(12, 33)


@pytest.fixture(scope="module", name="program")
def _program() -> Deployment:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER))


@pytest.mark.slow
@pytest.mark.parametrize("how", [{}, {"cores": 3, "dma_core": True}], ids=["alone", "team"])
def test_results_are_those_of_the_network(program: Deployment, tmp_path: Path, how: dict[str, Any]) -> None:
    found = run_team(program.artifact, program.program, {"x": X}, tmp_path / "team", **how)
    assert found.keys() == {"y"} and np.array_equal(found["y"], -X)


@pytest.mark.slow
def test_a_program_that_warns_is_not_built(program: Deployment, tmp_path: Path) -> None:
    broken = {**program.artifact.files, "more.c": b"static int unused;\n"}
    with pytest.raises(subprocess.CalledProcessError):
        build_team(type(program.artifact)(files=broken), program.program, tmp_path)


def test_a_program_that_stops_is_no_answer(program: Deployment, tmp_path: Path) -> None:
    """It reads fewer bytes than it needs."""
    team = build_team(program.artifact, program.program, tmp_path)
    assert subprocess.run([str(team)], input=b"few", capture_output=True, check=False).returncode != 0
