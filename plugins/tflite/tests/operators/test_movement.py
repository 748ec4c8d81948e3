"""Operators that move elements: what numpy does, on the integers as they are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flat_models import G, Op, T, constant, file_of, one_operator

from tilewright.errors import TilewrightError

Array = npt.NDArray[Any]
X = np.arange(24, dtype=np.int8).reshape(2, 3, 4) - 9
QUANTISED: dict[str, Any] = {"scale": (0.3,), "zero": (5,)}


def moved(op: str, wanted: Array, *constants: Array, before: bool = False, outputs: int = 1, **options: Any) -> G:
    """An operator that reads x and constants, or constants and x."""
    x = T(name="x", shape=X.shape, **QUANTISED)
    others = [constant(each, f"c{index}") for index, each in enumerate(constants)]
    tensors = [*others, x] if before else [x, *others]
    y = [T(name=f"y{index}", shape=wanted.shape, **QUANTISED) for index in range(outputs)]
    return one_operator(op, [*tensors, *y], inputs=(tensors.index(x),), outputs=outputs, **options)


I32 = np.int32
CASES: dict[str, tuple[Array, G]] = {}


def case(name: str, wanted: Array, graph: G) -> None:
    CASES[name] = wanted, graph


case("RESHAPE", X.reshape(4, 6), moved("RESHAPE", X.reshape(4, 6), I32([4, -1])))
case("TRANSPOSE", X.transpose(2, 0, 1), moved("TRANSPOSE", X.transpose(2, 0, 1), I32([2, 0, 1])))
case("EXPAND_DIMS", X[:, None], moved("EXPAND_DIMS", X[:, None], I32(1)))
case("SLICE", X[1:2, :, 1:3], moved("SLICE", X[1:2, :, 1:3], I32([1, 0, 1]), I32([1, -1, 2])))
case("GATHER", X[:, [2, 0]], moved("GATHER", X[:, [2, 0]], I32([2, 0]), kind=23, options={0: ("<i", 1)}))
OF_ROWS = np.take_along_axis(X, I32([[[2] * 4, [0] * 4], [[1] * 4, [1] * 4]]), 1)
EACH = {0: ("<i", 1), 1: ("<i", 1)}
case("GATHER, of each row", OF_ROWS, moved("GATHER", OF_ROWS, I32([[2, 0], [1, 1]]), kind=23, options=EACH))
case("GATHER_ND", X[[1, 0], [2, 1]], moved("GATHER_ND", X[[1, 0], [2, 1]], I32([[1, 2], [0, 1]])))
case("TILE", np.tile(X, (1, 2, 1)), moved("TILE", np.tile(X, (1, 2, 1)), I32([1, 2, 1])))
case("REVERSE_V2", X[:, ::-1], moved("REVERSE_V2", X[:, ::-1], I32([1])))
WIDE = np.broadcast_to(X[None], (2, 2, 3, 4))
case("BROADCAST_TO", WIDE, moved("BROADCAST_TO", WIDE, I32([2, 2, 3, 4])))
PADS = I32([[0, 0], [1, 0], [0, 2]])
PADDED = np.pad(X, PADS, constant_values=5)
case("PAD", PADDED, moved("PAD", PADDED, PADS))
REFLECTED, SYMMETRIC = np.pad(X, PADS, "reflect"), np.pad(X, PADS, "symmetric")
case("REFLECT", REFLECTED, moved("MIRROR_PAD", REFLECTED, PADS, kind=77, options={0: ("<b", 0)}))
case("SYMMETRIC", SYMMETRIC, moved("MIRROR_PAD", SYMMETRIC, PADS, kind=77, options={0: ("<b", 1)}))


def strided(name: str, wanted: Array, begin: Any, end: Any, step: Any, **masks: int) -> None:
    numbers = {"begin_mask": 0, "end_mask": 1, "ellipsis": 2, "new": 3, "shrink": 4}
    options: dict[int, Any] = {numbers[mask]: ("<i", bits) for mask, bits in masks.items() if mask != "relative"}
    options |= {5: ("<B", 1)} if masks.get("relative") else {}
    graph = moved("STRIDED_SLICE", wanted, I32(begin), I32(end), I32(step), kind=32, options=options)
    case(f"STRIDED_SLICE, {name}", wanted, graph)


strided("steps", X[:, 0:3:2, 1:4], [0, 0, 1], [2, 3, 4], [1, 2, 1])
strided("from behind", X[:, ::-1, -3:-1], [0, -1, -3], [2, -9, -1], [1, -1, 1])
strided("masks", X[:, 1:, ::-1], [1, 1, 0], [1, 1, 0], [1, 1, -1], begin_mask=5, end_mask=7)
strided("one of an axis", X[:, 1, -2:], [0, 1, -2], [2, 0, 4], [1, 1, 1], shrink=2)
strided("the last of an axis", X[-1], [-1], [0], [1], shrink=1)
strided("a new axis", X[:, None, 1:], [0, 0, 1], [2, 0, 3], [1, 1, 1], new=2)
strided("the rest", X[..., 1:3], [0, 1], [0, 3], [1, 1], ellipsis=1)
strided("the rest, and one of the last", X[..., 2], [0, 2], [0, 3], [1, 1], ellipsis=1, shrink=2)
strided("the rest, and a new last axis", X[..., None], [0, 0], [0, 0], [1, 1], ellipsis=1, new=2)
strided("relative ends", X[0:1, 1:3, :], [0, 1, 0], [1, 2, 4], [1, 1, 1], relative=1)


@pytest.mark.parametrize("name", CASES)
def test_elements_are_where_numpy_has_them(name: str, compute: Callable[..., list[Any]]) -> None:
    wanted, graph = CASES[name]
    (y,) = compute(graph, X)
    assert y.dtype == np.int8 and y.tolist() == wanted.tolist()


def test_parts(compute: Callable[..., list[Any]]) -> None:
    halves = moved("SPLIT", X[..., :2], I32(-1), before=True, outputs=2)
    assert [each.tolist() for each in compute(halves, X)] == [X[..., :2].tolist(), X[..., 2:].tolist()]
    rows = moved("UNPACK", X[:, 0], outputs=3, kind=64, options={1: ("<i", 1)})
    assert [each.tolist() for each in compute(rows, X)] == [X[:, row].tolist() for row in range(3)]


def test_parts_of_other_sizes(compute: Callable[..., list[Any]]) -> None:
    tensors = [T(name="x", shape=X.shape), constant(I32([1, 3])), constant(I32(2))]
    tensors += [T(name="a", shape=(2, 3, 1)), T(name="b", shape=(2, 3, 3))]
    a, b = compute(one_operator("SPLIT_V", tensors, outputs=2), X)
    assert (a.tolist(), b.tolist()) == (X[..., :1].tolist(), X[..., 1:].tolist())


def test_joined(compute: Callable[..., list[Any]]) -> None:
    x, other = T(name="x", shape=X.shape, **QUANTISED), constant(X, **QUANTISED)
    along = T(name="y", shape=(2, 3, 8), **QUANTISED)
    (y,) = compute(one_operator("CONCATENATION", [x, other, along], kind=10, options={0: ("<i", -1)}), X)
    assert y.tolist() == np.concatenate([X, X], -1).tolist()
    packed = T(name="y", shape=(2, 2, 3, 4), **QUANTISED)
    (y,) = compute(one_operator("PACK", [x, other, packed], kind=59, options={1: ("<i", 1)}), X)
    assert y.tolist() == np.stack([X, X], 1).tolist()


def test_parts_of_another_scale_are_rounded_to_that_of_the_whole(compute: Callable[..., list[Any]]) -> None:
    x, other = (
        T(name="x", shape=(1, 3), scale=(1.0,), zero=(0,)),
        constant(np.int8([[1, 2, 3]]), scale=(0.5,), zero=(1,)),
    )
    y = T(name="y", shape=(1, 6), scale=(0.25,), zero=(-1,))
    graph = one_operator("CONCATENATION", [x, other, y], kind=10, options={0: ("<i", 1)})
    assert compute(graph, np.int8([[4, 5, 50]]))[0].tolist() == [[15, 19, 127, -1, 1, 3]]


def test_padding_has_its_own_value(compute: Callable[..., list[Any]]) -> None:
    x, y = T(name="x", shape=(2,), **QUANTISED), T(name="y", shape=(4,), **QUANTISED)
    fill = constant(np.array(-7, np.int8), **QUANTISED)
    graph = one_operator("PADV2", [x, constant(I32([[1, 1]])), fill, y])
    assert compute(graph, np.int8([1, 2]))[0].tolist() == [-7, 1, 2, -7]


def test_constants_that_are_made(compute: Callable[..., list[Any]]) -> None:
    x, size = T(name="x", type="float32", shape=(2, 3)), T(name="size", type="int32", shape=(2,))
    zeros, y = T(name="zeros", type="float32", shape=(2, 3)), T(name="y", type="float32", shape=(2, 3))
    seven, filled = constant(np.float32(7)), T(name="filled", type="float32", shape=(2, 3))
    ops = [
        Op(code="SHAPE", inputs=(0,), outputs=(1,)),
        Op(code="ZEROS_LIKE", inputs=(0,), outputs=(2,)),
        Op(code="FILL", inputs=(1, 3), outputs=(4,)),
        Op(code="ADD_N", inputs=(0, 2, 4), outputs=(5,)),
    ]
    graph = G(tensors=[x, size, zeros, seven, filled, y], ops=ops, inputs=(0,), outputs=(5,))
    assert compute(graph, np.ones((2, 3), np.float32))[0].tolist() == [[8.0] * 3] * 2


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (moved("TRANSPOSE", X), "its input 1 is missing"),
        (moved("GATHER", X, I32([0]), kind=23, options={0: ("<i", 3)}), "it names axis 3, of 3"),
        (moved("GATHER", X, I32([0]), kind=23, options={1: ("<i", 1)}), "along axis 0, behind 1 axes that both have"),
        (moved("SLICE", X, I32([0]), I32([1])), "it begins at [0]"),
        (moved("PAD", X, I32([[0, 0], [1, -1], [0, 0]])), "its amounts are [0, 0, 1, -1, 0, 0]"),
        (moved("MIRROR_PAD", X, I32([[0, 0], [3, 0], [0, 0]]), kind=77, options={}), "more of axis 1 than there is"),
        (moved("STRIDED_SLICE", X, I32([0]), I32([1]), I32([0]), kind=32, options={}), "it takes [0] to [1] by [0]"),
        (moved("STRIDED_SLICE", X, I32([0] * 4), I32([1] * 4), I32([1] * 4), kind=32, options={}), "by [1, 1, 1, 1]"),
        (moved("TRANSPOSE", X, np.float32([0])), "is no list of whole numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(graph: G, said: str, compute: Callable[..., list[Any]]) -> None:
    with pytest.raises(TilewrightError) as caught:
        compute(graph, X)
    assert said in caught.value.details[0]


def test_places_must_be_known(read_in: Callable[[bytes], Any]) -> None:
    tensors = [T(name="x", shape=(2, 3)), T(name="perm", type="int32", shape=(2,)), T(name="y", shape=(3, 2))]
    with pytest.raises(TilewrightError) as caught:
        read_in(file_of(one_operator("TRANSPOSE", tensors, inputs=(0, 1))))
    assert "its input 'perm' must be constant, and is computed" in caught.value.details[0]


@pytest.mark.parametrize("axis", [1, 2, 3, -1])
@pytest.mark.parametrize("scale", [0.3, 0.6], ids=["as stored", "quantised again"])
def test_images_are_joined_as_convolutions_have_them(
    axis: int, scale: float, compute: Callable[..., list[Any]], rewritten: Callable[[bytes], Any]
) -> None:
    """Two pools, joined along any axis, and a pool behind them."""
    image = np.arange(30, dtype=np.int8).reshape(1, 2, 3, 5)
    other = {**QUANTISED, "scale": (scale,)}
    joined = list(image.shape)
    joined[axis] *= 2
    tensors = [
        *(T(name=name, shape=image.shape, **QUANTISED) for name in "xab"),
        *(T(name=name, shape=tuple(joined), **other) for name in "yz"),
    ]
    size = {0: ("<b", 0), **dict.fromkeys((1, 2, 3, 4), ("<i", 1))}
    ops = [
        Op(code="MAX_POOL_2D", inputs=(0,), outputs=(1,), options=size, kind=5),
        Op(code="MAX_POOL_2D", inputs=(0,), outputs=(2,), options=size, kind=5),
        Op(code="CONCATENATION", inputs=(1, 2), outputs=(3,), options={0: ("<i", axis)}, kind=10),
        Op(code="MAX_POOL_2D", inputs=(3,), outputs=(4,), options=size, kind=5),
    ]
    data = file_of(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(4,)))
    (z,) = compute(data, image)
    expected = np.concatenate([image, image], axis=axis)
    if scale != 0.3:
        expected = np.rint((expected.astype(np.float64) - 5) * 0.5 + 5)
        assert np.abs(z - expected).max() <= 1  # halves fall either way
    else:
        assert np.array_equal(z, expected)
    assert [node.op for node in rewritten(data).nodes].count("Transpose") <= 3


def test_scalars_are_joined_to_a_list(compute: Callable[..., list[Any]]) -> None:
    numbers = [T(name=name, type="int32") for name in "ab"]
    joined = T(name="y", type="int32", shape=(2,))
    options = {0: ("<i", 2), 1: ("<i", 0)}
    graph = one_operator("PACK", [*numbers, joined], inputs=(0, 1), kind=59, options=options)
    assert compute(graph, np.int32(7), np.int32(-3))[0].tolist() == [7, -3]


def test_amounts_that_the_file_computes_are_known(compute: Callable[..., list[Any]]) -> None:
    """x repeated max(1, n * (r // n)) times, for the numbers r = rank - rank % numbers, and n = rank."""
    count = [T(name=f"count{index}", type="int32", shape=(3,)) for index in range(5)]
    tensors = [T(name="x", shape=X.shape, **QUANTISED), T(name="y", shape=(2, 9, 4), **QUANTISED)]
    tensors += [T(name="rank", type="int32"), constant(I32([4, 3, 5])), constant(I32([1, 1, 1])), *count]
    ops = [
        Op(code="RANK", inputs=(0,), outputs=(2,)),
        Op(code="FLOOR_MOD", inputs=(2, 3), outputs=(5,)),  # 3, 0, 3
        Op(code="SUB", inputs=(2, 5), outputs=(6,), options={}, kind=28),  # 0, 3, 0
        Op(code="FLOOR_DIV", inputs=(6, 2), outputs=(7,)),  # 0, 1, 0
        Op(code="MUL", inputs=(7, 2), outputs=(8,), options={}, kind=21),  # 0, 3, 0
        Op(code="MAXIMUM", inputs=(8, 4), outputs=(9,)),  # 1, 3, 1
        Op(code="TILE", inputs=(0, 9), outputs=(1,)),
    ]
    (y,) = compute(G(tensors=tensors, ops=ops, inputs=(0,), outputs=(1,)), X)
    assert np.array_equal(y, np.tile(X, (1, 3, 1)))


def test_two_shapes_are_one_together(compute: Callable[..., list[Any]]) -> None:
    tensors = [constant(I32([3, 1, 5])), constant(I32([4, 1])), T(name="shape", type="int32", shape=(3,))]
    assert compute(one_operator("BROADCAST_ARGS", tensors, inputs=()))[0].tolist() == [3, 4, 5]
    tensors[1] = constant(I32([4, 2]))
    with pytest.raises(TilewrightError) as caught:
        compute(one_operator("BROADCAST_ARGS", tensors, inputs=()))
    assert "its shapes do not fit each other" in caught.value.details[0]
