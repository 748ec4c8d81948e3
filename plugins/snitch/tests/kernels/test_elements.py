"""Sums, differences and products element by element: exact, on this machine and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss

from tilewright.api.testing import STRICT, random_cuts, refusal, result_errors, run_kernel, run_tiled, site_of
from tilewright.ir.graph import Attribute, Site
from tilewright.ir.layer import layer_of
from tilewright.operators import binary
from tilewright_snitch.kernels.elements import KERNELS

Array = npt.NDArray[np.generic]
UBSAN = (*STRICT, "-fsanitize=undefined", "-fno-sanitize-recover=all")
OPERATORS = {operator.name: operator for operator in binary.OPERATORS}
OWN = {kernel.op: kernel for kernel in KERNELS}
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.0})


def made(op: str, dtype: type[np.floating], clip: dict[str, Attribute], *shape: int) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(4)
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(dtype), rng.standard_normal(shape).astype(dtype)]
    return site_of(OPERATORS[op], inputs, clip), inputs


LAYERS = [(op, np.float32, clip) for op in OWN for clip in CLIPS] + [(op, np.float64, CLIPS[0]) for op in OWN]


@pytest.mark.parametrize(("op", "dtype", "clip"), LAYERS)
def test_as_the_reference(
    op: str, dtype: type[np.floating], clip: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made(op, dtype, clip, 3, 27)
    found = run_on_iss(OPERATORS[op], OWN[op], site, inputs, tmp_path)
    assert result_errors(OPERATORS[op], site, inputs, found.outputs) == []
    assert found.instructions < 81 * 6  # most elements have none


@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
def test_without_streams(clip: dict[str, Attribute], tmp_path: Path) -> None:
    site, inputs = made("Add", np.float32, clip, 4, 5, 6)
    for number, cuts in enumerate(
        ({}, random_cuts(layer_of(OPERATORS["Add"], OWN["Add"], site).access, np.random.default_rng(3)))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = (
            run_tiled(OPERATORS["Add"], OWN["Add"], site, inputs, cuts=cuts, folder=folder, flags=UBSAN)
            if cuts
            else run_kernel(OPERATORS["Add"], OWN["Add"], site, inputs, folder=folder, flags=UBSAN)
        )
        assert result_errors(OPERATORS["Add"], site, inputs, found) == []


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_survives_a_clip(special: float, tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made("Add", np.float32, CLIPS[1], 40)
    np.asarray(inputs[0])[7] = special
    (found,) = run_on_iss(OPERATORS["Add"], OWN["Add"], site, inputs, tmp_path).outputs
    np.testing.assert_array_equal(found, OPERATORS["Add"].reference(site, inputs)[0])


@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
def test_as_fast_as_estimated(clip: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made("Add", np.float32, clip, 16, 64)
    found = run_on_iss(OPERATORS["Add"], OWN["Add"], site, inputs, tmp_path)
    cycles = OWN["Add"].cycles
    assert cycles is not None
    assert cycles(layer_of(OPERATORS["Add"], OWN["Add"], site).whole) == pytest.approx(found.cycles, rel=0.15)


def test_other_shapes_are_refused() -> None:
    inputs: list[Array | None] = [np.zeros((4, 8), np.float32), np.zeros(8, np.float32)]
    assert "shapes differ" in str(refusal(OWN["Add"], site_of(OPERATORS["Add"], inputs)))
