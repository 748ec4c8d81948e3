"""What a report says of inputs and outputs that pass in rows: as data, in the terminal, on the page."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import STREAMED, Decisions, IoOwner
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.report.drawing.html import _ends
from tilewright.report.streamed_io import streamed_io
from tilewright.report.text import streaming_of, summary_parts
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


@cache
def graph() -> Graph:
    """An image, and one that is added to what a convolution makes of the first."""
    sketch = Sketch(operators=vocabulary())
    weights = sketch.constant(np.ones((2, 2, 3, 3), np.float32))
    a, b = (sketch.input(name, DType.F32, (1, 2, 12, 5)) for name in "ab")
    same = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    return sketch.finish(sketch.node("Add", (sketch.node("Conv", (a, weights), same), b)))


def rows_of(ends: dict[str, IoOwner]) -> dict[str, dict[str, Any]]:
    passing = {name: whose for name, whose in ends.items() if whose in STREAMED}
    planner = portable_planner(pins=Decisions(io=ends), optimize="ram")
    return streamed_io(Fitting(planner=planner).plan(planner.bind(with_streamed_io(graph(), passing), ONE_MEMORY)))


OUTPUT = graph().outputs[0]


def test_what_is_held_of_each() -> None:
    found = rows_of({"a": "push", "b": "push", OUTPUT: "pull"})
    assert found.keys() == {"a", "b", OUTPUT}
    assert found["a"] == {
        "way": "push", "turn": 1, "count": 12, "row_bytes": 40, "at_once": 1, "held": 3, "held_bytes": 120,
    }  # fmt: skip
    assert found["b"]["held"] == found[OUTPUT]["held"] == 1 and found[OUTPUT]["way"] == "pull"


def test_one_input_has_no_turn() -> None:
    found = rows_of({"a": "push", "b": "pool"})
    assert found.keys() == {"a"} and "turn" not in found["a"]
    assert rows_of({"a": "pool", "b": "user"}) == {}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"way": "push", "held": 3, "held_bytes": 120}, "arrives in 12 rows of 40 B, 1 at a time; 3 held, 120 B"),
        ({"way": "push", "held": 12, "held_bytes": 480, "turn": 2},
         "arrives in 12 rows of 40 B, 1 at a time; all held, 480 B; turn 2"),
        ({"way": "pull", "held": 1, "held_bytes": 40}, "is taken in 12 rows of 40 B, 1 at a time; 1 held, 40 B"),
    ],
)  # fmt: skip
def test_it_is_said_in_words(rows: dict[str, Any], said: str) -> None:
    item = {
        "name": "a",
        "type": "f32",
        "shape": [1, 2, 12, 5],
        "rows": {"count": 12, "row_bytes": 40, "at_once": 1, **rows},
    }
    assert streaming_of(item) == said and streaming_of({"name": "a"}) == ""
    assert _ends({"inputs": [item], "outputs": []})[0][3] == said


def test_the_summary_has_a_line_for_each() -> None:
    end = {"way": "pull", "count": 2, "row_bytes": 4, "at_once": 1, "held": 1, "held_bytes": 4}
    item = {"name": "y", "type": "f32", "shape": [2], "rows": end}
    order = {"used_bytes": 0, "lower_bound_bytes": None, "optimal": True}
    none = {"used_bytes": 0, "lower_bound_bytes": 0}
    report = {
        "model": {"name": "net", "inputs": [], "outputs": [item]}, "target": {"name": "generic"}, "steps": [],
        "macs": 0, "constants_bytes": 0, "pools": [], "order": order, "away": none, "constants_away": none,
        "cycles": {"total": 0, "kind": "estimate"}, "copies": {"in_bytes": 0, "out_bytes": 0},
    }  # fmt: skip
    assert "output  y  is taken in 2 rows" in str(summary_parts(report)[-1])
