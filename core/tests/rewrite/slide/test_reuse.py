"""Which elements of a value the call before has: from index maps, and the same for every value when it is tried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.slide.reuse import SAME_EVERYWHERE, Reading, Reuse, analyse
from tilewright.testing.sketch import Sketch


def axis_of(reuse: Reuse, name: str) -> tuple[int, int, int, int]:
    axis = reuse.axes[name]
    return axis.axis, axis.shift, axis.low, axis.high


def test_padding_on_the_left_reaches_as_far_as_dilations_do(layers: Any, operators: Mapping[str, Operator]) -> None:
    reuse = analyse(layers.tcn(), operators, "x", 2, 1)
    sums = [name for name in reuse.axes if name.startswith("QAdd")]
    assert [axis_of(reuse, name) for name in sums] == [(2, 1, 2, 48), (2, 1, 6, 48), (2, 1, 14, 48)]


def test_without_padding_nothing_is_lost(layers: Any, operators: Mapping[str, Operator]) -> None:
    reuse = analyse(layers.tcn(padded=False), operators, "x", 2, 1)
    assert all((axis.low, axis.high) == (0, axis.length) for axis in reuse.axes.values() if axis.length > 1)


def test_as_if_without_padding(layers: Any, operators: Mapping[str, Operator]) -> None:
    reuse = analyse(layers.tcn(), operators, "x", 2, 1, padded=False)
    assert all((axis.low, axis.high) == (0, axis.length) for axis in reuse.axes.values() if axis.length > 1)


def test_strides_divide_the_shift(layers: Any, operators: Mapping[str, Operator]) -> None:
    reuse = analyse(layers.strided(), operators, "x", 2, 8)
    assert [axis_of(reuse, f"QConv_{at}:0") for at in range(3)] == [(2, 4, 1, 19), (2, 2, 1, 9), (2, 2, 2, 8)]
    assert reuse.hop_unit == 4


@pytest.mark.parametrize("network", ["tcn", "strided"])
@pytest.mark.parametrize("hop", [4, 8])
def test_what_is_reused_is_equal_and_no_more_is_claimed(
    layers: Any, operators: Mapping[str, Operator], network: str, hop: int
) -> None:
    graph = getattr(layers, network)()
    reuse = analyse(graph, operators, "x", 2, hop)
    stream = np.random.default_rng(1).integers(-128, 128, (1, graph.tensors["x"].shape[1], 48 + hop)).astype(np.int8)
    length = graph.tensors["x"].shape[2]
    old, new = (run(graph, {"x": stream[:, :, at : at + length]}, operators) for at in (0, hop))
    for name, axis in reuse.axes.items():
        low, high = axis.reused
        for at in range(axis.length - axis.shift):
            equal = np.array_equal(new[name][:, :, at], old[name][:, :, at + axis.shift])
            assert equal or not low <= at < high, (name, at)


def test_a_reading_names_positions_of_the_padding_too() -> None:
    assert Reading(step=2, first=-3, last=1).range(0, 4) == (-3, 8)


def made(sketch: Sketch, op: str, inputs: tuple[str, ...], **attributes: Any) -> Reuse:
    graph = sketch.finish(sketch.node(op, inputs, attributes))
    return analyse(graph, sketch.operators, "x", 1, 1)


def test_another_constant_at_every_position_ends_the_reuse(sketch: Callable[[], Sketch]) -> None:
    drawn = sketch()
    x = drawn.input("x", DType.F32, (1, 6, 4))
    same = drawn.node("Add", (x, drawn.constant(np.ones((1, 1, 4), np.float32))))
    other = drawn.node("Add", (same, drawn.constant(np.ones((1, 6, 4), np.float32))))
    reuse = analyse(drawn.finish(other), drawn.operators, "x", 1, 1)
    assert (same in reuse.axes, other in reuse.axes) == (True, False)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("CumSum", {"axis": 1, "exclusive": 0, "reverse": 0}),
        ("Softmax", {"axis": 1}),
        ("Reshape", {"shape": (1, 24)}),
        ("ReduceMean", {"axes": (1,), "keepdims": 1}),
        ("Pad", {"mode": "reflect", "pads": (0, 1, 0, 0, 0, 0), "value": 0.0}),
    ],
)
def test_what_depends_on_the_whole_axis_or_the_place_is_computed_anew(
    sketch: Callable[[], Sketch], op: str, attributes: dict[str, Any]
) -> None:
    drawn = sketch()
    assert set(made(drawn, op, (drawn.input("x", DType.F32, (1, 6, 4)),), **attributes).axes) == {"x"}


def test_an_input_joined_with_itself_along_time_ends_the_reuse(sketch: Callable[[], Sketch]) -> None:
    drawn = sketch()
    x = drawn.input("x", DType.F32, (1, 6, 4))
    assert set(made(drawn, "Concat", (x, x), axis=1).axes) == {"x"}


def test_different_speeds_do_not_join(sketch: Callable[[], Sketch]) -> None:
    drawn = sketch()
    x = drawn.input("x", DType.F32, (1, 8, 4))
    one = drawn.node("Slice", (x,), {"starts": (0, 0, 0), "steps": (1, 2, 1), "shape": (1, 4, 4)})
    other = drawn.node("Slice", (x,), {"starts": (0, 4, 0), "steps": (1, 1, 1), "shape": (1, 4, 4)})
    both = drawn.node("Add", (one, other))
    reuse = analyse(drawn.finish(both), drawn.operators, "x", 1, 2)
    assert (one in reuse.axes, other in reuse.axes, both in reuse.axes) == (True, True, False)


def test_operators_that_are_the_same_everywhere_are_there(operators: Mapping[str, Operator]) -> None:
    assert set(operators) >= SAME_EVERYWHERE
