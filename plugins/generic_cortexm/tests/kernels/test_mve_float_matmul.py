"""Products of two computed matrices of floats, in their C forms: inside the error model, whole and in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Site
from tilewright.api.testing import layers_taken, refusal, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.mve_float_matmul import KERNELS

Case = tuple[Site, list[np.ndarray]]
(MATMUL,) = KERNELS


def product(a: tuple[int, ...], b: tuple[int, ...], **more: Attribute) -> Case:
    rng = np.random.default_rng(len(a))
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in (a, b)]
    return site_of(vocabulary()["MatMul"], inputs, more), inputs


def test_layers_that_are_taken(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {MATMUL.name: {"batches"}}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((5, 7), (7, 4)), ((3, 1, 7), (3, 7, 6)), ((2, 9, 6), (6, 130)), ((3, 1, 4, 5), (2, 5, 5)), ((9, 3), (2, 3, 7)),
    ],
)  # fmt: skip
def test_products(
    a: tuple[int, ...], b: tuple[int, ...], tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    for number, clip in enumerate(({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})):
        (folder := tmp_path / str(number)).mkdir()
        assert float_errors(MATMUL, product(a, b, **clip), folder) == []


def test_parts_are_the_same(tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    assert float_errors(MATMUL, product((2, 11, 6), (2, 6, 9)), tmp_path, {"m": 3}) == []


def test_refusals_say_why() -> None:
    assert "has 3 columns" in str(refusal(MATMUL, product((4, 5), (5, 3))[0]))
    assert "has 1024 columns" in str(refusal(MATMUL, product((1, 2), (2, 1024))[0]))
    site, inputs = product((4, 5), (5, 8))
    constant = site_of(vocabulary()["MatMul"], inputs, {}, (1,))
    assert "matmul_f32 packs it" in str(refusal(MATMUL, constant))
    assert refusal(MATMUL, site) is None


def test_more_rows_cost_more() -> None:
    layer = layer_of(vocabulary()["MatMul"], MATMUL, product((16, 8), (8, 8))[0])
    assert MATMUL.instructions is not None
    part = layer.tile({**layer.whole.box, "m": (0, 4)})
    assert MATMUL.instructions(part) == pytest.approx(MATMUL.instructions(layer.whole) / 4)
