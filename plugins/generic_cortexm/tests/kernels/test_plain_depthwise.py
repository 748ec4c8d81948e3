"""Depthwise convolutions without the DSP extension: what is taken, bit for bit, and what is not written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tilewright.api.graph import DType, Requant
from tilewright.api.testing import byte_array, layers_taken, site_of, vocabulary
from tilewright_cortexm.kernels.plain_depthwise import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"depthwise"} for kernel in KERNELS}


def test_windows_of_many_columns_are_portable_c() -> None:
    rng = np.random.default_rng(0)
    inputs = [byte_array(rng, DType.I8, shape, saturated=False) for shape in ((1, 4, 3, 20), (4, 1, 3, 9))]
    requant = Requant(scale=(0.01,), zero_point=0, low=-128, high=127)
    attributes = {
        "kernel_shape": (3, 9), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
        "group": 4, "requant": requant, "output_type": "i8",
    }  # fmt: skip
    site = site_of(vocabulary()["QConv"], inputs, attributes, (1,))
    assert {kernel.match(site) for kernel in KERNELS} == {"windows have 9 columns; up to 7 are written out"}
