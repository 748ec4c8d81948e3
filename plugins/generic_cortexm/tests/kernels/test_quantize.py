"""Floats that become bytes on an FPU: every edge of the range, no scale for each channel, and faster than plain C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import DType
from tilewright.api.testing import refusal, run_kernel, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels.quantize import KERNELS
from tilewright_cortexm.work import whole_work

OPERATOR, (KERNEL,) = vocabulary()["QuantizeLinear"], KERNELS
EDGES = [0, -0.0, 0.25, -0.25, 0.75, 63.5, 63.75, -64, -64.25, 1e9, -3e38, np.inf, -np.inf, np.nan, 1e-40]


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
@pytest.mark.parametrize("zero", [None, 3])
def test_halves_go_to_even_and_what_is_outside_to_the_ends(dtype: DType, zero: int | None, tmp_path: Path) -> None:
    inputs = [np.array(EDGES, np.float32).reshape(3, 5), np.array(0.5, np.float32)]
    inputs += [] if zero is None else [np.array(zero, dtype.numpy)]
    site = site_of(OPERATOR, inputs, {"to": dtype.value}, range(1, len(inputs)))
    (found,) = run_kernel(OPERATOR, KERNEL, site, inputs, folder=tmp_path, layouts={"X": (1, 0), "Y": (0, 1)})
    assert np.array_equal(found, OPERATOR.reference(site, inputs)[0])


@pytest.mark.parametrize(
    ("scale", "constants", "to", "told"),
    [
        (np.ones(5, np.float32), (1,), "i8", "one of each"),
        (np.array(1, np.float32), (), "i8", "must be constants"),
        (np.array(1, np.float32), (1,), "i16", "f32 to i16"),
    ],
)
def test_what_it_does_not_know_is_refused(scale: np.ndarray, constants: tuple[int, ...], to: str, told: str) -> None:
    site = site_of(OPERATOR, [np.zeros((3, 5), np.float32), scale], {"to": to, "axis": 1}, constants)
    assert told in str(refusal(KERNEL, site))


def test_it_is_expected_to_be_faster_than_portable_c() -> None:
    site = site_of(OPERATOR, [np.zeros((30, 50), np.float32), np.array(1, np.float32)], {"to": "i8"}, (1,))
    portable = tables()["m4"].of_portable(whole_work("QuantizeLinear", site))
    assert KERNEL.instructions is not None and portable is not None
    assert 0 < KERNEL.instructions(layer_of(OPERATOR, KERNEL, site).whole) < portable
