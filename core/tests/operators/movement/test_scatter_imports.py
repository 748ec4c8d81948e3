"""How ScatterElements and ScatterND become places: indices before and at run time, and what is refused.

The onnx package's own cases are in `test_onnx_cases_more`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES

VOCABULARY = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
X = np.zeros((3, 4, 2), np.float32)


def scattered(op: str, indices: Any, updates: Any, *, constant: bool, dtype: str = "int64", **attributes: Any) -> Any:
    """The result of one node over zeros."""
    indices, updates = np.asarray(indices, dtype), np.asarray(updates, np.float32)
    node = helper.make_node(op, ["x", "i", "u"], ["y"], **attributes)
    kind = TensorProto.INT64 if dtype == "int64" else TensorProto.INT32
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, v.shape) for name, v in (("x", X), ("u", updates))]
    if not constant:
        values.append(helper.make_tensor_value_info("i", kind, indices.shape))
    constants = [numpy_helper.from_array(indices, "i")] if constant else []
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", values, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    found = load(model.SerializeToString(), operators=VOCABULARY).graph
    given = {"x": X, "u": updates, **({} if constant else {"i": indices})}
    return run(found, given, VOCABULARY)["y"]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements(axis: int, constant: bool, dtype: str) -> None:
    numbers = np.random.default_rng(axis + 1)
    extent = X.shape[axis]
    indices = np.stack([numbers.permutation(extent)[:2] - extent * (k % 2) for k in range(4)]).reshape(2, 2, 2)
    updates = numbers.standard_normal((2, 2, 2)).astype(np.float32)
    wanted = X.copy()
    for place in np.ndindex(2, 2, 2):
        at = list(place)
        at[axis] = indices[place]
        wanted[tuple(at)] = updates[place]
    found = scattered("ScatterElements", indices, updates, constant=constant, dtype=dtype, axis=axis)
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("constant", [True, False])
def test_slices(constant: bool) -> None:
    found = scattered("ScatterND", [[-1, 1], [0, -4]], [[1, 2], [3, 4]], constant=constant)
    assert found[2, 1].tolist() == [1, 2] and found[0, 0].tolist() == [3, 4] and found.sum() == 10


def test_what_the_program_finds_outside_is_left_out() -> None:
    found = scattered("ScatterND", [[0, 4], [3, 0], [1, -5], [1, 1]], np.ones((4, 2)), constant=False)
    assert found[1, 1].tolist() == [1, 1] and found.sum() == 2


@pytest.mark.parametrize(
    ("op", "indices", "updates", "attributes", "reason"),
    [
        ("ScatterND", [[3, 0]], [[1, 2]], {}, "outside an axis of 3"),
        ("ScatterND", [[0, 0]], [1, 2], {}, "updates do not have the shape"),
        ("ScatterElements", [[[5]]], [[[1]]], {"axis": 1}, "outside an axis of 4"),
        ("ScatterElements", [[[1, 1]]], [[[1]]], {}, "one shape"),
        ("ScatterElements", [[[1, 1, 1]]], [[[1, 1, 1]]], {}, "larger than data"),
        ("ScatterND", [[0, 0]], [[1, 2]], {"reduction": "xor"}, "'xor' is none of"),
    ],
)
def test_refused(op: str, indices: Any, updates: Any, attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        scattered(op, indices, updates, constant=True, **attributes)
