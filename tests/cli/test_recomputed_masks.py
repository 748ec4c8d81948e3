"""Layers of attention that add one mask, which is computed from a few numbers: it is computed again for every layer,
and every step, the second ones included, is what the reference computes. Without a scale of the scores the network is
ill-conditioned: outputs are further off than usual, and by no more than the roundings of its steps explain.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import Decisions, Recomputation
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.validation.validation import validate, vectors_of

LAYERS, LENGTH, DEPTH = 4, 48, 32
AGAIN = "TW5037"  # the note


def attention(folder: Path) -> Path:
    """x and a mask of who may be looked at -> attention without heads, each layer followed by a wide one."""
    draw = np.random.default_rng(7)
    constants, nodes = list[onnx.TensorProto](), list[onnx.NodeProto]()

    def constant(array: np.ndarray, name: str) -> str:
        constants.append(numpy_helper.from_array(array, name))
        return name

    def node(op: str, inputs: list[str], name: str, **attributes: object) -> str:
        nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def times(value: str, name: str, rows: int, columns: int) -> str:
        weights = draw.normal(size=(rows, columns), scale=0.3 * rows**-0.5).astype(np.float32)
        return node("MatMul", [value, constant(weights, f"{name}_w")], name)

    few = node(
        "Sub", [constant(np.float32(1), "one"), node("Cast", ["seen"], "numbers", to=TensorProto.FLOAT)], "hidden"
    )
    wide = node("Expand", [few, constant(np.array([1, LENGTH, LENGTH]), "shape")], "spread")
    mask, value = node("Mul", [wide, constant(np.float32(-1e4), "much")], "mask"), "x"
    for at in range(LAYERS):
        query, key, data = (times(value, f"{name}{at}", DEPTH, DEPTH) for name in ("query", "key", "data"))
        scores = node("MatMul", [query, node("Transpose", [key], f"turned{at}", perm=[0, 2, 1])], f"scores{at}")
        weights = node("Softmax", [node("Add", [scores, mask], f"masked{at}")], f"weights{at}", axis=-1)
        value = node("Add", [node("MatMul", [weights, data], f"mixed{at}"), value], f"attended{at}")
        up = node("Relu", [times(value, f"up{at}", DEPTH, 4 * DEPTH)], f"wide{at}")
        value = node("Add", [times(up, f"down{at}", 4 * DEPTH, DEPTH), value], f"layer{at}")
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, LENGTH, DEPTH)),
        helper.make_tensor_value_info("seen", TensorProto.BOOL, (1, 1, LENGTH)),
        helper.make_tensor_value_info(value, TensorProto.FLOAT, (1, LENGTH, DEPTH)),
    ]
    graph = helper.make_graph(nodes, "attention", ends[:2], ends[2:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "attention.onnx")
    return folder / "attention.onnx"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return attention(tmp_path_factory.mktemp("attention"))


@pytest.mark.parametrize("target", ["generic", pytest.param("cortex-m4", marks=pytest.mark.long)])
def test_the_mask_is_computed_again_and_every_step_is_right(model: Path, target: str) -> None:
    deployment = Deployment(model, target, Options())
    steps = [step.name for step in deployment.scheduled.steps]
    (note,) = (one for one in deployment.diagnostics if one.code == AGAIN)
    assert "'mask' before 'masked1', 'masked2' and 'masked3'" in note.details
    assert len([name for name in steps if name.startswith("mask:again")]) == LAYERS - 1
    ran = validate(
        deployment, load_named(("runner", "host")).runners["host"], vectors_of(deployment, None, 2), sanitize=True
    )
    assert ran.fault is None and {step.name for step in ran.steps} >= set(steps)


Tilewright = Callable[..., Any]


@pytest.mark.slow
def test_a_pin_forbids_it(model: Path, tmp_path: Path, tilewright: Tilewright) -> None:
    pins = tmp_path / "pins.json"
    pins.write_text(json.dumps({"recomputed": [{"value": "mask"}]}))
    kept = tilewright("check", model, "-t", "generic", "--pin", pins)
    assert kept.code == 0 and AGAIN not in kept.err
    assert AGAIN in tilewright("check", model, "-t", "generic").err
    forbidden = Options(pins=Decisions(recomputed=(Recomputation(value="mask"),)))
    again, whole = (ram_bytes(Deployment(model, "generic", asked).allocated) for asked in (Options(), forbidden))
    assert again <= whole - 1024


def test_a_pin_says_for_whom(
    model: Path, tmp_path: Path, tilewright: Tilewright, demand_proper: Callable[..., None]
) -> None:
    pins = tmp_path / "pins.json"
    pins.write_text(json.dumps({"recomputed": [{"value": "mask", "readers": ["masked3"]}]}))
    found = tilewright("compile", model, "-t", "generic", "--pin", pins, "-o", tmp_path / "out")
    assert found.code == 0 and "'mask' before 'masked3'" in found.err
    pins.write_text(json.dumps({"recomputed": [{"value": "mask", "readers": ["layer3"]}]}))
    refused = tilewright("compile", model, "-t", "generic", "--pin", pins, "-o", tmp_path / "none")
    demand_proper(refused, "TW1118", 2, "'layer3' does not read it")
    assert not (tmp_path / "none").exists()
