"""LSTM and GRU whose file stores their states in integers compute in integers, near what the floats are; the others
stay, and are told of.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
GATES = {"LSTM": 4, "GRU": 3}
STEPS, BATCH, INPUTS, HIDDEN = 9, 2, 5, 4
node = helper.make_node


class Layer:
    """A quantised layer as a file has it; what is changed before `load` makes other files."""

    def __init__(self, kind: str, *, directions: int = 1, bits: int = 8, **attributes: Any) -> None:
        random, rows = np.random.default_rng(directions), GATES[kind] * HIDDEN
        values = np.int8 if bits == 8 else np.int16
        self.kind, self.attributes, self.kept = kind, attributes, ("y", "h")
        state = (directions, BATCH, HIDDEN)
        self.constants: dict[str, Any] = {
            "w": random.integers(-127, 128, (directions, rows, INPUTS), np.int8),
            "r": random.integers(-127, 128, (directions, rows, HIDDEN), np.int8),
            "ws": np.repeat(np.float32([0.008, 0.006, 0.004, 0.005])[: GATES[kind]], HIDDEN),
            "rs": np.repeat(np.float32([0.003, 0.005, 0.006, 0.004])[: GATES[kind]], HIDDEN),
            "B": random.normal(0, 0.4, (directions, 2 * rows)).astype(np.float32),
            "xs": np.float32(0.02 if bits == 8 else 0.02 / 256),
            "xz": values(-7 if bits == 8 else 0),
            "hs": np.float32(1 / 128 if bits == 8 else 1 / 32768),
            "hz": values(3 if bits == 8 else 0),
            "cs": np.float32(2.0**-12),
            "cz": np.int16(0),
            "h0": np.full(state, 3 if bits == 8 else 0, values),
            "c0": np.zeros(state, np.int16),
        }
        self.values = values
        self.nodes = [
            node("DequantizeLinear", ["q", "xs", "xz"], ["x"]),
            node("DequantizeLinear", ["w", "ws"], ["W"], axis=1),
            node("DequantizeLinear", ["r", "rs"], ["R"], axis=1),
            node("DequantizeLinear", ["h0", "hs", "hz"], ["H0"]),
            *([node("DequantizeLinear", ["c0", "cs", "cz"], ["C0"])] if kind == "LSTM" else []),
        ]
        self.operands = ["x", "W", "R", "B", "", "H0", *(["C0"] if kind == "LSTM" else [])]

    def model(self) -> Any:
        """The file."""
        direction = "bidirectional" if self.constants["w"].shape[0] == 2 else "forward"
        layer = node(
            self.kind, self.operands, ["Y", "YH"], name="n", hidden_size=HIDDEN,
            **{"direction": direction, **self.attributes},
        )  # fmt: skip
        ends = [node("QuantizeLinear", [name, "hs", "hz"], [out]) for name, out in (("Y", "y"), ("YH", "h"))]
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(self.values))
        held = [numpy_helper.from_array(np.asarray(array), name) for name, array in self.constants.items()]
        graph = helper.make_graph(
            [*self.nodes, layer, *ends], "g",
            [helper.make_tensor_value_info("q", kind, [STEPS, BATCH, INPUTS])],
            [helper.make_tensor_value_info(name, kind, None) for name in "yh"], held,
        )  # fmt: skip
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)

    def rewritten(self) -> tuple[Any, Any, list[str]]:
        """The graph of the file, the one behind all passes, and what was said of recurrences."""
        imported = load(self.model().SerializeToString(), operators=OPERATORS).graph
        result = rewrite(imported, OPERATORS, PASSES)
        return imported, result.graph, [each.message for each in result.diagnostics if each.code == "TW3030"]


FORMS = {
    "LSTM": Layer("LSTM"),
    "LSTM both ways": Layer("LSTM", directions=2),
    "LSTM backwards": Layer("LSTM", direction="reverse"),
    "LSTM of 16 bits": Layer("LSTM", bits=16),
    "GRU": Layer("GRU"),
    "GRU with the reset behind": Layer("GRU", linear_before_reset=1),
    "GRU both ways": Layer("GRU", directions=2, linear_before_reset=1),
    "GRU of 16 bits": Layer("GRU", bits=16),
}


@pytest.mark.parametrize("name", FORMS)
def test_integers_are_near_the_floats(name: str) -> None:
    layer = FORMS[name]
    before, graph, told = layer.rewritten()
    assert told == []
    steps = [each.op for each in graph.nodes if each.op not in ("Reshape", "Concat", "Transpose", "Slice")]
    assert steps == [f"Q{layer.kind}"] * layer.constants["w"].shape[0]
    random, (low, high) = np.random.default_rng(1), (np.iinfo(layer.values).min, np.iinfo(layer.values).max)
    given = {"q": random.integers(low, high, (STEPS, BATCH, INPUTS), endpoint=True).astype(layer.values)}
    wanted, found = run(before, given, OPERATORS), run(graph, given, OPERATORS)
    for output in "yh":
        apart = np.abs(found[output].astype(int) - wanted[output].astype(int))
        assert wanted[output].std() > (high - low) / 24  # of the range, so that being near says something
        assert apart.max() <= (4 if layer.values is np.int8 else 60)


def test_a_state_that_is_given_goes_on() -> None:
    layer = Layer("LSTM")
    layer.constants["h0"] = np.random.default_rng(4).integers(-128, 128, (1, BATCH, HIDDEN)).astype(np.int8)
    layer.constants["c0"] = np.random.default_rng(5).integers(-9000, 9000, (1, BATCH, HIDDEN)).astype(np.int16)
    before, graph, _ = layer.rewritten()
    assert len(graph.nodes[0].inputs) == 8
    given = {"q": np.zeros((STEPS, BATCH, INPUTS), np.int8)}
    wanted, found = run(before, given, OPERATORS)["y"], run(graph, given, OPERATORS)["y"]
    assert np.abs(wanted.astype(int) - found.astype(int)).max() <= 3


def test_a_clip_of_the_state_is_the_limit_of_the_cell() -> None:
    layer = Layer("LSTM")
    layer.constants |= {"low": np.float32(-2), "high": np.float32(2)}
    layer.nodes.append(node("Clip", ["C0", "low", "high"], ["limited"]))
    layer.operands[6] = "limited"
    (found,) = (each for each in layer.rewritten()[1].nodes if each.op == "QLSTM")
    assert found.integer("cell_limit") == 2 * 4096


def _rows_differ(layer: Layer) -> None:
    layer.constants["ws"] = layer.constants["ws"] * np.linspace(1, 2, layer.constants["ws"].size, dtype=np.float32)


def _float_weights(layer: Layer) -> None:
    layer.operands[1] = "plain"
    layer.constants["plain"] = layer.constants["w"].astype(np.float32)


def _bytes_beside_words(layer: Layer) -> None:
    layer.constants |= {"xs": np.float32(0.5), "xz": np.uint8(3)}
    layer.nodes[0] = node("DequantizeLinear", ["q8", "xs", "xz"], ["x"])
    layer.nodes.insert(0, node("Cast", ["q"], ["q8"], to=TensorProto.UINT8))


@pytest.mark.parametrize(
    ("change", "attributes", "said"),
    [
        (_rows_differ, {}, "several scales within a gate"),
        (_float_weights, {}, "are not quantised"),
        (_bytes_beside_words, {}, "its input is u8 and its state i8"),
        (lambda layer: layer.constants.update(cs=np.float32(2.0)), {}, "a step of its cell is 2"),
        (lambda layer: layer.constants.update(cz=np.int16(1)), {}, "zero point 0"),
        (lambda layer: layer.constants.update(B=layer.constants["B"] * np.float32(1e9)), {}, "does not fit 32 bits"),
        (lambda layer: layer.constants.update(xs=np.float32(99999.0)), {}, "so far apart"),
        (lambda layer: None, {"input_forget": 1}, "has no input_forget"),
        (lambda layer: None, {"clip": 3.0}, "has no clip"),
        (lambda layer: None, {"activations": ["Sigmoid", "Tanh", "Relu"]}, "not Sigmoid and Tanh"),
    ],
)
def test_what_has_no_integer_form_stays_and_is_told(change: Any, attributes: dict[str, Any], said: str) -> None:
    layer = Layer("LSTM", **attributes)
    change(layer)
    _, graph, told = layer.rewritten()
    assert "LSTMSteps" in {each.op for each in graph.nodes}
    assert len(told) == 1 and said in told[0]


def test_without_stored_states_nothing_is_said() -> None:
    layer = Layer("LSTM")
    layer.operands = layer.operands[:4]
    _, graph, told = layer.rewritten()
    assert "LSTMSteps" in {each.op for each in graph.nodes} and told == []
