"""Layers on which `pytest --tilewright-target ${name}` tries kernels, beside its own."""

import numpy as np
% if engine:
from tilewright.api.graph import DType, Requant
from tilewright.api.testing import Sample, byte_array
% else:
from tilewright.api.testing import Sample
% endif


def pytest_tilewright_layers():
    rng = np.random.default_rng(1)
    image = rng.standard_normal((5, 21, 23)).astype(np.float32)
    relu = Sample(op="Clip", kind="relu", inputs=(image,), attributes={"min": 0.0, "max": float("inf")})
% if engine:
    return [relu, fully_connected(rng)]


def fully_connected(rng):
    """Odd extents, so that last tiles are smaller; zero points and a bias. The engine computes this scale."""
    rows, depth, columns = 13, 67, 11
    requant = Requant(scale=(0.0113,), zero_point=-5, low=-128, high=127)
    return Sample(
        op="QGemm",
        kind="engine",
        inputs=(
            byte_array(rng, DType.I8, (rows, depth), saturated=False),
            rng.integers(-127, 128, (depth, columns)).astype(np.int8),
            rng.integers(-1000, 1000, columns).astype(np.int32),
        ),
        attributes={"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8"},
        constants=(1, 2),
    )
% else:
    return [relu]
% endif
