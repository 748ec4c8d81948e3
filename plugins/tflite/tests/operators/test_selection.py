"""Rows of tables, largest elements, and what is put at places, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flat_models import G, T, constant, one_operator

from tilewright.errors import TilewrightError

TABLE = np.arange(-6, 6, dtype=np.int8).reshape(4, 3)
PLACES = T(name="places", type="int32", shape=(2,))
SCALE: dict[str, Any] = {"scale": (0.5,), "zero": (0,)}


def test_rows_of_a_table(compute: Callable[..., list[Any]]) -> None:
    table = constant(TABLE, **SCALE)
    (rows,) = compute(
        one_operator("EMBEDDING_LOOKUP", [PLACES, table, T(name="y", shape=(2, 3), **SCALE)]), np.int32([3, 0])
    )
    assert rows.dtype == np.int8 and np.array_equal(rows, TABLE[[3, 0]])
    (reals,) = compute(
        one_operator("EMBEDDING_LOOKUP", [PLACES, table, T(name="y", type="float32", shape=(2, 3))]), np.int32([2, 1])
    )
    assert reals.dtype == np.float32 and np.array_equal(reals, TABLE[[2, 1]] * np.float32(0.5))


def test_the_largest_and_their_places(compute: Callable[..., list[Any]]) -> None:
    x = np.int8([[4, 9, -3, 9], [0, -1, -2, -3]])
    tensors = [T(name="x", shape=(2, 4), **SCALE), constant(np.int32(2))]
    tensors += [T(name="values", shape=(2, 2), **SCALE), T(name="where", type="int32", shape=(2, 2))]
    values, where = compute(one_operator("TOPK_V2", tensors, outputs=2), x)
    assert values.tolist() == [[9, 9], [0, -1]] and where.tolist() == [[1, 3], [0, 1]]


def test_updates_are_added_at_their_places(compute: Callable[..., list[Any]]) -> None:
    tensors = [
        constant(np.int32([[2], [0], [2]])),
        T(name="x", type="float32", shape=(3, 2)),
        constant(np.int32([4, 2])),
    ]
    graph = one_operator("SCATTER_ND", [*tensors, T(name="y", type="float32", shape=(4, 2))], inputs=(1,))
    (y,) = compute(graph, np.float32([[1, 2], [3, 4], [5, 6]]))
    assert y.tolist() == [[3, 4], [0, 0], [6, 8], [0, 0]]


def part(shape: tuple[int, ...] = (2, 2), **scale: Any) -> G:
    tensors = [T(name="x", shape=(4, 3), **SCALE), T(name="part", shape=shape, **(scale or SCALE))]
    tensors += [T(name="start", type="int32", shape=(2,)), T(name="y", shape=(4, 3), **SCALE)]
    return one_operator("DYNAMIC_UPDATE_SLICE", tensors, inputs=(0, 1, 2))


@pytest.mark.parametrize("start", [(0, 0), (1, 1), (2, 1), (9, 9), (-3, 1)])
def test_a_part_is_put_where_it_fits(start: tuple[int, int], compute: Callable[..., list[Any]]) -> None:
    new = np.int8([[70, 71], [72, 73]])
    (y,) = compute(part(), TABLE, new, np.int32(start))
    row, column = np.clip(start, 0, (2, 1))
    wanted = TABLE.copy()
    wanted[row : row + 2, column : column + 2] = new
    assert np.array_equal(y, wanted)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (part((5, 2)), "it puts int8 5x2 into int8 4x3"),
        (part((2, 2), scale=(0.25,), zero=(0,)), "it puts int8 2x2"),
        (
            one_operator("SCATTER_ND", [constant(np.int32([[0]])), T(name="x", shape=(1,), **SCALE),
                                        constant(np.int32([2])), T(name="y", shape=(2,), **SCALE)], inputs=(1,)),
            "it makes int8 2 of int8 1",
        ),
        (
            one_operator("EMBEDDING_LOOKUP", [PLACES, constant(TABLE, scale=(1.0,) * 4, zero=(0,) * 4, axis=0),
                                              T(name="y", type="float32", shape=(2, 3))]),
            "with other scales, or several",
        ),
        (
            one_operator("TOPK_V2", [T(name="x", shape=(4,), **SCALE), constant(np.int32(2)),
                                     T(name="v", shape=(2,)), T(name="i", type="int32", shape=(2,))], outputs=2),
            "it makes int8 2 and int32 2",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(graph: G, said: str, compute: Callable[..., list[Any]]) -> None:
    with pytest.raises(TilewrightError) as caught:
        compute(graph, TABLE)
    assert said in caught.value.details[0]
