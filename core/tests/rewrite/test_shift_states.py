"""States that move on: the same values, computed from the state itself; anything else is left as it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.shift_states import with_shifted_states
from tilewright.testing.random_graphs import small_world

OPERATORS = small_world().operators
STATE = {"cache": "cache_next"}


def cached(*, starts: tuple[int, ...] = (0, 2, 0), shape: tuple[int, ...] = (1, 5, 3), steps: int = 1) -> Graph:
    """Five rows of three are kept, two are new; `y` reads all seven."""
    sizes = {"cache": (1, 5, 3), "x": (1, 2, 3), "all": (1, 7, 3), "y": (1, 7, 3), "cache_next": shape}
    cut = {"starts": starts, "steps": (1, steps, 1), "shape": shape}
    return Graph(
        name="g",
        inputs=("x", "cache"),
        outputs=("y", "cache_next"),
        nodes=(
            Node(name="join", op="Concat", inputs=("cache", "x"), outputs=("all",), attributes={"axis": -2}),
            Node(name="add", op="Add", inputs=("all", "all"), outputs=("y",)),
            Node(name="cut", op="Slice", inputs=("all",), outputs=("cache_next",), attributes=cut),
        ),
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=size) for name, size in sizes.items()},
        constants={},
    ).verify()


def test_the_state_is_computed_from_itself() -> None:
    made = with_shifted_states(cached(), STATE)
    assert [(node.op, node.inputs) for node in made.nodes] == [
        ("Concat", ("cache", "x")),
        ("Add", ("all", "all")),
        ("Slice", ("cache",)),
        ("Concat", ("cache:part", "x")),
    ]
    given = {"cache": np.arange(15, dtype=np.float32).reshape(1, 5, 3), "x": np.full((1, 2, 3), -1, np.float32)}
    before, after = (run(graph, given, OPERATORS) for graph in (cached(), made))
    for name in made.outputs:
        np.testing.assert_array_equal(before[name], after[name])


def test_what_nobody_else_reads_is_not_joined_twice() -> None:
    whole = cached()
    alone = replace(whole, outputs=("cache_next",)).with_nodes((whole.nodes[0], whole.nodes[2]))
    assert [node.op for node in with_shifted_states(alone, STATE).nodes] == ["Slice", "Concat"]


@pytest.mark.parametrize(
    "graph",
    [
        cached(starts=(0, 1, 0)),  # not the newest
        cached(starts=(0, 0, 1), shape=(1, 5, 2)),
        cached(starts=(0, 6, 0), shape=(1, 1, 3)),  # nothing of the old one
        cached(starts=(0, 2, 0), shape=(1, 3, 3), steps=2),
    ],
)
def test_anything_else_stays(graph: Graph) -> None:
    assert with_shifted_states(graph, STATE) is graph
    assert with_shifted_states(graph, {}) is graph
