"""Products of two tensors of 16 bits that are rounded twice: bit for bit, with broadcasting, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Attribute, DoubleRounding, DType, Requant
from tilewright.api.testing import UBSAN, byte_array, run_kernel, site_of, vocabulary
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.dsp_words_product import KERNELS

(KERNEL,) = KERNELS
QMUL = vocabulary()["QMul"]
LOW, HIGH = DType.I16.limits


def attributes(scale: float, a_zero_point: int = 0, **changes: int) -> dict[str, Attribute]:
    requant = Requant(scale=(scale,), zero_point=0, low=LOW, high=HIGH, rounding=DoubleRounding())
    numbers: dict[str, Attribute] = {"a_zero_point": a_zero_point, "b_zero_point": 0, "output_type": "i16"}
    return {**numbers, "requant": replace(requant, **changes)}


@pytest.mark.parametrize("other", [(3, 5, 7), (7,), (3, 1, 1), (1,)])
@pytest.mark.parametrize(
    ("scale", "changes"), [(1 / 20000, {}), (0.9, {}), (0.5, {"low": 0, "high": 90}), (2.0**-15, {"zero_point": -7})]
)
def test_products_are_the_reference(
    scale: float, changes: dict[str, int], other: tuple[int, ...], tmp_path: Path
) -> None:
    """Both factors may be the lowest value, whose square is the one product that fits no 31 bits."""
    rng = np.random.default_rng(len(other))
    a, b = byte_array(rng, DType.I16, (3, 5, 7), saturated=True), byte_array(rng, DType.I16, other, saturated=True)
    a.reshape(-1)[::3], b.reshape(-1)[::2] = LOW, LOW
    site = site_of(QMUL, [a, b], attributes(scale, **changes))
    assert refusal(KERNEL, site) is None
    (found,) = run_kernel(QMUL, KERNEL, site, [a, b], folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, QMUL.reference(site, [a, b])[0])


@pytest.mark.parametrize(
    ("dtype", "numbers", "reason"),
    [
        (DType.I8, attributes(0.01), "must be i16"),
        (DType.I16, attributes(0.01, 3), "zero points"),
        (DType.I16, attributes(1.5), "1.5"),
    ],
)
def test_what_is_left_to_others(dtype: DType, numbers: dict[str, Attribute], reason: str) -> None:
    values = byte_array(np.random.default_rng(0), dtype, (2, 3), saturated=False)
    assert reason in str(refusal(KERNEL, site_of(QMUL, [values, values], numbers)))
