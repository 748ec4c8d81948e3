"""Which buffers hold some rows of a value only, and how a picture says so."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import STREAMED, Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.report.drawing.html import _tensor_rows
from tilewright.report.drawing.panels import panels_of_report
from tilewright.report.line_buffers import line_buffer_rows, streamed_io
from tilewright.report.text import streaming_of, summary_parts
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


@pytest.fixture(name="plan", scope="module")
def _plan() -> Allocated:
    planner = portable_planner(optimize="ram")
    return Fitting(planner=planner).plan(planner.bind(row_network(0, vocabulary()).graph, ONE_MEMORY))


def test_rows_are_fewer_than_there_are(plan: Allocated) -> None:
    found = line_buffer_rows(plan)
    buffers = {buffer.name: buffer for buffer in plan.tiled.buffers}
    inner = {value for region in plan.tiled.regions if region.line_buffers for value in region.unmaterialised}
    assert found and found.keys() <= buffers.keys()
    assert {one["value"] for one in found.values()} <= inner
    assert all(0 < one["buffered_rows"] <= one["count"] for one in found.values())


def test_a_picture_has_a_kind_for_them() -> None:
    buffer = {
        "name": "conv.Y@ram#0", "kind": "tile", "pool": "ram", "offset_bytes": 0, "size_bytes": 96, "first_step": 0,
        "last_step": 0, "values": [], "rows": {"value": "y", "buffered_rows": 3, "count": 32},
    }  # fmt: skip
    step = {"id": 0, "name": "conv", "op": "Conv", "onnx_nodes": ["conv1"], "outputs": [{"name": "y"}]}
    pool = {
        "name": "ram",
        "kind": "ram",
        "used_bytes": 96,
        "limit_bytes": None,
        "lower_bound_bytes": 96,
        "optimal": True,
    }
    (panel,) = panels_of_report({"steps": [step], "buffers": [buffer], "pools": [pool]})
    (box,) = panel.boxes
    assert box.kind == "line buffer" and box.note == "3 of 32 rows of conv1" and box.short == "3 of 32 rows"


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


def test_how_many_rows_of_each_are_buffered() -> None:
    found = rows_of({"a": "push", "b": "push", OUTPUT: "pull"})
    assert found.keys() == {"a", "b", OUTPUT}
    assert found["a"] == {
        "direction": "push", "turn": 1, "count": 12, "row_bytes": 40, "rows_per_call": 1,
        "buffered_rows": 3, "buffered_bytes": 120,
    }  # fmt: skip
    assert found["b"]["buffered_rows"] == found[OUTPUT]["buffered_rows"] == 1 and found[OUTPUT]["direction"] == "pull"


def test_one_input_has_no_turn() -> None:
    found = rows_of({"a": "push", "b": "pool"})
    assert found.keys() == {"a"} and "turn" not in found["a"]
    assert rows_of({"a": "pool", "b": "user"}) == {}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"direction": "push", "buffered_rows": 3, "buffered_bytes": 120},
         "arrives in 12 rows of 40 B, 1 at a time; 3 buffered, 120 B"),
        ({"direction": "push", "buffered_rows": 12, "buffered_bytes": 480, "turn": 2},
         "arrives in 12 rows of 40 B, 1 at a time; all buffered, 480 B; turn 2"),
        ({"direction": "pull", "buffered_rows": 1, "buffered_bytes": 40},
         "is taken in 12 rows of 40 B, 1 at a time; 1 buffered, 40 B"),
    ],
)  # fmt: skip
def test_it_is_said_in_words(rows: dict[str, Any], said: str) -> None:
    item = {
        "name": "a",
        "type": "f32",
        "shape": [1, 2, 12, 5],
        "rows": {"count": 12, "row_bytes": 40, "rows_per_call": 1, **rows},
    }
    assert streaming_of(item) == said and streaming_of({"name": "a"}) == ""
    assert _tensor_rows({"inputs": [item], "outputs": []})[0][3] == said


def test_the_summary_has_a_line_for_each() -> None:
    end = {"direction": "pull", "count": 2, "row_bytes": 4, "rows_per_call": 1, "buffered_rows": 1, "buffered_bytes": 4}
    item = {"name": "y", "type": "f32", "shape": [2], "rows": end}
    order = {"used_bytes": 0, "lower_bound_bytes": None, "optimal": True}
    none = {"used_bytes": 0, "lower_bound_bytes": 0}
    report = {
        "model": {"name": "net", "inputs": [], "outputs": [item]}, "target": {"name": "generic"}, "steps": [],
        "macs": 0, "constants_bytes": 0, "pools": [], "order": order, "spilled": none, "spilled_constants": none,
        "cycles": {"total": 0, "kind": "estimate"}, "copies": {"in_bytes": 0, "out_bytes": 0},
    }  # fmt: skip
    assert "output  y  is taken in 2 rows" in str(summary_parts(report)[-1])
