"""Slice and Split: bounds as numpy reads them, the C in any layout, the map, and the alias rule by comparing bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.ir.access.index_map import MapAccess
from tilewright.ir.graphs.graph import Site
from tilewright.operators.movement.slice import SLICE, SLICE_COPY, slice_attributes
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import points, position, site_of, window_errors

few = settings.get_profile("programs")
many = settings(max_examples=200, deadline=None)


@st.composite
def cases(draw: st.DrawFn, dtype: str = "int32") -> tuple[Site, np.ndarray]:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    axes = list(range(len(shape)))
    bounds = [draw(st.lists(st.integers(-7, 7), min_size=len(shape), max_size=len(shape))) for _ in range(2)]
    steps = draw(st.lists(st.sampled_from([1, 1, 1, 2, 3, -1, -2]), min_size=len(shape), max_size=len(shape)))
    for axis in axes:
        if draw(st.booleans()):
            bounds[0][axis], bounds[1][axis], steps[axis] = 0, 2**63 - 1, 1
    attributes = slice_attributes(shape, axes, bounds[0], bounds[1], steps)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    return site_of(SLICE, [x], attributes), x


@pytest.mark.slow
@many
@given(extent=st.integers(1, 6), start=st.integers(-9, 9), end=st.integers(-9, 9), step=st.sampled_from([1, 2, -1, -3]))
def test_bounds_are_clamped_as_onnx_says(extent: int, start: int, end: int, step: int) -> None:
    x = np.arange(extent)
    attributes = slice_attributes((extent,), (0,), (start,), (end,), (step,))
    site = site_of(SLICE, [x], attributes)
    if step < 0:  # the specification clamps a start to the first element, numpy lets it fall off
        start = max(start, -extent)
    wanted = x[start : None if step < 0 and end < -extent else end : step]
    assert SLICE.reference(site, [x])[0].tolist() == wanted.tolist()


def test_backwards_from_before_the_first_element() -> None:
    assert slice_attributes((3,), (0,), (-9,), (-9,), (-1,)) == {"starts": (0,), "steps": (-1,), "shape": (1,)}


@few
@given(case=cases(dtype="int16"), seed=st.integers(0, 2**32))
def test_c_equals_reference(case: tuple[Site, np.ndarray], seed: int, tmp_path: Path) -> None:
    site, x = case
    if site.output.elements:
        assert kernel_errors(SLICE, SLICE_COPY, site, [x], np.random.default_rng(seed), tmp_path) == []


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_map_equals_reference(case: tuple[Site, np.ndarray], data: st.DataObject) -> None:
    site, x = case
    (y,) = SLICE.reference(site, [x])
    access = SLICE.access(site)
    assert isinstance(access, MapAccess)
    for point in points(access):
        assert x[position(access, "X", point)] == y[position(access, "Y", point)]
    if y.size:
        access.verify()
        lows = [data.draw(st.integers(0, loop.extent - 1)) for loop in access.loops]
        box = {loop.name: (low, loop.extent) for loop, low in zip(access.loops, lows, strict=True)}
        assert window_errors(access, box) == []


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_alias_exactly_where_the_bytes_coincide(case: tuple[Site, np.ndarray], data: st.DataObject) -> None:
    site, x = case
    (y,) = SLICE.reference(site, [x])
    assume(y.size)
    layouts = {name: tuple(data.draw(st.permutations(range(x.ndim)))) for name in ("in0", "out0")}
    stored, piece = x.transpose(layouts["in0"]).reshape(-1), y.transpose(layouts["out0"]).reshape(-1)
    aliases = SLICE.alias(site, layouts)
    if aliases:
        assert np.array_equal(stored[aliases[0].offset :][: y.size], piece)
    else:
        first = int(np.flatnonzero(stored == piece[0])[0])
        assert not np.array_equal(stored[first:][: y.size], piece)


def test_a_slice_outside_its_input_is_refused() -> None:
    with pytest.raises(TilewrightError, match="leaves its input"):
        site_of(SLICE, [np.zeros(3)], {"starts": (1,), "steps": (1,), "shape": (3,)})
