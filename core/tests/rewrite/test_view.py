"""Who writes and reads each value of a graph."""

from __future__ import annotations

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.view import GraphView
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_writers_readers_and_positions() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2, 3))
    a = sketch.node("Clip", (x,), {"min": 0.0}, "a")
    b = sketch.node("Add", (a, a), name="b")
    view = GraphView.of(sketch.finish(sketch.node("Add", (b, x), name="c"), b))
    assert view.producer["b:0"].name == "b" and "x" not in view.producer
    assert [node.name for node in view.consumers["x"]] == ["a", "c"]
    assert view.position == {"a": 0, "b": 1, "c": 2}
    assert view.read_once("a:0"), "twice by one node"
    assert not view.read_once("x") and not view.read_once("c:0")
    assert not view.read_once("b:0"), "it is an output, too"


def test_constants_and_what_is_dequantised_of_one_are_known_at_compile_time() -> None:
    sketch = Sketch(operators=vocabulary())
    stored = sketch.constant(np.ones((2, 3), np.int8))
    weights = sketch.dequantize(stored, 0.5)
    given = sketch.dequantize(sketch.input("q", DType.I8, (2, 3)), 0.5)
    view = GraphView.of(sketch.finish(sketch.node("Add", (weights, given))))
    assert view.compile_time(stored) and view.compile_time(weights)
    assert not view.compile_time(given) and not view.compile_time("q")
