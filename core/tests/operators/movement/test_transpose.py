"""Transpose: the C in any layout, the map point by point, and the alias rule by comparing bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.operators.movement.transpose import TRANSPOSE, TRANSPOSE_COPY
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import points, position, site_of

few = settings.get_profile("programs")
many = settings(max_examples=200, deadline=None)
DTYPES = ["float32", "int8", "uint8", "int16", "int32", "int64", "bool"]


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, tuple[int, ...]]:
    shape = draw(st.lists(st.integers(1, 4), max_size=5))
    perm = tuple(draw(st.permutations(range(len(shape)))))
    dtype = draw(st.sampled_from(DTYPES))
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype), perm


@pytest.mark.slow
@few
@given(case=cases(), seed=st.integers(0, 2**32))
def test_c_equals_reference(case: tuple[np.ndarray, tuple[int, ...]], seed: int, tmp_path: Path) -> None:
    x, perm = case
    site = site_of(TRANSPOSE, [x], {"perm": perm})
    assert kernel_errors(TRANSPOSE, TRANSPOSE_COPY, site, [x], np.random.default_rng(seed), tmp_path) == []


@pytest.mark.slow
@many
@given(case=cases())
def test_map_equals_reference(case: tuple[np.ndarray, tuple[int, ...]]) -> None:
    x, perm = case
    site = site_of(TRANSPOSE, [x], {"perm": perm})
    (y,) = TRANSPOSE.reference(site, [x])
    access = TRANSPOSE.access(site)
    assert isinstance(access, MapAccess)
    for point in points(access.verify()):
        assert x[position(access, "X", point)] == y[position(access, "Y", point)]


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_alias_exactly_where_the_bytes_coincide(case: tuple[np.ndarray, tuple[int, ...]], data: st.DataObject) -> None:
    x, perm = np.arange(case[0].size, dtype=np.int32).reshape(case[0].shape), case[1]
    site = site_of(TRANSPOSE, [x], {"perm": perm})
    layouts = {name: tuple(data.draw(st.permutations(range(x.ndim)))) for name in ("in0", "out0")}
    (y,) = TRANSPOSE.reference(site, [x])
    stored = [array.transpose(layouts[name]).tobytes() for array, name in ((x, "in0"), (y, "out0"))]
    assert bool(TRANSPOSE.alias(site, layouts)) == (stored[0] == stored[1])


def test_a_wrong_permutation_is_refused() -> None:
    with pytest.raises(TilewrightError, match="no permutation"):
        site_of(TRANSPOSE, [np.zeros((2, 2), np.float32)], {"perm": (0, 0)})
