"""The network as a drawing: each layer a row, each value a line in the colour of its memory, and groups framed."""

from __future__ import annotations

import random
from typing import Any
from xml.etree import ElementTree

import pytest
from onnx import TensorProto, helper

from tilewright.deployment import Deployment
from tilewright.report.drawing.html import report_page
from tilewright.report.drawing.network import CALLERS, MEMORIES, NOWHERE, lanes_of, network_svg, place_colours
from tilewright.report.report_json import build_report
from tilewright.testing.cluster import CLUSTER, registry_for


def report() -> dict[str, Any]:
    """A step in RAM, two that run as one with a value between them, and an output that the caller holds."""
    steps = [
        {"id": number, "name": name, "op": "<Op>", "onnx_nodes": [f"/net/{name}"], "group": group, "inputs": reads,
         "outputs": [{"name": name, "type": "i8", "shape": [1, 8]}], "hops": [{}],
         "internal_values": {"b": "tile"} if name == "c" else {}}
        for number, (name, reads, group) in enumerate([("a", ["x"], "a"), ("b", ["a"], "c"), ("c", ["b", "a"], "c")])
    ]  # fmt: skip
    buffers = [{"name": name, "values": [name], "pool": "ram"} for name in ("x", "a")]
    ends = {"inputs": [{"name": "x"}], "outputs": [{"name": "c"}]}
    return {"steps": steps, "buffers": buffers, "pools": [{"name": "ram"}, {"name": "flash"}], "model": ends}


def drawn(value: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(network_svg(value))


def of_class(name: str) -> list[ElementTree.Element]:
    return [one for one in drawn(report()).iter() if one.get("class") == name]


def test_every_place_has_a_colour() -> None:
    assert place_colours(report()) == {"ram": MEMORIES[0], CALLERS: NOWHERE, "tile by tile": NOWHERE}


def test_layers_are_rows_in_order_and_names_are_only_names() -> None:
    rows = of_class("row")
    assert [row.get("data-step") for row in rows] == [None, "0", "1", "2"]
    assert [row.findtext("title") for row in rows] == ["x", "/net/a", "/net/b", "/net/c"]
    assert [text.text for text in rows[1].iter("text")] == ["0  <Op>", "net/a", "i8[1,8]", "ram"]


def test_values_are_lines_in_the_colour_of_their_memory() -> None:
    told = [(edge.findtext("title"), edge.get("stroke"), edge.get("stroke-dasharray")) for edge in of_class("edge")]
    near = ("b: tile by tile", NOWHERE, "3 3")
    assert told == [("x: ram", MEMORIES[0], None), ("a: ram", MEMORIES[0], None), near, ("a: ram", MEMORIES[0], None)]


def test_what_runs_as_one_is_framed() -> None:
    (frame,) = of_class("frame")
    assert frame.get("height") == "58"


def test_on_one_memory_it_is_row_by_row_everywhere() -> None:
    rows = report()
    for step in rows["steps"]:
        step["hops"] = []
    assert list(place_colours(rows)) == ["ram", CALLERS, "row by row"]
    assert "tile by tile" not in network_svg(rows)
    assert "run as one, row by row</title>" in network_svg(rows)


def test_an_older_report_is_not_drawn() -> None:
    old = report()
    del old["steps"][0]["inputs"]
    assert network_svg(old) == ""


@pytest.mark.parametrize("paper", ["#ffffff", "#1c212b"])
def test_lines_are_seen_in_both_themes(paper: str) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in (*MEMORIES, NOWHERE):
        low, high = sorted((luminance(colour), luminance(paper)))
        assert (high + 0.05) / (low + 0.05) >= 3, colour  # of graphics, by WCAG 2.2 AA


def test_a_view_is_no_break_in_the_network() -> None:
    ends = [helper.make_tensor_value_info(*end) for end in (("x", TensorProto.FLOAT, [4, 4]), ("y", 1, [16]))]
    shape = helper.make_tensor("shape", TensorProto.INT64, [1], [16])
    nodes = [helper.make_node("Sigmoid", ["x"], ["a"], "first"), helper.make_node("Reshape", ["a", "shape"], ["b"])]
    nodes.append(helper.make_node("Sigmoid", ["b"], ["y"], "last"))
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [shape])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    built = build_report(Deployment(model, CLUSTER.name, registry=registry_for(CLUSTER)), artifacts=False)
    assert [step["inputs"] for step in built["steps"]] == [["x"], ["a"]]
    assert '<section id="network">' in report_page(built)


def report_of_steps(*steps: tuple[str, tuple[str, ...]]) -> dict[str, Any]:
    """Steps that write what they are called, and what each reads."""
    told = [{"id": n, "inputs": list(reads), "outputs": [{"name": name}]} for n, (name, reads) in enumerate(steps)]
    return {"steps": told, "model": {"inputs": [{"name": "x"}], "outputs": []}}


def test_a_chain_is_one_lane() -> None:
    lanes = lanes_of(report_of_steps(("a", ("x",)), ("b", ("a",)), ("c", ("b",))))
    assert lanes is not None
    assert [(row.lane, row.writes) for row in lanes.rows] == [(0, ("x",)), (0, ("a",)), (0, ("b",)), (0, ("c",))]
    assert [(edge.first, edge.last) for edge in lanes.edges] == [(0, 1), (1, 2), (2, 3)]


def test_what_waits_keeps_its_lane() -> None:
    lanes = lanes_of(report_of_steps(("a", ("x",)), ("b", ("a",)), ("c", ("a", "b", "b"))))
    assert lanes is not None
    assert [row.lane for row in lanes.rows] == [0, 0, 1, 0]
    assert lanes.count == 2
    assert [edge.value for edge in lanes.edges] == ["x", "a", "a", "b"]


def test_a_report_that_does_not_say_what_steps_read_has_no_network() -> None:
    assert lanes_of({"steps": [{"id": 0, "outputs": []}]}) is None
    assert lanes_of({"steps": []}) is None


def test_no_row_stands_in_the_way_of_a_value() -> None:
    chance = random.Random(5)
    for _ in range(50):
        names = ["x", *(f"v{number}" for number in range(30))]
        steps = [(name, tuple(chance.sample(names[:at], min(at, 2)))) for at, name in enumerate(names) if at]
        lanes = lanes_of(report_of_steps(*steps))
        assert lanes is not None
        for edge in lanes.edges:
            between = lanes.rows[edge.first + 1 : edge.last]
            assert lanes.rows[edge.first].lane not in {row.lane for row in between}
