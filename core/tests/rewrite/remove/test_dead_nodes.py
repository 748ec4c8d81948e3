"""Nodes that no output depends on are dropped, with what only they read."""

from __future__ import annotations

import numpy as np

from tilewright.ir.graphs.graph_pass import PassContext
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.remove.dead_nodes import PASS
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_only_what_outputs_depend_on_is_left() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2, 3))
    kept = sketch.node("Clip", (x,), {"min": 0.0}, "kept")
    dead = sketch.node("Add", (kept, sketch.constant(np.ones((2, 3), np.float32))), name="dead")
    sketch.node("Clip", (dead,), {"max": 1.0}, "deader")
    graph = sketch.finish(sketch.node("Clip", (kept,), {"max": 4.0}, "last"))
    left = PASS.apply(graph, PassContext(operators=vocabulary())).graph
    assert [node.name for node in left.nodes] == ["kept", "last"]
    assert (set(left.tensors), dict(left.constants)) == ({"x", "kept:0", "last:0"}, {})
    assert left.inputs == ("x",)
    again = PASS.apply(left, PassContext(operators=vocabulary())).graph
    assert again == left
