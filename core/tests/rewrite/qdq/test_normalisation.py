"""Rows that are normalised between quantised values are integers, with what scales and shifts them behind."""

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
SHAPE = (2, 6, 4, 5)


def floats(s: Sketch, *shape: int) -> str:
    return s.constant(np.random.default_rng(len(s.constants)).uniform(0.5, 1.5, shape).astype(np.float32))


def rows(s: Sketch, x: str, shape: tuple[int, ...], *numbers: str, op: str = "LayerNormalization") -> str:
    return s.node(op, (s.node("Reshape", (x,), {"shape": shape}), *numbers), {"epsilon": 1e-3})


def back(s: Sketch, x: str) -> str:
    return s.node("Reshape", (x,), {"shape": SHAPE})


def instances(s: Sketch, x: str) -> str:
    """Behind rows a scale and a shift for each channel."""
    normal = back(s, rows(s, x, (12, 20)))
    return s.node("Add", (s.node("Mul", (normal, floats(s, 6, 1, 1))), floats(s, 6, 1, 1)))


def stored(s: Sketch, x: str) -> str:
    """The same, scale and shift stored as integers, as onnxruntime writes them of an InstanceNormalization."""
    scale, shift = (s.constant(np.arange(start, start + 6).astype(np.int8)) for start in (40, -3))
    numbers = [s.node("Reshape", (s.dequantize(name, 0.02, 0),), {"shape": (6, 1, 1)}) for name in (scale, shift)]
    return s.node("Add", (s.node("Mul", (back(s, rows(s, x, (12, 20))), numbers[0])), numbers[1]))


def groups(s: Sketch, x: str) -> str:
    """Groups of three channels, one number for each group, then one for each channel."""
    normal = s.node("Reshape", (rows(s, x, (4, 60)),), {"shape": (2, 2, 60)})
    scaled = s.node("Sub", (floats(s, 2, 1), s.node("Mul", (normal, floats(s, 2, 1)))))
    return s.node("Div", (back(s, scaled), floats(s, 6, 1, 1)))


BUILDS: dict[str, Build] = {
    "rows": lambda s, x: s.node("LayerNormalization", (x, floats(s, 5), floats(s, 5)), {"epsilon": 1e-3}),
    "rows alone": lambda s, x: s.node("LayerNormalization", (x,), {"epsilon": 1e-3}),
    "root mean square": lambda s, x: s.node("RMSNormalization", (x, floats(s, 5)), {"epsilon": 1e-3}),
    "image": lambda s, x: back(s, rows(s, x, (2, 120), floats(s, 120), floats(s, 120))),
    "instances": instances,
    "instances, stored": stored,
    "groups": groups,
    "clipped": lambda s, x: s.node("Clip", (instances(s, x),), {"min": 0.0, "max": 1.0}),
}


def network(operators: Any, build: Build) -> Graph:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, SHAPE), 0.07, 11)
    return s.finish(s.quantize(build(s, x), 0.021, 5))


@pytest.mark.parametrize("name", BUILDS)
def test_results_are_those_of_the_file(name: str, operators: Any, bench: Any) -> None:
    graph = network(operators, BUILDS[name])
    after = bench.apply(graph, *PASSES)
    ops = [node.op for node in after.nodes if node.op != "Reshape"]
    assert ops == ["QLayerNormalization"] and not bench.diagnostics(graph, *PASSES)
    for seed in range(3):
        (found,), (wanted,) = bench.outputs(after, seed), bench.outputs(graph, seed)
        apart = np.abs(found.astype(int) - wanted.astype(int))
        assert apart.max() <= 1 and apart.mean() <= 0.005


@pytest.mark.parametrize(("x", "y"), [(DType.I16, DType.I16), (DType.U16, DType.I8), (DType.I8, DType.U16)])
@pytest.mark.parametrize("name", ["rows", "root mean square", "instances"])
def test_values_of_16_bits_are_integers_too(name: str, x: DType, y: DType, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    stored = s.dequantize(s.input("x", x, SHAPE), 0.07 if x is DType.I8 else 2e-4, 11)
    graph = s.finish(s.quantize(BUILDS[name](s, stored), 0.021 if y is DType.I8 else 1.5e-4, 5, y))
    after = bench.apply(graph, *PASSES)
    assert [node.op for node in after.nodes if node.op != "Reshape"] == ["QLayerNormalization"]
    assert not bench.diagnostics(graph, *PASSES)
    (found,), (wanted,) = bench.outputs(after, 0), bench.outputs(graph, 0)
    apart = np.abs(found.astype(int) - wanted.astype(int))
    assert apart.max() <= 1 and apart.mean() <= 0.03


def test_equal_rows_have_no_deviation(operators: Any, bench: Any) -> None:
    graph = network(operators, BUILDS["rows"])
    after = bench.apply(graph, *PASSES)
    inputs = {"x": np.full(SHAPE, 100, np.int8)}
    assert np.array_equal(*(bench.values(one, inputs)[one.outputs[0]] for one in (graph, after)))


@pytest.mark.parametrize("where", ["computed scale", "result read twice", "turned"])
def test_what_stays_in_float(where: str, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, SHAPE), 0.07, 11)
    scale = s.input("scale", DType.F32, (5,)) if where == "computed scale" else floats(s, 5)
    normal = s.node("LayerNormalization", (x, scale), {"epsilon": 1e-3})
    y = s.node("Mul", (normal, floats(s, 6, 1, 1)))
    if where == "turned":
        y = s.node("Div", (floats(s, 5), normal))
    ends = (normal,) if where == "result read twice" else ()
    after = bench.apply(s.finish(s.quantize(y, 0.021, 5), *ends), *PASSES)
    assert "LayerNormalization" in [node.op for node in after.nodes]
