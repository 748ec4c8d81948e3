"""Sums, products and quotients of floats stay inside the error model, broadcast, in any layout, in tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import kernel_errors, refusal, site_of
from tilewright.operators.elementwise.binary import OPERATORS
from tilewright_siracusa.kernels.float_elements import KERNELS

Array = npt.NDArray[np.generic]
compiled: Any = settings.get_profile("programs")
SHAPES = (
    ((1, 3, 5, 4), (1, 3, 5, 4)), ((7,), (7,)), ((2, 9), (2, 9)), ((2, 3, 4), (3, 4)), ((2, 3, 4), (2, 1, 4)),
    ((4, 1), (5,)), ((1, 8, 3, 3), (8, 1, 1)), ((5,), ()),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@compiled
@given(
    shapes=st.sampled_from(SHAPES),
    clip=st.sampled_from([{}, {"clip_low": 0.0}, {"clip_low": -1.0, "clip_high": 1.0}]),
    seed=st.integers(0, 2**32),
)
def test_elements(kernel: Any, shapes: Any, clip: Any, seed: int, tmp_path_factory: Any) -> None:
    rng = np.random.default_rng(seed)
    operator = next(operator for operator in OPERATORS if operator.name == kernel.op)
    inputs: list[Array | None] = [np.asarray(rng.normal(0, 2, shape), np.float32) for shape in shapes]
    first = inputs[0]
    assert first is not None
    first.flat[rng.integers(first.size)] = rng.choice([np.nan, np.inf, 0.0])
    site = site_of(operator, inputs, clip)
    assert kernel_errors(operator, kernel, site, inputs, rng, tmp_path_factory.mktemp("c")) == []


def test_integers_are_refused() -> None:
    whole: list[Array | None] = [np.zeros(3, np.int32), np.zeros(3, np.int32)]
    site = site_of(next(operator for operator in OPERATORS if operator.name == "Add"), whole)
    assert "must be f32" in str(refusal(KERNELS[0], site))
