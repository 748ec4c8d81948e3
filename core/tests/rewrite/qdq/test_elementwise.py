"""What elementwise operators between one stored tensor and a QuantizeLinear compute, value by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.qdq.elementwise import Region, real_results, region_of, results, stored_values
from tilewright.rewrite.qdq.island import Island, island_before
from tilewright.testing.sketch import Sketch


def island(operators: Any, dtype: DType) -> Island:
    """3 - x / 2, of a stored x."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", dtype, (7,)), 0.5, 1)
    half, three = (s.constant(np.array(value, np.float32)) for value in (0.5, 3.0))
    y = s.node("Sub", (three, s.node("Mul", (x, half))))
    graph = s.finish(s.quantize(y, 0.25, -2, DType.I8))
    found = island_before(GraphView.of(graph), graph.nodes[-1])
    assert isinstance(found, Island)
    return found


@pytest.mark.parametrize("dtype", [DType.I8, DType.I16])
def test_all_that_is_stored_is_computed_as_the_file_means(dtype: DType, operators: Any) -> None:
    whole = island(operators, dtype)
    region = region_of(whole)
    assert isinstance(region, Region)
    stored = stored_values(region.source)
    assert (len(stored), stored[0], stored[-1]) == (2 ** (8 * dtype.size_bytes), *dtype.limits)
    some = np.array([-4, 0, 1, 9])
    assert real_results(whole, region, some).tolist() == [3 - 0.25 * (value - 1) for value in some]
    assert results(whole, region, some).tolist() == [15, 11, 10, 2]
    assert [node.op for node in region.nodes] == ["Mul", "Sub"]


def test_its_node_has_the_name_of_the_last_operator(operators: Any) -> None:
    whole = island(operators, DType.I8)
    region = region_of(whole)
    assert isinstance(region, Region)
    node = region.node(whole, "QLookup", ("table",), {})
    assert (node.name, node.op, node.inputs) == (region.nodes[-1].name, "QLookup", ("x", "table"))
    assert node.outputs == whole.quantize.outputs
