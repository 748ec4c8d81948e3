"""The onnx package's own cases for elementwise operators and data movement: front end and references against its data.

A case may be refused, by name and with a reason listed here; a result that differs is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
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
    "Abs", "Add", "And", "ArgMax", "ArgMin", "Ceil", "Clip", "Concat", "DequantizeLinear", "Div", "Elu", "Equal", "Erf",
    "Exp", "Flatten", "Floor", "Gather", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity",
    "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min", "Mish", "Mul", "Neg", "Not", "Or", "Pad", "QuantizeLinear",
    "Reciprocal", "Relu", "Reshape", "Round", "Selu", "Sigmoid", "Slice", "Softplus", "Softsign", "Split", "Sqrt",
    "Squeeze", "Sub", "Sum", "Swish", "Tanh", "Transpose", "Unsqueeze", "Where", "Xor",
)  # fmt: skip
# Inputs that are parameters: a compiler cannot take them at run time.
PARAMETERS = MappingProxyType(
    {"Reshape": (1,), "Squeeze": (1,), "Unsqueeze": (1,), "Slice": (1, 2, 3, 4), "Split": (1,), "Pad": (1, 2, 3)}
    | {"Clip": (1, 2)}
)
# Part of a case's name, and of the reason.
REFUSED = (
    ("test_not_", "opset 1"),
    ("test_", "which tilewright does not hold"),  # float16, strings, sequences, floats of 4 and 8 bits, int2
)

Cases = Mapping[str, Mapping[str, Any]]  # operator, name of a case


@cache
def vocabulary() -> dict[str, Operator]:
    return {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def baked(model: onnx.ModelProto, values: dict[str, Any]) -> onnx.ModelProto:
    """The model with its parameters as constants."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    fixed = {
        node.input[index]
        for node in copy.graph.node
        for index in PARAMETERS.get(node.op_type, ())
        if index < len(node.input)
    }
    for value in [value for value in copy.graph.input if value.name in fixed]:
        copy.graph.input.remove(value)
        copy.graph.initializer.append(onnx.numpy_helper.from_array(values[value.name], value.name))
    return copy


def difference(case: Any) -> str:
    """What is wrong with the results of one case; "" when nothing is. TilewrightError when it is refused."""
    inputs, outputs = case.data_sets[0]
    values = dict(zip((value.name for value in case.model.graph.input), inputs, strict=True))
    graph = load(baked(case.model, values).SerializeToString(), operators=vocabulary()).graph
    found = run(graph, {name: values[name] for name in graph.inputs}, vocabulary())
    for value, wanted in zip(case.model.graph.output, outputs, strict=True):
        got = found[value.name]
        expected = onnx.numpy_helper.to_array(wanted) if isinstance(wanted, onnx.TensorProto) else wanted
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            return f"{value.name} is {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
        if not np.allclose(got, expected, rtol=case.rtol, atol=case.atol, equal_nan=True):
            return f"{value.name} differs"
    return ""


@pytest.mark.parametrize("operator", OPERATORS)
def test_cases(operator: str, onnx_cases: Cases) -> None:
    wrong, right = {}, 0
    for name, case in onnx_cases.get(operator, {}).items():
        try:
            problem = difference(case)
        except TilewrightError as error:
            known = any(part in name and reason in str(error) for part, reason in REFUSED)
            problem = "" if known else str(error)
        else:
            right += not problem
        if problem:
            wrong[name] = problem
    assert not wrong
    assert right or operator == "Not"  # whose cases are all of operator set 1


def test_the_lists_are_not_empty(onnx_cases: Cases) -> None:
    assert sum(len(onnx_cases[operator]) for operator in OPERATORS) >= 360
