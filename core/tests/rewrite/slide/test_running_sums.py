"""Means over the whole time axis that may be running sums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.rewrite.edit import with_attributes
from tilewright.rewrite.slide.reuse import analyse
from tilewright.rewrite.slide.running_sums import RunningSum, running_sum


def found(graph: Graph, operators: Mapping[str, Operator], hop: int = 1, **attributes: Any) -> RunningSum | None:
    node = with_attributes(graph.nodes[-1], attributes)
    changed = graph.with_nodes((*graph.nodes[:-1], node))
    return running_sum(changed.site(node), analyse(changed, operators, "x", 2, hop))


def test_the_sum_goes_on_where_no_padding_reaches(layers: Any, operators: Mapping[str, Operator]) -> None:
    one = found(layers.tcn(), operators)
    assert one is not None
    assert (one.incoming, one.outgoing, one.edges) == ((47, 48), (14, 15), ((0, 14),))
    assert (one.axes, one.keeps, one.terms, one.state_bytes) == ((2,), True, 48, 16)


def test_a_mean_over_axes_without_them(layers: Any, operators: Mapping[str, Operator]) -> None:
    graph = layers.reduced()
    one = running_sum(graph.site(graph.nodes[-1]), analyse(graph, operators, "x", 2, 1))
    assert one is not None
    assert (one.axes, one.keeps, one.terms, one.elements) == ((2,), False, 40, 4)


def test_none_where_too_little_is_reused(layers: Any, operators: Mapping[str, Operator]) -> None:
    assert found(layers.tcn(), operators, hop=12) is None


def test_none_where_a_relu_is_fused(layers: Any, operators: Mapping[str, Operator]) -> None:
    graph = layers.tcn()
    requant = graph.nodes[-1].requant()
    assert found(graph, operators, requant=type(requant)(scale=requant.scale, zero_point=-4, low=-4, high=127)) is None


def test_none_where_the_mean_is_of_windows(layers: Any, operators: Mapping[str, Operator]) -> None:
    assert found(layers.tcn(), operators, kernel_shape=(24,)) is None
