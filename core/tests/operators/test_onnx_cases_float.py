"""The onnx package's own cases for the float operators that compute: front end and references against its data.

A case may be refused, by name and with a reason listed here; a result that differs is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES

pytestmark = pytest.mark.slow  # the first one waits for onnx to make all of its cases

OPERATORS = (
    "AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "Gemm", "GlobalAveragePool", "GlobalMaxPool",
    "InstanceNormalization", "LayerNormalization", "LogSoftmax", "MatMul", "MaxPool", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceSum", "RMSNormalization", "Softmax",
)  # fmt: skip
REFUSED = {
    "test_batchnorm_epsilon_training_mode": "training is not supported",
    "test_batchnorm_example_training_mode": "training is not supported",
}

Cases = Mapping[str, Mapping[str, Any]]  # operator, name of a case


@cache
def vocabulary() -> dict[str, Operator]:
    return {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def baked(model: onnx.ModelProto, values: dict[str, Any]) -> onnx.ModelProto:
    """The model with the axes of its reductions as constants: a compiler cannot take them at run time."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    axes = {name for node in copy.graph.node if node.op_type.startswith("Reduce") for name in node.input[1:]}
    for value in [value for value in copy.graph.input if value.name in axes]:
        copy.graph.input.remove(value)
        copy.graph.initializer.append(onnx.numpy_helper.from_array(values[value.name], value.name))
    return copy


def difference(case: Any) -> str:
    """What is wrong with the results of one case; "" when nothing is. TilewrightError when it is refused."""
    inputs, outputs = case.data_sets[0]
    values = dict(zip((value.name for value in case.model.graph.input), inputs, strict=True))
    graph = load(baked(case.model, values).SerializeToString(), operators=vocabulary()).graph
    found = run(graph, {name: values[name] for name in graph.inputs}, vocabulary())
    for value, expected in zip(case.model.graph.output, outputs, strict=True):
        got = found[value.name]
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            return f"{value.name} is {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
        if not np.allclose(got, expected, rtol=case.rtol, atol=case.atol, equal_nan=True):
            return f"{value.name} differs by up to {np.max(np.abs(got - expected))}"
    return ""


@pytest.mark.parametrize("operator", OPERATORS)
def test_cases(operator: str, onnx_cases: Cases) -> None:
    wrong = {}
    for name, case in onnx_cases.get(operator, {}).items():
        try:
            problem = difference(case)
        except TilewrightError as error:
            known = name in REFUSED and REFUSED[name] in str(error)
            problem = "" if known else str(error)
        else:
            problem = problem or ("no longer refused" if name in REFUSED else "")
        if problem:
            wrong[name] = problem
    assert not wrong


def test_the_lists_are_not_empty(onnx_cases: Cases) -> None:
    found = [name for operator in OPERATORS for name in onnx_cases[operator]]
    assert len(found) >= 250
