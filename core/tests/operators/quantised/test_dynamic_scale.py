"""DynamicScale: against the function of the standard, in float32, and C against the reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.dynamic_scale import DYNAMIC_SCALE, DYNAMIC_SCALE_F32
from tilewright.testing.kernels.kernel_run import STRICT, UBSAN, Trial, outcomes, whole_trial
from tilewright.testing.operator_sites import refusal, site_of

ENDS = [
    (-1.0, 1.0), (0.0, 0.0), (0.5, 2.0), (-3.0, -1.0), (-0.1, 25.4), (1e-30, 3e-30), (-3e38, 3e38), (-1e-45, 0.0),
    (-0.5, 254.5), (-1.5, 253.5), (float("-inf"), 1.0), (float("nan"), 1.0), (-0.0, 0.0),
]  # fmt: skip


def standard(smallest: float, largest: float) -> tuple[np.float32, int]:
    """As ONNX writes it, and 1 where all values are 0."""
    zero = np.float32(0)
    with np.errstate(all="ignore"):
        low, high = np.minimum(np.float32(smallest), zero), np.maximum(np.float32(largest), zero)
        scale = np.float32(1) if high == low else np.float32(high - low) / np.float32(255)
        point = np.rint(np.clip(zero - low / scale, 0, 255))
    return scale, 0 if np.isnan(point) else int(point)


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_reference_is_the_standard(ends: tuple[float, float]) -> None:
    inputs = [np.float32(end).reshape(()) for end in ends]
    scale, point = DYNAMIC_SCALE.reference(site_of(DYNAMIC_SCALE, inputs), inputs)
    wanted, wanted_point = standard(*ends)
    assert np.array_equal(scale, wanted, equal_nan=True) and (int(point), scale.dtype) == (wanted_point, np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("flags", [UBSAN, (*STRICT, "-O2")], ids=["ubsan", "optimised"])
def test_c_computes_the_same(flags: tuple[str, ...], tmp_path: Path) -> None:
    trials: list[Trial] = []
    wanted = []
    for ends in ENDS:
        inputs = [np.asarray(np.float32(end)) for end in ends]
        site = site_of(DYNAMIC_SCALE, inputs)
        assert refusal(DYNAMIC_SCALE_F32, site) is None
        trials.append(whole_trial(DYNAMIC_SCALE, DYNAMIC_SCALE_F32, site, inputs))
        wanted.append(DYNAMIC_SCALE.reference(site, inputs))
    for found, expected in zip(outcomes(trials, tmp_path, flags), wanted, strict=True):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True))


def test_ends_are_as_many() -> None:
    with pytest.raises(TilewrightError, match="as many of one"):
        site_of(DYNAMIC_SCALE, [np.zeros(1, np.float32), np.zeros((), np.float32)])
