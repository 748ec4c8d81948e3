"""Constants of what stays in float are dequantised at compile time; nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_dequantised import PASS
from tilewright.rewrite.pipeline import ordered
from tilewright.rewrite.quantisation.lower_quantised import PASS as LOWER
from tilewright.testing.sketch import Sketch


def test_constants_only(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    weight = s.dequantize(s.constant(np.arange(-3, 3, dtype=np.int8).reshape(2, 3)), [0.5, 0.25, 0.1], [0, 1, 2], 1)
    x = s.dequantize(s.input("x", DType.I8, (4, 2)), 0.05)
    graph = s.finish(s.node("Gemm", (x, weight)))
    folded = bench.apply(graph, PASS)
    assert [node.op for node in folded.nodes] == ["DequantizeLinear", "Gemm"]
    weights = folded.constants[folded.nodes[-1].inputs[1]]
    wanted = np.array([[-1.5, -0.75, -0.3], [0, 0, 0]], np.float32)
    assert weights.dtype == np.float32 and np.allclose(weights, wanted, atol=1e-7)
    assert bench.same_bits(graph, folded)


def test_integers_are_made_before() -> None:
    """The other way round no weight would be left to be an integer."""
    assert list(ordered((PASS, LOWER))) == [LOWER, PASS]
