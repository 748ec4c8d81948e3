"""Concat: the C in any layout and tile, the footprint by brute force, and the alias rule by comparing bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.operators.movement.concat import CONCAT, CONCAT_COPY
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

few = settings.get_profile("programs")
many = settings(max_examples=200, deadline=None)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[np.ndarray], int]:
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    axis = draw(st.integers(0, len(shape) - 1))
    arrays, start = [], 0
    for extent in draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)):
        own = [*shape[:axis], extent, *shape[axis + 1 :]]
        count = int(np.prod(own))
        arrays.append(np.arange(start, start + count, dtype=np.int16).reshape(own))
        start += count
    return arrays, draw(st.sampled_from([axis, axis - len(shape)]))


@pytest.mark.slow
@few
@given(case=cases(), dtype=st.sampled_from(["float32", "int8", "int16", "int64"]), seed=st.integers(0, 2**32))
def test_c_equals_reference(case: tuple[list[np.ndarray], int], dtype: str, seed: int, tmp_path: Path) -> None:
    arrays = [array.astype(dtype) for array in case[0]]
    site = site_of(CONCAT, arrays, {"axis": case[1]})
    if site.output.elements:
        assert kernel_errors(CONCAT, CONCAT_COPY, site, arrays, np.random.default_rng(seed), tmp_path) == []


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_windows_hold_exactly_what_a_box_needs(case: tuple[list[np.ndarray], int], data: st.DataObject) -> None:
    arrays, axis = case
    site = site_of(CONCAT, arrays, {"axis": axis})
    assume(site.output.elements)
    access = CONCAT.access(site)
    box = {}
    for loop in access.loops:  # tiles are never empty
        low = data.draw(st.integers(0, loop.extent - 1))
        box[loop.name] = (low, data.draw(st.integers(low + 1, loop.extent)))
    cut = tuple(slice(*box[f"a{position}"]) for position in range(len(site.output.shape)))
    parts = []
    for name, array in zip(access.inputs, arrays, strict=True):
        window = access.window(name, box)
        parts.append(array[tuple(slice(span.low, span.high) for span in window)])
    (y,) = CONCAT.reference(site, arrays)
    assert np.array_equal(np.concatenate(parts, axis=axis), y[cut])


@pytest.mark.slow
@many
@given(case=cases(), data=st.data())
def test_aliases_put_every_byte_where_the_copy_would(case: tuple[list[np.ndarray], int], data: st.DataObject) -> None:
    arrays, axis = case
    site = site_of(CONCAT, arrays, {"axis": axis})
    layout = tuple(data.draw(st.permutations(range(len(site.output.shape)))))
    layouts = {tensor.name: layout for tensor in (*site.outputs, *site.inputs) if tensor}
    (y,) = CONCAT.reference(site, arrays)
    stored = y.transpose(layout).reshape(-1)
    aliases = CONCAT.alias(site, layouts)
    pieces = [array.transpose(layout).reshape(-1) for array in arrays]
    for alias, piece in zip(aliases, pieces, strict=bool(aliases)):
        assert np.array_equal(stored[alias.offset : alias.offset + piece.size], piece)
    if not aliases:  # then the pieces, one behind the other, are not the output
        assert not np.array_equal(np.concatenate(pieces), stored) or len([p for p in pieces if p.size]) < 2


def test_layouts_that_differ_are_copied() -> None:
    arrays = [np.zeros((2, 3, 4), np.float32)] * 2
    site = site_of(CONCAT, arrays, {"axis": 0})
    layouts = {"in0": (0, 1, 2), "in1": (0, 2, 1), "out0": (0, 1, 2)}
    assert CONCAT.alias(site, layouts) == ()


def test_refusals() -> None:
    with pytest.raises(TilewrightError, match="one shape"):
        site_of(CONCAT, [np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32)], {"axis": 0})
    with pytest.raises(TilewrightError, match="one type"):
        site_of(CONCAT, [np.zeros((2, 3), np.float32), np.zeros((2, 3), np.int8)], {"axis": 0})
    with pytest.raises(TilewrightError, match="not an axis"):
        site_of(CONCAT, [np.zeros((2, 3), np.float32)], {"axis": 2})
