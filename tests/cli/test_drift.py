"""A graph pass that computes something else fails validation, although every step is exact."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from click.testing import CliRunner
from onnx import helper

from tilewright import deployment
from tilewright.api.graph import Graph
from tilewright.api.passes import GraphPass, PassContext, PassResult
from tilewright.cli.commands.validate_command import command
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins import Registry, load_for


def pad_by_99(graph: Graph, _context: PassContext) -> PassResult:
    nodes = (
        replace(node, attributes={**node.attributes, "value": 99.0}) if node.op == "Pad" else node
        for node in graph.nodes
    )
    return PassResult(graph=replace(graph, nodes=tuple(nodes)))


@pytest.fixture(name="padded")
def _padded(graph: Callable[..., onnx.ModelProto], tmp_path: Path) -> Path:
    pad = helper.make_node("Pad", ["x", "pads"], ["p"])
    model = graph([pad, helper.make_node("Sigmoid", ["p"], ["y"])], constants={"pads": [0, 1, 0, 1]})
    onnx.save(model, tmp_path / "padded.onnx")
    return tmp_path / "padded.onnx"


def validated(model: Path) -> Any:
    flags = [str(model), "-t", "generic", "--json", str(model.with_suffix(".json"))]
    return CliRunner().invoke(command, flags, standalone_mode=False)


def test_what_every_step_repeats_exactly_can_still_be_wrong(
    padded: Path, monkeypatch: pytest.MonkeyPatch, tool: Any
) -> None:
    tool("cc")

    def with_a_wrong_pass(**wanted: Any) -> Registry:
        registry = load_for(**wanted)
        wrong = GraphPass(name="pad-by-99", summary="wrong", apply=pad_by_99)
        return replace(registry, graph_passes={**registry.graph_passes, wrong.name: wrong})

    monkeypatch.setattr(deployment, "load_for", with_a_wrong_pass)
    error = validated(padded).exception
    assert isinstance(error, TilewrightError), error
    assert (error.code, error.exit_code, error.where) == ("TW6003", Exit.MISMATCH, "graph pass 'pad-by-99'")
    verdict = json.loads(padded.with_suffix(".json").read_text(encoding="utf-8"))
    assert verdict["status"] == "fail"
    assert all(step["exact"] for step in verdict["steps"])
    assert [one["within"] for one in verdict["drift"]] == [False]


def test_right_passes_do_not_drift(padded: Path, tool: Any) -> None:
    tool("cc")
    assert validated(padded).exception is None
    (drift,) = json.loads(padded.with_suffix(".json").read_text(encoding="utf-8"))["drift"]
    assert (drift["within"], drift["different"]) == (True, 0)
