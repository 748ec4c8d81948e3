"""Blocks of an image that become channels or batches, and back: each undoes the other, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import T, constant, one_operator

from tilewright.errors import TilewrightError

X = np.arange(2 * 4 * 6 * 3, dtype=np.int16).astype(np.int8).reshape(2, 4, 6, 3)
TO_DEPTH, TO_SPACE = {0: ("<i", 2)}, {0: ("<i", 2)}


def test_depth(compute: Callable[..., list[Any]]) -> None:
    deep = np.zeros((2, 2, 3, 12), np.int8)
    for row, column, i, j in np.ndindex(2, 3, 2, 2):
        deep[:, row, column, (2 * i + j) * 3 : (2 * i + j + 1) * 3] = X[:, 2 * row + i, 2 * column + j]
    wide, narrow = T(name="x", shape=X.shape), T(name="y", shape=deep.shape)
    assert np.array_equal(
        compute(one_operator("SPACE_TO_DEPTH", [wide, narrow], kind=19, options=TO_DEPTH), X)[0], deep
    )
    back = one_operator("DEPTH_TO_SPACE", [narrow, wide], kind=94, options=TO_SPACE)
    assert np.array_equal(compute(back, deep)[0], X)


def test_batches(compute: Callable[..., list[Any]]) -> None:
    sizes, amounts = constant(np.int32([2, 3])), constant(np.int32([[1, 1], [0, 3]]))
    padded = np.pad(X, ((0, 0), (1, 1), (0, 3), (0, 0)), constant_values=9)
    many = np.stack([padded[:, i::2, j::3] for i in range(2) for j in range(3)]).reshape(12, 3, 3, 3)
    x, y = T(name="x", shape=X.shape, scale=(1.0,), zero=(9,)), T(name="y", shape=many.shape, scale=(1.0,), zero=(9,))
    assert np.array_equal(compute(one_operator("SPACE_TO_BATCH_ND", [x, sizes, amounts, y]), X)[0], many)
    assert np.array_equal(compute(one_operator("BATCH_TO_SPACE_ND", [y, sizes, amounts, x]), many)[0], X)


@pytest.mark.parametrize(
    ("op", "kind", "tensors"),
    [
        ("SPACE_TO_DEPTH", 19, []),
        ("DEPTH_TO_SPACE", 94, []),
        ("SPACE_TO_BATCH_ND", 0, [np.int32([3, 3]), np.int32([[0, 0], [0, 0]])]),
        ("BATCH_TO_SPACE_ND", 0, [np.int32([3, 3]), np.int32([[0, 0], [0, 0]])]),
    ],
)
def test_blocks_that_do_not_fit_are_refused(
    op: str, kind: int, tensors: list[Any], compute: Callable[..., list[Any]]
) -> None:
    x = T(name="x", shape=(1, 4, 6, 3))
    options = {0: ("<i", 5)} if kind else None
    with pytest.raises(TilewrightError) as caught:
        compute(one_operator(op, [x, *map(constant, tensors), x], kind=kind, options=options), X)
    assert "its blocks do not fit its input" in caught.value.details[0]


def test_blocks_of_one_axis_are_refused(compute: Callable[..., list[Any]]) -> None:
    x, one, amounts = T(name="x", shape=(2, 4, 6, 3)), constant(np.int32([2])), constant(np.int32([[0, 0]]))
    for op in ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"):
        with pytest.raises(TilewrightError) as caught:
            compute(one_operator(op, [x, one, amounts, x]), X)
        assert "its blocks have 1 axes" in caught.value.details[0]
