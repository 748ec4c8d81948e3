"""What passes that may change what is computed have moved, and what may not have changed around them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tilewright.builtin import tilewright_operators
from tilewright.comparison.moves import exact_spans, lossy_runs, move_lines, moves_of
from tilewright.comparison.verdicts import Move
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch


@dataclass(frozen=True, kw_only=True)
class Ran:
    name: str
    graph: Graph
    lossy: bool = False
    idle: bool = False


def graph_of(kind: str) -> Graph:
    s = Sketch(operators={operator.name: operator for operator in tilewright_operators()})
    x = s.input("x", DType.I8, (4,))
    if kind == "integers":
        return s.finish(s.quantize(s.dequantize(x, 0.5, 0), 0.25, 0))
    real = s.dequantize(x, 0.5, 0)
    return s.finish(real if kind == "dequantised" else s.node("Clip", (real,), {"min": -9.0}))


GRAPHS = [graph_of("integers") for _ in range(4)]
TRAIL = [
    Ran(name="exact", graph=GRAPHS[1]), Ran(name="lossy", graph=GRAPHS[2], lossy=True),
    Ran(name="nothing", graph=GRAPHS[2], lossy=True, idle=True), Ran(name="after", graph=GRAPHS[3]),
]  # fmt: skip


def test_only_lossy_passes_that_did_something_count() -> None:
    (run,) = lossy_runs(GRAPHS[0], TRAIL)
    assert (run.name, run.before is GRAPHS[1], run.after is GRAPHS[2]) == ("lossy", True, True)
    spans = exact_spans(GRAPHS[0], (run,), GRAPHS[3])
    assert [tuple(map(id, span)) for span in spans] == [tuple(map(id, GRAPHS[:2])), tuple(map(id, GRAPHS[2:]))]
    assert len(exact_spans(GRAPHS[0], (), GRAPHS[3])) == 1


@pytest.mark.parametrize(("kind", "largest", "in_steps"), [
    ("integers", 3.0, True), ("dequantised", 6.0, True), ("floats", 3.0, False)
])  # fmt: skip
def test_distances_are_in_steps(kind: str, largest: float, in_steps: bool) -> None:
    graph = graph_of(kind)
    (run,) = lossy_runs(graph, [Ran(name="lossy", graph=graph, lossy=True)])
    (name,) = graph.outputs
    dtype: Any = graph.tensors[name].dtype.numpy
    before = [{name: np.array([1, 2, 3, 9], dtype)}, {name: np.array([0, 0, 5, 4], dtype)}]
    after = [{name: np.array([1, 2, 0, 9], dtype)}, {name: np.array([0, 0, 3, 4], dtype)}]
    (move,) = moves_of(run, before, after)
    assert (move.different, move.elements, move.largest, move.in_steps) == (2, 8, largest, in_steps)
    assert move.mean == pytest.approx(5 / 8 * largest / 3)
    assert (move.same_largest, move.sets) == (1, 2)


def test_lines() -> None:
    moved = Move(
        graph_pass="p", output="y", elements=8, different=2, largest=1.0, mean=0.25, in_steps=True, same_largest=1,
        sets=2,
    )  # fmt: skip
    still = replace(moved, output="z", different=0, largest=0.0, mean=0.0, same_largest=2)
    assert list(move_lines([moved, still])) == [
        "pass 'p' moved 2 of 8 elements of 'y', by 1 step at most and 0.25 on average; the largest element is the same "
        "in 1 of 2 sets"
    ]
    assert list(move_lines([still], "random sets")) == ["pass 'p' moved no element of any output, over 2 random sets"]
    assert list(move_lines([])) == []
