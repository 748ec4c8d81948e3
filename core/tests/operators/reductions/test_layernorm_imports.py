"""Normalisations of ONNX as rows: axes, groups, parameters, statistics, and means large beside the deviation."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES

Floats = npt.NDArray[np.float32]
RANDOM = np.random.default_rng(0)


def floats(*shape: int) -> Floats:
    return RANDOM.standard_normal(shape).astype(np.float32)


def loaded(
    tmp_path: Path,
    op: str,
    x: Floats,
    parameters: Sequence[Floats] = (),
    *,
    opset: int = 23,
    outputs: Sequence[str] = ("y",),
    like_onnx: bool = True,
    **attributes: Any,
) -> Floats:
    """The last output of the front end's reading of one node, run by the references; `like_onnx`: as that has it."""
    names = [f"p{index}" for index in range(len(parameters))]
    node = helper.make_node(op, ["x", *names], outputs, "n", **attributes)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    constants = [numpy_helper.from_array(value, name) for name, value in zip(names, parameters, strict=True)]
    graph = helper.make_graph([node], "g", [given], ends[-1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    file = tmp_path / "m.onnx"
    file.write_bytes(model.SerializeToString())
    vocabulary = {item.name: item for name in FAMILIES for item in import_module(name).OPERATORS}
    imported = load(file, operators=vocabulary).graph
    found = run(imported, {"x": x}, vocabulary)[imported.outputs[0]]
    if like_onnx:
        (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    return np.asarray(found)


def test_rows_of_several_axes_and_broadcast_parameters(tmp_path: Path) -> None:
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(3, 4), floats(3, 4)], axis=1)
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(4)], axis=-2, epsilon=0.1)
    loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(4), floats(4)])
    loaded(tmp_path, "RMSNormalization", floats(2, 3, 4), [floats(3, 4)], axis=1)


def test_instances_are_rows(tmp_path: Path) -> None:
    loaded(tmp_path, "InstanceNormalization", floats(2, 3, 4, 5), [floats(3), floats(3)], epsilon=0.01)


def test_groups_are_rows(tmp_path: Path) -> None:
    """Scale and bias for each channel, and in operator set 18 for each group, as ONNX's own definitions have them."""
    groups = {"num_groups": 2, "epsilon": 0.01}
    found = loaded(tmp_path, "GroupNormalization", floats(2, 6, 4, 5), [floats(6), floats(6)], opset=21, **groups)
    assert found.shape == (2, 6, 4, 5)
    x, scale, shift = floats(2, 6, 7), floats(2), floats(2)
    old = loaded(tmp_path, "GroupNormalization", x, [scale, shift], opset=18, like_onnx=False, **groups)
    new = loaded(
        tmp_path, "GroupNormalization", x, [scale.repeat(3), shift.repeat(3)], opset=21, like_onnx=False, **groups
    )
    np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("axes", [(0, 2, 3), (1,), (-1, 1), (0, 1, 2, 3)])
@pytest.mark.parametrize("opset", [9, 13])
def test_mean_and_variance_over_any_axes(tmp_path: Path, axes: tuple[int, ...], opset: int) -> None:
    loaded(tmp_path, "MeanVarianceNormalization", floats(2, 3, 4, 5), opset=opset, axes=axes)


@pytest.mark.parametrize(("mean", "deviation"), [(100, 0.1), (1000, 0.1), (1000, 1)])
def test_a_mean_that_is_large_beside_the_deviation(tmp_path: Path, mean: float, deviation: float) -> None:
    """Against float64: no variance by mean(x^2) - mean^2."""
    x = RANDOM.normal(mean, deviation, (2, 4, 16, 16)).astype(np.float32)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    wide = x.astype(np.float64)

    def exact(axes: tuple[int, ...], values: npt.NDArray[np.float64], inside: float) -> npt.NDArray[np.float64]:
        centred = values - values.mean(axes, keepdims=True)
        normalised: npt.NDArray[np.float64] = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + inside)
        return normalised

    groups = exact((2, 3, 4), wide.reshape(2, 2, 2, 16, 16), 1e-5).reshape(x.shape)
    for op, expected, parameters, attributes in (
        ("GroupNormalization", groups, [ones, zeros], {"num_groups": 2}),
        ("InstanceNormalization", exact((2, 3), wide, 1e-5), [ones, zeros], {}),
        ("MeanVarianceNormalization", exact((0, 2, 3), wide, 0.0), [], {}),
    ):
        found = loaded(tmp_path, op, x, parameters, like_onnx=False, **attributes)
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=op)


def test_constant_values_have_no_deviation(tmp_path: Path) -> None:
    x = np.full((1, 2, 16, 24), 1000.1, np.float32)
    parameters = [np.ones(2, np.float32), np.array([1, -2], np.float32)]
    assert not loaded(tmp_path, "MeanVarianceNormalization", x, like_onnx=False).any()
    found = loaded(tmp_path, "GroupNormalization", x, parameters, like_onnx=False, num_groups=1)
    np.testing.assert_array_equal(found, np.broadcast_to(parameters[1].reshape(1, 2, 1, 1), x.shape))
    inverse = loaded(
        tmp_path, "LayerNormalization", x, [np.ones(24, np.float32)], outputs=("y", "", "d"), like_onnx=False
    )
    np.testing.assert_allclose(inverse, 1 / np.sqrt(1e-5), rtol=1e-6)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match="does not broadcast"):
        loaded(tmp_path, "LayerNormalization", floats(2, 3, 4), [floats(3)], axis=-1)
    with pytest.raises(TilewrightError, match="5 equal groups"):
        loaded(tmp_path, "GroupNormalization", floats(2, 6, 4), [floats(6), floats(6)], num_groups=5)
    with pytest.raises(TilewrightError, match="do not have 6 elements"):
        loaded(tmp_path, "GroupNormalization", floats(2, 6, 4), [floats(2), floats(2)], num_groups=2)
