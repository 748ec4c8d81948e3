"""Constant matrices as [N, K]: products of what is packed are the layer's, and all of it is read."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.access.index_map import touched
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.operators.shared.matrices import gemm_access, matmul_access, pack_gemm, pack_matmul
from tilewright.testing.operator_sites import site_of

A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("shape", [(4,), (1,), (2, 4), (2, 1)])
def test_gemm(transposed: int, shape: tuple[int, ...]) -> None:
    c = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    attributes = {"alpha": 0.5, "beta": 2.0, "transB": transposed}
    site = site_of(GEMM, [A, B.T if transposed else B, c], attributes, (1, 2))
    packed = pack_gemm(site)
    assert packed["B"].flags.c_contiguous
    np.testing.assert_array_equal(A @ packed["B"].T + packed["C"], 0.5 * (A @ B) + 2 * c)
    access = gemm_access(site)
    assert [loop.extent for loop in access.loops] == [2, 4, 3]
    assert [tuple(span.high for span in touched(access, name)) for name in "BC"] == [packed["B"].shape, shape]


def test_gemm_without_c_and_without_constants() -> None:
    assert set(pack_gemm(site_of(GEMM, [A, B], {}, (1,)))) == {"B"}
    assert pack_gemm(site_of(GEMM, [A, B], {})) == {} == pack_matmul(site_of(MATMUL, [A, B], {}))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_matmul(dtype: type) -> None:
    a = np.stack([A, A + 1]).astype(dtype)
    site = site_of(MATMUL, [a, B.astype(dtype)], {}, (1,))
    packed = pack_matmul(site)["B"]
    assert packed.dtype == (np.float64 if dtype is np.float64 else np.float32) and packed.flags.c_contiguous
    np.testing.assert_array_equal(packed, B.T)
    access = matmul_access(site)
    assert [tuple(span.high for span in touched(access, name)) for name in "BY"] == [(4, 3), (2, 2, 4)]
