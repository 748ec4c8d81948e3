"""QGemm in the float unit: exact on this machine, in tiles, and on the simulated core; weights that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api import align_up
from tilewright.api.testing import UBSAN, byte_array, make_requant, random_cuts, refusal, site_of
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.byte_products import GEMM
from tilewright_snitch.kernels.integer_products import GEMM as INTEGERS

Array = npt.NDArray[np.generic]
I8, U8 = DType.I8, DType.U8


def made(
    lead: tuple[int, ...], depth: int, columns: int, *, types: tuple[DType, DType] = (I8, I8), kind: str = "random"
) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(1)
    a, b = byte_array(rng, types[0], (*lead, depth), False), byte_array(rng, I8, (depth, columns), False)
    requant = make_requant(rng, columns, types[1], 128 * 128 * np.sqrt(depth), kind)
    inputs: list[Array | None] = [a, b, rng.integers(-5000, 5000, columns).astype(np.int32)]
    attributes = {"requant": requant, "a_zero_point": types[0].limits[0], "output_type": types[1].value}
    return site_of(QGEMM, inputs, attributes, (1, 2)), inputs


CASES = {
    "one row": made((1,), 33, 12),
    "five rows, ties": made((5,), 15, 7, kind="ties"),
    "axes of rows": made((2, 3, 2), 12, 4, types=(U8, U8)),
    "no axis of rows": made((), 9, 5, types=(I8, U8), kind="coarse"),
    "one product": made((4,), 1, 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_exact_here_whole_and_in_tiles(case: str, tmp_path: Path) -> None:
    site, inputs = CASES[case]
    layer = layer_of(QGEMM, GEMM, site)
    cut = random_cuts(layer.access, np.random.default_rng(7))
    cuts = [{name: align_up(size, GEMM.multiples.get(name, 1)) for name, size in cut.items()}]
    how = {"cuts": cuts, "folder": tmp_path, "layouts": layer.required, "flags": UBSAN}
    for (found,) in run_whole_and_tiled(QGEMM, GEMM, site, inputs, **how):
        np.testing.assert_array_equal(found, QGEMM.reference(site, inputs)[0], str(cuts))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_exact_on_the_core(case: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = CASES[case]
    (found,) = run_on_iss(QGEMM, GEMM, site, inputs, tmp_path).outputs
    np.testing.assert_array_equal(found, QGEMM.reference(site, inputs)[0])


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "depth", "times"), [(1, 128, 1.9), (8, 64, 2.8)])
def test_as_fast_as_estimated_and_faster_than_the_integer_core(
    rows: int, depth: int, times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made((rows,), depth, 16)
    found = run_on_iss(QGEMM, GEMM, site, inputs, tmp_path, timing=GVSOC)
    assert GEMM.cycles is not None
    others = run_on_iss(QGEMM, INTEGERS, site, inputs, tmp_path, timing=GVSOC)
    assert GEMM.cycles(layer_of(QGEMM, GEMM, site).whole) == pytest.approx(found.cycles, rel=0.1)
    assert others.cycles > times * found.cycles


def test_refusals_say_why() -> None:
    assert "sums reach" in str(refusal(GEMM, made((1,), 2048, 4)[0]))
    assert "axes of rows" in str(refusal(GEMM, made((1, 1, 1, 1), 8, 4)[0]))
