"""Depthwise convolutions of bytes on the cluster: which are taken, and that they are right."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.api.kernel import Kernel
from tilewright_siracusa.kernels.depthwise import KERNELS

ACCEPTED = {"siracusa.qconv_depthwise": {"depthwise"}}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_agree_with_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]
