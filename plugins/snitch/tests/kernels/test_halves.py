"""Gemm and MatMul of float16 and bfloat16: inside the error model here, in tiles, and on the simulated core."""

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

from tilewright.api.graph import DType
from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.products.gemm import GEMM
from tilewright.operators.products.matmul import MATMUL
from tilewright.testing.kernels.kernel_tiles import run_whole_and_tiled
from tilewright_snitch.kernels import halves

Array = npt.NDArray[np.generic]
Case = tuple[Operator, Kernel, Site, list[Array | None], np.random.Generator]
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": 0.0, "clip_high": 6.1})
TYPES = (DType.F16, DType.BF16)
compiled: Any = settings.get_profile("programs")


def values(rng: np.random.Generator, dtype: DType, *shape: int, special: bool = False) -> Array:
    found = rng.normal(0, 10.0 ** rng.uniform(-2, 1.5), shape).astype(dtype.numpy)
    if special:
        found[rng.random(shape) < 0.05] = rng.choice([np.nan, np.inf, -np.inf])
    return found


@st.composite
def gemm_cases(draw: st.DrawFn) -> Case:
    rng, dtype = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(TYPES))
    lead = draw(st.sampled_from([(1,), (7,), (2, 5), (19,)]))
    depth, columns = draw(st.sampled_from([4, 14, 34])), draw(st.sampled_from([1, 3, 7, 8, 21]))
    turned = draw(st.booleans())
    c_shape = draw(st.sampled_from([None, (columns,), (1,), (*lead, columns), (*lead, 1)]))
    attributes: dict[str, Attribute] = {
        "alpha": draw(st.sampled_from([1.0, 0.5])), "beta": draw(st.sampled_from([1.0, -2.0])), "transB": int(turned),
        **draw(st.sampled_from(CLIPS)),
    }  # fmt: skip
    inputs: list[Array | None] = [
        values(rng, dtype, *lead, depth, special=draw(st.booleans())),
        values(rng, dtype, *((columns, depth) if turned else (depth, columns))),
        None if c_shape is None else values(rng, dtype, *c_shape),
    ]
    return GEMM, halves.GEMM, site_of(GEMM, inputs, attributes, (1, 2)), inputs, rng


@st.composite
def matmul_cases(draw: st.DrawFn) -> Case:
    rng, dtype = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(TYPES))
    a, b = draw(st.sampled_from([((5, 8), (8, 6)), ((2, 9, 6), (6, 5)), ((2, 2, 6, 12), (12, 9))]))
    inputs: list[Array | None] = [values(rng, dtype, *a), values(rng, dtype, *b)]
    return MATMUL, halves.MATMUL, site_of(MATMUL, inputs, draw(st.sampled_from(CLIPS)), (1,)), inputs, rng


@st.composite
def computed_cases(draw: st.DrawFn) -> Case:
    rng, dtype = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.sampled_from(TYPES))
    shapes = [((5, 8), (8, 6)), ((3, 17, 6), (3, 6, 11)), ((2, 2, 6, 12), (2, 1, 12, 9)), ((9, 4), (2, 4, 8))]
    a, b = draw(st.sampled_from(shapes))
    inputs: list[Array | None] = [values(rng, dtype, *a, special=draw(st.booleans())), values(rng, dtype, *b)]
    return MATMUL, halves.MATMUL_COMPUTED, site_of(MATMUL, inputs, draw(st.sampled_from(CLIPS)), ()), inputs, rng


@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases(), computed_cases()))
def test_without_streams(case: Case, tmp_path_factory: Any) -> None:
    operator, kernel, site, inputs, rng = case
    layer = layer_of(operator, kernel, site)
    cuts = random_cuts(layer.access, rng)
    how = {"cuts": [cuts], "folder": tmp_path_factory.mktemp("c"), "flags": UBSAN}
    for found in run_whole_and_tiled(operator, kernel, site, inputs, **how):
        assert result_errors(operator, site, inputs, found) == [], cuts


