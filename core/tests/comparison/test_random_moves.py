"""How far lossy passes move outputs, over random inputs."""

from __future__ import annotations

from dataclasses import replace

from tilewright.comparison.moves import LossyRun
from tilewright.comparison.random_moves import random_moves
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_a_pass_that_adds_is_seen_in_every_element() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4))
    graph = sketch.finish(sketch.node("Neg", (x,)))
    (node,) = graph.nodes
    after = replace(graph, nodes=(replace(node, op="Abs"),))
    inputs = {"x": graph.tensors["x"]}
    (move,) = random_moves([LossyRun(name="abs", before=graph, after=after)], inputs, {}, 0, graph, vocabulary())
    assert (move.elements, move.sets) == (16, 4) and move.different > 0
    (same,) = random_moves([LossyRun(name="none", before=graph, after=graph)], inputs, {}, 0, graph, vocabulary())
    assert same.different == 0
