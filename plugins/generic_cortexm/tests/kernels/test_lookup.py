"""Tables of bytes on every core: bit for bit, any strides, and faster than plain C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.testing import layers_taken, refusal, run_kernel, site_of, vocabulary
from tilewright_cortexm.kernels.lookup import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"cortex-m.qlookup": {""}}


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QLookup") > 1


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
