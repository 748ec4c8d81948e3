"""GatherElements and GatherND: the C in any layout and tile, indices at run time and before, and what is refused.

The onnx package's own cases are in `test_onnx_cases_more`.
"""

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
from tilewright.operators.shared.elements import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(GATHER,), (KERNEL,) = OPERATORS, KERNELS
VOCABULARY = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
X = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_any_layout_and_tile(dtype: str, axis: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(axis)
    inputs = [numbers.integers(-99, 99, (3, 4, 5)).astype(np.int8), numbers.integers(-7, 7, (2, 3, 4)).astype(dtype)]
    site = site_of(GATHER, inputs, {"axis": axis})
    assert kernel_errors(GATHER, KERNEL, site, inputs, numbers, tmp_path) == []


def gathered(op: str, indices: Any, *, constant: bool, **attributes: int) -> Any:
    """The result of one node over X."""
    indices = np.asarray(indices, np.int64)
    node = helper.make_node(op, ["x", "i"], ["y"], **attributes)
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)]
    if not constant:
        values.append(helper.make_tensor_value_info("i", TensorProto.INT64, indices.shape))
    constants = [numpy_helper.from_array(indices, "i")] if constant else []
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", values, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = load(model.SerializeToString(), operators=VOCABULARY).graph
    return run(found, {"x": X} if constant else {"x": X, "i": indices}, VOCABULARY)["y"]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("batches", [0, 1, 2])
@pytest.mark.parametrize("depth", [1, 2])
def test_tuples_of_indices(depth: int, batches: int, constant: bool) -> None:
    numbers, lead = np.random.default_rng(depth + batches), X.shape[:batches]
    extents = X.shape[batches : batches + depth]
    indices = np.stack([numbers.integers(-extent, extent, (*lead, 6)) for extent in extents], axis=-1)
    wanted = np.empty((*lead, 6, *X.shape[batches + depth :]), np.float32)
    for place in np.ndindex(*lead, 6):
        wanted[place] = X[(*place[:batches], *indices[place])]
    assert np.array_equal(gathered("GatherND", indices, constant=constant, batch_dims=batches), wanted)


@pytest.mark.parametrize(
    ("op", "indices", "attributes", "reason"),
    [
        ("GatherElements", np.full((2, 3, 4, 5), 7), {}, "outside axis 0"),
        ("GatherND", [[2]], {}, "an index is outside"),
        ("GatherND", [[0, 0]], {"batch_dims": 2}, "batch_dims is 2"),
        ("GatherND", np.zeros((3, 1)), {"batch_dims": 1}, "the batches of I"),
    ],
)
def test_refused(op: str, indices: Any, attributes: dict[str, int], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        gathered(op, indices, constant=True, **attributes)
