"""Other runtimes hand out the values of every node that is asked for; what they cannot do is said in their words."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.comparison.other_runtime import RUNTIMES, values_from
from tilewright.errors import Exit, TilewrightError

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


def test_a_model_that_it_cannot_run() -> None:
    model = onnx.ModelProto.FromString(_model("Relu"))
    model.graph.node[0].domain = "nobody.knows"
    with pytest.raises(TilewrightError) as caught:
        values_from("onnx-reference", model.SerializeToString(), (), [{"x": X}])
    assert caught.value.code == "TW7032"
    assert caught.value.details
    assert caught.value.fix[0].endswith("--against onnxruntime")
