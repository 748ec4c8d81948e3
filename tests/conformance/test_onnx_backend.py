"""onnx's own test runner drives tilewright through `tilewright.onnx_backend`."""

from __future__ import annotations

import unittest
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy.typing as npt
import onnx.backend.test
import pytest
from onnx import TensorProto, helper
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

from tilewright.onnx_backend import CompiledModel, TilewrightBackend, prepare

PASSING = ("test_relu_cpu", "test_add_cpu", "test_softmax_axis_1_cpu", "test_transpose_all_permutations_0_cpu")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the cases themselves


def _tests(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _tests(each)
        else:
            yield each


def test_cases_of_the_runner_pass(tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool("cc")
    runs, run = [], CompiledModel.run

    def counted(self: CompiledModel, inputs: Sequence[Any] | Mapping[str, Any]) -> tuple[npt.NDArray[Any], ...]:
        runs.append(self)
        return run(self, inputs)

    monkeypatch.setattr(CompiledModel, "run", counted)
    runner = onnx.backend.test.BackendTest(TilewrightBackend, __name__)
    chosen = [test for test in _tests(runner.test_suite) if test._testMethodName in PASSING]
    result = unittest.TestResult()
    unittest.TestSuite(chosen).run(result)
    assert result.wasSuccessful(), (result.errors, result.failures)
    assert len(runs) == len(PASSING)  # what is refused counts as passed there


def test_what_cannot_be_taken_is_said_in_the_runners_words() -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], domain="own")], "net", ends[:1], ends[1:])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    with pytest.raises(BackendIsNotSupposedToImplementIt, match="cannot be imported"):
        prepare(helper.make_model(graph, opset_imports=sets, ir_version=8))
