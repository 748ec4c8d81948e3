"""Tables that meet are one table; tables that clamp become limits. Bit-equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.merge.merge_lookups import PASS
from tilewright.testing.sketch import Sketch


def _table(seed: int, dtype: DType) -> Any:
    return np.random.default_rng(seed).integers(dtype.limits[0], dtype.limits[1] + 1, 256).astype(dtype.numpy)


def _product(s: Sketch, x: str, low: int, high: int, dtype: DType = DType.I8) -> str:
    weights = s.constant(np.random.default_rng(0).integers(-9, 10, (6, 6)).astype(np.int8))
    requant = Requant(scale=(0.02,), zero_point=1, low=low, high=high)
    attributes: dict[str, Attribute] = {"a_zero_point": 0, "requant": requant, "output_type": dtype.value}
    return s.node("QGemm", (x, weights), attributes)


@pytest.mark.parametrize("middle", [DType.I8, DType.U8])
def test_three_tables_are_one(middle: DType, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = s.input("x", DType.I8, (400,))
    for seed, dtype in enumerate((middle, DType.U8, DType.I8)):
        y = s.node("QLookup", (y, s.constant(_table(seed, dtype))))
    graph = s.finish(y)
    merged = bench.apply(graph, PASS)
    assert [node.op for node in merged.nodes] == ["QLookup"]
    assert len(merged.nodes[0].origin) == 3
    assert bench.same_bits(graph, merged)


@pytest.mark.parametrize(("low", "high"), [(0, 127), (-128, 60), (-5, 5), (-128, 127), (-128, -100), (100, 127)])
def test_a_clamping_table_becomes_limits(low: int, high: int, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = _product(s, s.input("x", DType.I8, (40, 6)), -90, 90)
    table = np.clip(np.arange(-128, 128), low, high).astype(np.int8)
    graph = s.finish(s.node("QLookup", (y, s.constant(table))))
    merged = bench.apply(graph, PASS)
    assert [node.op for node in merged.nodes] == ["QGemm"]
    assert bench.same_bits(graph, merged)


def test_a_clamp_into_another_type_stays(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = _product(s, s.input("x", DType.I8, (40, 6)), -90, 90)
    table = np.clip(np.arange(-128, 128), 0, 127).astype(np.uint8)
    graph = s.finish(s.node("QLookup", (y, s.constant(table))))
    assert bench.apply(graph, PASS) is graph


def test_values_that_others_read_stay(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    y = _product(s, s.input("x", DType.I8, (4, 6)), -90, 90)
    table = np.clip(np.arange(-128, 128), 0, 127).astype(np.int8)
    graph = s.finish(s.node("QLookup", (y, s.constant(table))), y)
    assert bench.apply(graph, PASS) is graph
