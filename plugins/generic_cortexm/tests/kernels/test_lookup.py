"""Tables of bytes on every core: bit for bit, any strides, and faster than plain C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import refusal, run_kernel, site_of, vocabulary
from tilewright_cortexm.kernels.lookup import KERNELS

ACCEPTED = {"cortex-m.qlookup": {""}}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(("number", "layer"), [(0, "QLookup")])
def test_it_is_expected_to_be_faster_than_portable_c(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None], portable: Callable[[str], float]
) -> None:
    found = cost(KERNELS[number], layer)
    assert found is not None and 0 < found < portable(layer)


@pytest.mark.parametrize(("x", "t"), [("i1", "i1"), ("u1", "i1"), ("i1", "u1"), ("u1", "u1")])
def test_every_byte_is_looked_up_in_place_and_across_axes(x: str, t: str, tmp_path: Path) -> None:
    """The table begins at -128 for signed bytes."""
    inputs = [
        np.arange(256, dtype=np.uint8).view(x).reshape(16, 16),
        np.arange(256, dtype=np.uint8)[::-1].copy().view(t),
    ]
    operator = vocabulary()["QLookup"]
    site = site_of(operator, inputs, constants=(1,))
    for how in ({"in_place": True}, {"layouts": {"X": (1, 0), "Y": (0, 1)}}):
        (found,) = run_kernel(operator, KERNELS[0], site, inputs, folder=tmp_path, **how)
        assert np.array_equal(found, operator.reference(site, inputs)[0])


def test_other_types_are_refused() -> None:
    site = site_of(vocabulary()["QLookup"], [np.zeros(4, np.int8), np.zeros(256, np.int16)], constants=(1,))
    assert refusal(KERNELS[0], site) == "values must be i8 or u8"
