"""Values that are needed beyond some nodes: as they are, or in another shape."""

from __future__ import annotations

import numpy as np
import pytest

from row_networks import on_one_memory
from tilewright.check.tiles.view_readers import ViewReaders
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def flattened(seen: str) -> tuple[Scheduled, dict[str, str]]:
    """A value, its view, and the product of that; of these `seen` is an output, too. And what each is called."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 4))
    value = sketch.node("Sigmoid", (x,))
    view = sketch.node("Reshape", (value,), {"shape": (1, 8)})
    product = sketch.node("MatMul", (view, sketch.constant(np.ones((8, 3), np.float32))))
    names = {"value": value, "view": view, "product": product}
    graph = sketch.finish(*dict.fromkeys((names[seen], product)))
    return on_one_memory(graph).scheduled, names


@pytest.mark.parametrize(("seen", "outside"), [("value", True), ("view", True), ("product", False)])
def test_a_value_is_needed_outside_where_its_view_is(seen: str, outside: bool) -> None:
    scheduled, names = flattened(seen)
    every = [node.name for node in scheduled.bound.graph.nodes]
    assert ViewReaders(scheduled).needed_outside(names["value"], every) is outside
    assert ViewReaders(scheduled).needed_outside(names["value"], every[:-1])  # the product reads the view
    assert ViewReaders(scheduled).needed_outside(names["product"], every)


def test_views_come_with_the_values_that_they_show() -> None:
    scheduled, names = flattened("product")
    readers = ViewReaders(scheduled)
    assert readers.with_views({names["value"]}) == {names["value"], names["view"]}
    assert readers.with_views({names["product"]}) == {names["product"]}
    assert readers.with_views(()) == frozenset()
