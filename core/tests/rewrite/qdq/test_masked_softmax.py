"""Softmax of what a mask leaves is integers; a mask whose numbers would count stays float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

CAUSAL = np.triu(np.ones((6, 6), bool), 1)


def masked(
    operators: Any, how: str, number: float, mask: Any = CAUSAL, dtype: DType = DType.I8, into: DType = DType.I8
) -> Graph:
    """Scaled scores, of which `mask` leaves some. `how`: Add, Where, or Where with its sides turned; or computed."""
    s = Sketch(operators=operators)
    scores = s.dequantize(s.input("x", dtype, (2, 6, 6)), 0.25 if dtype is DType.I8 else 0.001, 11)
    scaled = s.node("Mul", (scores, s.constant(np.array(0.3, np.float32))))
    low = s.constant(np.array(number, np.float32))
    condition = (
        s.input("c", DType.BOOL, (6, 6)) if "computed" in how else s.constant(~mask if "turned" in how else mask)
    )
    if how == "Add":
        numbers = s.constant(np.where(mask, np.float32(number), np.float32(0)).astype(np.float32))
        value = s.node("Add", (numbers, scaled))
    else:
        value = s.node("Where", (condition, scaled, low) if "turned" in how else (condition, low, scaled))
    scale, zero = (1 / 256, -128) if into is DType.I8 else (2.0**-16, into.limits[0])
    return s.finish(s.quantize(s.node("Softmax", (value,), {"axis": 2}), scale, zero, into))


@pytest.mark.parametrize("how", ["Add", "Where, computed"])
@pytest.mark.parametrize("into", [DType.I8, DType.I16, DType.U16])
def test_scores_of_16_bits(how: str, into: DType, operators: Any, bench: Any) -> None:
    graph = masked(operators, how, -np.inf, CAUSAL, DType.U16 if into is DType.U16 else DType.I16, into)
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes] == ["QMaskedSoftmax"]
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("Add", -1e4), ("Add", -np.inf), ("Where", -1e4), ("Where, turned", -np.inf), ("Where, computed", -np.inf),
        ("Where, turned, computed", -np.inf),
    ],
)  # fmt: skip
def test_masks_that_count_for_nothing(how: str, number: float, operators: Any, bench: Any) -> None:
    graph = masked(operators, how, number)
    after = bench.apply(graph, *PASSES)
    ops = [node.op for node in after.nodes]
    assert ops == [*(["Not"] if how == "Where, turned, computed" else []), "QMaskedSoftmax"]
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("how", "number", "mask"),
    [
        ("Add", -20.0, CAUSAL), ("Where", -20.0, CAUSAL), ("Where, computed", -1e4, CAUSAL), ("Add", 3.0, CAUSAL),
        ("Add", -1e4, np.ones((6, 6), bool)), ("Where", -1e4, np.ones((6, 6), bool)),
    ],
)  # fmt: skip
def test_numbers_that_count_stay_float(how: str, number: float, mask: Any, operators: Any, bench: Any) -> None:
    assert "Softmax" in [node.op for node in bench.apply(masked(operators, how, number, mask), *PASSES).nodes]


def test_a_mask_with_more_axes_stays_float(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    scores = s.dequantize(s.input("x", DType.I8, (6, 6)), 0.25, 11)
    numbers = s.constant(np.where(np.stack([CAUSAL, CAUSAL.T]), np.float32(-1e4), np.float32(0)))
    soft = s.node("Softmax", (s.node("Add", (scores, numbers)),), {"axis": 2})
    after = bench.apply(s.finish(s.quantize(soft, 1 / 256, -128)), *PASSES)
    assert "Softmax" in [node.op for node in after.nodes]
