"""Five networks: integer throughout, equal to the reference implementation in onnx, no dead work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Graph
from tilewright.rewrite import Rewritten, rewrite
from tilewright.rewrite.passes import PASSES

INTEGER = ("ad_int8", "kws_int8", "resnet8_int8", "vww_int8")
MACS = {"ad_int8": 264_192, "kws_int8": 2_656_768, "resnet8_int8": 12_501_632, "resnet8_f32": 12_501_632}
MOVING = ("Reshape", "Transpose")


def _imported(name: str, operators: Any) -> Graph:
    return load(network_file(name), None, operators).graph


def _rewritten(name: str, operators: Any) -> Rewritten:
    return rewrite(_imported(name, operators), operators, PASSES)


def _sets(name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Inputs and onnxruntime's outputs of each set."""
    with np.load(vectors_file(name)) as vectors:
        kind = "out_fused" if any("/out_fused/" in key for key in vectors) else "out"
        keys = sorted({key.split("/")[0] for key in vectors})
        return [
            tuple(
                {key.split("/", 2)[2]: vectors[key] for key in vectors if key.startswith(f"{each}/{part}/")}
                for part in ("in", kind)
            )
            for each in keys
        ]


@pytest.mark.parametrize("name", INTEGER)
def test_integer_networks(name: str, operators: Any, bench: Any) -> None:
    result = _rewritten(name, operators)
    assert not result.diagnostics
    strangers = [node.op for node in result.graph.nodes if not node.op.startswith("Q") and node.op not in MOVING]
    assert not strangers
    assert all("Linear" not in node.op for node in result.graph.nodes)
    for inputs, expected in _sets(name):
        values = bench.values(result.graph, inputs)
        for output, array in expected.items():
            assert np.abs(values[output].astype(int) - array.astype(int)).max() <= 1
            assert values[output].argmax() == array.argmax()


def test_float_network(operators: Any, bench: Any) -> None:
    result = _rewritten("resnet8_f32", operators)
    assert "Clip" not in [node.op for node in result.graph.nodes]
    for inputs, expected in _sets("resnet8_f32"):
        values = bench.values(result.graph, inputs)
        for output, array in expected.items():
            assert np.allclose(values[output], array, rtol=1e-4, atol=1e-6)
            assert values[output].argmax() == array.argmax()


@pytest.mark.parametrize("name", MACS)
def test_work_stays(name: str, operators: Any, bench: Any) -> None:
    assert bench.macs(_rewritten(name, operators).graph) == MACS[name]


def test_half_of_vww_is_dead(operators: Any, bench: Any) -> None:
    graph = _imported("vww_int8", operators)
    without = rewrite(graph, operators, [each for each in PASSES if each.name != "remove-dead-channels"]).graph
    narrowed = _rewritten("vww_int8", operators).graph
    assert bench.macs(without) == 7_489_664
    assert bench.macs(narrowed) <= 3_800_000
    assert bench.same_bits(without, narrowed)


@pytest.mark.parametrize("name", INTEGER)
def test_every_onnx_node_is_accounted_for(name: str, operators: Any) -> None:
    """What was fused is named by the node that does its work."""
    graph = _imported(name, operators)
    before = {each for node in graph.nodes for each in node.origin}
    after = {each for node in _rewritten(name, operators).graph.nodes for each in node.origin}
    assert before == after
