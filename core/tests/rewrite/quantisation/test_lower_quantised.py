"""The pass that makes integers: what it says of islands that stay, and of quantisation that it did not recognise."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.pipeline import ordered
from tilewright.rewrite.quantisation.lower_quantised import PASS
from tilewright.rewrite.quantisation.move_quantisation import PASS as MOVE
from tilewright.testing.sketch import Sketch


def test_an_island_and_one_that_stays(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (4,)), 0.05, 3) for name in "ab"]
    total = s.quantize(s.node("Add", sides, name="total"), 0.1, -1)
    graph = s.finish(total, s.quantize(s.node("Div", sides, name="ratio"), 0.05, 3))
    ops = [node.op for node in bench.apply(graph, PASS).nodes]
    assert (ops.count("QAdd"), ops.count("Add"), ops.count("Div")) == (1, 0, 1)
    assert [(each.code, each.where) for each in bench.diagnostics(graph, PASS)] == [("TW3001", "ratio")]


def test_one_step_in_rare_ties_is_all_that_differs(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    sides = [s.dequantize(s.input(name, DType.I8, (64,)), scale, 3) for name, scale in (("a", 0.05), ("b", 0.07))]
    graph = s.finish(s.quantize(s.node("Add", sides), 0.1, -1))
    lowered = bench.apply(graph, PASS)
    for seed in range(3):
        (found,), (simulated,) = bench.outputs(lowered, seed), bench.outputs(graph, seed)
        assert np.abs(found.astype(int) - simulated.astype(int)).max() <= 1


def test_movers_have_moved_before() -> None:
    assert list(ordered((PASS, MOVE))) == [MOVE, PASS]
