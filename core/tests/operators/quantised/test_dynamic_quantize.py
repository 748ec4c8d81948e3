"""DynamicQuantizeLinear: against onnx's own body and its sums, at ties and ends, and C against the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.dynamic_quantize import DYNAMIC_QUANTIZE, DYNAMIC_QUANTIZE_PORTABLE
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

F32 = np.float32
ROWS = {
    "both signs": np.linspace(-3, 7, 41),
    "ties": np.arange(-63.75, 63.75, 0.25),
    "above 0": np.linspace(2, 9, 17),
    "below 0": np.linspace(-9, -2, 17),
    "silence": np.zeros(5),
    "one": np.array(-2.5),
    "nothing": np.zeros(0),
    "infinite": np.array([-np.inf, 1, 2]),
    "no number": np.array([np.nan, 1, -2]),
}


def onnx_says(x: np.ndarray) -> list[np.ndarray]:
    kinds = (("y", TensorProto.UINT8), ("s", TensorProto.FLOAT), ("z", TensorProto.UINT8))
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeLinear", ["x"], [name for name, _ in kinds])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return ReferenceEvaluator(model).run(None, {"x": x})


def reference(x: np.ndarray) -> tuple[np.ndarray, ...]:
    return DYNAMIC_QUANTIZE.reference(site_of(DYNAMIC_QUANTIZE, [x]), [x])


@pytest.mark.parametrize("name", ["both signs", "ties", "above 0", "below 0", "one"])
def test_reference_is_onnx(name: str) -> None:
    x = ROWS[name].astype(F32)
    for found, wanted in zip(reference(x), onnx_says(x), strict=True):
        assert (found.dtype, found.shape) == (np.asarray(wanted).dtype, np.shape(wanted))
        assert np.array_equal(found, wanted)


def test_halves_go_to_the_even_one() -> None:
    y, scale, zero = reference(np.array([-100, 155, 0.5, 1.5, 2.5, -0.5, -1.5], F32))
    assert (scale, zero, y.tolist()) == (1, 100, [0, 255, 100, 102, 102, 100, 98])


@pytest.mark.parametrize("name", ROWS)
def test_c_computes_the_same(name: str, tmp_path: Path) -> None:
    x = ROWS[name].astype(F32)
    x = x.reshape(-1, 17) if x.size == 17 * 30 else x
    site = site_of(DYNAMIC_QUANTIZE, [x])
    random = np.random.default_rng(1)
    assert kernel_errors(DYNAMIC_QUANTIZE, DYNAMIC_QUANTIZE_PORTABLE, site, [x], random, tmp_path) == []


def test_images_in_any_layout(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(2, 3, 4, 5)).astype(F32)
    site = site_of(DYNAMIC_QUANTIZE, [x])
    assert kernel_errors(DYNAMIC_QUANTIZE, DYNAMIC_QUANTIZE_PORTABLE, site, [x], random, tmp_path) == []


def test_integers_are_refused() -> None:
    with pytest.raises(TilewrightError, match="X is f32"):
        site_of(DYNAMIC_QUANTIZE, [np.zeros(3, np.int8)])
