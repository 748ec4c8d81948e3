"""Windows of random networks, slid along every axis of every input: what a stream hands out, computes and keeps must be
what the whole network has on every window, by the references of operators.

The networks are those of `random_networks`, rewritten as for a target. A few calls each, with hops that are multiples
of the strides, and others, whose calls take turns in phases.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fuzzing.frame import Fuzz, Outcome
from tilewright.builtin import tilewright_graph_passes
from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.rewrite import rewrite
from tilewright.rewrite.slide.slide import Slid, hop_unit, slid
from tilewright.testing.one_step import vocabulary
from tilewright.testing.random_networks import KINDS, random_network

Array = npt.NDArray[np.generic]
CALLS = 4


def wrong_values(stream: Slid, operators: Mapping[str, Operator], seed: int) -> Iterator[str]:
    """Names of values of the stream that are not those of the whole network, each with its call."""
    generator, graph, count = np.random.default_rng(seed), stream.graph, CALLS + stream.cost.phases
    frames = [{name: _drawn(generator, graph, name) for name in stream.window.inputs} for _ in range(count)]
    states, expected_of = {state.input: state.initial for state in stream.states}, stream.expected()
    for number, (frame, window) in enumerate(zip(frames, stream.windows(frames), strict=True)):
        values = run(graph, {**frame, **states}, operators)
        states = {state.input: values[state.output] for state in stream.states}
        for name, array in expected_of(run(stream.window, window, operators)).items():
            if not _equal(values[name], array):
                yield f"{name} in call {number}"


def _drawn(generator: np.random.Generator, graph: Graph, name: str) -> Array:
    tensor = graph.tensors[name]
    if tensor.dtype.is_float:
        return generator.normal(size=tensor.shape).astype(tensor.dtype.numpy)
    return generator.integers(*tensor.dtype.limits, size=tensor.shape, endpoint=True).astype(tensor.dtype.numpy)


def _equal(left: Array, right: Array) -> bool:
    return bool(np.allclose(left, right, 1e-4, 1e-5)) if right.dtype.kind == "f" else np.array_equal(left, right)


def slides(graph: Graph, operators: Mapping[str, Operator]) -> Iterator[Slid]:
    """Along every axis of every input that has room for it."""
    for name in graph.inputs:
        for axis, length in enumerate(graph.tensors[name].shape):
            unit = hop_unit(graph, operators, name, axis)[0] if length > 2 else length
            hops = sorted({1, unit, unit + 1, 2 * unit})  # with one phase and with several
            yield from (slid(graph, operators, name, axis, hop) for hop in hops if hop < length)


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of every window."""
    del arguments, folder
    operators, passes = vocabulary(), tilewright_graph_passes()
    for seed in seeds:
        for kind in KINDS:
            graph = rewrite(random_network(kind, seed, operators).graph, operators, passes).graph
            for stream in slides(graph, operators):
                named = f"{kind} {seed}, {stream.sliding}[{stream.axis}]={stream.hop}"
                saved = "fewer products" if stream.cost.products < stream.whole_products else "as many products"
                yield Outcome(named, saved, next(wrong_values(stream, operators, seed), ""), row=kind)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes)
