"""Small quantised networks: one for each operator that a quantised network can have, and blocks of whole networks
(`qdq_blocks`); which of their steps are float."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper

from tests.kit.qdq_blocks import BLOCKS, Build
from tests.kit.qdq_draft import F32, I64, Array, Draft
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType


def float_steps(graph: Graph) -> tuple[str, ...]:
    """The operators that read or write float32, but for a Q of a graph input and a DQ that writes a graph output."""
    return tuple(node.op for node in graph.nodes if _is_float(graph, node.op, node.inputs, node.outputs))


def _is_float(graph: Graph, op: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> bool:
    if op == "QuantizeLinear" and inputs[0] in graph.inputs:
        return False
    if op == "DequantizeLinear" and outputs[0] in graph.outputs:
        return False
    computed = [name for name in (*inputs, *outputs) if name and name not in graph.constants]
    return any(graph.tensors[name].dtype is DType.F32 for name in computed)


def between(graph: Graph) -> tuple[str, ...]:
    """Those of them that lie between integers: computed from some, and read by what computes some."""
    behind = _reached(graph, [(node.inputs, node.outputs) for node in graph.nodes])
    before = _reached(graph, [(node.outputs, node.inputs) for node in reversed(graph.nodes)])
    return tuple(
        node.op
        for node in graph.nodes
        if _is_float(graph, node.op, node.inputs, node.outputs)
        and not behind.isdisjoint(node.inputs)
        and not before.isdisjoint(node.outputs)
    )


def _reached(graph: Graph, edges: Iterable[tuple[Sequence[str], Sequence[str]]]) -> set[str]:
    """Integers that are computed, and what is reached from them, along the edges in this order."""
    taken = {*graph.inputs, *graph.constants}
    reached = {
        name
        for node in graph.nodes
        for name in node.outputs
        if name not in taken and graph.tensors[name].dtype.is_integer
    }
    for start, end in edges:
        if not reached.isdisjoint(start):
            reached.update(name for name in end if name not in graph.constants)
    return reached


def qdq_network(name: str) -> tuple[bytes, dict[str, Array]]:
    """The quantised model as bytes, and one set of inputs, the same every time."""
    draft = Draft(random=np.random.default_rng(len(name)))
    build = {**PIECES, **BLOCKS}[name]
    result = build(draft)
    return draft.quantised(result), draft.inputs


def _one(op: str, *shape: int, **attributes: Any) -> Build:
    return lambda draft: draft.node(op, draft.input(*shape), **attributes)


def _with(op: str, shape: Sequence[int], *constants: npt.ArrayLike, **attributes: Any) -> Build:
    return lambda draft: draft.node(
        op, draft.input(*shape), *(draft.constant(np.asarray(one)) for one in constants), **attributes
    )


def _two(op: str, left: Sequence[int], right: Sequence[int], **attributes: Any) -> Build:
    return lambda draft: draft.node(op, draft.input(*left), draft.input(*right), **attributes)


def _silu(draft: Draft) -> str:
    x = draft.input(4, 8)
    return draft.node("Mul", x, draft.node("Sigmoid", x, bare=True))


def _decomposed_rms(draft: Draft) -> str:
    """RMS normalisation as exporters write it before operator set 23."""
    x = draft.input(1, 12, 32)
    squares = draft.node("Pow", x, draft.scalar(2), bare=True)
    mean = draft.node("ReduceMean", squares, draft.shape(-1), bare=True, keepdims=1)
    root = draft.node("Sqrt", draft.node("Add", mean, draft.scalar(1e-5), bare=True), bare=True)
    normal = draft.node("Mul", x, draft.node("Reciprocal", root, bare=True), bare=True)
    return draft.node("Mul", normal, draft.constant((1 + 0.1 * draft.random.standard_normal(32)).astype(F32)))


def _decomposed_layer(draft: Draft) -> str:
    """Layer normalisation as exporters write it before operator set 17."""
    x = draft.input(1, 12, 32)
    centred = draft.node("Sub", x, draft.node("ReduceMean", x, draft.shape(-1), bare=True, keepdims=1), bare=True)
    squares = draft.node("Pow", centred, draft.scalar(2), bare=True)
    variance = draft.node("ReduceMean", squares, draft.shape(-1), bare=True, keepdims=1)
    root = draft.node("Sqrt", draft.node("Add", variance, draft.scalar(1e-5), bare=True), bare=True)
    scale = draft.constant((1 + 0.1 * draft.random.standard_normal(32)).astype(F32))
    shift = draft.constant((0.1 * draft.random.standard_normal(32)).astype(F32))
    scaled = draft.node("Mul", draft.node("Div", centred, root, bare=True), scale, bare=True)
    return draft.node("Add", scaled, shift)


def _guarded_softmax(draft: Draft) -> str:
    """Softmax as torch's exporter writes it: rows that are all -inf become 0."""
    x = draft.input(1, 2, 8, 8)
    everywhere = draft.node("ReduceMax", x, draft.shape(-1), bare=True, keepdims=1)
    lowest = draft.node("Equal", everywhere, draft.scalar(-np.inf))
    return draft.node("Where", lowest, draft.scalar(0), draft.node("Softmax", x, axis=-1))


