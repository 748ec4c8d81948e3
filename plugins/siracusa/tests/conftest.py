"""Makes the simulator of tests/iss importable, and adds layers for `pytest --tilewright-target siracusa`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from tilewright.api.graph import DType, Requant
from tilewright.api.testing import Sample, byte_array

sys.path.insert(0, str(Path(__file__).parent / "iss"))


def pytest_tilewright_layers() -> list[Sample]:
    """A sum without ties, and a product of one row."""
    rng = np.random.default_rng(1)
    images = tuple(byte_array(rng, DType.I8, (5, 21, 23), saturated=False) for _ in range(2))
    scales = {"a_scale": 0.3712, "b_scale": 0.6131, "a_zero_point": 3, "b_zero_point": -2}
    limits = {"zero_point": 1, "low": -128, "high": 127, "output_type": "i8"}
    weights = (byte_array(rng, DType.I8, (101, 40), saturated=False), rng.integers(-900, 900, 40).astype(np.int32))
    requant = Requant(scale=(0.0013,), zero_point=2, low=-128, high=127)
    product = {"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8"}
    row = byte_array(rng, DType.I8, (1, 101), saturated=False)
    return [
        Sample(op="QAdd", kind="without ties", inputs=images, attributes={**scales, **limits}),
        Sample(op="QGemm", kind="one row", inputs=(row, *weights), attributes=product, constants=(1, 2)),
    ]
