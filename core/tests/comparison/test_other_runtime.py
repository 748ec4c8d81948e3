"""Other runtimes hand out the values of every node that is asked for; what they cannot do is said in their words."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.builtin import tilewright_operators
from tilewright.comparison.other_runtime import (
    RUNTIMES,
    NodeAgreement,
    agreements,
    demand_runtime,
    first_suspicious,
    values_from,
)
from tilewright.comparison.reference import run
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

X = np.array([[-1, 2]], np.float32)


def _model(*ops: str) -> bytes:
    """A chain of nodes, x -> v0 -> v1 ..."""
    names = ["x", *(f"v{index}" for index in range(len(ops)))]
    nodes = [helper.make_node(op, [names[index]], [names[index + 1]]) for index, op in enumerate(ops)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in (names[0], names[-1])]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_values_inside_are_there_too(runtime: str) -> None:
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
    (found,) = values_from(runtime, _model("Neg", "Relu", "Abs"), {"v1", "v2", "absent"}, [{"x": X}])
    assert {name: values.tolist() for name, values in found.items()} == {"v1": [[1, 0]], "v2": [[1, 0]]}


def test_a_runtime_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(TilewrightError) as caught:
        values_from("onnxruntime", _model("Relu"), (), [{"x": X}])
    assert (caught.value.code, caught.value.exit_code) == ("TW7031", Exit.TOOLCHAIN)
    assert "pip install onnxruntime" in str(caught.value)


def test_a_runtime_is_demanded_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    demand_runtime("onnx-reference")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(TilewrightError) as caught:
        demand_runtime("onnxruntime")
    assert (caught.value.code, caught.value.exit_code) == ("TW7031", Exit.TOOLCHAIN)
    assert not any("always" in line for line in caught.value.fix)


@pytest.mark.parametrize("opset", [10, 13, 17, 19, 21])
def test_onnx_reference_dequantises_in_every_operator_set(opset: int) -> None:
    """It has DequantizeLinear from 19 on; what was there before means the same."""
    axis = {"axis": 0} if opset >= 13 else {}
    node = helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"], **axis)
    scale, zero = (
        (np.array([0.5, 0.25], np.float32), np.array([1, -1], np.int8)) if axis else (np.float32(0.5), np.int8(1))
    )
    constants = [numpy_helper.from_array(np.asarray(value), name) for name, value in (("s", scale), ("z", zero))]
    ends = [
        helper.make_tensor_value_info("x", TensorProto.INT8, [2, 2]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 2]),
    ]
    graph = helper.make_graph([node], "net", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    x = np.array([[3, -5], [7, 127]], np.int8)
    (found,) = values_from("onnx-reference", model.SerializeToString(), (), [{"x": x}])
    scales, zeros = (np.reshape(value, (-1, 1)).astype(np.float32) for value in (scale, zero))
    np.testing.assert_array_equal(found["y"], (x - zeros) * scales)


def test_a_model_that_it_cannot_run() -> None:
    model = onnx.ModelProto.FromString(_model("Relu"))
    model.graph.node[0].domain = "nobody.knows"
    with pytest.raises(TilewrightError) as caught:
        values_from("onnx-reference", model.SerializeToString(), (), [{"x": X}])
    assert caught.value.code == "TW7032"
    assert caught.value.details
    assert caught.value.fix[0].endswith("--against onnxruntime")


OPERATORS = {operator.name: operator for operator in tilewright_operators()}
SPREAD = np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 16)
Values = dict[str, npt.NDArray[Any]]


def _network() -> Graph:
    """Padded, quantised, dequantised."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (2, 16))
    value = sketch.node("Pad", (x,), {"pads": (0, 1, 0, 1), "mode": "constant", "value": 0.0}, "pad")
    return sketch.finish(sketch.dequantize(sketch.quantize(value, 1 / 64, 0), 1 / 64))


def _compared(change: Values | None = None, *, rounds: bool = True) -> tuple[NodeAgreement, ...]:
    graph = _network()
    ours = run(graph, {"x": SPREAD}, OPERATORS)
    theirs = run(graph, {"x": SPREAD}, OPERATORS) | (change or {})
    return agreements(graph, [ours], [theirs], rounds=rounds)


def _values() -> tuple[list[str], Values]:
    graph = _network()
    return [name for node in graph.nodes for name in node.outputs], run(graph, {"x": SPREAD}, OPERATORS)


def test_equal_values_are_nothing_apart() -> None:
    found = _compared()
    assert [one.op for one in found] == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    assert [one.output for one in found] == [False, False, True]
    assert not any(one.drift.verdict.different for one in found)
    assert first_suspicious(found) is None


def test_what_roundings_may_do_is_not_suspicious() -> None:
    (pad, quantised, _), values = _values()
    next_to = np.nextafter(np.nextafter(values[pad], np.float32(9)), np.float32(9))
    steps = values[quantised].copy()
    steps.flat[3] -= 1
    found = _compared({pad: next_to, quantised: steps})
    assert [one.drift.verdict.different for one in found] == [next_to.size, 1, 0]
    assert first_suspicious(found) is None


def test_the_first_suspicious_node_is_the_first_that_is_far_away() -> None:
    (pad, _, output), values = _values()
    found = _compared({pad: values[pad] + np.float32(1), output: values[output] * np.float32(3)})
    suspect = first_suspicious(found)
    assert suspect is not None
    assert suspect.op == "Pad"


def test_values_of_another_type_are_not_compared() -> None:
    (_, quantised, _), values = _values()
    found = _compared({quantised: values[quantised].astype(np.uint8)})
    assert [one.op for one in found] == ["Pad", "DequantizeLinear"]
