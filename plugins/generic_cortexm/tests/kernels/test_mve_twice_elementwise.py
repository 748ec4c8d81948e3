"""Sums and products that Helium rounds twice: bytes and 16 bits, one value beside many, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Attribute, DoubleRounding, DType, Requant
from tilewright.api.testing import byte_array, site_of, vocabulary
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.mve_twice_elementwise import KERNELS

Array = npt.NDArray[np.generic]
ADD, MUL = KERNELS
WIDE, BYTES = DType.I16, DType.I8


def inputs(a: DType, b: DType, other: tuple[int, ...]) -> list[Array | None]:
    rng = np.random.default_rng(len(other))
    return [byte_array(rng, a, (3, 5, 7), saturated=True), byte_array(rng, b, other, saturated=False)]


def added(dtype: DType, **changes: Attribute) -> dict[str, Attribute]:
    low, high = dtype.limits
    return {
        "a_scale": 0.0732463, "b_scale": 0.0545217, "y_scale": 0.1, "a_zero_point": 0, "b_zero_point": 0,
        "zero_point": 0, "low": low, "high": high, "rounding": "tflm", "output_type": dtype.value, **changes,
    }  # fmt: skip


def multiplied(dtype: DType, scale: float, zeros: tuple[int, int] = (0, 0), **changes: Any) -> dict[str, Attribute]:
    low, high = dtype.limits
    requant = Requant(scale=(scale,), zero_point=0, low=low, high=high, rounding=DoubleRounding())
    return {
        "a_zero_point": zeros[0], "b_zero_point": zeros[1], "requant": replace(requant, **changes),
        "output_type": dtype.value,
    }  # fmt: skip


@pytest.mark.parametrize("other", [(3, 5, 7), (7,), (3, 1, 1), (1,)])
@pytest.mark.parametrize("attributes", [
    added(WIDE), added(WIDE, b_scale=-0.9), added(WIDE, a_scale=0.5, b_scale=2.0**-9, low=-900, high=77),
    added(BYTES, a_zero_point=3, b_zero_point=-7, zero_point=5),
])  # fmt: skip
def test_sums_are_the_reference(attributes: dict[str, Attribute], other: tuple[int, ...], tmp_path: Path) -> None:
    dtype = DType(attributes["output_type"])
    given = inputs(dtype, dtype, other)
    site = site_of(vocabulary()["QAdd"], given, attributes)
    assert refusal(ADD, site) is None
    (found,) = run_kernel(vocabulary()["QAdd"], ADD, site, given, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QAdd"].reference(site, given)[0])


@pytest.mark.parametrize("other", [(3, 5, 7), (7,), (3, 1, 1)])
@pytest.mark.parametrize(("dtype", "attributes"), [
    (WIDE, multiplied(WIDE, 1 / 20000)), (WIDE, multiplied(WIDE, 1 / 4096, low=0, high=500)),
    (BYTES, multiplied(BYTES, 1 / 80, (3, -7), zero_point=5)), (DType.U8, multiplied(DType.U8, 0.9 / 256, (128, 11))),
    (BYTES, multiplied(WIDE, 0.8)),
])  # fmt: skip
def test_products_are_the_reference(
    dtype: DType, attributes: dict[str, Attribute], other: tuple[int, ...], tmp_path: Path
) -> None:
    given = inputs(dtype, dtype, other)
    site = site_of(vocabulary()["QMul"], given, attributes)
    assert refusal(MUL, site) is None
    for where in (False, True):
        (found,) = run_kernel(vocabulary()["QMul"], MUL, site, given, folder=tmp_path, in_place=where, flags=UBSAN)
        assert np.array_equal(found, vocabulary()["QMul"].reference(site, given)[0])


def test_what_does_not_fit_is_refused() -> None:
    def reason(attributes: dict[str, Attribute], dtype: DType = WIDE) -> str:
        op = "QAdd" if "a_scale" in attributes else "QMul"
        site = site_of(vocabulary()[op], inputs(dtype, dtype, (7,)), attributes)
        return str(refusal(ADD if op == "QAdd" else MUL, site))

    assert "more than 1" in reason(multiplied(WIDE, 1.5)) and "more than 1" in reason(added(WIDE, y_scale=1e-6))
    assert "is not rounded twice" in reason(added(WIDE, rounding="onnx"))
    assert "products need" in reason(multiplied(WIDE, 0.1, (-32768, 32767)))
