"""Products of two activations on the DSP extension: bit for bit, faster than plain C, and not for few rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels.dsp_matmul import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"cortex-m.dsp.qmatmul": {""}}


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QMatMul") > 1
