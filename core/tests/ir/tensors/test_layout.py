"""Layouts: strides, equal bytes, transposes, reshapes, merged loops, each against the places of all elements."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.tensors.layout import (
    Layout,
    channels_last,
    merge_loops,
    reshaped,
    row_major,
    same_bytes,
    same_walk,
    split_loops,
    strides,
    transposed,
)

many = settings(max_examples=150, deadline=None)
shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def stored(draw: st.DrawFn) -> tuple[tuple[int, ...], Layout]:
    shape = draw(shapes)
    return shape, tuple(draw(st.permutations(range(len(shape)))))


def places(shape: tuple[int, ...], layout: Layout) -> list[int]:
    """Where each element is, in row-major order of the tensor's own axes."""
    steps = strides(shape, layout)
    return [sum(i * step for i, step in zip(point, steps, strict=True)) for point in np.ndindex(*shape)]


@pytest.mark.slow
@many
@given(tensor=stored())
def test_strides_store_every_element_once_without_gaps(tensor: tuple[tuple[int, ...], Layout]) -> None:
    shape, layout = tensor
    assert sorted(places(shape, layout)) == list(range(math.prod(shape)))
    dense = np.arange(math.prod(shape)).reshape([shape[axis] for axis in layout])
    assert dense.transpose(np.argsort(layout)).reshape(-1).tolist() == places(shape, layout)


@pytest.mark.slow
@many
@given(tensor=stored(), data=st.data())
def test_same_bytes_means_same_places(tensor: tuple[tuple[int, ...], Layout], data: st.DataObject) -> None:
    shape, layout = tensor
    other = tuple(data.draw(st.permutations(range(len(shape)))))
    assert same_bytes(shape, layout, other) == (places(shape, layout) == places(shape, other))


@pytest.mark.slow
@many
@given(tensor=stored(), data=st.data())
def test_a_transposed_layout_moves_nothing(tensor: tuple[tuple[int, ...], Layout], data: st.DataObject) -> None:
    shape, layout = tensor
    permutation = data.draw(st.permutations(range(len(shape))))
    target = tuple(shape[axis] for axis in permutation)
    moved = np.array(places(shape, layout)).reshape(shape).transpose(permutation)
    assert moved.reshape(-1).tolist() == places(target, transposed(layout, permutation))


@pytest.mark.slow
@many
@given(tensor=stored(), data=st.data())
def test_transposing_back_is_the_identity(tensor: tuple[tuple[int, ...], Layout], data: st.DataObject) -> None:
    shape, layout = tensor
    permutation = data.draw(st.permutations(range(len(shape))))
    back = tuple(int(axis) for axis in np.argsort(permutation))
    assert transposed(transposed(layout, permutation), back) == layout


@st.composite
def reshapes(draw: st.DrawFn) -> tuple[tuple[int, ...], Layout, tuple[int, ...]]:
    factors = draw(st.lists(st.sampled_from([2, 2, 3]), max_size=4))
    pair = []
    for _ in range(2):
        shape = [1]
        for factor in draw(st.permutations(factors)):
            if len(shape) < 4 and draw(st.booleans()):
                shape.append(factor)
            else:
                shape[-1] *= factor
        pair.append(tuple(shape))
    return pair[0], tuple(draw(st.permutations(range(len(pair[0]))))), pair[1]


@pytest.mark.slow
@many
@given(case=reshapes())
def test_reshaped_finds_a_layout_exactly_where_there_is_one(
    case: tuple[tuple[int, ...], Layout, tuple[int, ...]],
) -> None:
    shape, layout, target = case
    wanted = places(shape, layout)
    found = reshaped(shape, layout, target)
    right = [other for other in itertools.permutations(range(len(target))) if places(target, other) == wanted]
    assert (found is None) == (not right)
    assert found is None or places(target, found) == wanted
    for other in itertools.permutations(range(len(target))):
        assert same_walk(shape, layout, target, other) == (other in right)


def test_reshaping_the_pixels_of_a_channels_last_image_is_free() -> None:
    assert reshaped((1, 8, 4, 4), (0, 2, 3, 1), (1, 8, 16)) == (0, 2, 1)
    assert reshaped((1, 8, 4, 4), (0, 2, 3, 1), (1, 128)) is None


@pytest.mark.slow
@many
@given(
    extents=st.lists(st.integers(1, 4), max_size=4),
    data=st.data(),
)
def test_merged_loops_walk_the_same_places(extents: list[int], data: st.DataObject) -> None:
    operands = []
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            layout = row_major(len(extents))
        else:
            layout = tuple(data.draw(st.permutations(range(len(extents)))))
        steps = list(strides(extents, layout))
        if data.draw(st.booleans()) and steps:
            steps[data.draw(st.integers(0, len(steps) - 1))] = 0  # a broadcast
        operands.append(tuple(steps))
    merged, merged_steps = merge_loops(extents, operands)
    assert len(merged) <= max(1, len(extents))
    for steps, new in zip(operands, merged_steps, strict=True):
        assert walked(extents, steps) == walked(merged, new)
    for outer in range(len(merged) - 1):  # no two neighbours are left that could be joined
        joinable = all(new[outer] == new[outer + 1] * merged[outer + 1] for new in merged_steps)
        assert not joinable
    split = split_loops(merged, merged_steps[0], extents)
    assert split is not None and walked(extents, split) == walked(extents, operands[0])


def walked(extents: list[int] | tuple[int, ...], steps: tuple[int, ...]) -> list[int]:
    return [sum(i * step for i, step in zip(point, steps, strict=True)) for point in np.ndindex(*extents)]


def test_contiguous_operands_merge_into_one_loop() -> None:
    assert merge_loops((2, 3, 4), ((12, 4, 1), (12, 4, 1))) == ((24,), ((1,), (1,)))
    assert merge_loops((2, 1, 3), ((3, 3, 1), (0, 0, 1))) == ((2, 3), ((3, 1), (0, 1)))
    assert merge_loops((), ((),)) == ((1,), ((0,),))


def test_channels_last() -> None:
    assert channels_last(4) == (0, 2, 3, 1)
    assert channels_last(3) == (0, 2, 1)
    assert channels_last(2) == (0, 1)
