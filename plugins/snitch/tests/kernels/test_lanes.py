"""Products of two computed matrices of float32: inside the error model on this machine and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, run_kernel, run_tiled, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.products.matmul import MATMUL, MATMUL_F32
from tilewright_snitch.kernels import lanes

Array = npt.NDArray[np.generic]
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 6.0})
SHAPES = (((5, 7), (7, 22)), ((2, 4, 8), (2, 8, 6)), ((3, 1, 3, 6), (2, 6, 10)))
TURNED: dict[str, Mapping[str, tuple[int, ...]]] = {
    "as they are": {}, "A turned": {"A": (1, 0)}, "B turned": {"B": (1, 0)}, "both turned": {"A": (1, 0), "B": (1, 0)},
}  # fmt: skip


def made(
    a: tuple[int, ...], b: tuple[int, ...], clip: dict[str, Attribute], special: float = 0.5
) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(8)
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in (a, b)]
    np.asarray(inputs[0]).flat[3] = special
    return site_of(MATMUL, inputs, clip), inputs


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_without_streams(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], clip: dict[str, Attribute], tmp_path: Path
) -> None:
    site, inputs = made(*shapes, clip)
    (tmp_path / "tiled").mkdir()
    found = run_kernel(MATMUL, lanes.MATMUL_F32, site, inputs, folder=tmp_path, flags=UBSAN)
    assert result_errors(MATMUL, site, inputs, found) == []
    cuts = random_cuts(layer_of(MATMUL, lanes.MATMUL_F32, site).access, np.random.default_rng(5))
    how = {"folder": tmp_path / "tiled", "flags": UBSAN}
    found = run_tiled(MATMUL, lanes.MATMUL_F32, site, inputs, cuts=cuts, **how)
    assert result_errors(MATMUL, site, inputs, found) == [], cuts


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_with_streams(
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    clip: dict[str, Attribute],
    tmp_path: Path,
    tool: Callable[[str], str],
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made(*shapes, clip)
    found = run_on_iss(MATMUL, lanes.MATMUL_F32, site, inputs, tmp_path)
    assert result_errors(MATMUL, site, inputs, found.outputs) == []
    assert found.counts["fadd"] < site.output.elements  # none of it in plain C


@pytest.mark.parametrize("turned", TURNED)
def test_matrices_that_are_stored_turned(turned: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made((6, 8), (8, 12), {})
    found = run_on_iss(MATMUL, lanes.MATMUL_F32, site, inputs, tmp_path, layouts=TURNED[turned])
    assert result_errors(MATMUL, site, inputs, found.outputs) == []
    assert (found.counts["vfmac.s"] > 0) == (turned != "both turned")


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_survives_a_clip(special: float, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made((3, 6), (6, 8), CLIPS[2], special)
    (found,) = run_on_iss(MATMUL, lanes.MATMUL_F32, site, inputs, tmp_path).outputs
    np.testing.assert_allclose(found, MATMUL.reference(site, inputs)[0], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(8, 64, 64), (5, 18, 44)])
def test_as_fast_as_estimated(
    rows: int, depth: int, columns: int, clip: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Eight rows are a core's share of 64 x 64 x 64; two products a cycle are the most."""
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made((rows, depth), (depth, columns), clip)
    found = run_on_iss(MATMUL, lanes.MATMUL_F32, site, inputs, tmp_path)
    assert lanes.MATMUL_F32.cycles is not None
    estimate = lanes.MATMUL_F32.cycles(layer_of(MATMUL, lanes.MATMUL_F32, site).whole)
    on_gvsoc = run_on_iss(MATMUL, lanes.MATMUL_F32, site, inputs, tmp_path, timing=GVSOC)
    assert estimate == pytest.approx(on_gvsoc.cycles, rel=0.1)
    assert rows * depth * columns / found.cycles > (1.5 if rows == 8 else 0.85)


def test_faster_than_portable_c(tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made((8, 32), (32, 32), {})
    own, portable = (
        run_on_iss(MATMUL, kernel, site, inputs, tmp_path).cycles for kernel in (lanes.MATMUL_F32, MATMUL_F32)
    )
    assert portable > 6 * own


def test_refusals_say_why() -> None:
    assert "holds two" in str(refusal(lanes.MATMUL_F32, made((2, 3), (3, 5), {})[0]))
    doubles: list[Array | None] = [np.zeros((2, 2)), np.zeros((2, 2))]
    assert "must be f32" in str(refusal(lanes.MATMUL_F32, site_of(MATMUL, doubles)))
