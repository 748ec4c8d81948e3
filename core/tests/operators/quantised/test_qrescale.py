"""QRescale: a change of scale between 8 and 16 bits, LeakyRelu; the reference by hand, the C against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.operators.quantised.qrescale import QRESCALE, QRESCALE_PORTABLE, rescale_bounds
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, run_kernel
from tilewright.testing.operator_sites import ROUNDINGS, byte_array, refusal, site_of, with_rounding

Array = npt.NDArray[np.generic]
TYPES = (DType.I8, DType.U8, DType.I16, DType.U16)


def attributes(x: DType, y: DType, slope: float | None, rounding: str = "onnx") -> dict[str, Attribute]:
    rng = np.random.default_rng(3)
    low, high = y.limits
    ratio = 0.37 * 2.0 ** (8 * y.size_bytes - 8 * x.size_bytes)
    requant = Requant(scale=(float(np.float32(ratio)),), zero_point=low + 5, low=low, high=high - 9)
    found: dict[str, Attribute] = {
        "x_zero_point": x.limits[0] + 90, "output_type": y.value, "requant": with_rounding(rng, requant, rounding)
    }  # fmt: skip
    if slope is not None:
        below = replace(requant, scale=(float(np.float32(ratio * slope)),))
        found["negative"] = with_rounding(np.random.default_rng(3), below, rounding)
    return found


@pytest.mark.parametrize("slope", [None, 0.25, 0.0])
@pytest.mark.parametrize(("x", "y"), [(DType.I16, DType.I8), (DType.U8, DType.U16), (DType.I16, DType.I16)])
def test_each_side_of_the_zero_point_has_its_scale(x: DType, y: DType, slope: float | None) -> None:
    values = np.array([*x.limits, x.limits[0] + 89, x.limits[0] + 90, x.limits[0] + 91, 0, 100], x.numpy)
    node = attributes(x, y, slope)
    site = site_of(QRESCALE, [values], node)
    (found,) = QRESCALE.reference(site, [values])
    requant = site.node.requant()
    for value, result in zip(values.tolist(), found.tolist(), strict=True):
        distance = value - (x.limits[0] + 90)
        scale = requant.scale[0]
        if distance < 0 and slope is not None:
            scale = float(np.float32(0.37 * 2.0 ** (8 * y.size_bytes - 8 * x.size_bytes) * slope))
        exact = round(float(np.float32(np.float32(distance) * np.float32(scale)))) + requant.zero_point
        assert result == min(max(exact, requant.low), requant.high)
    assert (site.output.dtype, found.dtype) == (y, y.numpy)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("slope", [None, 0.25])
def test_c_is_the_reference(rounding: str, slope: float | None, tmp_path: Path) -> None:
    for index, (x, y) in enumerate((x, y) for x in TYPES for y in TYPES):
        values = byte_array(np.random.default_rng(index), x, (5, 41), index % 4 == 3)
        inputs: list[Array | None] = [values]
        site = site_of(QRESCALE, inputs, attributes(x, y, slope, rounding))
        folder = tmp_path / str(index)
        folder.mkdir()
        flags = UBSAN if index % 2 else (*STRICT, "-O2")
        (found,) = run_kernel(QRESCALE, QRESCALE_PORTABLE, site, inputs, folder=folder, flags=flags)
        assert np.array_equal(found, QRESCALE.reference(site, inputs)[0]), (x, y)


def test_what_is_refused() -> None:
    values = np.zeros(4, np.int16)
    node = attributes(DType.I16, DType.I8, 0.5)
    assert refusal(QRESCALE_PORTABLE, site_of(QRESCALE, [values], node)) is None
    requant = site_of(QRESCALE, [values], node).node.requant()
    several = {**node, "requant": replace(requant, scale=(0.5, 0.25))}
    assert "one scale for all" in str(refusal(QRESCALE_PORTABLE, site_of(QRESCALE, [values], several)))
    apart = {**node, "requant": with_rounding(np.random.default_rng(0), requant, "tflm")}
    assert "round alike" in str(refusal(QRESCALE_PORTABLE, site_of(QRESCALE, [values], apart)))
    assert "found i32" in str(refusal(QRESCALE_PORTABLE, site_of(QRESCALE, [values.astype(np.int32)], node)))


def test_results_take_the_bytes_of_values_as_large_and_bounds_know_the_zero_point() -> None:
    values = np.zeros(4, np.int16)
    same, other = (site_of(QRESCALE, [values], attributes(DType.I16, to, None)) for to in (DType.U16, DType.U8))
    assert (QRESCALE_PORTABLE.in_place(same), QRESCALE_PORTABLE.in_place(other)) == ((("X", "Y"),), ())
    assert (rescale_bounds(same).lowest, rescale_bounds(same).highest) == ((-90,), (2**16 - 91,))
