"""Floats element by element, in their C forms: inside the error model, broadcast, with limits; NaN is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.testing import layers_taken, refusal, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.machines.kernel import Kernel
from tilewright_cortexm.kernels.mve_float_elementwise import KERNELS

PAIRS = tuple(kernel for kernel in KERNELS if kernel.op != "Clip")
CLIP = KERNELS[-1]


def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert all(taken[kernel.name] for kernel in KERNELS)


@pytest.mark.parametrize("clips", [{}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5}], ids=str)
@pytest.mark.parametrize("kernel", PAIRS, ids=lambda kernel: kernel.op)
def test_operands_broadcast(
    kernel: Kernel, clips: dict[str, Attribute], tmp_path: Path, float_errors: Callable[..., list[str]]
) -> None:
    rng = np.random.default_rng(1)
    for number, other in enumerate(((3, 5, 7), (5, 1), (1,), (3, 1, 7))):
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 5, 7), other)]
        arrays[0][1, 2, 3], arrays[0][0, 0, 0] = np.nan, np.inf
        (folder := tmp_path / str(number)).mkdir()
        assert float_errors(kernel, (site_of(vocabulary()[kernel.op], arrays, clips), arrays), folder) == []


@pytest.mark.parametrize("ends", [{"min": 0.0}, {"max": 0.5}, {"min": 0.5, "max": -0.5}, {}], ids=str)
def test_limits_keep_nan(ends: dict[str, Attribute], tmp_path: Path, float_errors: Callable[..., list[str]]) -> None:
    x = np.random.default_rng(0).standard_normal((5, 9)).astype(np.float32)
    x[1, 2], x[3, 4], x[0, 0] = np.nan, np.inf, -np.inf
    assert float_errors(CLIP, (site_of(vocabulary()["Clip"], [x], ends), [x]), tmp_path) == []


def test_other_types_are_refused() -> None:
    halves = [np.zeros((2, 3), np.float16)] * 2
    assert "float32" in str(refusal(KERNELS[0], site_of(vocabulary()["Add"], halves)))


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(CLIP, "Clip") > 2
