"""Channels are followed through operators that move elements, and numbers of channels through splits of axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.channel_affine import ChannelAffine, Channels, before, behind, channel_affine
from tilewright.testing.sketch import Sketch

MOVES = [
    ("Transpose", {"perm": (0, 2, 3, 1)}, 3),
    ("Transpose", {"perm": (1, 0, 3, 2)}, 0),
    ("ReduceMean", {"axes": (2, 3), "keepdims": 1}, 1),
    ("ReduceMean", {"axes": (0,), "keepdims": 0}, 0),
]


@pytest.mark.parametrize(("op", "attributes", "axis"), MOVES)
def test_both_directions_name_the_same_axes(op: str, attributes: Any, axis: int, sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    y = s.node(op, (s.input("x", DType.F32, (2, 3, 4, 5)),), attributes)
    graph = s.finish(y)
    channels = Channels.along((2, 3, 4, 5), 1)
    moved = behind(graph, graph.nodes[0], channels)
    assert moved == Channels.along(graph.tensors[y].shape, axis)
    assert before(graph, graph.nodes[0], moved) == channels


def test_an_axis_that_is_averaged_has_no_channels(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(s.node("ReduceMean", (s.input("x", DType.F32, (2, 3)),), {"axes": (1,), "keepdims": 1}))
    assert behind(graph, graph.nodes[0], Channels.along((2, 3), 1)) is None


def test_numbers_are_repeated_for_channels_that_are_parts() -> None:
    numbers = np.array([1.0, 2.0, 3.0])
    affine = ChannelAffine(source="x", channels=Channels(count=3, inner=4), factor=numbers, shift=np.zeros(1))
    finer = affine.for_channels(Channels(count=12, inner=1))
    assert finer is not None
    assert finer[0].tolist() == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert affine.for_channels(Channels(count=3, inner=8)) is None  # two numbers inside one channel
    assert affine.for_channels(Channels(count=4, inner=2)) is None


@pytest.mark.parametrize(
    ("op", "first", "result"),
    [
        ("Add", False, (1, 2)),
        ("Sub", False, (1, -2)),
        ("Sub", True, (-1, 2)),
        ("Mul", True, (2, 0)),
        ("Div", False, (0.5, 0)),
        ("Div", True, None),
    ],
)
def test_arithmetic_as_factor_and_shift(op: str, first: bool, result: Any, sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    x, number = s.input("x", DType.F32, (1, 3)), s.constant(np.full((1, 1), 2, np.float32))
    graph = s.finish(s.node(op, (number, x) if first else (x, number)))
    affine = channel_affine(graph, graph.nodes[0])
    assert (affine and (affine.factor.item(), affine.shift.item())) == result


def test_numbers_along_two_axes_are_none_of_channels(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(s.node("Add", (s.input("x", DType.F32, (2, 3)), s.constant(np.ones((2, 3), np.float32)))))
    assert channel_affine(graph, graph.nodes[0]) is None
