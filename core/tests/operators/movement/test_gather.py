"""Gather: the C in any layout and tile, the access, and which constant indices become a Slice."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Graph
from tilewright.operators.families import FAMILIES
from tilewright.operators.movement import gather, reshape, slice
from tilewright.operators.movement.gather import GATHER, GATHER_COPY, GATHER_ELEMENTS, GATHER_ELEMENTS_COPY
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

few = settings.get_profile("programs")
VOCABULARY = {each.name: each for family in (gather, reshape, slice) for each in family.OPERATORS}


@pytest.mark.slow
@few
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    chosen=st.lists(st.integers(1, 3), max_size=2),
    dtype=st.sampled_from(["float32", "int8", "int64"]),
    index=st.sampled_from(["int32", "int64"]),
    seed=st.integers(0, 2**32),
)
def test_c_equals_reference(
    shape: list[int], chosen: list[int], dtype: str, index: str, seed: int, tmp_path: Path
) -> None:
    random = np.random.default_rng(seed)
    axis = int(random.integers(-len(shape), len(shape)))
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    indices = np.asarray(random.integers(-shape[axis] - 2, shape[axis] + 2, chosen)).astype(index)
    site = site_of(GATHER, [x, indices], {"axis": axis})
    access = GATHER.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    assert kernel_errors(GATHER, GATHER_COPY, site, [x, indices], random, tmp_path) == []


def imported(indices: list[int] | int, axis: int = 1) -> Graph:
    node = helper.make_node("Gather", ["x", "i"], ["y"], axis=axis)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 5, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(np.array(indices, np.int64), "i")]
    made = helper.make_graph([node], "g", [x], [y], constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)])
    assert isinstance(model, onnx.ModelProto)
    return load(model.SerializeToString(), operators=VOCABULARY).graph


@pytest.mark.parametrize(
    ("indices", "operators"),
    [
        (2, ["Slice", "Reshape"]),
        (-1, ["Slice", "Reshape"]),
        ([3], ["Slice"]),
        ([1, 2, 3], ["Slice"]),
        ([4, 2, 0], ["Slice"]),
        ([-2, -1], ["Slice"]),
        ([0, 1, 3], ["Gather"]),
        ([2, 2], ["Gather"]),
        ([[0, 1]], ["Gather"]),
    ],
)
def test_indices_in_equal_steps_are_a_slice(indices: list[int] | int, operators: list[str]) -> None:
    graph = imported(indices)
    assert [node.op for node in graph.nodes] == operators
    x = np.arange(30, dtype=np.float32).reshape(2, 5, 3)
    assert np.array_equal(run(graph, {"x": x}, VOCABULARY)["y"], np.take(x, indices, axis=1))


def test_a_constant_index_outside_is_refused() -> None:
    with pytest.raises(TilewrightError, match="index 5 is outside axis 1"):
        imported([0, 5])


ELEMENTS_VOCABULARY = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
X = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_any_layout_and_tile(dtype: str, axis: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(axis)
    inputs = [numbers.integers(-99, 99, (3, 4, 5)).astype(np.int8), numbers.integers(-7, 7, (2, 3, 4)).astype(dtype)]
    site = site_of(GATHER_ELEMENTS, inputs, {"axis": axis})
    assert kernel_errors(GATHER_ELEMENTS, GATHER_ELEMENTS_COPY, site, inputs, numbers, tmp_path) == []


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
    found = load(model.SerializeToString(), operators=ELEMENTS_VOCABULARY).graph
    return run(found, {"x": X} if constant else {"x": X, "i": indices}, ELEMENTS_VOCABULARY)["y"]


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
