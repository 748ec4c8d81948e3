"""What tests of graph passes share: the core's vocabulary, and a pass applied and checked as the pipeline does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.reference import run
from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import GraphPass, Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.testing.sketch import Sketch

Array = npt.NDArray[np.generic]


@pytest.fixture(scope="session")
def operators() -> Mapping[str, Operator]:
    """The core's vocabulary, by name."""
    return {operator.name: operator for operator in tilewright_operators()}


@pytest.fixture(scope="session")
def sketch(operators: Mapping[str, Operator]) -> Callable[[], Sketch]:
    """Makes an empty graph to write on."""
    return lambda: Sketch(operators=operators)


class Bench:
    """Applies passes as the pipeline does, verification included, and computes graphs on random inputs."""

    def __init__(self, operators: Mapping[str, Operator]) -> None:
        self.operators = operators

    def apply(self, graph: Graph, *passes: GraphPass) -> Graph:
        return rewrite(graph, self.operators, passes).graph

    def diagnostics(self, graph: Graph, *passes: GraphPass) -> tuple[Diagnostic, ...]:
        return rewrite(graph, self.operators, passes).diagnostics

    def inputs(self, graph: Graph, seed: int = 0) -> dict[str, Array]:
        """Integers over the whole range of their type, floats from a normal distribution."""
        generator = np.random.default_rng(seed)
        return {name: _random(generator, graph.tensors[name].dtype, graph.tensors[name].shape) for name in graph.inputs}

    def values(self, graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return run(graph, inputs, self.operators)

    def outputs(self, graph: Graph, seed: int = 0) -> tuple[Array, ...]:
        values = self.values(graph, self.inputs(graph, seed))
        return tuple(values[name] for name in graph.outputs)

    def macs(self, graph: Graph) -> int:
        return sum(self.operators[site.node.op].macs(site) for site in graph.sites())

    def same_bits(self, one: Graph, other: Graph, seeds: int = 3) -> bool:
        return all(
            np.array_equal(a, b, equal_nan=a.dtype.kind == "f") and a.dtype == b.dtype
            for seed in range(seeds)
            for a, b in zip(self.outputs(one, seed), self.outputs(other, seed), strict=True)
        )


def _random(generator: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Array:
    if dtype.is_float:
        return generator.normal(size=shape).astype(dtype.numpy)
    low, high = dtype.limits
    return generator.integers(low, high + 1, shape).astype(dtype.numpy)


@pytest.fixture(scope="session")
def bench(operators: Mapping[str, Operator]) -> Bench:
    """Applies passes, computes graphs."""
    return Bench(operators)
