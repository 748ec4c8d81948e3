"""Networks of every family with drawn weights, and what they compute, by the reference implementation in `onnx`.

Shapes and structure are those of the reference networks of MLPerf Tiny (keyword spotting, image classification, visual
wake words, anomaly detection); an attention block and a recurrent cell are beside them. The same bytes everywhere:
weights come from a hash. Networks are made when first asked for, and kept in `.networks`. The variable
TILEWRIGHT_TEST_NETWORKS names a folder with trained ones of the same names and shapes to be used instead.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = npt.NDArray[Any]
ROOT = Path(__file__).resolve().parents[2]
SETS = 3  # of inputs, and of what comes out
SAME = [1, 1, 1, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A tensor of the network that is being written; `spread` is about the root of its mean square, `scale` and
    `zero_point` are those it was last quantised with (0 where it never was)."""

    name: str
    shape: tuple[int, ...]
    spread: float
    scale: float = 0.0
    zero_point: int = 0


@dataclass(slots=True, kw_only=True)
class Writer:
    """A network being written, with 8-bit numbers or with floats."""

    name: str
    quantised: bool
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    outputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    reals: dict[str, str] = field(default_factory=dict)  # what was made floats, once for all its readers

    def drawn(self, *shape: int) -> Array:
        """Integers from -127 to 127, all as likely; others for every call."""
        seed = f"{self.name} {len(self.constants)}".encode()
        data = np.frombuffer(hashlib.shake_256(seed).digest(math.prod(shape)), np.uint8)
        return (data.astype(np.int32) % 255 - 127).reshape(shape)

    def constant(self, array: Array) -> str:
        """The name of a constant."""
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        return str(self.constants[-1].name)

    def node(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        """The name of a new node's only output."""
        self.nodes.append(helper.make_node(op, inputs, [f"{op.lower()}_{len(self.nodes)}"], **attributes))
        return str(self.nodes[-1].output[0])

    def input(self, name: str, *shape: int, scale: float = 1 / 32, zero_point: int = 3) -> Value:
        """An input: every 8-bit number as likely as another, or floats with that distribution."""
        kind = TensorProto.INT8 if self.quantised else TensorProto.FLOAT
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return Value(name=name, shape=shape, spread=74 * scale, scale=scale, zero_point=zero_point)

    def output(self, value: Value, name: str) -> None:
        """An output of the network, under a name of its own."""
        kind = TensorProto.INT8 if self.quantised else TensorProto.FLOAT
        self.nodes[-1].output[0] = name
        self.outputs.append(helper.make_tensor_value_info(name, kind, value.shape))

    def moved(self, op: str, value: Value, shape: Sequence[int], *more: str, **attributes: Any) -> Value:
        """Elements in another order or shape."""
        name = self.node(op, [value.name, *more], **attributes)
        return Value(name=name, shape=tuple(shape), spread=value.spread, scale=value.scale, zero_point=value.zero_point)

    def reshaped(self, value: Value, *shape: int) -> Value:
        return self.moved("Reshape", value, shape, self.constant(np.array(shape, np.int64)))

    def transposed(self, value: Value, *axes: int) -> Value:
        return self.moved("Transpose", value, [value.shape[axis] for axis in axes], perm=axes)

    def real(self, value: Value) -> str:
        """The value as floats."""
        if not self.quantised:
            return value.name
        if value.name not in self.reals:
            numbers = np.float32(value.scale), np.int8(value.zero_point)
            constants = [self.constant(np.array(each)) for each in numbers]
            self.reals[value.name] = self.node("DequantizeLinear", [value.name, *constants])
        return self.reals[value.name]

    def stored(
        self, name: str, shape: Sequence[int], spread: float, *, positive: bool = False, like: Value | None = None
    ) -> Value:
        """Floats, quantised where the network is: of three times their spread, or like another value."""
        reach = spread * (1 + float(self.drawn(1)[0]) / 1200)  # no scale is a simple multiple of another
        scale, zero_point = (4 * reach / 255, -128) if positive else (6 * reach / 255, 5)
        if like is not None:
            scale, zero_point = like.scale, like.zero_point
        if self.quantised:
            numbers = np.float32(scale), np.int8(zero_point)
            name = self.node("QuantizeLinear", [name, *(self.constant(np.array(each)) for each in numbers)])
        return Value(name=name, shape=tuple(shape), spread=spread, scale=scale, zero_point=zero_point)

    def weights(self, numbers: Array, scales: Array) -> str:
        """Weights with a scale for each index of their first axis, or one for all."""
        fitting = scales.reshape(-1, *[1] * (numbers.ndim - 1)) if scales.ndim else scales
        if not self.quantised:
            return self.constant((numbers * fitting).astype(np.float32))
        zeros = self.constant(np.zeros(scales.shape, numbers.dtype))
        axis = {"axis": 0} if scales.ndim else {}
        return self.node("DequantizeLinear", [self.constant(numbers), self.constant(scales), zeros], **axis)

    def relu(self, name: str, shape: Sequence[int], spread: float) -> Value:
        """What is above zero of a sum whose spread is the root of 2 as large."""
        return self.stored(self.node("Relu", [name]), shape, spread, positive=True)

    def conv(
        self,
        value: Value,
        channels: int,
        kernel: tuple[int, int],
        *,
        strides: tuple[int, int] = (1, 1),
        pads: Sequence[int] = (0, 0, 0, 0),
        groups: int = 1,
        relu: bool = True,
        dead: bool = False,
    ) -> Value:
        """A convolution. `dead`: it does not look at every second channel."""
        numbers = self.drawn(channels, value.shape[1] // groups, *kernel).astype(np.int8)
        if dead:
            numbers[:, 1::2] = 0
        reach = math.prod(numbers.shape[1:]) // (2 if dead else 1)
        scales = (1 + self.drawn(channels) / 512).astype(np.float32) * np.float32(1 / (74 * math.sqrt(reach)))
        scales *= np.float32(math.sqrt(2) if relu else 1)
        bias = self.drawn(channels) * np.int32(max(1, round(math.sqrt(reach) * 20)))
        size = [
            (extent + pads[axis] + pads[axis + 2] - kernel[axis]) // strides[axis] + 1
            for axis, extent in enumerate(value.shape[2:])
        ]
        operands = [self.real(value), self.weights(numbers, scales)]
        operands.append(self.weights(bias.astype(np.int32), scales * np.float32(value.scale)))
        name = self.node("Conv", operands, kernel_shape=kernel, strides=strides, pads=pads, group=groups)
        shape = (1, channels, *size)
        return self.relu(name, shape, value.spread) if relu else self.stored(name, shape, value.spread)

    def depthwise(self, value: Value, strides: tuple[int, int] = (1, 1), pads: Sequence[int] = SAME) -> Value:
        return self.conv(value, value.shape[1], (3, 3), strides=strides, pads=pads, groups=value.shape[1])

    def added(self, one: Value, other: Value, *, relu: bool) -> Value:
        spread = math.hypot(one.spread, other.spread) / (math.sqrt(2) if relu else 1)
        name = self.node("Add", [self.real(one), self.real(other)])
        return self.relu(name, one.shape, spread) if relu else self.stored(name, one.shape, spread)

    def dense(self, value: Value, units: int, activation: str = "", gain: float = 1.0) -> Value:
        """A matrix product with one scale, as MatMul and Add."""
        numbers = self.drawn(value.shape[-1], units).astype(np.int8)
        gain *= math.sqrt(2) if activation == "Relu" else 1
        scale = np.float32(gain / (74 * math.sqrt(value.shape[-1])))
        product = self.node("MatMul", [self.real(value), self.weights(numbers, np.array(scale))])
        bias = self.weights(self.drawn(units) * np.int32(40), np.array(scale * np.float32(value.scale)))
        name, shape = self.node("Add", [product, bias]), (*value.shape[:-1], units)
        if activation == "Relu":
            return self.relu(name, shape, value.spread)
        if activation:
            return self.stored(self.node(activation, [name]), shape, 0.5)
        return self.stored(name, shape, value.spread * gain)

    def average(self, value: Value) -> Value:
        """The mean of each whole channel, with the scale of what it is the mean of."""
        window = value.shape[2:]
        name = self.node("AveragePool", [self.real(value)], kernel_shape=window, strides=window)
        return self.stored(name, (*value.shape[:2], 1, 1), value.spread, like=value)

    def softmax(self, value: Value) -> Value:
        """Probabilities, in steps of 1/256."""
        steps = Value(name="", shape=value.shape, spread=0.5, scale=1 / 256, zero_point=-128)
        return self.stored(self.node("Softmax", [self.real(value)], axis=-1), value.shape, 0.5, like=steps)

    def product(self, one: Value, other: Value, gain: float) -> Value:
        """A product of two activations."""
        name = self.node("MatMul", [self.real(one), self.real(other)])
        spread = one.spread * other.spread * math.sqrt(one.shape[-1]) * gain
        return self.stored(name, (*one.shape[:-1], other.shape[-1]), spread)

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        onnx.checker.check_model(made)
        return made


def keywords(writer: Writer) -> None:
    """Convolutions over time and depthwise ones: DS-CNN."""
    value = writer.reshaped(writer.input("input_1", 1, 49, 10, 1), 1, 1, 49, 10)
    value = writer.conv(value, 64, (10, 4), strides=(2, 2), pads=[4, 1, 5, 1])
    for _ in range(4):
        value = writer.conv(writer.depthwise(value), 64, (1, 1))
    logits = writer.dense(writer.reshaped(writer.average(value), 1, 64), 12, gain=2.0)
    writer.output(writer.softmax(logits), "Identity")


def residual(writer: Writer) -> None:
    """Three residual blocks: ResNet-8."""
    value = writer.transposed(writer.input("input_1", 1, 32, 32, 3), 0, 3, 1, 2)
    value = writer.conv(value, 16, (3, 3), pads=SAME)
    for channels in (16, 32, 64):
        narrower = channels > 16
        around = writer.conv(value, channels, (1, 1), strides=(2, 2), relu=False) if narrower else value
        strides, pads = ((2, 2), [0, 0, 1, 1]) if narrower else ((1, 1), SAME)
        inside = writer.conv(value, channels, (3, 3), strides=strides, pads=pads)
        inside = writer.conv(inside, channels, (3, 3), pads=SAME, relu=False)
        value = writer.added(around, inside, relu=True)
    logits = writer.dense(writer.reshaped(writer.average(value), 1, 64), 10, gain=2.8)
    writer.output(writer.softmax(logits), "Identity")


def wake_words(writer: Writer) -> None:
    """Depthwise convolutions, each followed by one that mixes channels and ignores half of them: MobileNetV1-0.25."""
    value = writer.transposed(writer.input("input_1", 1, 96, 96, 3), 0, 3, 1, 2)
    value = writer.conv(value, 8, (3, 3), strides=(2, 2), pads=[0, 0, 1, 1])
    for channels, stride in (
        (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1),
    ):  # fmt: skip
        pads = SAME if stride == 1 else [0, 0, 1, 1]
        value = writer.conv(writer.depthwise(value, (stride, stride), pads), channels, (1, 1), dead=True)
    logits = writer.dense(writer.reshaped(writer.average(value), 1, 256), 2, gain=2.0)
    writer.output(writer.softmax(logits), "Identity")


def autoencoder(writer: Writer) -> None:
    """Matrix products through a narrow middle."""
    value = writer.input("input_1", 1, 640)
    for units in (128, 128, 128, 128, 8, 128, 128, 128, 128):
        value = writer.dense(value, units, "Relu")
    writer.output(writer.dense(value, 640), "Identity")


def attention(writer: Writer) -> None:
    """One head over 16 words of 32 numbers, with a residual, and two layers behind it."""
    words = writer.input("words", 1, 16, 32)
    asked, key, carried = (writer.dense(words, 32) for _ in range(3))
    weights = writer.softmax(writer.product(asked, writer.transposed(key, 0, 2, 1), 0.2))
    mixed = writer.added(words, writer.dense(writer.product(weights, carried, 0.2), 32), relu=False)
    writer.output(writer.dense(writer.dense(mixed, 64, "Relu"), 32), "Identity")


def recurrent(writer: Writer) -> None:
    """A cell: its state is an input and an output, and what it answers another output."""
    sound, state = writer.input("sound", 1, 24), writer.input("state", 1, 32)
    mixed = writer.added(writer.dense(sound, 32), writer.dense(state, 32), relu=False)
    after = writer.stored(writer.node("Tanh", [writer.real(mixed)]), mixed.shape, 0.5, like=state)
    writer.output(after, "state_after")
    writer.output(writer.dense(Value(name="state_after", shape=after.shape, spread=0.5, scale=after.scale,
                                     zero_point=after.zero_point), 4), "Identity")  # fmt: skip


FAMILIES: Mapping[str, Callable[[Writer], None]] = {
    "kws": keywords,
    "resnet8": residual,
    "vww": wake_words,
    "ad": autoencoder,
    "attention": attention,
    "recurrent": recurrent,
}
INTEGER = ("kws_int8", "resnet8_int8", "vww_int8", "ad_int8")
NETWORKS = (*INTEGER, "resnet8_f32")
MORE_NETWORKS = ("attention_int8", "attention_f32", "recurrent_int8", "recurrent_f32", "kws_f32")


def made(name: str) -> onnx.ModelProto:
    """A network, such as `kws_int8` or `kws_f32`."""
    family, kind = name.split("_")
    writer = Writer(name=name, quantised=kind == "int8")
    FAMILIES[family](writer)
    return writer.model()


def answers(name: str, model: onnx.ModelProto) -> dict[str, Array]:
    """Inputs and outputs, under `setK/in/NAME` and `setK/out/NAME`."""
    evaluator, found = ReferenceEvaluator(model), {}
    for index in range(SETS):
        feeds = {}
        for value in model.graph.input:
            shape = tuple(axis.dim_value for axis in value.type.tensor_type.shape.dim)
            seed = f"{name} {index} {value.name}".encode()
            drawn = np.frombuffer(hashlib.shake_256(seed).digest(math.prod(shape)), np.int8).reshape(shape)
            is_float = value.type.tensor_type.elem_type == TensorProto.FLOAT
            feeds[value.name] = drawn.astype(np.float32) / np.float32(32) if is_float else drawn
        outputs = [value.name for value in model.graph.output]
        found |= {f"set{index}/in/{key}": array for key, array in feeds.items()}
        results = zip(outputs, evaluator.run(None, feeds), strict=True)
        found |= {f"set{index}/out/{key}": np.asarray(array) for key, array in results}
    return found


def network_file(name: str) -> Path:
    """The file of a network, such as `kws_int8`; beside it is `NAME.io.npz` with inputs and outputs."""
    elsewhere = os.environ.get("TILEWRIGHT_TEST_NETWORKS")
    if elsewhere and (found := Path(elsewhere) / f"{name}.onnx").exists():
        return found
    key = hashlib.sha256(Path(__file__).read_bytes() + f"{onnx.__version__} {np.__version__}".encode()).hexdigest()
    path = ROOT / ".networks" / key[:12] / f"{name}.onnx"
    if not path.exists():
        _write(name, path)
    return path


def vectors_file(name: str) -> Path:
    """The file with a network's inputs and outputs."""
    return network_file(name).with_suffix(".io.npz")


def _write(name: str, path: Path) -> None:
    """The network last, so that who sees it sees its answers; several processes may write the same at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    model = made(name)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        np.savez_compressed(Path(scratch) / "io.npz", **answers(name, model))
        (Path(scratch) / "model").write_bytes(model.SerializeToString(deterministic=True))
        (Path(scratch) / "io.npz").replace(path.with_suffix(".io.npz"))
        (Path(scratch) / "model").replace(path)
