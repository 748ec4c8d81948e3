"""Products of matrices by streams that come in parts: on this machine in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_in_parts
from timing import GVSOC

from tilewright.api.testing import UBSAN, result_errors, run_tiled, site_of
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.products.gemm import GEMM, GEMM_WEIGHTS_F32
from tilewright.operators.products.matmul import MATMUL
from tilewright_snitch.kernels import products

Array = npt.NDArray[np.generic]
Layer = tuple[Site, list[Array | None]]
BIASES = {"none": None, "of a column": (11,), "of a row": (7, 1), "of each": (7, 11)}
WHERE = pytest.mark.parametrize("in_output", [False, True], ids=["sums of their own", "sums in the output"])


def gemm(c: tuple[int, ...] | None = (11,), *, dtype: DType = DType.F32, high: float | None = None) -> Layer:
    """7 rows of 20, 11 outputs, Relu."""
    rng = np.random.default_rng(7)
    shapes = ((7, 20), (20, 11), *([c] if c else []))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(dtype.numpy) for shape in shapes]
    inputs = inputs if c else [*inputs, None]
    limits = {"clip_low": 0.0, **({} if high is None else {"clip_high": high})}
    return site_of(GEMM, inputs, {"alpha": 1.0, "beta": 1.0, **limits}, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize("each", [4, 8])
@pytest.mark.parametrize("bias", BIASES)
def test_without_streams(bias: str, each: int, tmp_path: Path) -> None:
    site, inputs = gemm(BIASES[bias])
    cuts = {"k": each, "m0": 3, "n": 5}
    found = run_tiled(GEMM, products.GEMM, site, inputs, cuts=cuts, folder=tmp_path, flags=UBSAN)
    assert result_errors(GEMM, site, inputs, found) == []


@pytest.mark.slow
@WHERE
@pytest.mark.parametrize("dtype", [DType.F32, DType.F64])
@pytest.mark.parametrize("bias", BIASES)
def test_with_streams(bias: str, dtype: DType, in_output: bool, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = gemm(BIASES[bias], dtype=dtype, high=2.0)
    cuts = {"k": (0, 8, 12, 20)}
    found = run_in_parts(GEMM, products.GEMM, site, inputs, tmp_path, cuts, in_output=in_output)
    assert result_errors(GEMM, site, inputs, found[-1].outputs) == []
    assert all(one.counts["vfmac.s" if dtype is DType.F32 else "fmadd"] > 0 for one in found)


@pytest.mark.slow
@WHERE
@pytest.mark.parametrize("what", [np.inf, np.nan])
def test_what_is_infinite_is_clipped_as_every_machine_does(
    what: float, in_output: bool, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = gemm(high=2.0)
    assert inputs[0] is not None
    inputs[0][2, 1], inputs[0][4, 19] = what, what
    found = run_in_parts(GEMM, products.GEMM, site, inputs, tmp_path, {"k": (0, 8, 20)}, in_output=in_output)
    assert result_errors(GEMM, site, inputs, found[-1].outputs) == []


@pytest.mark.parametrize("computed", [False, True])
def test_matrices_of_several_batches(computed: bool, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """With constant weights, and of two computed matrices of float64."""
    tool("riscv64-unknown-elf-gcc")
    rng, real = np.random.default_rng(8), np.float64 if computed else np.float32
    kernel = products.MATMUL if computed else products.MATMUL_WEIGHTS
    shapes = ((2, 5, 12), (2, 12, 6) if computed else (12, 6))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(real) for shape in shapes]
    site = site_of(MATMUL, inputs, {"clip_low": -1.0}, () if computed else (1,))
    found = run_in_parts(MATMUL, kernel, site, inputs, tmp_path, {"k": (0, 4, 12)})
    assert result_errors(MATMUL, site, inputs, found[-1].outputs) == []


def test_as_fast_as_estimated_and_faster_than_portable_c(tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in ((8, 256), (256, 16))]
    inputs = [*inputs, None]
    site = site_of(GEMM, inputs, {"alpha": 1.0, "beta": 1.0, "clip_low": 0.0}, (1,))
    cuts, whole = {"k": (0, 64, 128, 192, 256)}, layer_of(GEMM, products.GEMM, site)
    found = run_in_parts(GEMM, products.GEMM, site, inputs, tmp_path, cuts, timing=GVSOC)
    assert products.GEMM.cycles is not None
    estimate = products.GEMM.cycles(whole.tile({**whole.whole.box, "k": (64, 128)}))
    for one in found:
        assert estimate == pytest.approx(one.cycles, rel=0.15)
    plain = run_in_parts(GEMM, GEMM_WEIGHTS_F32, site, inputs, tmp_path, cuts, timing=GVSOC)
    assert sum(one.cycles for one in plain) > 4 * sum(one.cycles for one in found)