@compiled
@given(case=st.one_of(gemm_cases(), matmul_cases(), computed_cases()))
def test_with_streams(case: Case, tmp_path_factory: Any, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    operator, kernel, site, inputs, _ = case
    found = run_on_iss(operator, kernel, site, inputs, tmp_path_factory.mktemp("iss"))
    assert result_errors(operator, site, inputs, found.outputs) == []
    assert found.counts["vfmac.s"] > 0
    if kernel is not halves.MATMUL_COMPUTED:
        assert found.counts["fcvt.s.h"] == site.input(0).elements
    assert found.counts["fcvt.h.s"] == site.output.elements


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("clip", CLIPS[:2], ids=["plain", "relu"])
def test_as_fast_as_estimated(
    clip: dict[str, Attribute], dtype: DType, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Eight rows are a core's share of 64 x 64 x 64; two products a cycle are the most."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [
        values(rng, dtype, 8, 64), values(rng, dtype, 64, 64), values(rng, dtype, 64) if clip else None
    ]  # fmt: skip
    site = site_of(GEMM, inputs, clip, (1, 2))
    found = run_on_iss(GEMM, halves.GEMM, site, inputs, tmp_path)
    assert halves.GEMM.cycles is not None
    estimate = halves.GEMM.cycles(layer_of(GEMM, halves.GEMM, site).whole)
    on_gvsoc = run_on_iss(GEMM, halves.GEMM, site, inputs, tmp_path, timing=GVSOC)
    assert estimate == pytest.approx(on_gvsoc.cycles, rel=0.1)
    assert 8 * 64 * 64 / found.cycles > (1.35 if not clip else 1.25)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_computed_matrices_as_fast_as_estimated(dtype: DType, tmp_path: Path, tool: Callable[[str], str]) -> None:
    """Eight rows of 64 x 64 x 64."""
    tool("riscv64-unknown-elf-gcc")
    rng = np.random.default_rng(5)
    inputs: list[Array | None] = [values(rng, dtype, 8, 64), values(rng, dtype, 64, 64)]
    site = site_of(MATMUL, inputs, {}, ())
    found = run_on_iss(MATMUL, halves.MATMUL_COMPUTED, site, inputs, tmp_path)
    assert halves.MATMUL_COMPUTED.cycles is not None
    estimate = halves.MATMUL_COMPUTED.cycles(layer_of(MATMUL, halves.MATMUL_COMPUTED, site).whole)
    on_gvsoc = run_on_iss(MATMUL, halves.MATMUL_COMPUTED, site, inputs, tmp_path, timing=GVSOC)
    assert estimate == pytest.approx(on_gvsoc.cycles, rel=0.1)
    assert 8 * 64 * 64 / found.cycles > 0.55


def test_weights_are_kept_as_float32() -> None:
    """With alpha in them, which is rounded no more than a product."""
    weights = np.array([[1.0], [0.333], [3.0], [4.0]], np.float16)
    inputs: list[Array | None] = [np.ones((1, 4), np.float16), weights, None]
    layer = layer_of(GEMM, halves.GEMM, site_of(GEMM, inputs, {"alpha": 0.1}, (1, 2)))
    np.testing.assert_array_equal(layer.packed["B"], (weights.astype(np.float32) * np.float32(0.1)).T)


def test_refused() -> None:
    half, single = np.ones((2, 6), np.float16), np.ones((2, 6), np.float32)
    square, odd = np.ones((6, 6), np.float16), np.ones((2, 5), np.float16)

    def why(kernel: Kernel, operator: Operator, *inputs: Array, constants: tuple[int, ...] = (1,)) -> str:
        return str(refusal(kernel, site_of(operator, list(inputs), {}, constants)))

    assert "found f32" in why(halves.MATMUL, MATMUL, single, square.astype(np.float32))
    assert "must be constants" in why(halves.MATMUL, MATMUL, half, square, constants=())
    assert "5 products" in why(halves.MATMUL_COMPUTED, MATMUL, odd, np.ones((5, 2), np.float16), constants=())
    assert "5 products" in why(halves.MATMUL, MATMUL, odd, np.ones((5, 2), np.float16))
