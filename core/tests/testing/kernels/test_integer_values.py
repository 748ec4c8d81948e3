"""Bytes and requantisations for tests: whole ranges, ends alone, and what each kind of requantisation provokes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.kernels.integer_values import byte_array, make_requant

BYTES = st.sampled_from([DType.I8, DType.U8])
KINDS = st.sampled_from(["random", "ties", "coarse"])


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
def test_bytes(dtype: DType) -> None:
    rng = np.random.default_rng(0)
    every, ends = byte_array(rng, dtype, (40, 50), False), byte_array(rng, dtype, (40, 50), True)
    assert every.dtype == ends.dtype == dtype.numpy and every.shape == (40, 50)
    assert (every.min(), every.max()) == dtype.limits
    assert set(ends.ravel().tolist()) == set(dtype.limits)


@given(
    st.integers(0, 2**32), st.integers(1, 9), BYTES, st.floats(0, 1e6), st.sampled_from(["random", "ties", "coarse"])
)
def test_requantisations(seed: int, channels: int, dtype: DType, reach: float, kind: str) -> None:
    """Limits are the type's, or begin at the zero point; scales are float32, and powers of two for ties."""
    found = make_requant(np.random.default_rng(seed), channels, dtype, reach, kind)
    low, high = dtype.limits
    assert found.high == high and found.low in (low, found.zero_point) and low <= found.zero_point <= high
    assert len(found.scale) == channels
    results = [scale * max(reach, 1.0) for scale in found.scale]
    factor = 64 if kind == "coarse" else 1
    assert all(factor * 200 / 6 <= result <= factor * 200 * 6 for result in results)
    assert all(scale == float(np.float32(scale)) for scale in found.scale)
    assert kind != "ties" or all(np.frexp(scale)[0] == 0.5 for scale in found.scale)
