"""Functions of one quantised tensor that differ from channel to channel are one multiplication and one addition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch

Build = Callable[[Sketch, str], str]
CHANNELS = np.array([0.31, -0.2, 1.7], np.float32)


def constant(s: Sketch, values: Any = CHANNELS, rank: int = 2) -> str:
    return s.constant(np.asarray(values, np.float32).reshape(-1, *(1,) * rank))


def prelu(s: Sketch, x: str) -> str:
    zero = s.constant(np.array(0, np.float32))
    below = s.node("Mul", (s.node("Min", (x, zero)), constant(s)))
    return s.node("Add", (s.node("Max", (x, zero)), below))


def normalised(s: Sketch, x: str) -> str:
    numbers = [s.constant(np.array(values, np.float32)) for values in ((0.3, -2, 1), (1, 0, 3), (0, 1, 2), (0.1, 1, 2))]
    return s.node("BatchNormalization", (x, *numbers), {"epsilon": 1e-5})


BUILDS: dict[str, Build] = {
    "scale": lambda s, x: s.node("Mul", (x, constant(s))),
    "quotient": lambda s, x: s.node("Div", (x, constant(s))),
    "shift": lambda s, x: s.node("Sub", (constant(s), x)),
    "elements": lambda s, x: s.node("Add", (x, s.constant(np.linspace(-1, 1, 60, dtype=np.float32).reshape(3, 4, 5)))),
    "scale, then shift": lambda s, x: s.node("Add", (s.node("Mul", (x, constant(s))), constant(s, [9, 8, 7]))),
    "scale, then clip": lambda s, x: s.node("Clip", (s.node("Mul", (x, constant(s))),), {"min": 0.0, "max": 2.0}),
    "scale, clipped": lambda s, x: s.node("Mul", (x, constant(s)), {"clip_low": -0.5, "clip_high": 2.0}),
    "PRelu": prelu,
    "BatchNormalization": normalised,
}


def network(operators: Any, build: Build, scale: float = 0.05, dtype: DType = DType.I8) -> Graph:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", dtype, (2, 3, 4, 5)), 0.07, 11)
    return s.finish(s.quantize(build(s, x), scale, 5, dtype))


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
@pytest.mark.parametrize("scale", [0.05, 0.0021, 0.7])
def test_results_are_those_of_the_file(name: str, dtype: DType, scale: float, operators: Any, bench: Any) -> None:
    graph = network(operators, BUILDS[name], scale, dtype)
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes] == ["QAffine"]
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        apart = np.abs(found.astype(int) - wanted.astype(int))
        assert apart.max() <= 1 and apart.mean() <= (0.3 if scale == 0.7 else 0.02)  # tenths have many halves


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize(("dtype", "into"), [(DType.I16, DType.I16), (DType.U16, DType.U16), (DType.I16, DType.I8)])
def test_results_of_16_bits_are_those_of_the_file(
    name: str, dtype: DType, into: DType, operators: Any, bench: Any
) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", dtype, (2, 3, 4, 5)), 0.0003, 11)
    graph = s.finish(s.quantize(BUILDS[name](s, x), 0.05 if into is DType.I8 else 0.0005, 5, into))
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes] == ["QAffine"]
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        apart = np.abs(found.astype(int) - wanted.astype(int))
        assert apart.max() <= 1 and apart.mean() <= 0.03


def test_halves_go_to_even_numbers(operators: Any, bench: Any) -> None:
    """Scales that are powers of two make them exactly, in every channel."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 2, 300)), 0.5, 0)
    halves = s.constant(np.array([[0.5], [0.25]], np.float32))
    graph = s.finish(s.quantize(s.node("Mul", (x, halves), name="half"), 0.5, 1))
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes] == ["QAffine"] and after.nodes[0].integer("ties")
    assert not bench.diagnostics(graph, *PASSES)
    assert bench.same_bits(graph, after)


def test_what_lies_next_to_a_half_is_counted(operators: Any, bench: Any) -> None:
    """1/2, but for the roundings of the file's own floats."""
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 2, 300)), 0.07, 0)
    divisors = s.constant(np.array([[0.2], [0.3]], np.float32))
    graph = s.finish(s.quantize(s.node("Div", (x, divisors), name="half"), 0.7, 1))
    (note,) = bench.diagnostics(graph, *PASSES)
    assert (note.code, note.where) == ("TW3015", "half") and note.message.startswith("of 512 stored values")
    (found,), (wanted,) = bench.outputs(bench.apply(graph, *PASSES)), bench.outputs(graph)
    assert np.abs(found.astype(int) - wanted.astype(int)).max() == 1


@pytest.mark.parametrize("op", ["Sigmoid", "Exp"])
def test_curves_stay_float(op: str, operators: Any, bench: Any) -> None:
    graph = network(operators, lambda s, x: s.node(op, (s.node("Mul", (x, constant(s))),)))
    assert op in [node.op for node in bench.apply(graph, *PASSES).nodes]


def test_division_by_zero_stays_float(operators: Any, bench: Any) -> None:
    graph = network(operators, lambda s, x: s.node("Div", (x, constant(s, [1, 0, 2]))))
    assert "Div" in [node.op for node in bench.apply(graph, *PASSES).nodes]
