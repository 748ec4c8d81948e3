"""Adds layers for `pytest --tilewright-target cortex-m55`."""

from __future__ import annotations

import numpy as np

from tilewright.api.graph import DType, Requant
from tilewright.api.testing import Sample, byte_array


def pytest_tilewright_layers() -> list[Sample]:
    """A sum of 32 bits, a mean of whole images, and one scale for everything."""
    rng = np.random.default_rng(1)
    images = tuple(byte_array(rng, DType.I8, (1, 12, 9, 11), saturated=False) for _ in range(2))
    scales = {"a_scale": 0.5, "b_scale": 0.25, "a_zero_point": 3, "b_zero_point": 1}
    limits = {"zero_point": 2, "low": -128, "high": 127, "output_type": "i8"}
    requant = Requant(scale=(0.0113,), zero_point=2, low=-128, high=127)
    mean = {"axes": (2, 3), "keepdims": 1, "x_zero_point": 4, "requant": requant}
    floats = rng.standard_normal((5, 21, 23)).astype(np.float32)
    one = (np.array(0.02, np.float32), np.array(3, np.int8))
    return [
        Sample(op="QAdd", kind="of 32 bits", inputs=images, attributes={**scales, **limits}),
        Sample(op="QReduceMean", kind="images", inputs=images[:1], attributes=mean),
        Sample(
            op="QuantizeLinear",
            kind="one scale",
            inputs=(floats, *one),
            attributes={"axis": 1, "to": "i8"},
            constants=(1, 2),
        ),
    ]
