"""Portable products of floats, of a core's part of a tile: what the simulated core takes, and GVSoC for 16 bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from snitch_run import run_on_iss
from timing import GVSOC_FAR

from tilewright.api.graph import DType
from tilewright.api.testing import site_of
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.products import gemm, matmul
from tilewright.plugins import load_for
from tilewright_snitch.plain_products import product_cycles

KERNELS = load_for(target="snitch").kernels


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 4, 7, 16])
@pytest.mark.parametrize(("dtype", "depth"), [(DType.F32, 24), (DType.F32, 61), (DType.F64, 40)])
def test_wide_floats(dtype: DType, depth: int, columns: int, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Shapes of which some were not measured."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(4)
    inputs = [rng.standard_normal(shape).astype(dtype.numpy) for shape in ((3, depth), (depth, 16))]
    site, kernel = site_of(matmul.MATMUL, inputs, {}), KERNELS["portable.matmul_f32"]
    layer, box = layer_of(matmul.MATMUL, kernel, site), {"n": (0, columns)}
    took = run_on_iss(matmul.MATMUL, kernel, site, inputs, tmp_path, box, timing=GVSOC_FAR, opaque=True).cycles
    assert product_cycles("MatMul", layer.tile({**layer.whole.box, **box})) == pytest.approx(took, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "dtype", "shape", "rows", "cycles"),
    [
        ("MatMul", DType.BF16, (24, 45, 13), 3, 34_500),
        ("MatMul", DType.BF16, (25, 33, 15), 4, 39_200),
        ("MatMul", DType.F16, (24, 45, 13), 3, 65_300),
        ("MatMul", DType.F16, (25, 33, 15), 4, 80_200),
        ("Gemm", DType.BF16, (17, 50, 30), 3, 35_300),
        ("Gemm", DType.BF16, (26, 70, 18), 4, 89_200),
        ("Gemm", DType.F16, (17, 50, 30), 3, 81_600),
        ("Gemm", DType.F16, (26, 70, 18), 4, 185_000),
    ],
)
def test_halves(op: str, dtype: DType, shape: tuple[int, int, int], rows: int, cycles: int) -> None:
    """On GVSoC, a core's rows of a whole layer; Gemm is compiled in two ways, one twice as slow."""
    count, depth, columns = shape
    operator = matmul.MATMUL if op == "MatMul" else gemm.GEMM
    site = site_of(operator, [np.zeros(one, dtype.numpy) for one in ((count, depth), (depth, columns))], {})
    layer = layer_of(operator, KERNELS[f"portable.{op.lower()}_f32"], site)
    box = {**layer.whole.box, "m" if op == "MatMul" else "m0": (0, rows)}
    near = 1.2 if op == "MatMul" else 2
    assert cycles / near < (product_cycles(op, layer.tile(box)) or 0.0) < cycles * near


def test_what_is_left_of_four_columns_takes_longer() -> None:
    site = site_of(matmul.MATMUL, [np.zeros((8, 64), np.float32), np.zeros((64, 12), np.float32)], {})
    layer = layer_of(matmul.MATMUL, KERNELS["portable.matmul_f32"], site)
    three, four = (product_cycles("MatMul", layer.tile({**layer.whole.box, "n": (0, n)})) or 0 for n in (3, 4))
    assert three > 1.5 * four


def test_what_is_no_product_of_floats() -> None:
    site = site_of(matmul.MATMUL, [np.zeros((8, 64), np.float32), np.zeros((64, 12), np.float32)], {})
    whole = layer_of(matmul.MATMUL, KERNELS["portable.matmul_f32"], site).whole
    assert product_cycles("QMatMul", whole) is None
