"""Where tiles are copied, dynamic quantisation is written with what can be cut, bit for bit; else it is one step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.rewrite.quantisation.split_dynamic_quantisation import PASS

FLAT = Platform(name="flat", memories=(Memory(name="ram", size_bytes=None),))
TILED = replace(FLAT, name="tiled", memories=(*FLAT.memories, Memory(name="l1", size_bytes=1 << 10)), inner="l1")


def network() -> Graph:
    kinds = {"x": (DType.F32, (4, 9)), "y": (DType.U8, (4, 9)), "s": (DType.F32, ()), "z": (DType.U8, ())}
    node = Node(name="quantise", op="DynamicQuantizeLinear", inputs=("x",), outputs=("y", "s", "z"))
    tensors = {name: Tensor(name=name, dtype=dtype, shape=shape) for name, (dtype, shape) in kinds.items()}
    return Graph(name="net", nodes=(node,), tensors=tensors, constants={}, inputs=("x",), outputs=("y", "s", "z"))


def test_tiles(operators: Any, bench: Any) -> None:
    graph = network()
    after = rewrite(graph, operators, (PASS,), TILED).graph
    assert [node.op for node in after.nodes] == ["ReduceMin", "ReduceMax", "DynamicScale", "QuantizeLinear"]
    assert bench.same_bits(graph, after)
    for number in (0.0, -3.5, np.nan):
        x = {"x": np.full((4, 9), number, np.float32)}
        found, wanted = (bench.values(each, x) for each in (after, graph))
        assert all(np.array_equal(found[name], wanted[name], equal_nan=name == "s") for name in graph.outputs)


def test_one_memory(operators: Any, bench: Any) -> None:
    graph = network()
    assert rewrite(graph, operators, (PASS,), FLAT).graph is graph
    assert bench.apply(graph, PASS) is graph
