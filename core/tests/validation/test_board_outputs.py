"""What a board has computed, judged by its outputs alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.comparison.vectors import random_vectors
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import RunResult
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.validation.board_outputs import demand_right_outputs

DIGITS = Path(__file__).resolve().parents[2] / "src" / "tilewright" / "front_door" / "digits" / "digits_int8.onnx"


@pytest.fixture(name="plan", scope="module")
def _plan() -> Deployment:
    return Deployment(DIGITS, CLUSTER.name, registry=registry_for(CLUSTER))


def test_right_and_wrong_outputs_are_told_apart(plan: Deployment) -> None:
    (drawn,) = random_vectors(plan.inputs, 1, 0, plan.scheduled.bound.graph)
    graph = plan.scheduled.bound.graph
    known = run(graph, drawn.inputs, plan.registry.operators)
    right = {name: np.asarray(known[name]) for name in graph.outputs}
    said = demand_right_outputs(plan, drawn.inputs, RunResult(outputs=(right,)))
    assert said == "outputs: 10 of 10 elements equal the reference"
    wrong = {name: value[..., ::-1].copy() for name, value in right.items()}
    with pytest.raises(TilewrightError) as refused:
        demand_right_outputs(plan, drawn.inputs, RunResult(outputs=(wrong,)))
    assert refused.value.code == "TW7139"
    assert "not compared" in demand_right_outputs(plan, drawn.inputs, RunResult(outputs=()))
