"""A row of floats times constant weights, in its C form: inside the error model, whole and in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Site
from tilewright.api.testing import refusal, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.mve_float_row import KERNELS

Case = tuple[Site, list[np.ndarray]]
(ROW,) = KERNELS
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})


def gemm(depth: int, columns: int, rows: int = 1, bias: tuple[int, ...] | None = None, **more: Attribute) -> Case:
    rng = np.random.default_rng(depth)
    shapes = ((rows, depth), (columns, depth), *(() if bias is None else (bias,)))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    attributes: dict[str, Attribute] = {"transB": 1, "alpha": 0.5, "beta": 2.0, **more}
    return site_of(vocabulary()["Gemm"], inputs, attributes, tuple(range(1, len(inputs)))), inputs


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_rows(clip: dict[str, Attribute], tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    for depth, columns, bias in ((1, 1, (1,)), (7, 5, (5,)), (16, 8, None), (13, 8, (1, 8)), (5, 3, ())):
        (folder := tmp_path / str(depth)).mkdir()
        assert float_errors(ROW, gemm(depth, columns, bias=bias, **clip), folder) == []


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_sums_are_taken_in_parts(
    clip: dict[str, Attribute], tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    assert float_errors(ROW, gemm(22, 8, bias=(8,), **clip), tmp_path, {"k": 5}) == []


def test_outputs_that_do_not_come_in_fours_are_computed_at_once() -> None:
    for columns, loops in ((8, ["k"]), (7, [])):
        layer = layer_of(vocabulary()["Gemm"], ROW, gemm(9, columns)[0])
        assert [loop.name for loop in layer.whole.access.loops] == loops


def test_refusals_say_why() -> None:
    assert "has 2 rows" in str(refusal(ROW, gemm(5, 4, rows=2)[0]))
    site, inputs = gemm(5, 4)
    assert "constants" in str(refusal(ROW, site_of(vocabulary()["Gemm"], inputs, site.node.attributes)))


def test_parts_cost_less() -> None:
    layer = layer_of(vocabulary()["Gemm"], ROW, gemm(64, 8)[0])
    assert ROW.instructions is not None
    assert ROW.instructions(layer.tile({"k": (0, 16)})) < ROW.instructions(layer.whole) / 2
