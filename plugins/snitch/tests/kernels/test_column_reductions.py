"""Sums, means and largest elements of columns: as the reference here, in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, site_of
from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.reductions import reduce
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels.column_reductions import KERNELS

Array = npt.NDArray[np.generic]
OPERATORS = {operator.name: operator for operator in reduce.OPERATORS}
PORTABLE = {kernel.op: kernel for kernel in reduce.KERNELS}
OWN = {kernel.op: kernel for kernel in KERNELS}
OPS = pytest.mark.parametrize("op", sorted(OWN))
SHAPES = pytest.mark.parametrize(
    ("shape", "axes", "keepdims"),
    [
        ((9, 6), (0,), 0),
        ((3, 5, 22), (1,), 1),
        ((2, 3, 4, 6), (1, 2), 0),
        ((4, 3, 5, 2), (0,), 1),
        ((5, 4, 6), (0, 1), 0),
    ],
)


def layer(op: str, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: int = 0) -> tuple[Site, Array]:
    x = np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)
    return site_of(OPERATORS[op], [x], {"axes": axes, "keepdims": keepdims}), x


@pytest.mark.slow
@OPS
@SHAPES
def test_without_streams_in_tiles(
    op: str, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: int, tmp_path: Path
) -> None:
    site, x = layer(op, shape, axes, keepdims)
    x.flat[2] = np.nan
    made, random = layer_of(OPERATORS[op], OWN[op], site), np.random.default_rng(1)
    how = {"cuts": [random_cuts(made.access, random)], "folder": tmp_path, "layouts": made.required, "flags": UBSAN}
    for found in run_whole_and_tiled(OPERATORS[op], OWN[op], site, [x], **how):
        assert result_errors(OPERATORS[op], site, [x], found) == []


@pytest.mark.slow
@OPS
@SHAPES
def test_with_streams(
    op: str, shape: tuple[int, ...], axes: tuple[int, ...], keepdims: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """NaN and infinities of both signs stay what they are."""
    tool("riscv64-unknown-elf-gcc")
    for hard in ((), (np.nan,), (np.inf, -np.inf)):
        site, x = layer(op, shape, axes, keepdims)
        x.flat[: len(hard)] = hard
        found = run_on_iss(OPERATORS[op], OWN[op], site, [x], tmp_path)
        with np.errstate(invalid="ignore"):
            assert result_errors(OPERATORS[op], site, [x], found.outputs) == []
        assert found.counts["vfmax.s" if op == "ReduceMax" else "vfadd.s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "shape", "times"),
    [("ReduceSum", (32, 16), 3.0), ("ReduceMean", (4, 16, 32), 3.0), ("ReduceMax", (64, 8), 3.0)],
)
def test_as_fast_as_estimated_and_faster_than_portable_c(
    op: str, shape: tuple[int, ...], times: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, x = layer(op, shape, (len(shape) - 2,))
    operator, kernel = OPERATORS[op], OWN[op]
    found = run_on_iss(operator, kernel, site, [x], tmp_path)
    on_gvsoc = run_on_iss(operator, kernel, site, [x], tmp_path, timing=GVSOC)
    assert kernel.cycles is not None
    assert kernel.cycles(layer_of(operator, kernel, site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)
    assert run_on_iss(operator, PORTABLE[op], site, [x], tmp_path).cycles > times * found.cycles


def test_refusals_say_why() -> None:
    for shape, axes, why in (
        ((3, 4, 6), (2,), "no axis behind"),
        ((3, 4, 6), (0, 2), "not one or two that are neighbours"),
        ((3, 5), (0,), "two at a time"),
    ):
        assert why in str(refusal(OWN["ReduceSum"], layer("ReduceSum", shape, axes)[0]))
    whole = site_of(OPERATORS["ReduceMax"], [np.zeros((4, 6), np.int32)], {"axes": (0,), "keepdims": 1})
    assert "must be f32" in str(refusal(OWN["ReduceMax"], whole))
