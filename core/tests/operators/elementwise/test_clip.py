"""Clip and Relu: any type, any layouts on both sides, NaN kept."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.operators.elementwise.clip import CLIP, CLIP_PORTABLE
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, site_of

TYPES = ("float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    dtype=st.sampled_from(TYPES),
    shape=st.lists(st.integers(1, 4), min_size=3, max_size=3),
    layouts=st.tuples(st.sampled_from(list(permutations(range(3)))), st.sampled_from(list(permutations(range(3))))),
    limits=st.sampled_from([(0.0, math.inf), (-math.inf, math.inf), (0.0, 6.0), (-3.0, 100000.0), (5.0, 5.0)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_kernel_equals_the_reference(
    tmp_path_factory: pytest.TempPathFactory,
    dtype: str,
    shape: list[int],
    layouts: tuple[tuple[int, ...], tuple[int, ...]],
    limits: tuple[float, float],
    seed: int,
) -> None:
    generator = np.random.default_rng(seed)
    x = (generator.standard_normal(shape) * 50).astype(dtype)
    site = site_of(CLIP, [x], {"min": limits[0], "max": limits[1]})
    folder: Path = tmp_path_factory.mktemp("clip")
    (y,) = run_kernel(CLIP, CLIP_PORTABLE, site, [x], folder=folder, layouts={"X": layouts[0], "Y": layouts[1]})
    (expected,) = CLIP.reference(site, [x])
    assert expected.dtype == x.dtype
    np.testing.assert_array_equal(y, expected)


def test_nan_stays(tmp_path: Path) -> None:
    x = np.array([np.nan, -1.0, 7.0], np.float32)
    site = site_of(CLIP, [x], {"min": 0.0, "max": 6.0})
    (y,) = run_kernel(CLIP, CLIP_PORTABLE, site, [x], folder=tmp_path)
    np.testing.assert_array_equal(y, np.array([np.nan, 0.0, 6.0], np.float32))


def test_limits_beyond_the_type_do_nothing() -> None:
    x = np.array([-128, 0, 127], np.int8)
    site = site_of(CLIP, [x], {"min": -1e9, "max": 1e9})
    np.testing.assert_array_equal(CLIP.reference(site, [x])[0], x)


def test_wide_integers_are_refused_with_a_reason() -> None:
    site = site_of(CLIP, [np.zeros(3, np.int64)], {"min": 0.0, "max": 6.0})
    assert refusal(CLIP_PORTABLE, site) == "X must be a float or an integer of at most 32 bits, found i64"
