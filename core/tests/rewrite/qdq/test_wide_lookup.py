"""Functions of one value of 16 bits: another scale, or lines between places; how far that is from the file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

WORD = DType.I16


def lowered(
    bench: Any, operators: Any, op: str, attributes: Any, types: tuple[DType, DType], scales: tuple[float, float]
) -> tuple[Graph, Graph]:
    """Dequantise, the operator ("" for none), quantise, of all that the first type can hold; what becomes of it."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", types[0], (2 ** (8 * types[0].size_bytes),)), scales[0], 0)
    y = s.node(op, (x,), attributes) if op else x
    graph = s.finish(s.quantize(y, scales[1], 0, types[1]))
    return graph, bench.apply(graph, *PASSES)


def apart(bench: Any, before: Graph, after: Graph, dtype: DType) -> int:
    """How many steps results are apart at most, for every value."""
    every = {"x": np.arange(dtype.limits[0], dtype.limits[1] + 1).astype(dtype.numpy)}
    one, other = (bench.values(each, every)[each.outputs[0]].astype(np.int64) for each in (before, after))
    return int(np.abs(one - other).max())


@pytest.mark.parametrize(
    ("op", "attributes"), [("", {}), ("Clip", {"min": 0.0, "max": math.inf}), ("Clip", {"min": -1.0, "max": 6.0})]
)
@pytest.mark.parametrize("types", [(WORD, DType.I8), (DType.I8, WORD), (WORD, DType.U16), (DType.U16, WORD)])
def test_clips_are_another_scale(
    op: str, attributes: Any, types: tuple[DType, DType], bench: Any, operators: Any
) -> None:
    scales = tuple(8.0 / 2 ** (8 * dtype.size_bytes) * 1.1 for dtype in types)
    before, after = lowered(bench, operators, op, attributes, types, (scales[0], scales[1] * 0.9))
    assert [node.op for node in after.nodes] == ["QRescale"]
    assert apart(bench, before, after, types[0]) <= 1


def test_a_leaky_relu_has_a_scale_below_zero(bench: Any, operators: Any) -> None:
    before, after = lowered(bench, operators, "LeakyRelu", {"alpha": 0.3}, (WORD, WORD), (2e-4, 1.5e-4))
    assert [node.op for node in after.nodes] == ["QRescale"]
    below = after.nodes[0].attributes["negative"]
    assert isinstance(below, Requant) and below.stored is not None and below.stored.w == (0.3,)
    assert apart(bench, before, after, WORD) <= 1


@pytest.mark.parametrize("types", [(WORD, WORD), (WORD, DType.U16), (DType.U16, DType.U8)])
@pytest.mark.parametrize("alpha", [0.2, 1 / 6])
def test_a_hard_sigmoid_is_another_scale_and_an_addend(
    types: tuple[DType, DType], alpha: float, bench: Any, operators: Any
) -> None:
    attributes = {"alpha": alpha, "beta": 0.5}
    scale = 1.0 / types[1].limits[1]
    before, after = lowered(bench, operators, "HardSigmoid", attributes, types, (2.6e-4, scale))
    assert [node.op for node in after.nodes] == ["QRescale"] and not bench.diagnostics(before, *PASSES)
    assert apart(bench, before, after, types[0]) <= 1


def test_a_byte_has_a_result_of_16_bits_each(bench: Any, operators: Any) -> None:
    before, after = lowered(bench, operators, "Sigmoid", {}, (DType.I8, DType.U16), (0.05, 2.0**-16))
    assert [node.op for node in after.nodes] == ["QLookup"]
    assert apart(bench, before, after, DType.I8) == 0


@pytest.mark.parametrize(("op", "scale"), [("Sigmoid", 8 / 2**15), ("Tanh", 4 / 2**15), ("Gelu", 4 / 2**15)])
def test_a_function_of_16_bits_lies_between_places_and_it_is_said_how_far_off(
    op: str, scale: float, bench: Any, operators: Any
) -> None:
    before, after = lowered(bench, operators, op, {}, (WORD, WORD), (scale, scale if op == "Gelu" else 2.0**-15))
    assert [node.op for node in after.nodes] == ["QLookup"]
    assert after.tensors[after.nodes[0].inputs[1]].shape == (513,)
    (note,) = [each for each in bench.diagnostics(before, *PASSES) if each.code == "TW3010"]
    most = apart(bench, before, after, WORD)
    assert f"at most {most} step" in note.message and most <= 4 and note.severity == "note"


def test_what_a_line_misses_by_far_stays_in_float(bench: Any, operators: Any) -> None:
    before, after = lowered(bench, operators, "Sigmoid", {}, (WORD, WORD), (64 / 2**15, 2.0**-15))
    assert [node.op for node in after.nodes] == ["DequantizeLinear", "Sigmoid", "QuantizeLinear"]
    (warning,) = bench.diagnostics(before, *PASSES)
    assert warning.code == "TW3001" and "a line between 513 places is" in warning.message
    assert "quantise its input to the range that it has" in warning.fix[0]
