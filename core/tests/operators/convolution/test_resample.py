"""Resample: the C against the reference along every axis, in any layout and tile; tables that leave the input."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Site
from tilewright.operators.convolution.resample import RESAMPLE, RESAMPLE_F32, UPSAMPLE, UPSAMPLE_COPY
from tilewright.operators.families import FAMILIES
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_tiled
from tilewright.testing.operator_sites import result_errors, site_of, window_errors


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis_layout_and_tile(axis: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(axis)
    x = numbers.standard_normal((5, 6, 7)).astype(np.float32)
    inputs = [x, np.array([0, 2, 1, 2], np.int32), numbers.standard_normal((4, 3)).astype(np.float32)]
    site = site_of(RESAMPLE, inputs, {"axis": axis}, constants=(1, 2))
    assert site.output.shape == tuple(4 if at == axis else extent for at, extent in enumerate(x.shape))
    assert kernel_errors(RESAMPLE, RESAMPLE_F32, site, inputs, numbers, tmp_path) == []


@pytest.mark.parametrize(
    ("first", "axis", "constants", "reason"),
    [
        ([0, 3], 0, (1, 2), "outside X"),
        ([-1, 0], 0, (1, 2), "outside X"),
        ([0, 1], 1, (1, 2), "no axis 1"),
        ([0, 1], 0, (), "must be constants"),
    ],
)
def test_tables_that_do_not_fit(first: list[int], axis: int, constants: tuple[int, ...], reason: str) -> None:
    inputs = [np.zeros(4, np.float32), np.array(first, np.int32), np.zeros((2, 2), np.float32)]
    with pytest.raises(TilewrightError, match=reason):
        site_of(RESAMPLE, inputs, {"axis": axis}, constants=constants)


Array = npt.NDArray[np.generic]
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> tuple[Site, Array]:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    factors = tuple(draw(st.integers(1, 3)) for _ in shape)
    dtype = draw(st.sampled_from([np.float32, np.int8, np.uint8]))
    x = np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, 100, shape).astype(dtype)
    return site_of(UPSAMPLE, [x], {"factors": factors}), x


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Site, Array], data: st.DataObject
) -> None:
    site, x = case
    folder = tmp_path_factory.mktemp("c")
    layouts = {name: tuple(data.draw(st.permutations(range(x.ndim)))) for name in "XY"}
    found = run_kernel(UPSAMPLE, UPSAMPLE_COPY, site, [x], folder=folder, layouts=layouts)
    assert result_errors(UPSAMPLE, site, [x], found) == []
    cuts = {f"a{axis}": data.draw(st.integers(1, 5)) for axis in range(x.ndim)}
    found = run_tiled(UPSAMPLE, UPSAMPLE_COPY, site, [x], cuts=cuts, folder=folder, layouts=layouts)
    assert result_errors(UPSAMPLE, site, [x], found) == []


@compiled
@given(case=sites(), data=st.data())
def test_access(case: tuple[Site, Array], data: st.DataObject) -> None:
    access = UPSAMPLE.access(case[0])
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    assert window_errors(access, box) == []


def loaded(op: str, opset: int, constants: dict[int, Array], **attributes: Any) -> tuple[Array, Array]:
    """What the front end makes of a node over 1x2x3x4, and what ONNX says."""
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    names = ["x"] + ["" if index not in constants else f"c{index}" for index in range(1, max(constants) + 1)]
    node = helper.make_node(op, names, ["y"], "n", **attributes)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xy"]
    ends[0] = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    known = [numpy_helper.from_array(value, f"c{index}") for index, value in constants.items()]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    vocabulary = {item.name: item for name in FAMILIES for item in import_module(name).OPERATORS}
    found = run(load(model.SerializeToString(), operators=vocabulary).graph, {"x": x}, vocabulary)["y"]
    if opset < 11:  # which the reference evaluator cannot run
        return found, x.repeat(2, axis=2).repeat(3, axis=3)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    return found, expected


SCALES = np.array([1, 1, 2, 3], np.float32)


@pytest.mark.parametrize("rule", ["asymmetric", "half_pixel", "pytorch_half_pixel"])
def test_resize_by_whole_factors(rule: str) -> None:
    nearest = "floor" if rule == "asymmetric" else "round_prefer_floor"
    rules = {"mode": "nearest", "coordinate_transformation_mode": rule, "nearest_mode": nearest}
    for constants in ({2: SCALES}, {3: np.array([1, 2, 6, 12])}):
        np.testing.assert_array_equal(*loaded("Resize", 13, constants, **rules))


def test_older_forms() -> None:
    np.testing.assert_array_equal(*loaded("Upsample", 9, {1: SCALES}, mode="nearest"))
    np.testing.assert_array_equal(*loaded("Resize", 10, {1: SCALES}, mode="nearest"))
