"""Products of floats on the cluster: which are taken, and that they are inside the error model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.api.kernel import Kernel
from tilewright_siracusa.kernels.float_matmul import KERNELS

ACCEPTED = {
    "siracusa.gemm_f32": {""},
    "siracusa.matmul_weights_f32": {""},
    "siracusa.matmul_f32": {"batches"},
}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_agree_with_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]
