"""Chains that rows can pass through stand together, behind all that they read whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portable_plans import portable_planner
from row_networks import on_one_memory, row_network
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.row_order import order_for_rows, with_views
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.schedule.order import in_order
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis

WORDS, WIDE = 48, 32


def attention() -> Graph:
    """Queries first, as a file has them."""
    s = Sketch(operators=vocabulary())
    x = s.input("x", DType.F32, (WORDS, WIDE))

    def product(value: str, name: str) -> str:
        return s.node("MatMul", (value, s.constant(np.ones((WIDE, WIDE), np.float32))), name=name)

    queries, keys, values = (product(x, name) for name in ("queries", "keys", "values"))
    turned = s.node("Transpose", (keys,), {"perm": (1, 0)}, name="turned")
    scores = s.node("Softmax", (s.node("MatMul", (queries, turned), name="scores"),), {"axis": 1}, name="shares")
    mixed = product(s.node("MatMul", (scores, values), name="mixed"), "out")
    return s.finish(s.node("Add", (x, mixed), name="sum"))


def test_keys_and_values_are_there_before_queries_pass() -> None:
    order = order_for_rows(LineBufferAnalysis(on_one_memory(attention())))
    assert {"keys", "values"} <= set(order[: order.index("queries")])
    assert order[order.index("queries") :] == ("queries", "scores", "shares", "mixed", "out", "sum")


def test_queries_are_never_there_at_once() -> None:
    planner = portable_planner(optimize="ram")
    graph = attention()
    plan = Fitting(planner=planner).plan(planner.bind(graph, on_one_memory(graph).platform))
    assert isinstance(plan, Allocated)
    whole = WORDS * WIDE * 4
    assert ram_bytes(plan) < 4 * whole, "the input, keys and values, and rows"
    given_order = [node.name for node in graph.nodes]
    pinned = portable_planner(optimize="ram", pins=Decisions(order=tuple(given_order)))
    assert ram_bytes(Fitting(planner=pinned).plan(pinned.bind(graph, plan.tiled.scheduled.bound.platform))) > 4 * whole


@pytest.mark.slow
@given(st.integers(0, 2**16))
def test_any_network_can_run_in_it(seed: int) -> None:
    machine = on_one_memory(row_network(seed, vocabulary()).graph)
    order = order_for_rows(LineBufferAnalysis(machine))
    assert sorted(order) == sorted(step.name for step in machine.scheduled.steps)
    in_order(machine.bound.graph, with_views(machine.scheduled, order)).verify()
