"""Models with one mistake each, as exporters, scripts and hands make them: refused with a code, and nothing written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from small_models import model, one

node = helper.make_node
F32 = np.float32
ZERO = np.int8(0)


def right() -> ModelProto:
    """A convolution and a Relu: `x` 1x2x6x6, `y` 1x3x6x6, layers `conv` and `act`."""
    weights = np.random.default_rng(0).standard_normal((3, 2, 3, 3)).astype(F32)
    return model(
        node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["y"], name="act"),
        inputs={"x": (1, 2, 6, 6)},
        constants={"w": weights},
    )


def relu(**changes: Any) -> ModelProto:
    """One Relu."""
    return model(node("Relu", ["x"], ["y"], name="r"), **changes)


def edited(change: Callable[[ModelProto], Any], made: ModelProto | None = None) -> ModelProto:
    """A right model after `change`."""
    made = made or right()
    change(made)
    return made


def quantised(scale: Any, zero: Any = ZERO, **changes: Any) -> ModelProto:
    """QuantizeLinear and DequantizeLinear."""
    return model(
        node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quant"),
        node("DequantizeLinear", ["q", "s", "z"], ["y"], name="dequant"),
        constants={"s": scale, "z": zero},
        **changes,
    )


def _output_type(made: ModelProto, element: int) -> None:
    made.graph.output[0].type.tensor_type.elem_type = element


def _recursive() -> ModelProto:
    made = model(node("F", ["x"], ["y"], domain="me"), domains=["me"])
    body = helper.make_function(
        "me",
        "F",
        ["a"],
        ["b"],
        [node("F", ["a"], ["b"], domain="me")],
        [helper.make_opsetid("", 17), helper.make_opsetid("me", 1)],
    )
    made.functions.append(body)
    return made


def _string_attribute(made: ModelProto) -> None:
    made.graph.node[0].attribute[0].CopyFrom(helper.make_attribute("pads", "same"))


def _sequence_input(made: ModelProto) -> None:
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, (1, 4))
    made.graph.input[0].CopyFrom(helper.make_value_info("x", helper.make_sequence_type_proto(element)))


def _raw(values: bytes, kind: int = TensorProto.FLOAT, dims: Sequence[int] = (1, 4)) -> Callable[[ModelProto], None]:
    tensor = TensorProto(name="w", data_type=kind, dims=dims, raw_data=values)
    return lambda made: made.graph.initializer.append(tensor)


def _ops(count: int) -> ModelProto:
    return model(
        *(node("Add", [f"v{i}", "w"], [f"v{i + 1}"]) for i in range(count)),
        inputs={"v0": (1,)},
        outputs=[f"v{count}"],
        constants={"w": F32(1)},
    )


ADD = node("Add", ["x", "w"], ["y"], name="add")

# what is wrong -> (model, code, exit code, what the message says)
MODELS: Mapping[str, tuple[Callable[[], ModelProto], str, int, str]] = {
    "no nodes, no outputs": (lambda: model(outputs=()), "TW1217", 3, "no outputs"),
    "no output declared": (lambda: relu(outputs=()), "TW1217", 3, "no outputs"),
    "an output that nothing writes": (lambda: relu(outputs=("z",)), "TW2103", 4, "written by no node"),
    "an output that is the input": (lambda: relu(outputs=("x",)), "TW2103", 4, "is an input"),
    "no operator set": (lambda: edited(lambda m: m.ClearField("opset_import")), "TW1204", 3, "opset"),
    "an operator set of the future": (lambda: relu(opset=99), "TW1204", 3, "99"),
    "an operator set that is 0": (lambda: relu(opset=0), "TW1204", 3, ""),
    "a domain without its operator set": (
        lambda: model(node("Gelu", ["x"], ["y"], domain="com.microsoft")),
        "TW1218",
        3,
        "com.microsoft",
    ),
    "an operator of onnxruntime": (
        lambda: model(node("FusedConv", ["x"], ["y"], domain="com.microsoft"), domains=["com.microsoft"]),
        "TW2101",
        4,
        "FusedConv",
    ),
    "a mistyped operator": (lambda: one("Rleu"), "TW2101", 4, "Rleu"),
    "an operator in small letters": (lambda: one("relu"), "TW2101", 4, "relu"),
    "an attribute too many": (lambda: one("Relu", inplace=1), "TW2101", 4, "inplace"),
    "a loop": (lambda: one("Loop", body=relu().graph), "TW2101", 4, "Loop"),
    "a batch norm that trains": (
        lambda: one(
            "BatchNormalization", constants={n: np.ones(2, F32) for n in "abcd"}, shape=(1, 2, 3, 3), training_mode=1
        ),
        "TW2101",
        4,
        "training",
    ),
    "a cast to text": (lambda: one("Cast", to=TensorProto.STRING), "TW2101", 4, "string"),
    "a value that nobody writes": (lambda: model(node("Add", ["x", "lost"], ["y"])), "TW1209", 3, "lost"),
    "a circle": (
        lambda: model(node("Add", ["x", "b"], ["a"], name="p"), node("Relu", ["a"], ["b"], name="q"), outputs=["b"]),
        "TW1207",
        3,
        "p",
    ),
    "a value written twice": (lambda: model(node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])), "TW1208", 3, "y"),
    "two inputs of one name": (lambda: edited(lambda m: m.graph.input.append(m.graph.input[0])), "TW1208", 3, "x"),
    "two initialisers of one name": (
        lambda: edited(lambda m: m.graph.initializer.append(m.graph.initializer[0])),
        "TW1208",
        3,
        "w",
    ),
    "a node without an output": (
        lambda: model(node("Relu", ["x"], ["y"]), node("Relu", ["x"], [])),
        "TW1217",
        3,
        "no output",
    ),
    "a node without its input": (lambda: model(node("Relu", [], ["y"])), "TW1218", 3, "Relu"),
    "a node with too many inputs": (lambda: model(node("Relu", ["x", "x"], ["y"])), "TW1218", 3, "2 inputs"),
    "a function that calls itself": (_recursive, "TW1214", 3, "F"),
    "weights of other channels": (
        lambda: one("Conv", constants={"w": np.zeros((3, 5, 3, 3), F32)}, shape=(1, 2, 6, 6)),
        "TW2101",
        4,
        "do not divide",
    ),
    "groups that divide nothing": (
        lambda: one("Conv", constants={"w": np.zeros((3, 2, 1, 1), F32)}, shape=(1, 4, 6, 6), group=2),
        "TW2101",
        4,
        "groups",
    ),
    "a kernel larger than the image": (
        lambda: one("Conv", constants={"w": np.zeros((1, 1, 9, 9), F32)}, shape=(1, 1, 4, 4)),
        "TW1310",
        3,
        "",
    ),
    "a kernel_shape that is not the weights'": (
        lambda: one("Conv", constants={"w": np.zeros((1, 1, 3, 3), F32)}, shape=(1, 1, 6, 6), kernel_shape=[5, 5]),
        "TW2101",
        4,
        "kernel_shape",
    ),
    "a stride of 0": (
        lambda: one("Conv", constants={"w": np.zeros((1, 1, 3, 3), F32)}, shape=(1, 1, 6, 6), strides=[0, 0]),
        "TW1218",
        3,
        "strides",
    ),
    "a dilation of 0": (
        lambda: one("Conv", constants={"w": np.zeros((1, 1, 3, 3), F32)}, shape=(1, 1, 6, 6), dilations=[0, 0]),
        "TW1218",
        3,
        "dilations",
    ),
    "one pad of four": (
        lambda: one("Conv", constants={"w": np.zeros((1, 1, 3, 3), F32)}, shape=(1, 1, 6, 6), pads=[1]),
        "TW2101",
        4,
        "pads",
    ),
    "a pool of size 0": (lambda: one("MaxPool", shape=(1, 1, 4, 4), kernel_shape=[0, 0]), "TW1218", 3, "kernel_shape"),
    "a pool of an image without channels": (
        lambda: one("MaxPool", shape=(4,), kernel_shape=[2]),
        "TW1218",
        3,
        "rank >= 3",
    ),
    "matrices that do not fit": (lambda: one("MatMul", constants={"w": np.zeros((5, 3), F32)}), "TW1310", 3, ""),
    "a Gemm that is transposed once too often": (
        lambda: one("Gemm", constants={"w": np.zeros((4, 3), F32)}, transB=1),
        "TW1310",
        3,
        "",
    ),
    "a bias of another length": (
        lambda: one("Gemm", constants={"w": np.zeros((4, 3), F32), "b": np.zeros(5, F32)}),
        "TW1310",
        3,
        "",
    ),
    "shapes that do not broadcast": (lambda: model(ADD, constants={"w": np.zeros(3, F32)}), "TW1310", 3, ""),
    "integers added to floats": (lambda: model(ADD, constants={"w": np.zeros(4, np.int32)}), "TW1218", 3, ""),
    "a reshape to more elements": (
        lambda: one("Reshape", constants={"s": np.array([3, 3])}),
        "TW2101",
        4,
        "4 elements",
    ),
    "a reshape with two -1": (lambda: one("Reshape", constants={"s": np.array([-1, -1])}), "TW2101", 4, "-1"),
    "a reshape to a computed shape": (
        lambda: model(node("Cast", ["x"], ["s"], to=TensorProto.INT64), node("Reshape", ["x", "s"], ["y"])),
        "TW1218",
        3,
        "rank 1",
    ),
    "a permutation that is none": (lambda: one("Transpose", perm=[0, 0]), "TW1310", 3, "permutation"),
    "a softmax along axis 5": (lambda: one("Softmax", axis=5), "TW2101", 4, "axis 5"),
    "a concatenation of unlike shapes": (
        lambda: model(node("Concat", ["x", "w"], ["y"], axis=1), constants={"w": np.zeros((2, 4), F32)}),
        "TW1310",
        3,
        "",
    ),
    "a gather beyond the end": (lambda: one("Gather", constants={"i": np.array([9])}, axis=1), "TW2101", 4, "9"),
    "a slice in steps of 0": (
        lambda: one(
            "Slice", constants={"s": np.array([0]), "e": np.array([4]), "a": np.array([1]), "t": np.array([0])}
        ),
        "TW2101",
        4,
        "step",
    ),
    "a split that loses elements": (
        lambda: model(
            node("Split", ["x", "s"], ["y", "z"], axis=1), outputs=("y", "z"), constants={"s": np.array([1, 1])}
        ),
        "TW2101",
        4,
        "parts",
    ),
    "a squeeze of a long axis": (lambda: one("Squeeze", constants={"a": np.array([1])}), "TW2101", 4, "extent 1"),
    "an integer divided by 0": (
        lambda: model(
            node("Div", ["a", "b"], ["c"]),
            node("Reshape", ["x", "c"], ["y"]),
            constants={"a": np.array([4]), "b": np.array([0])},
        ),
        "TW1218",
        3,
        "0",
    ),
    "pads of text": (lambda: edited(_string_attribute), "TW1213", 3, "pads"),
    "eight bits of a float": (lambda: relu(element=TensorProto.FLOAT8E5M2), "TW2102", 4, "float8e5m2"),
    "text as input": (lambda: relu(element=TensorProto.STRING), "TW2102", 4, "string"),
    "a sequence as input": (lambda: edited(_sequence_input, relu()), "TW2102", 4, "sequence"),
    "an input without a shape": (
        lambda: edited(lambda m: m.graph.input[0].type.tensor_type.ClearField("shape"), relu()),
        "TW1205",
        3,
        "no shape",
    ),
    "a length without a number": (lambda: relu(inputs={"x": (1, "length")}), "TW1205", 3, "--dim length=1"),
    "a negative batch": (lambda: relu(inputs={"x": (-2, 4)}), "TW1206", 3, "negative"),
    "a video in 8K": (lambda: relu(inputs={"x": (64, 3, 4320, 7680)}), "TW1206", 3, "limit"),
    "weights cut off": (lambda: edited(_raw(b"\0" * 15), model(ADD)), "TW1211", 3, "15 bytes"),
    "weights of a float of 8 bits": (
        lambda: edited(_raw(b"\0" * 4, TensorProto.FLOAT8E5M2), model(ADD)),
        "TW2101",
        4,
        "float8e5m2",
    ),
    "weights of 4 bits": (lambda: edited(_raw(b"\0" * 2, TensorProto.INT4), model(ADD)), "TW2101", 4, "int4"),
    "weights of a type that is none": (lambda: edited(_raw(b"\0" * 16, 77), model(ADD)), "TW2101", 4, "77"),
    "a declared output of another type": (
        lambda: edited(lambda m: _output_type(m, TensorProto.INT8)),
        "TW1212",
        3,
        "declared",
    ),
    "a scale of 0": (lambda: quantised(F32(0)), "TW3051", 3, "scale"),
    "a negative scale": (lambda: quantised(F32(-0.5)), "TW3051", 3, "scale"),
    "a scale that is NaN": (lambda: quantised(F32("nan")), "TW3051", 3, "scale"),
    "two zero points for one scale": (lambda: quantised(F32(0.5), np.zeros(2, np.int8)), "TW3052", 3, "zero point"),
    "a zero point of 4 bytes": (lambda: quantised(F32(0.5), np.int32(3)), "TW3052", 3, ""),
    "a tensor of 40 dimensions": (lambda: relu(inputs={"x": (1,) * 40}), "TW1203", 3, "dimensions"),
    "sparse weights": (lambda: edited(lambda m: m.graph.sparse_initializer.add()), "TW1217", 3, "sparse"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_wrong_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Any, demand_proper: Callable[..., None]
) -> None:
    make, code, exit_code, says = MODELS[name]
    monkeypatch.chdir(tmp_path)
    onnx.save(make(), tmp_path / "m.onnx")
    finished = typed("compile m.onnx -t generic -o out")
    demand_proper(finished, code, exit_code, says)
    assert finished.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]
