"""Networks made for families of operators that no committed network has: what each needs stands together once.

`made(name)` is the model and one set of inputs, the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.generic]
F32, U8, I64 = np.float32, np.uint8, np.int64
node = helper.make_node


def made(name: str) -> tuple[bytes, dict[str, Array]]:
    """The model as bytes, and inputs."""
    return NETWORKS[name](np.random.default_rng(len(name)))


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    outputs: Sequence[str],
    constants: Mapping[str, Array],
    opset: int = 21,
) -> tuple[bytes, dict[str, Array]]:
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(list(nodes), "made", ends, results, held)
    made_model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return bytes(made_model.SerializeToString()), dict(inputs)


def _floats(random: np.random.Generator, *shape: int) -> npt.NDArray[np.float32]:
    return random.standard_normal(shape).astype(F32)


def _dynamic(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """A layer as dynamic quantisation writes it: scale and zero point are computed, sums stay integers."""
    weights = random.integers(-127, 128, (96, 40)).astype(np.int8)
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "w", "z"], ["sums"]),
        node("Cast", ["sums"], ["wide"], to=TensorProto.FLOAT),
        node("Mul", ["s", "w_scale"], ["scale"]),
        node("Mul", ["wide", "scale"], ["scaled"]),
        node("Add", ["scaled", "b"], ["y"]),
    ]
    constants = {"w": weights, "w_scale": F32(0.02), "b": _floats(random, 40)}
    return _model(nodes, {"x": _floats(random, 24, 96)}, ["y"], constants)


def _dynamic_image(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("ConvInteger", ["q", "w", "z", "w_zero"], ["sums"], pads=[1, 1, 1, 1], strides=[2, 1]),
        node("Cast", ["sums"], ["wide"], to=TensorProto.FLOAT),
        node("Mul", ["wide", "s"], ["y"]),
    ]
    constants = {"w": random.integers(0, 256, (12, 6, 3, 3)).astype(U8), "w_zero": U8(120)}
    return _model(nodes, {"x": _floats(random, 1, 6, 17, 19)}, ["y"], constants)


def _pool_and_back(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    nodes = [
        node("MaxPool", ["x"], ["small", "places"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Relu", ["small"], ["kept"]),
        node("MaxUnpool", ["kept", "places"], ["y"], kernel_shape=[2, 2], strides=[2, 2]),
    ]
    return _model(nodes, {"x": _floats(random, 1, 5, 12, 16)}, ["y"], {})


def _sampled(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """A spatial transformer: an affine map moves a grid, and the image is read there."""
    nodes = [
        node("AffineGrid", ["theta", "size"], ["grid"]),
        node("GridSample", ["x", "grid"], ["y"], padding_mode="border"),
    ]
    theta = np.array([[[0.9, -0.3, 0.1], [0.2, 1.1, -0.2]]], F32)
    inputs = {"x": _floats(random, 1, 4, 14, 18), "theta": theta}
    return _model(nodes, inputs, ["y"], {"size": np.array([1, 4, 15, 13], I64)})


def _spectrum(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """Log-mel features of a sound."""
    nodes = [
        node("STFT", ["sound", "step", "window", "length"], ["spectrum"]),
        node("Mul", ["spectrum", "spectrum"], ["squares"]),
        node("ReduceSum", ["squares", "last"], ["power"], keepdims=0),
        node("MelWeightMatrix", ["bands", "length", "rate", "low", "high"], ["mel"]),
        node("MatMul", ["power", "mel"], ["energies"]),
        node("Add", ["energies", "least"], ["sure"]),
        node("Log", ["sure"], ["y"]),
    ]
    constants = {
        "step": I64(16), "length": I64(64), "window": np.hanning(64).astype(F32), "last": np.array([-1]),
        "bands": I64(10), "rate": I64(8000), "low": F32(50), "high": F32(3800), "least": F32(1e-3),
    }  # fmt: skip
    return _model(nodes, {"sound": _floats(random, 1, 400, 1)}, ["y"], constants)


def _blocks(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """Values that are stored with a scale for each block of eight."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1, block_size=8),
        node("DequantizeLinear", ["q", "s", "z"], ["back"], axis=1, block_size=8),
        node("Relu", ["back"], ["y"]),
    ]
    constants = {
        "s": (np.abs(_floats(random, 20, 6)) + F32(0.1)) / F32(32),
        "z": random.integers(-9, 9, (20, 6)).astype(np.int8),
    }
    return _model(nodes, {"x": _floats(random, 20, 48)}, ["y"], constants)


def _sequence(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """A recurrent layer that reads sequences of unlike lengths from their ends."""
    nodes = [
        node("ReverseSequence", ["x", "n"], ["turned"]),
        node("Cast", ["n"], ["n32"], to=TensorProto.INT32),
        node("GRU", ["turned", "w", "r", "", "n32"], ["all", "y"], hidden_size=6),
    ]
    constants = {"w": _floats(random, 1, 18, 8), "r": _floats(random, 1, 18, 6)}
    return _model(nodes, {"x": _floats(random, 9, 5, 8), "n": np.array([9, 3, 1, 7, 5], I64)}, ["y"], constants)


def _cache(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """Attention's products over a cache that one step is written into."""
    nodes = [
        node("TensorScatter", ["cache", "step", "at"], ["keys"], mode="circular"),
        node("Einsum", ["query", "keys"], ["scores"], equation="bhqd,bhkd->bhqk"),
        node("Softmax", ["scores"], ["shares"]),
        node("Einsum", ["shares", "keys"], ["y"], equation="bhqk,bhkd->bqhd"),
    ]
    inputs = {
        "cache": _floats(random, 2, 3, 16, 8),
        "step": _floats(random, 2, 3, 2, 8),
        "at": np.array([4, 15], I64),
        "query": _floats(random, 2, 3, 5, 8),
    }
    return _model(nodes, inputs, ["y"], {}, opset=24)


def _choice(random: np.random.Generator) -> tuple[bytes, dict[str, Array]]:
    """Two filters, one chosen at run time; the bits of the result as integers."""

    def branch(name: str, op: str) -> onnx.GraphProto:
        end = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        return helper.make_graph([node(op, ["x"], [name], kernel_shape=[3], pads=[1, 1])], name, [], [end])

    nodes = [
        node("If", ["loud"], ["f"], then_branch=branch("t", "AveragePool"), else_branch=branch("e", "LpPool")),
        node("BitCast", ["f"], ["y"], to=TensorProto.INT32),
    ]
    return _model(nodes, {"x": _floats(random, 1, 6, 70), "loud": np.array(False)}, ["y"], {}, opset=26)


NETWORKS: Mapping[str, Callable[[np.random.Generator], tuple[bytes, dict[str, Array]]]] = {
    "dynamic": _dynamic,
    "dynamic_image": _dynamic_image,
    "pool_and_back": _pool_and_back,
    "sampled": _sampled,
    "spectrum": _spectrum,
    "blocks": _blocks,
    "sequence": _sequence,
    "cache": _cache,
    "choice": _choice,
}
