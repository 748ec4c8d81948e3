"""Tables and pictures show what tells steps and buffers apart; whole names are on hover and in the data."""

from __future__ import annotations

from typing import Any

from tilewright.report.drawing.panels import panels_of_report
from tilewright.report.names import nodes_of, shown_names

LAYERS = [f"model/activation_{k}/Relu;model/bn_{k}/Fused;model/conv/Conv2D" for k in range(3)]


def report() -> dict[str, Any]:
    steps = [
        {"id": k, "name": f"{name}_prequant", "op": "QConv", "onnx_nodes": [f"{name}_prequant", "d"], "outputs": []}
        for k, name in enumerate(LAYERS)
    ]
    buffers = [
        {"name": name, "kind": "activation", "pool": "ram", "offset_bytes": 8 * k, "size_bytes": 8, "first_step": k,
         "last_step": k, "values": [name]}
        for k, name in enumerate(LAYERS)
    ]  # fmt: skip
    pool = {"name": "ram", "kind": "ram", "used_bytes": 24, "limit_bytes": None, "lower_bound_bytes": 8}
    return {"steps": steps, "buffers": buffers, "pools": [{**pool, "optimal": False}]}


def test_layers_are_told_apart() -> None:
    shorts = shown_names(report())
    assert [nodes_of(step, shorts) for step in report()["steps"]] == [f"activation_{k}_prequant (+1)" for k in range(3)]


def test_boxes_have_short_labels_and_whole_names() -> None:
    (panel,) = panels_of_report(report())
    assert [(box.short, box.name) for box in panel.boxes] == [
        (f"activation_{k}", name) for k, name in enumerate(LAYERS)
    ]
