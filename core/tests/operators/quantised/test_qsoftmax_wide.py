"""QSoftmax of 16 bits: near the softmax in floats, C equal to the reference in both arithmetics, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qsoftmax import QSOFTMAX, QSOFTMAX_PORTABLE
from tilewright.operators.quantised.qsoftmax_wide import QSOFTMAX_WIDE
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.operator_sites import byte_array, refusal, site_of

Array = npt.NDArray[np.generic]
FLAGS = {"gcc": UBSAN, "clang": (*STRICT, "-O2")}


def wide_site(x: Array, y_type: DType, x_scale: float, rounding: str, axis: int = -1) -> Site:
    low, high = y_type.limits
    y_scale, zero = (2.0**-15, 0) if rounding == "tflm" else (2.0 ** (-8 * y_type.size_bytes), low)
    attributes: dict[str, Attribute] = {
        "axis": axis, "x_scale": x_scale, "y_scale": y_scale, "zero_point": zero, "low": low, "high": high,
        "output_type": y_type.value, "rounding": rounding,
    }  # fmt: skip
    return site_of(QSOFTMAX, [x], attributes)


def in_floats(site: Site, x: Array) -> npt.NDArray[np.float64]:
    node = site.node
    logits = x.astype(np.float64) * node.number("x_scale")
    powers = np.exp(logits - logits.max(axis=node.integer("axis"), keepdims=True))
    real = powers / powers.sum(axis=node.integer("axis"), keepdims=True) / node.number("y_scale")
    limited: npt.NDArray[np.float64] = np.clip(real + node.integer("zero_point"), *site.output.dtype.limits)
    return limited


@pytest.mark.parametrize("y_type", [DType.I16, DType.U16, DType.I8])
@pytest.mark.parametrize("length", [1, 2, 10, 700])
@pytest.mark.parametrize("x_scale", [1e-5, 3e-4, 0.02])
def test_at_most_one_step_from_floats(y_type: DType, length: int, x_scale: float) -> None:
    rng = np.random.default_rng(length)
    rows = [rng.integers(-(2**15), 2**15, length), rng.integers(-90, 90, length), np.full(length, 2**15 - 1)]
    rows[2][0] = -(2**15)
    x = np.stack(rows).astype(np.int16)
    site = wide_site(x, y_type, x_scale, "onnx")
    assert refusal(QSOFTMAX_WIDE, site) is None
    (found,) = QSOFTMAX.reference(site, [x])
    assert np.abs(found.astype(np.float64) - in_floats(site, x)).max() < 1


def test_tflm_is_near_floats_too() -> None:
    x = np.random.default_rng(0).integers(-9000, 9000, (40, 12)).astype(np.int16)
    site = wide_site(x, DType.I16, 3e-4, "tflm")
    (found,) = QSOFTMAX.reference(site, [x])
    assert np.abs(found.astype(np.float64) - in_floats(site, x)).max() < 40  # of 32,768: what its tables are off


@pytest.mark.slow
@pytest.mark.parametrize("compiler", FLAGS)
@pytest.mark.parametrize("rounding", ["onnx", "tflm"])
@pytest.mark.parametrize("axis", [-1, 0])
def test_c_is_the_reference(
    rounding: str, axis: int, compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", compiler)
    for index, x_scale in enumerate((1e-6, 2.5e-4, 0.05)):
        x_type = DType.I16 if rounding == "tflm" or index else DType.U16
        x = byte_array(np.random.default_rng(index), x_type, (9, 31), index == 2)
        inputs: list[Array | None] = [x]
        site = wide_site(x, DType.I16, x_scale, rounding, axis)
        folder = tmp_path / str(index)
        folder.mkdir()
        (found,) = run_kernel(QSOFTMAX, QSOFTMAX_WIDE, site, inputs, folder=folder, flags=FLAGS[compiler])
        assert np.array_equal(found, QSOFTMAX.reference(site, inputs)[0])


def test_each_kernel_has_its_widths() -> None:
    byte, word = np.zeros((2, 3), np.int8), np.zeros((2, 3), np.int16)
    assert refusal(QSOFTMAX_WIDE, wide_site(byte, DType.I8, 0.1, "onnx")) == "values have 8 bits"
    assert refusal(QSOFTMAX_PORTABLE, wide_site(word, DType.I16, 0.1, "onnx")) is not None
    assert "zero point 0" in str(refusal(QSOFTMAX_WIDE, wide_site(word, DType.U16, 0.1, "tflm")))
    assert "at most 32768" in str(
        refusal(QSOFTMAX_WIDE, wide_site(np.zeros((1, 2**15 + 1), np.int16), DType.I16, 1.0, "onnx"))
    )
    assert "not positive" in str(refusal(QSOFTMAX_WIDE, wide_site(word, DType.I16, 0.0, "onnx")))