def _guarded_elements(draft: Draft) -> str:
    """Another form of the same: an element that is NaN becomes 0."""
    soft = draft.node("Softmax", draft.input(1, 2, 8, 8), axis=-1)
    return draft.node("Where", draft.node("IsNaN", soft), draft.scalar(0), soft)


def _masked_softmax(draft: Draft) -> str:
    """A causal mask of constants before Softmax."""
    mask = np.triu(np.ones((8, 8), bool), 1)[None, None]
    masked = draft.node("Where", draft.constant(mask), draft.scalar(-1e4), draft.input(1, 2, 8, 8), bare=True)
    return draft.node("Softmax", masked, axis=-1)


def _group_norm(draft: Draft) -> str:
    """As torch writes it: instance normalisation of reshaped groups, then a scale and shift of channels."""
    flat = draft.node("Reshape", draft.input(1, 8, 6, 6), draft.shape(1, 4, -1), bare=True)
    ones, zeros = draft.constant(np.ones(4, F32)), draft.constant(np.zeros(4, F32))
    normal = draft.node("InstanceNormalization", flat, ones, zeros, bare=True)
    back = draft.node("Reshape", normal, draft.shape(1, 8, 6, 6), bare=True)
    scale, shift = (
        draft.constant(draft.random.uniform(0.5, 1.5, (8, 1, 1)).astype(F32).reshape(8, 1, 1)) for _ in "ab"
    )
    return draft.node("Add", draft.node("Mul", back, scale, bare=True), shift)


def _batch_norm(draft: Draft) -> str:
    """Behind a quantised convolution, so that it stands between Q and DQ."""
    x = draft.conv(draft.input(1, 4, 6, 6), 4, 8)
    numbers = [draft.constant(draft.random.uniform(0.5, 1.5, 8).astype(F32)) for _ in range(4)]
    return draft.node("BatchNormalization", x, *numbers)


def _batch_norm_first(draft: Draft) -> str:
    """Before a quantised convolution with pads."""
    numbers = [draft.constant(draft.random.uniform(0.5, 1.5, 4).astype(F32)) for _ in range(4)]
    x = draft.node("Relu", draft.node("BatchNormalization", draft.input(1, 4, 6, 6), *numbers))
    return draft.conv(x, 4, 8)


def _dynamic(product: str) -> Build:
    def build(draft: Draft) -> str:
        image = product == "ConvInteger"
        x = draft.node("Relu", draft.input(*((1, 4, 6, 6) if image else (4, 16))), bare=True)
        draft.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], ["q", "s", "z"], "dynamic"))
        weights = draft.random.integers(-127, 128, (8, 4, 3, 3) if image else (16, 8)).astype(np.int8)
        sums = draft.node(product, "q", draft.constant(weights), "z", bare=True)
        wide = draft.node("Cast", sums, bare=True, to=TensorProto.FLOAT)
        scale = draft.node("Mul", "s", draft.scalar(0.02), bare=True)
        return draft.node("Mul", wide, scale, bare=True)

    return build


def _embedded(draft: Draft) -> str:
    """Rows of a table, by positions that are constants in no order."""
    x = draft.node("Relu", draft.input(6, 8))
    return draft.node("Gather", x, draft.constant(np.array([0, 5, 2, 2], I64)), axis=0)


def _split(draft: Draft) -> str:
    """Two halves, one through a function, joined again: scales differ."""
    x = draft.node("Relu", draft.input(1, 8, 6, 6))
    left, right = f"v{len(draft.nodes)}", f"v{len(draft.nodes)}b"
    draft.nodes.append(helper.make_node("Split", [x], [left, right], "split", axis=1, num_outputs=2))
    draft.bare.update((left, right))
    return draft.node("Concat", draft.node("Sigmoid", left), right, axis=1)


