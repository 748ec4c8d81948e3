"""Gemm and MatMul by streams: inside the error model on this machine, in tiles, and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, run_kernel, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels import products

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Kernel, Site, list[Array | None], np.random.Generator]
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": 0.0, "clip_high": 6.0})
compiled: Any = settings.get_profile("programs")


def values(rng: np.random.Generator, *shape: int, special: bool = False) -> Array:
    found = rng.normal(0, 10.0 ** rng.uniform(-2, 2), shape).astype(np.float32)
    if special:
        found[rng.random(shape) < 0.05] = rng.choice([np.nan, np.inf, -np.inf])
    return found


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lead = draw(st.sampled_from([(1,), (7,), (2, 5)]))
    depth, columns = draw(st.sampled_from([4, 14, 34])), draw(st.sampled_from([1, 3, 7, 8, 21]))
    turned = draw(st.booleans())
    c_shape = draw(st.sampled_from([None, (columns,), (1,), (*lead, columns), (*lead, 1)]))
    attributes: dict[str, Attribute] = {
        "alpha": draw(st.sampled_from([1.0, 0.5])), "beta": draw(st.sampled_from([1.0, -2.0])), "transB": int(turned),
        **draw(st.sampled_from(CLIPS)),
    }  # fmt: skip
    inputs: list[Array | None] = [
        values(rng, *lead, depth, special=draw(st.booleans())),
        values(rng, *((columns, depth) if turned else (depth, columns))),
        None if c_shape is None else values(rng, *c_shape),
    ]
    return GEMM, products.GEMM, site_of(GEMM, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def matmul_cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a, b = draw(st.sampled_from([((5, 8), (8, 6)), ((2, 9, 6), (6, 5)), ((2, 2, 6, 12), (12, 9))]))
    inputs: list[Array | None] = [values(rng, *a), values(rng, *b)]
    site = site_of(MATMUL, inputs, draw(st.sampled_from(CLIPS)), (1,))
    return MATMUL, products.MATMUL_WEIGHTS, site, inputs, rng


@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases()))
def test_without_streams(case: Case, tmp_path_factory: Any) -> None:
    operator, kernel, site, inputs, rng = case
    layer = layer_of(operator, kernel, site)
    cuts = random_cuts(layer.access, rng)
    how = {"cuts": [cuts], "folder": tmp_path_factory.mktemp("c"), "flags": UBSAN}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == [], cuts


@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases()))
def test_with_streams(case: Case, tmp_path_factory: Any, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs, _ = case
    found = run_on_iss(operator, kernel, site, inputs, tmp_path_factory.mktemp("iss"))
    assert result_errors(operator, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
def test_as_fast_as_estimated(clip: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Eight rows are a core's share of 64 x 64 x 64; two products a cycle are the most."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [values(rng, 8, 64), values(rng, 64, 64), values(rng, 64) if clip else None]
    site = site_of(GEMM, inputs, clip, (1, 2))
    found = run_on_iss(GEMM, products.GEMM, site, inputs, tmp_path)
    assert products.GEMM.cycles is not None
    estimate = products.GEMM.cycles(layer_of(GEMM, products.GEMM, site).whole)
    on_gvsoc = run_on_iss(GEMM, products.GEMM, site, inputs, tmp_path, timing=GVSOC)
    assert estimate == pytest.approx(on_gvsoc.cycles, rel=0.1)
    assert 8 * 64 * 64 / found.cycles > (1.6 if not clip else 1.35)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(5, 7, 3), (2, 2, 9), (1, 16, 8)])
def test_doubles(shape: tuple[int, int, int], turned: bool, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Products of computed matrices, whichever axis of the second one is stored innermost."""
    tool("riscv64-unknown-elf-gcc")
    rows, depth, columns = shape
    rng = np.random.default_rng(1)
    inputs: list[Array | None] = [rng.standard_normal((rows, depth)), rng.standard_normal((depth, columns))]
    site = site_of(MATMUL, inputs, {"clip_low": -1.0} if turned else {})
    (plain,) = run_kernel(
        MATMUL, products.MATMUL, site, inputs, folder=tmp_path, layouts={"B": (1, 0)} if turned else {}
    )
    assert result_errors(MATMUL, site, inputs, [plain]) == []
    found = run_on_iss(MATMUL, products.MATMUL, site, inputs, tmp_path, layouts={"B": (1, 0)} if turned else {})
    assert result_errors(MATMUL, site, inputs, found.outputs) == []
    assert found.counts["fmadd"] >= rows * (depth - 1) * columns


@pytest.mark.parametrize(("size", "least"), [(48, 0.88), (64, 0.92)])
def test_doubles_fill_the_float_unit(size: int, least: float, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """An eighth of the rows is a core's share; one product a cycle is the most."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [rng.standard_normal((size // 8, size)), rng.standard_normal((size, size))]
    site = site_of(MATMUL, inputs)
    found = run_on_iss(MATMUL, products.MATMUL, site, inputs, tmp_path)
    assert result_errors(MATMUL, site, inputs, found.outputs) == []
    assert size**3 / 8 / found.cycles > least
    assert products.MATMUL.cycles is not None
    estimate = products.MATMUL.cycles(layer_of(MATMUL, products.MATMUL, site).whole)
    on_gvsoc = run_on_iss(MATMUL, products.MATMUL, site, inputs, tmp_path, timing=GVSOC)
    assert estimate == pytest.approx(on_gvsoc.cycles, rel=0.05)


def test_nan_survives_a_clip(tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    inputs: list[Array | None] = [np.full((2, 8), np.nan, np.float32), np.ones((8, 4), np.float32), None]
    site = site_of(GEMM, inputs, {"clip_low": 0.0}, (1,))
    (found,) = run_on_iss(GEMM, products.GEMM, site, inputs, tmp_path).outputs
    assert np.isnan(found).all()


def test_refusals_say_why() -> None:
    a = np.zeros((2, 5), np.float32)
    assert "two at a time" in str(refusal(products.GEMM, site_of(GEMM, [a, a.T.copy()], {}, (1,))))
    assert "must be constants" in str(refusal(products.GEMM, site_of(GEMM, [a, a.T.copy()], {})))
    assert "not a constant" in str(refusal(products.MATMUL_WEIGHTS, site_of(MATMUL, [a, a.T.copy()], {})))
    assert "must be f64" in str(refusal(products.MATMUL, site_of(MATMUL, [a, a.T.copy()], {})))
