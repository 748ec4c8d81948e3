"""Which buffers hold some rows of a value only, and how a picture says so."""

from __future__ import annotations

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.kernel_fallback import Fitting
from tilewright.report.drawing.panels import panels_of_report
from tilewright.report.line_buffers import line_buffer_rows
from tilewright.testing.one_step import vocabulary


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
    assert all(0 < one["held"] <= one["of"] for one in found.values())


def test_a_picture_has_a_kind_for_them() -> None:
    buffer = {
        "name": "conv.Y@ram#0", "kind": "tile", "pool": "ram", "offset_bytes": 0, "size_bytes": 96, "first_step": 0,
        "last_step": 0, "values": [], "rows": {"value": "y", "held": 3, "of": 32},
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
    assert box.kind == "rows held" and box.note == "3 of 32 rows of conv1" and box.short == "3 of 32 rows"
