"""Small networks over windows of a stream, with random weights, int8 as QDQ but for one: ONNX files in a folder.

python networks.py FOLDER [NAME ...]      all, or those named: ds_cnn, ecg, mel_gru, tcn, tcn_unpadded,
tcn_frames, tcn_cached
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

STEP = 4 / 127  # of every value: weights are drawn so that values are about normal
Array = np.ndarray


class Network:
    """A network being written down. Methods take and return names of dequantised values."""

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        """One input `x`, int8."""
        self.name = name
        self.generator = np.random.default_rng(len(name))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.channels: dict[str, int] = {}
        self.caches: dict[str, list[int]] = {}
        self.shape = list(shape)
        self.x = self._dequantised("x", shape[1])

    def conv(self, x: str, channels: int, kernel: Sequence[int], *, group: int = 1, **attributes: Sequence[int]) -> str:
        """A convolution with weights and bias, both quantised."""
        inputs = self.channels[x] // group
        fan = inputs * int(np.prod(kernel))
        weights = self.generator.normal(size=(channels, inputs, *kernel)) * 1.4 / np.sqrt(fan)
        bias = self.generator.normal(size=channels) * 0.1
        parts = (x, self._weights(weights), self._bias(bias, weights))
        return self._node("Conv", parts, channels, kernel_shape=list(kernel), group=group, **attributes)

    def dense(self, x: str, classes: int) -> str:
        """The last layer: the mean over all positions, and a product."""
        pooled = self._node("GlobalAveragePool", (x,), self.channels[x])
        flat = self._node("Flatten", (pooled,), self.channels[x])
        weights = self.generator.normal(size=(classes, self.channels[x])) * 4
        return self._node(
            "Gemm", (flat, self._weights(weights), self._bias(np.zeros(classes), weights)), classes, transB=1
        )

    def relu(self, x: str) -> str:
        """Of what is quantised already."""
        return self._node("Relu", (x,), self.channels[x])

    def add(self, one: str, other: str) -> str:
        """Two values of one shape."""
        return self._node("Add", (one, other), self.channels[one])

    def cut(self, x: str, elements: int) -> str:
        """Without the first elements of the last axis."""
        numbers = [self._constant(np.array([value]), word) for word, value in
                   (("starts", elements), ("ends", 2**31), ("axes", 2))]  # fmt: skip
        return self._node("Slice", (x, *numbers), self.channels[x])

    def pad(self, x: str, before: int) -> str:
        """Zeros before the first element of the last axis."""
        pads = self._constant(np.array([0, 0, before, 0, 0, 0]), "pads")
        return self._node("Pad", (x, pads, self._constant(np.zeros((), np.float32), "zero")), self.channels[x])

    def behind_cache(self, x: str, elements: int) -> str:
        """Behind the last elements of the call before, which are an input; the newest of both are an output."""
        cache, channels = f"cache{len(self.caches)}", self.channels[x]
        self.caches[cache] = [1, channels, elements]
        joined = f"{cache}_joined"
        self.nodes.append(helper.make_node("Concat", [cache, x.removesuffix("_real")], [joined], joined, axis=2))
        numbers = [self._constant(np.array([value]), word) for word, value in
                   (("starts", -elements), ("ends", 2**31), ("axes", 2))]  # fmt: skip
        self.nodes.append(helper.make_node("Slice", [joined, *numbers], [f"{cache}_next"], f"{cache}_next"))
        return self._dequantised(joined, channels)

    def save(self, last: str, folder: Path) -> Path:
        """The file, whose output is what `last` is quantised to."""
        quantised = self.nodes[-1].input[0]  # of the DequantizeLinear
        del self.nodes[-1]
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [_int8("x", self.shape), *(_int8(name, shape) for name, shape in self.caches.items())],
            [
                _int8(quantised, [1, self.channels[last]]),
                *(_int8(f"{name}_next", shape) for name, shape in self.caches.items()),
            ],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        file = folder / f"{self.name}.onnx"
        onnx.save(model, file)
        return file

    def _node(self, op: str, inputs: Sequence[str], channels: int, **attributes: object) -> str:
        value = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [value], value, **attributes))
        numbers = self._constant(np.float32(STEP), "step"), self._constant(np.int8(0), "none")
        self.nodes.append(helper.make_node("QuantizeLinear", [value, *numbers], [f"{value}_q"], f"{value}_q"))
        return self._dequantised(f"{value}_q", channels)

    def _dequantised(self, stored: str, channels: int, step: float = STEP, kind: type = np.int8) -> str:
        numbers = self._constant(np.float32(step), "step"), self._constant(kind(0), "none")
        self.nodes.append(helper.make_node("DequantizeLinear", [stored, *numbers], [f"{stored}_real"], f"{stored}_dq"))
        self.channels[f"{stored}_real"] = channels
        return f"{stored}_real"

    def _weights(self, weights: Array) -> str:
        step = float(np.abs(weights).max() / 127)
        stored = self._constant(np.rint(weights / step).astype(np.int8), "weights")
        return self._dequantised(stored, weights.shape[0], step)

    def _bias(self, bias: Array, weights: Array) -> str:
        step = STEP * float(np.abs(weights).max() / 127)
        return self._dequantised(
            self._constant(np.rint(bias / step).astype(np.int32), "bias"), len(bias), step, np.int32
        )

    def _constant(self, array: Array, word: str) -> str:
        name = f"{word}{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name


def _int8(name: str, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT8, shape)


def tcn(folder: Path, *, padded: bool = True, length: int = 256, name: str = "tcn") -> Path:
    """Dilated residual blocks, padded on the left; or without padding, where a block is shorter than the one before."""
    net = Network(name, (1, 4, length))
    value = net.conv(net.x, 8, (1,))
    for dilation in (1, 2, 4, 8):
        inner = net.conv(net.pad(value, 2 * dilation) if padded else value, 8, (3,), dilations=[dilation])
        value = net.add(net.relu(inner), value if padded else net.cut(value, 2 * dilation))
    return net.save(net.dense(value, 3), folder)


def tcn_cached(folder: Path) -> Path:
    """`tcn_frames` as a stream by its own word: a call gets one sample, and the caches that the call before gave."""
    net = Network("tcn_cached", (1, 4, 1))
    value = net.conv(net.x, 8, (1,))
    for dilation in (1, 2, 4, 8):
        inner = net.conv(net.behind_cache(value, 2 * dilation), 8, (3,), dilations=[dilation])
        value = net.add(net.relu(inner), value)
    return net.save(net.dense(value, 3), folder)


def ds_cnn(folder: Path) -> Path:
    """Words in a spectrogram [time, bands]: a convolution with stride 2, then separable ones, padded on all sides."""
    net = Network("ds_cnn", (1, 1, 49, 10))
    value = net.relu(net.conv(net.x, 16, (10, 4), strides=[2, 2], pads=[4, 1, 5, 1]))
    for _ in range(3):
        value = net.relu(net.conv(value, 16, (3, 3), group=16, pads=[1, 1, 1, 1]))
        value = net.relu(net.conv(value, 16, (1, 1)))
    return net.save(net.dense(value, 12), folder)


def ecg(folder: Path) -> Path:
    """Beats in two leads: residual blocks, padded at both ends, two of them with stride 2."""
    net = Network("ecg", (1, 2, 240))
    value = net.relu(net.conv(net.x, 8, (7,), pads=[3, 3]))
    for stride in (2, 2, 1):
        inner = net.relu(net.conv(value, 8, (5,), strides=[stride], pads=[2, 2]))
        inner = net.conv(inner, 8, (5,), pads=[2, 2])
        value = net.relu(net.add(inner, net.conv(value, 8, (1,), strides=[stride])))
    return net.save(net.dense(value, 5), folder)


def mel_gru(folder: Path) -> Path:
    """Sound [1, samples, 1] in float: a spectrogram, its bands, their logarithms, a convolution and a recurrence."""
    generator, bands, hidden = np.random.default_rng(7), 16, 8

    def drawn(*shape: int) -> Array:
        return (generator.normal(size=shape) * 0.2).astype(np.float32)

    constants = {
        "step": np.int64(160), "length": np.int64(400), "window": np.hanning(400).astype(np.float32),
        "parts": np.array([3]), "mel": np.abs(drawn(201, bands)), "least": np.float32(1e-3), "w": drawn(12, bands, 3),
        "gates": drawn(1, 3 * hidden, 12), "again": drawn(1, 3 * hidden, hidden), "first": np.array([0]),
        "words": drawn(hidden, 3),
    }  # fmt: skip
    nodes = [
        helper.make_node("STFT", ["x", "step", "window", "length"], ["spectrum"], "stft", onesided=1),
        helper.make_node("Mul", ["spectrum", "spectrum"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "parts"], ["power"], keepdims=0),
        helper.make_node("MatMul", ["power", "mel"], ["bands"]),
        helper.make_node("Add", ["bands", "least"], ["above"]),
        helper.make_node("Log", ["above"], ["features"]),
        helper.make_node("Transpose", ["features"], ["channels"], perm=[0, 2, 1]),
        helper.make_node("Conv", ["channels", "w"], ["sums"]),
        helper.make_node("Relu", ["sums"], ["found"]),
        helper.make_node("Transpose", ["found"], ["frames"], perm=[2, 0, 1]),
        helper.make_node("GRU", ["frames", "gates", "again"], ["", "last"], hidden_size=hidden),
        helper.make_node("Squeeze", ["last", "first"], ["state"]),
        helper.make_node("Gemm", ["state", "words"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [1, 4000, 1]), ("y", [1, 3]))]
    stored = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "mel_gru", ends[:1], ends[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "mel_gru.onnx")
    return folder / "mel_gru.onnx"


NETWORKS: dict[str, Callable[[Path], Path]] = {
    "ds_cnn": ds_cnn,
    "ecg": ecg,
    "mel_gru": mel_gru,
    "tcn": tcn,
    "tcn_cached": tcn_cached,
    "tcn_frames": lambda folder: tcn(folder, padded=False, length=31, name="tcn_frames"),
    "tcn_unpadded": lambda folder: tcn(folder, padded=False, name="tcn_unpadded"),
}


def main() -> None:
    """The files."""
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(NETWORKS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        print(NETWORKS[name](folder).name)


if __name__ == "__main__":
    main()
