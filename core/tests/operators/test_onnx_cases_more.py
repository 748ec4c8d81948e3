"""The onnx package's own cases for operators that ONNX defines by others, and for those that index, sort or recur.

Front end and references against its data. A case may be refused, by name and with a reason listed here; a result that
differs is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_model_tests

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType
from tilewright.operators.families import FAMILIES

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning:onnx")  # of how onnx makes its data

# Operator -> how many cases of types that tilewright holds, and which of their inputs are parameters of the compiler.
COUNTS: dict[str, tuple[int, tuple[int, ...]]] = {
    "Attention": (93, ()),
    "Celu": (3, ()),
    "CenterCropPad": (6, (1,)),
    "CumProd": (2, (1,)),
    "CumSum": (2, (1,)),
    "DynamicQuantizeLinear": (3, ()),
    "GRU": (6, ()),
    "GatherElements": (3, ()),
    "GatherND": (3, ()),
    "GroupNormalization": (2, ()),
    "Hardmax": (7, ()),
    "IsInf": (4, ()),
    "IsNaN": (2, ()),
    "LRN": (2, ()),
    "LSTM": (6, ()),
    "LpNormalization": (6, ()),
    "MeanVarianceNormalization": (1, ()),
    "OneHot": (6, (1,)),
    "Pad": (6, (1, 3)),
    "RNN": (6, ()),
    "ReduceLogSumExp": (1, (1,)),
    "ReduceProd": (9, (1,)),
    "Resize": (39, (1, 2, 3)),
    "RotaryEmbedding": (8, ()),
    "Scatter": (2, ()),
    "ScatterElements": (7, ()),
    "ScatterND": (7, ()),
    "Shrink": (2, ()),
    "ThresholdedRelu": (3, ()),
    "TopK": (7, (1,)),
    "Trilu": (18, (1,)),
}
REFUSED: dict[str, str] = {}


@cache
def vocabulary() -> dict[str, Operator]:
    return {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


@cache
def cases() -> dict[str, list[Any]]:
    """Cases of one node by operator, where all that goes in and out is held."""
    found: dict[str, list[Any]] = {}
    for case in load_model_tests(kind="node"):
        nodes = case.model.graph.node
        if len(nodes) == 1 and nodes[0].op_type in COUNTS and all(map(is_held, values(case.model))):
            found.setdefault(nodes[0].op_type, []).append(case)
    return found


def values(model: onnx.ModelProto) -> Iterator[onnx.ValueInfoProto]:
    yield from model.graph.input
    yield from model.graph.output


def is_held(value: onnx.ValueInfoProto) -> bool:
    number = value.type.tensor_type.elem_type
    return number in ELEMENT_TYPES and ELEMENT_TYPES[number].value != "f64"


def baked(model: onnx.ModelProto, given: dict[str, Any], positions: tuple[int, ...]) -> onnx.ModelProto:
    """The model with parameters as constants: a compiler cannot take them at run time."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    (node,) = copy.graph.node
    names = {node.input[position] for position in positions if position < len(node.input)}
    for value in [value for value in copy.graph.input if value.name in names]:
        copy.graph.input.remove(value)
        copy.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(given[value.name]), value.name))
    return copy


def difference(case: Any, positions: tuple[int, ...]) -> str:
    """What is wrong with the results of one case; "" when nothing is. TilewrightError when it is refused."""
    inputs, outputs = case.data_sets[0]
    given = dict(zip((value.name for value in case.model.graph.input), inputs, strict=True))
    graph = load(baked(case.model, given, positions).SerializeToString(), operators=vocabulary()).graph
    found = run(graph, {name: np.asarray(given[name]) for name in graph.inputs}, vocabulary())
    for value, expected in zip(case.model.graph.output, map(np.asarray, outputs), strict=True):
        got = found[value.name]
        if (got.dtype, got.shape) != (expected.dtype, expected.shape):
            return f"{value.name} is {got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
        dtype = DType.from_numpy(got.dtype)  # onnx rounds floats of 16 bits in between
        rtol = max(case.rtol, 4 * dtype.unit) if dtype.is_half else case.rtol
        # numpy before 2 does not compare bfloat16 with numbers
        one, other = (each.astype(np.float32) if dtype.is_half else each for each in (got, expected))
        if not np.allclose(one, other, rtol=rtol, atol=case.atol, equal_nan=True):
            return f"{value.name} differs by up to {np.max(np.abs(one - other))}"
    return ""


@pytest.mark.parametrize("operator", COUNTS)
def test_cases(operator: str) -> None:
    wrong = {}
    for case in cases()[operator]:
        try:
            problem = difference(case, COUNTS[operator][1])
        except TilewrightError as error:
            known = case.name in REFUSED and REFUSED[case.name] in str(error)
            problem = "" if known else str(error)
        else:
            problem = problem or ("no longer refused" if case.name in REFUSED else "")
        if problem:
            wrong[case.name] = problem
    assert not wrong
    assert len(cases()[operator]) == COUNTS[operator][0]
