"""Files made for tests, imported and computed by the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from flat_models import G, file_of

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.config.recurrent_state import run_stream, states_of, with_states
from tilewright.frontend.load import Imported, load
from tilewright.ir.graphs.arithmetic import ArithmeticChoice
from tilewright.ir.graphs.graph import Graph
from tilewright.operators.arithmetics.known import ARITHMETICS
from tilewright.operators.families import FAMILIES
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES
from tilewright_tflite import IMPORTER
from tilewright_tflite.signals.vocabulary import OPERATORS as SIGNALS

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
OPERATORS.update((operator.name, operator) for operator in SIGNALS)


def imported(data: bytes) -> Imported:
    """What the file means, as every later stage sees it."""
    return load(data, operators=OPERATORS, importers=[IMPORTER])


def computed(data: bytes | G, *arrays: Any) -> list[Any]:
    """The outputs for these inputs, in the file's order."""
    found = imported(file_of(data) if isinstance(data, G) else data)
    given = dict(zip(found.graph.inputs, map(np.asarray, arrays), strict=False))
    values = run(found.graph, given, OPERATORS)
    return [values[name] for name in found.graph.outputs]


def stream(data: bytes, frames: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The values of a network with state, frame after frame."""
    found = imported(data)
    states = states_of(with_states(Options(), found.states).states, found.graph, kept=found.states)
    return run_stream(frames, states, lambda values: run(found.graph, values, OPERATORS))[1]


@pytest.fixture
def compute() -> Callable[..., list[Any]]:
    return computed


@pytest.fixture
def read_in() -> Callable[[bytes], Imported]:
    return imported


@pytest.fixture
def rewritten() -> Callable[[bytes], Graph]:
    """The graph behind all passes, which kernels are chosen for."""
    return lambda data: rewrite(imported(data).graph, OPERATORS, PASSES).graph


@pytest.fixture
def run_frames() -> Callable[..., list[dict[str, Any]]]:
    return stream


@pytest.fixture
def as_arithmetic() -> Callable[[bytes], tuple[Graph, Callable[[Mapping[str, Any]], Mapping[str, Any]]]]:
    """The graph behind all passes, in the arithmetic that the importer demands, and what computes it."""

    def made(data: bytes) -> tuple[Graph, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
        found = imported(data)
        choice = ArithmeticChoice(own=found.arithmetic, known=ARITHMETICS)
        graph = rewrite(found.graph, OPERATORS, PASSES, arithmetic=choice).graph
        return graph, lambda values: run(graph, values, OPERATORS)

    return made