_NORM = tuple(np.linspace(0.5, 1.5, 8).astype(F32) for _ in range(2))
_SCALES = np.array([1, 1, 2, 2], F32)
_NONE = np.array([], F32)
PIECES: Mapping[str, Build] = MappingProxyType(
    {
        # functions of one value
        "LeakyRelu": _one("LeakyRelu", 1, 4, 6, 6, alpha=0.1),
        "HardSwish": _one("HardSwish", 1, 4, 6, 6),
        "HardSigmoid": _one("HardSigmoid", 1, 4, 6, 6),
        "Gelu": _one("Gelu", 1, 4, 6, 6),
        "Gelu as Erf": lambda draft: draft.erf_gelu(draft.input(1, 4, 16)),
        "Silu": _silu,
        "Elu": _one("Elu", 4, 8),
        "Sqrt of Abs": lambda draft: draft.node("Sqrt", draft.node("Abs", draft.input(4, 8), bare=True)),
        "PRelu one slope": _with("PRelu", (1, 4, 6, 6), F32([[[0.2]]])),
        "PRelu": _with("PRelu", (1, 4, 6, 6), np.linspace(-0.1, 0.4, 4, dtype=F32).reshape(4, 1, 1)),
        "Mul by one": _with("Mul", (4, 8), F32(0.3)),
        "Div by one": _with("Div", (4, 8), F32(3)),
        "Conv, then Mul by one": lambda draft: draft.node("Mul", draft.bare_conv(), draft.scalar(0.3)),
        "MatMul, then Div by one": lambda draft: draft.node("Div", draft.bare_matmul(), draft.scalar(3)),
        "Softmax of Mul by one": lambda draft: draft.node("Softmax", draft.scaled(draft.input(4, 8), 0.3), axis=-1),
        "MatMul of Mul by one": lambda draft: draft.node(
            "MatMul", draft.scaled(draft.input(4, 8), 0.3), draft.input(8, 4)
        ),
        "Mul by channels": _with("Mul", (1, 4, 6, 6), np.linspace(0.5, 2, 4, dtype=F32).reshape(4, 1, 1)),
        "Div by channels": _with("Div", (1, 4, 6), np.linspace(0.5, 2, 6, dtype=F32)),
        "Add of channels": _with("Add", (1, 4, 6), np.linspace(0.5, 2, 6, dtype=F32)),
        "Pow by one": _with("Pow", (4, 8), F32(2)),
        # moves and selections
        "ReduceMax": _with("ReduceMax", (1, 4, 6, 6), I64([2, 3])),
        "ReduceMin": _with("ReduceMin", (1, 4, 6, 6), I64([-1]), keepdims=0),
        "ReduceSum": _with("ReduceSum", (1, 4, 6, 6), I64([2, 3])),
        "ReduceMean": _with("ReduceMean", (1, 4, 6, 6), I64([2, 3])),
        "ReduceL2": _with("ReduceL2", (4, 8), I64([1])),
        "GlobalMaxPool": _one("GlobalMaxPool", 1, 4, 6, 6),
        "GlobalAveragePool": _one("GlobalAveragePool", 1, 4, 6, 6),
        "Max": _two("Max", (4, 8), (4, 8)),
        "Min": _two("Min", (4, 8), (1, 8)),
        "Where": lambda draft: draft.node(
            "Where", draft.constant(draft.random.random((4, 8)) < 0.5), draft.input(4, 8), draft.input(4, 8)
        ),
        "Gather": _embedded,
        "Concat": lambda draft: draft.node(
            "Concat", draft.input(1, 2, 6), draft.node("Relu", draft.input(1, 3, 6)), axis=1
        ),
        "Split, Concat": _split,
        "Expand": _with("Expand", (1, 4, 1), I64([2, 4, 3])),
        "Tile": _with("Tile", (1, 4, 2), I64([1, 1, 3])),
        "Pad reflect": _with("Pad", (1, 2, 6, 6), I64([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect"),
        "DepthToSpace": _one("DepthToSpace", 1, 8, 3, 3, blocksize=2),
        "ArgMax": _one("ArgMax", 4, 8, axis=1),
        "Resize nearest": _with("Resize", (1, 4, 6, 6), _NONE, _SCALES, mode="nearest"),
        "Resize linear": _with("Resize", (1, 4, 6, 6), _NONE, _SCALES, mode="linear"),
        "Resize linear aligned": _with(
            "Resize", (1, 4, 6, 6), _NONE, _NONE, I64([1, 4, 11, 11]), mode="linear",
            coordinate_transformation_mode="align_corners",
        ),
        # arithmetic of two
        "Sub": _two("Sub", (4, 8), (4, 8)),
        "Mul": _two("Mul", (4, 8), (4, 8)),
        "Div": lambda draft: draft.node("Div", draft.input(4, 8), draft.node("Exp", draft.input(4, 8))),
        # normalisations
        "LayerNorm": lambda draft: draft.normalised(draft.input(1, 12, 32), 32),
        "LayerNorm decomposed": _decomposed_layer,
        "RMSNorm decomposed": _decomposed_rms,
        "InstanceNorm": _with("InstanceNormalization", (1, 8, 6, 6), *_NORM),
        "GroupNorm": _group_norm,
        "BatchNorm behind": _batch_norm,
        "BatchNorm before": _batch_norm_first,
        "LpNormalization": _one("LpNormalization", 4, 8, axis=1, p=2),
        # rows
        "Softmax": _one("Softmax", 1, 2, 8, 8, axis=-1),
        "Softmax of channels": _one("Softmax", 1, 4, 6, 6, axis=1),
        "Softmax with guards": _guarded_softmax,
        "Softmax with NaN guard": _guarded_elements,
        "Softmax masked": _masked_softmax,
        "LogSoftmax": _one("LogSoftmax", 4, 8, axis=-1),
        "attention": lambda draft: draft.attention(draft.input(1, 8, 16), 8, 16, 2),
        "RNN": lambda draft: draft.node(
            "RNN", draft.input(5, 1, 4), draft.weights(1, 3, 4), draft.weights(1, 3, 3), hidden_size=3
        ),
        "MatMulInteger": _dynamic("MatMulInteger"),
        "ConvInteger": _dynamic("ConvInteger"),
    }
)  # fmt: skip
