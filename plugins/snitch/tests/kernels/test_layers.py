"""What layers of floats share: types that fit, limits as C."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright.ir.dtypes import DType
from tilewright.operators.gemm import GEMM
from tilewright_snitch.kernels.layers import activation, c_float, not_floats


@pytest.mark.parametrize(
    ("limits", "clip"), [({}, "none"), ({"clip_low": 0.0}, "low"), ({"clip_low": 0.0, "clip_high": 6.0}, "both")]
)
def test_the_fused_activation(limits: dict[str, float], clip: str) -> None:
    site = site_of(GEMM, [np.zeros((2, 4), np.float32), np.zeros((4, 3), np.float32)], limits, (1,))
    found, written = activation(site)
    assert found == clip
    assert written["low"] == ("-INFINITY" if clip == "none" else "0x0.0p+0f")
    assert not_floats(site) is None


def test_constants_as_c() -> None:
    assert c_float(0.1, DType.F64) == (0.1).hex()
    assert c_float(0.1, DType.F32).endswith("f")
    assert c_float(float("nan"), DType.F32) == "NAN"
