"""Sums, means, largest and smallest elements of runs: as the reference here, in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import kernel_errors, refusal, result_errors, site_of
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.reductions import reduce
from tilewright_snitch.kernels.reductions import KERNELS

Array = npt.NDArray[np.generic]
OPERATORS = {operator.name: operator for operator in reduce.OPERATORS}
PORTABLE = {kernel.op: kernel for kernel in reduce.KERNELS}
OWN = {kernel.op: kernel for kernel in KERNELS}


@pytest.mark.slow
@pytest.mark.parametrize("op", sorted(OWN))
@pytest.mark.parametrize(
    ("shape", "axes", "keepdims"), [((3, 5, 6), (2,), 1), ((3, 4, 5), (1, 2), 0), ((17,), (0,), 0)]
)
def test_without_the_instructions_in_any_layout_and_tile(
    op: str, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(len(shape))
    x = rng.standard_normal(shape).astype(np.float32)
    x.flat[2] = np.nan if len(axes) > 1 else x.flat[2]
    site = site_of(OPERATORS[op], [x], {"axes": axes, "keepdims": keepdims})
    assert kernel_errors(OPERATORS[op], OWN[op], site, [x], rng, tmp_path) == []


@pytest.mark.parametrize("op", sorted(OWN))
def test_hard_values_on_the_core(op: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Rows by streams and rows that are too short; NaN, infinities of one sign and of both."""
    tool("riscv64-unknown-elf-gcc")
    x = np.random.default_rng(2).standard_normal((6, 45)).astype(np.float32)
    x[0, 33], x[1, 4], x[2, 5], x[3, 6:8], x[4, 44] = np.nan, np.inf, -np.inf, (np.inf, -np.inf), -np.nan
    for made in (x, x[:, :40].copy(), x[:, :9].copy()):
        site = site_of(OPERATORS[op], [made], {"axes": (1,), "keepdims": 0})
        found = run_on_iss(OPERATORS[op], OWN[op], site, [made], tmp_path)
        with np.errstate(invalid="ignore"):
            assert result_errors(OPERATORS[op], site, [made], found.outputs) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "shape", "times"),
    [("ReduceSum", (4, 64), 2.5), ("ReduceMean", (2, 256), 4.5), ("ReduceMax", (4, 64), 5.0),
     ("ReduceMin", (2, 256), 9.0), ("ReduceSum", (8, 20), 1.4), ("ReduceMax", (8, 15), 2.5)],
)  # fmt: skip
def test_as_fast_as_estimated_and_faster_than_portable_c(
    op: str, shape: tuple[int, ...], times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    operator, kernel, site = OPERATORS[op], OWN[op], site_of(OPERATORS[op], [x], {"axes": (1,), "keepdims": 0})
    found = run_on_iss(operator, kernel, site, [x], tmp_path)
    on_gvsoc = run_on_iss(operator, kernel, site, [x], tmp_path, timing=GVSOC)
    assert kernel.cycles is not None
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    assert run_on_iss(operator, PORTABLE[op], site, [x], tmp_path).cycles > times * found.cycles


def test_refusals_say_why() -> None:
    x = np.zeros((3, 4, 5), np.float32)
    first = site_of(OPERATORS["ReduceSum"], [x], {"axes": (1,), "keepdims": 1})
    assert "not the last ones" in str(refusal(OWN["ReduceSum"], first))
    whole = site_of(OPERATORS["ReduceMax"], [x.astype(np.int32)], {"axes": (2,), "keepdims": 1})
    assert "must be f32" in str(refusal(OWN["ReduceMax"], whole))
