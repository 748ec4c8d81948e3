"""Tables and exponentials on Helium: bit for bit, and faster than the table for every core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels import lookup
from tilewright_cortexm.kernels.mve_tables import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"cortex-m.mve.qlookup": {""}, "cortex-m.mve.qsoftmax": {""}}


@pytest.mark.parametrize(("number", "layer"), [(0, "QLookup"), (1, "QSoftmax")])
def test_it_is_expected_to_be_faster_than_portable_c(number: int, layer: str, speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[number], layer) > 1


def test_sixteen_at_a_time_is_faster_than_four(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QLookup", lookup.KERNELS[0]) > 4
