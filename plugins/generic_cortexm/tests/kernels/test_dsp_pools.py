"""Pools on the DSP extension: windows that overhang, whole images, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels.dsp_pools import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "cortex-m.dsp.max_pool": {"bytes"},
        "cortex-m.dsp.qaverage_pool": {"ceil", "global"},
        "cortex-m.dsp.qreduce_mean": set(),  # the one there is goes over other axes
    }


@pytest.mark.parametrize(
    ("number", "layer"), [(0, "MaxPool_bytes"), (1, "QAveragePool_ceil"), (1, "QAveragePool_global")]
)
def test_it_is_expected_to_be_faster_than_portable_c(number: int, layer: str, speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[number], layer) > 1
