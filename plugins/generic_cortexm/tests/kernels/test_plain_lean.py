"""Products with weights without the DSP extension and next to no scratch: what is taken, and bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels.plain_lean import KERNELS

CORES = {"v6m": "m0plus", "v7m": "m3"}


@pytest.mark.slow
def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    taken = {"QConv": {"same", "strided and dilated", "groups", "4 bits", "2 bits"}, "QGemm": {"", "4 bits", "2 bits"}}
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: taken[kernel.op] for kernel in KERNELS}
