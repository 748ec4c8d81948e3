"""Tables and exponentials on Helium: bit for bit, and faster than the table for every core."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.api.kernel import Kernel
from tilewright_cortexm.kernels import lookup
from tilewright_cortexm.kernels.mve_tables import KERNELS

ACCEPTED = {"cortex-m.mve.qlookup": {""}, "cortex-m.mve.qsoftmax": {""}}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(("number", "layer"), [(0, "QLookup"), (1, "QSoftmax")])
def test_it_is_expected_to_be_faster_than_portable_c(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None], portable: Callable[[str], float]
) -> None:
    found = cost(KERNELS[number], layer)
    assert found is not None and 0 < found < portable(layer)


def test_sixteen_at_a_time_is_faster_than_four(cost: Callable[[Kernel, str], float | None]) -> None:
    helium, plain = cost(KERNELS[0], "QLookup"), cost(lookup.KERNELS[0], "QLookup")
    assert helium is not None and plain is not None and helium < plain / 4
