"""Reshape: blocks, the C in any layout, the access by brute force, and the alias rule by comparing bytes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.operators.movement.reshape import RESHAPE, RESHAPE_COPY, blocks
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import site_of

few = settings.get_profile("programs")
many = settings(max_examples=300, deadline=None)


@st.composite
def shape_pairs(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes of equal size: the same prime factors, grouped twice, with axes of extent 1 thrown in."""
    factors = draw(st.lists(st.sampled_from([2, 2, 3, 5]), max_size=5))
    pair = []
    for _ in "XY":
        order = factors if draw(st.booleans()) else list(draw(st.permutations(factors)))
        shape = [1]
        for factor in order:
            if draw(st.booleans()):
                shape.append(factor)
            else:
                shape[-1] *= factor
        if draw(st.booleans()):
            shape.insert(draw(st.integers(0, len(shape))), 1)
        pair.append(tuple(shape[:5] + ([math.prod(shape[5:])] if len(shape) > 5 else [])))
    return pair[0], pair[1]


@pytest.mark.slow
@few
@given(pair=shape_pairs(), dtype=st.sampled_from(["float32", "int8", "int64"]), seed=st.integers(0, 2**32))
def test_c_equals_reference(pair: tuple[tuple[int, ...], ...], dtype: str, seed: int, tmp_path: Path) -> None:
    x = np.arange(math.prod(pair[0])).reshape(pair[0]).astype(dtype)
    site = site_of(RESHAPE, [x], {"shape": pair[1]})
    assert kernel_errors(RESHAPE, RESHAPE_COPY, site, [x], np.random.default_rng(seed), tmp_path) == []


def test_strides_without_a_common_place_are_copied_element_by_element(tmp_path: Path) -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    site = site_of(RESHAPE, [x], {"shape": (6, 4)})
    (y,) = run_kernel(RESHAPE, RESHAPE_COPY, site, [x], folder=tmp_path, layouts={"X": (1, 0), "Y": (1, 0)})
    assert np.array_equal(y, x.reshape(6, 4))
    assert "tw_place" in (tmp_path / "kernel.c").read_text()


@pytest.mark.slow
@many
@given(pair=shape_pairs())
def test_blocks_hold_the_same_elements(pair: tuple[tuple[int, ...], ...]) -> None:
    found = blocks(*pair)
    for mine, theirs in found:
        assert math.prod(pair[0][axis] for axis in mine) == math.prod(pair[1][axis] for axis in theirs)
    for side, shape in enumerate(pair):
        axes = [axis for block in found for axis in block[side]]
        assert axes == [axis for axis, extent in enumerate(shape) if extent != 1]


@pytest.mark.slow
@many
@given(pair=shape_pairs(), data=st.data())
def test_windows_hold_exactly_what_a_box_needs(pair: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    x = np.arange(math.prod(pair[0])).reshape(pair[0])
    site = site_of(RESHAPE, [x], {"shape": pair[1]})
    access, (y,) = RESHAPE.access(site), RESHAPE.reference(site, [x])
    box = {}
    for loop in access.loops:
        low = data.draw(st.integers(0, loop.extent - 1)) if loop.kind == "parallel" else 0
        high = data.draw(st.integers(low + 1, loop.extent)) if loop.kind == "parallel" else loop.extent
        box[loop.name] = (low, high)
    read, written = ([slice(span.low, span.high) for span in access.window(name, box)] for name in "XY")
    assert np.array_equal(x[tuple(read)].reshape(-1), y[tuple(written)].reshape(-1))


@pytest.mark.slow
@many
@given(pair=shape_pairs(), data=st.data())
def test_alias_exactly_where_the_bytes_coincide(pair: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    x = np.arange(math.prod(pair[0])).reshape(pair[0])
    site = site_of(RESHAPE, [x], {"shape": pair[1]})
    (y,) = RESHAPE.reference(site, [x])
    layouts = {name: tuple(data.draw(st.permutations(range(array.ndim)))) for name, array in (("in0", x), ("out0", y))}
    stored = [array.transpose(layouts[name]).tobytes() for array, name in ((x, "in0"), (y, "out0"))]
    assert bool(RESHAPE.alias(site, layouts)) == (stored[0] == stored[1])


def test_a_shape_of_another_size_is_refused() -> None:
    with pytest.raises(TilewrightError, match="do not make"):
        site_of(RESHAPE, [np.zeros((2, 3), np.float32)], {"shape": (2, 2)})


def test_the_declared_output_is_enough() -> None:
    x = np.zeros((), np.float32)
    assert site_of(RESHAPE, [x]).output.shape == ()
