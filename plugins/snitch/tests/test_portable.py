"""Portable C on a core of the cluster: what GVSoC counted, at shapes that the figures were taken from and at others."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.graph import Attribute, DType
from tilewright.api.testing import site_of
from tilewright.operators import conv, gemm, pool, softmax, unary
from tilewright_snitch.portable import portable_cycles

UNARY = {operator.name: operator for operator in unary.OPERATORS}


def zeros(*shape: int, dtype: type = np.float32) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    return np.zeros(shape, dtype)


def window(side: int, stride: int, pad: int) -> dict[str, Attribute]:
    return {
        "kernel_shape": (side, side), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
        "ceil_mode": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("rows", "columns", "cycles"), [(16, 128, 591_000), (32, 48, 446_000), (8, 100, 8 * 28_700)])
def test_softmax(rows: int, columns: int, cycles: int) -> None:
    site = site_of(softmax.SOFTMAX, [zeros(rows, columns)], {"axis": 1})
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.05)


def test_functions() -> None:
    site = site_of(UNARY["Tanh"], [zeros(24, 100)], {})
    assert portable_cycles(site) == pytest.approx(8 * 115_000, rel=0.05)


@pytest.mark.parametrize(("dtype", "cycles"), [(DType.F16, 879_810), (DType.BF16, 521_583)])
def test_products_of_halves(dtype: DType, cycles: int) -> None:
    """On the simulated core, with GVSoC's timing."""
    site = site_of(gemm.GEMM, [np.zeros(shape, dtype.numpy) for shape in ((8, 64), (64, 64))], {}, (1,))
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.05)


@pytest.mark.parametrize(
    ("inside", "outside", "side", "group", "size", "cycles"),
    [(8, 16, 3, 1, 8, 268_000), (16, 16, 1, 1, 8, 77_100), (16, 16, 3, 16, 8, 108_900), (16, 16, 3, 4, 8, 147_300),
     (1, 8, 5, 1, 20, 8 * 129_400)],
)  # fmt: skip
def test_convolutions(inside: int, outside: int, side: int, group: int, size: int, cycles: int) -> None:
    inputs = [zeros(1, inside, size, size), zeros(outside, inside // group, side, side), zeros(outside)]
    site = site_of(conv.CONV, inputs, window(side, 1, side // 2) | {"group": group}, (1, 2))
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.12)


@pytest.mark.parametrize(("dtype", "cycles"), [(np.float32, 46_100), (np.int8, 35_400)])
def test_pools(dtype: type, cycles: int) -> None:
    site = site_of(pool.MAX_POOL, [zeros(1, 16, 16, 16, dtype=dtype)], window(2, 2, 0))
    assert site.output.dtype in (DType.F32, DType.I8)
    assert portable_cycles(site) == pytest.approx(cycles, rel=0.03)


def test_what_was_not_measured() -> None:
    assert portable_cycles(site_of(UNARY["Tanh"], [zeros(4, 4, dtype=np.float64)], {})) is None
