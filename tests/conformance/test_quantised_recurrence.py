"""Recurrent layers in QDQ form: the integers that come out are those that onnx's reference computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from conformance.batch import PASS, run_batch
from conformance.cases import Case

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN = 5, 1, 4, 3
SCALES = {name: np.float32(scale) for name, scale in (("ws", 0.008), ("rs", 0.006), ("bs", 1e-4), ("xs", 0.03),
                                                      ("ys", 1 / 128))}  # fmt: skip
node = helper.make_node


def quantised(kind: str, direction: str, seed: int) -> Case:
    """A layer whose input, weights, recurrence weights, bias and output are stored as integers."""
    random, ways = np.random.default_rng(seed), 2 if direction == "bidirectional" else 1
    rows = GATES[kind] * HIDDEN
    weights = {
        "w": random.integers(-127, 128, (ways, rows, INPUTS), np.int8),
        "r": random.integers(-127, 128, (ways, rows, HIDDEN), np.int8),
        "b": random.integers(-5000, 5000, (ways, 2 * rows), np.int32),
    }
    constants = {**weights, **SCALES, "bz": np.int32(0), "z": np.int8(0), "xz": np.int8(-3)}
    nodes = [
        node("DequantizeLinear", ["q", "xs", "xz"], ["x"]),
        node("DequantizeLinear", ["w", "ws", "z"], ["W"]),
        node("DequantizeLinear", ["r", "rs", "z"], ["R"]),
        node("DequantizeLinear", ["b", "bs", "bz"], ["B"]),
        node(kind, ["x", "W", "R", "B"], ["all", "last"], hidden_size=HIDDEN, direction=direction),
        node("QuantizeLinear", ["all", "ys", "z"], ["y"]),
        node("QuantizeLinear", ["last", "ys", "z"], ["h"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.INT8, None) for name in "yh"]
    inputs = [helper.make_tensor_value_info("q", TensorProto.INT8, [STEPS, BATCH, INPUTS])]
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    made = helper.make_model(
        helper.make_graph(nodes, "g", inputs, ends, held), opset_imports=[helper.make_opsetid("", 19)], ir_version=9
    )
    given = {"q": random.integers(-128, 128, (STEPS, BATCH, INPUTS), np.int8)}
    return Case(
        name=f"{kind} {direction} {seed}",
        operator=kind,
        tier=2,
        opset=19,
        expanded=False,
        baked=False,
        model=made.SerializeToString(),
        inputs=given,
        outputs=tuple(np.asarray(array) for array in ReferenceEvaluator(made).run(None, given)),
        relative=0,
        absolute=0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", GATES)
def test_the_integers_are_those_of_the_reference(kind: str, tool, tmp_path: Path) -> None:
    tool("cc")
    cases = [quantised(kind, direction, seed) for direction in ("forward", "reverse") for seed in range(4)]
    outcomes = run_batch(cases, tmp_path)
    assert {name: (each.status, each.reason) for name, each in outcomes.items() if each.status != PASS} == {}
