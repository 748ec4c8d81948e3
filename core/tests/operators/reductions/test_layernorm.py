"""LayerNormalization and its kin: access, C against the references in any layout and in tiles, imports."""

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
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES
from tilewright.operators.reductions.layernorm import KERNELS, LAYER_NORMALIZATION, RMS_NORMALIZATION
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright.testing.operator_sites import result_errors, site_of, window_errors

Floats = npt.NDArray[np.float32]
Case = tuple[Operator, Site, list[Floats | None]]
KERNEL_OF = {kernel.op: kernel for kernel in KERNELS}
compiled = settings.get_profile("programs")


@st.composite
def sites(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = (random.standard_normal(shape) * draw(st.sampled_from([1e-3, 1, 60])) + draw(st.sampled_from([0, 5]))).astype(
        "f4"
    )
    operator = draw(st.sampled_from([LAYER_NORMALIZATION, RMS_NORMALIZATION]))
    inputs: list[Floats | None] = [x, random.standard_normal(shape[-1]).astype("f4") if draw(st.booleans()) else None]
    if operator is LAYER_NORMALIZATION:
        inputs.append(random.standard_normal(shape[-1]).astype("f4") if draw(st.booleans()) else None)
    return operator, site_of(operator, inputs, {"epsilon": draw(st.sampled_from([1e-5, 1e-2]))}), inputs


@pytest.mark.parametrize("operator", [LAYER_NORMALIZATION, RMS_NORMALIZATION])
def test_rows_whose_sums_leave_the_type_may_be_anything(operator: Operator, tmp_path: Path) -> None:
    """Squares of 3e38 are infinite in C; infinite and ordinary rows are as strict as ever."""
    x = np.array([[3e38, -3e38, 1], [1, 2, 4], [np.inf, 1, 2], [np.nan, 0, 1]], np.float32)
    site = site_of(operator, [x], {"epsilon": 1e-5})
    (found,) = run_kernel(operator, KERNEL_OF[operator.name], site, [x], folder=tmp_path)
    assert result_errors(operator, site, [x], [found]) == []
    (limits,) = operator.tolerance(site, [x]) if operator.tolerance else (None,)
    assert limits is not None
    assert np.isposinf(limits[0]).all() and (limits[1] < 1e-4).all() and not np.isposinf(limits[2:]).any()


@pytest.mark.slow
@compiled
@given(case=sites(), data=st.data())
def test_c_in_any_layout(tmp_path_factory: pytest.TempPathFactory, case: Case, data: st.DataObject) -> None:
    operator, site, inputs = case
    kernel, folder, rank = KERNEL_OF[operator.name], tmp_path_factory.mktemp("c"), len(site.input(0).shape)
    layouts = {name: tuple(data.draw(st.permutations(range(rank)))) for name in "XY"}
    cuts = {f"i{axis}": data.draw(st.integers(1, 3)) for axis in range(rank - 1)}
    how = {"cuts": [cuts], "folder": folder, "layouts": layouts}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == []


@compiled
@given(case=sites(), data=st.data())
def test_access(case: Case, data: st.DataObject) -> None:
    """Rows are whole, all other axes are parallel loops of their own."""
    operator, site, _ = case
    access = operator.access(site)
    assert isinstance(access, MapAccess)
    access.verify()
    assert {loop.kind for loop in access.loops} <= {"parallel"}
    box = {loop.name: (data.draw(st.integers(0, loop.extent - 1)), loop.extent) for loop in access.loops}
    assert window_errors(access, box) == []
    assert access.window("X", box)[-1].extent == site.input(0).shape[-1]


def test_reference_by_hand() -> None:
    x = np.array([[1, 3], [4, 4]], np.float32)
    (y,) = LAYER_NORMALIZATION.reference(site_of(LAYER_NORMALIZATION, [x], {"epsilon": 0.0}), [x])
    np.testing.assert_allclose(y[0], [-1, 1], rtol=1e-6)
    x = np.array([[3, 4]], np.float32)
    (y,) = RMS_NORMALIZATION.reference(site_of(RMS_NORMALIZATION, [x], {"epsilon": 0.0}), [x])
    np.testing.assert_allclose(y[0], np.array([3, 4]) / np.sqrt(12.5), rtol=1e-6)


def test_a_large_mean_does_not_cancel(tmp_path: Path) -> None:
    x = (np.linspace(-1, 1, 64) + 1000).astype(np.float32)[None]
    site = site_of(LAYER_NORMALIZATION, [x])
    found = run_kernel(LAYER_NORMALIZATION, KERNELS[0], site, [x], folder=tmp_path)
    assert result_errors(LAYER_NORMALIZATION, site, [x], found) == []
    assert abs(float(found[0].std()) - 1) < 1e-3


def loaded(tmp_path: Path, op: str, x: Floats, parameters: list[Floats], opset: int = 23, **attributes: Any) -> Floats:
    """The front end's reading of one node, run by the references."""
    names = [f"p{index}" for index in range(len(parameters))]
    node = helper.make_node(op, ["x", *names], ["y"], "n", **attributes)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape) for name in "xy"]
    constants = [numpy_helper.from_array(value, name) for name, value in zip(names, parameters, strict=True)]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    file = tmp_path / "m.onnx"
    file.write_bytes(model.SerializeToString())
    vocabulary = {item.name: item for name in FAMILIES for item in import_module(name).OPERATORS}
    imported = load(file, operators=vocabulary).graph
    found = run(imported, {"x": x}, vocabulary)["y"]
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    return np.asarray(found)


RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Floats:
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_rows_of_several_axes_and_broadcast_parameters(tmp_path: Path) -> None:
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(3, 4), floats(3, 4)], axis=1)
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(4)], axis=-2, epsilon=0.1)
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(4), floats(4)])
    loaded(tmp_path, "RMSNormalization", floats(2, 3, 4), [floats(3, 4)], axis=1)


def test_instances_are_rows(tmp_path: Path) -> None:
    loaded(tmp_path, "InstanceNormalization", floats(2, 3, 4, 5), [floats(3), floats(3)], epsilon=0.01)


def test_what_belongs_to_training_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="does not broadcast"):
        loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(3)], axis=-1)
