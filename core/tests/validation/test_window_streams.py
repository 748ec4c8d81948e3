"""Streams of windows are judged by the whole network on every window; here by a runner that only pretends to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.config.recurrent_state import initial_states, next_states
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.validation.validation import Validation, validate, vectors_of
from tilewright.validation.window_streams import SEEN


def _sliding(lost: int, calls: int = 6, wrong: int = -1) -> Validation:
    """A stream of a network that adds up neighbours, of which a state has lost something, or one call is wrong."""
    values = [helper.make_tensor_value_info(*word) for word in (("x", TensorProto.INT8, [1, 1, 8]),)]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 6])
    weights = numpy_helper.from_array(np.ones((2, 1, 3), np.float32), "w")
    nodes = [
        helper.make_node("Cast", ["x"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("Conv", ["real", "w"], ["y"], "sum"),
    ]
    graph = helper.make_graph(nodes, "g", values, [out], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    deployment = Deployment(model, CLUSTER.name, Options(slide="x[2]=2"), registry_for(CLUSTER))
    return validate(deployment, Forgetful(deployment, lost, wrong), vectors_of(deployment, None, calls))


@dataclass(frozen=True, slots=True)
class Forgetful:
    """A runner that answers with the reference, frame after frame, but for what its states have lost."""

    deployment: Deployment
    lost: int
    wrong: int = -1  # the call that hands out something else
    name: str = "forgetful"

    def available(self) -> str | None:
        return None

    def run(self, job: Job, folder: Path) -> RunResult:
        operators, states = self.deployment.registry.operators, self.deployment.states
        held, values = initial_states(states), []
        for number, given in enumerate(job.input_sets):
            values.append(run(self.deployment.graph, {**given, **held}, operators))
            values[-1]["y"] = values[-1]["y"] + np.float32(number == self.wrong)
            held = next_states(states, values[-1])
            held = {name: (array + array.dtype.type(self.lost)).astype(array.dtype) for name, array in held.items()}
        written = (*({},) * job.untraced, *values[job.untraced :])
        return RunResult(outputs=tuple({"y": one["y"]} for one in values), values=written)


@pytest.mark.slow
def test_a_stream_is_compared_with_whole_windows() -> None:
    right, wrong = _sliding(0), _sliding(1)
    assert right.passed and "those of the whole network on every window" in str(right)
    assert (len(right.data["windows"]), right.fault) == (len(right.verdict.windows), None)
    assert not wrong.passed and wrong.fault is not None
    assert (wrong.fault.code, "whole network" not in str(wrong)) == ("TW6002", True)


@pytest.mark.slow
def test_of_a_long_stream_the_last_calls_are_judged_step_by_step() -> None:
    right, early, last = (_sliding(0, SEEN + 4, wrong) for wrong in (-1, 2, SEEN + 3))
    assert right.passed and right.verdict.unseen == 4
    assert "of the first 4 calls that is what they hand out" in str(right)
    elements = {window.name: window.elements for window in right.verdict.windows}
    assert elements["y"] == 12 * (SEEN + 4) and max(elements.values()) == elements["y"]
    assert all(step.exact for step in early.steps) and not early.passed
    assert [window.name for window in early.verdict.windows if not window.within] == ["y"]
    assert not all(step.exact for step in last.steps)
    assert not _sliding(1, SEEN + 4).passed
