"""Scatter: the C against the reference for every reduction and type; places that are none; sharing bytes with X."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES
from tilewright.operators.movement.scatter import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, result_errors, site_of

(SCATTER,), (KERNEL,) = OPERATORS, KERNELS


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_every_reduction(reduction: str, dtype: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(len(reduction))
    x, updates = (numbers.integers(0, 120, shape).astype(dtype) for shape in ((4, 6), (7, 3)))
    inputs = [x, np.array([0, 21, 3, 3, -1, 22, 9]), updates]  # one twice, one none, one that does not fit
    site = site_of(SCATTER, inputs, {"reduction": reduction, "slice": 3})
    if dtype == "bool" and reduction != "none":
        assert "bool" in str(refusal(KERNEL, site))
        return
    (y,) = run_kernel(SCATTER, KERNEL, site, inputs, folder=tmp_path)
    assert result_errors(SCATTER, site, inputs, [y]) == []


def test_later_updates_win_and_none_is_made_outside() -> None:
    inputs = [np.zeros(4, np.float32), np.array([1, 1, -1, 4]), np.array([5, 6, 7, 8], np.float32)]
    site = site_of(SCATTER, inputs, {"reduction": "none", "slice": 1})
    assert SCATTER.reference(site, inputs)[0].tolist() == [0, 6, 0, 0]


def test_updates_that_do_not_fit() -> None:
    inputs = [np.zeros(4, np.float32), np.array([1, 1]), np.zeros(3, np.float32)]
    with pytest.raises(TilewrightError, match="3 elements for 2 places"):
        site_of(SCATTER, inputs, {"reduction": "none", "slice": 1})


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
