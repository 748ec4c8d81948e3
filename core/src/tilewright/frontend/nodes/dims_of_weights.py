"""Knows which symbolic dimensions of a model have a number already, because weights say so.
Does not know what else follows from what: where nothing is certain, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.frontend.reading.dims import symbol_of
from tilewright.frontend.reading.file_model import FileGraph, FileNode

Dims = tuple[int | str, ...]  # a number, or the name of a symbol

# Operators whose first output has the shape of their first input.
_KEEPS_SHAPE = frozenset(
    {
        "Abs", "BatchNormalization", "Cast", "Clip", "DequantizeLinear", "Dropout", "Elu", "Erf", "Exp", "Gelu",
        "HardSigmoid", "HardSwish", "Identity", "LayerNormalization", "LeakyRelu", "Neg", "QuantizeLinear", "Relu",
        "Round", "Selu", "Sigmoid", "Softmax", "Softplus", "Tanh",
    }
)  # fmt: skip
# Operator -> the inputs that hold data and weights.
_CONVOLUTIONS = {"Conv": (0, 1), "ConvInteger": (0, 1), "QLinearConv": (0, 3)}
_PRODUCTS = {"MatMul": (0, 1), "MatMulInteger": (0, 1), "QLinearMatMul": (0, 3)}


def dims_of_weights(graph: FileGraph) -> dict[str, int]:
    """Symbol -> extent, for symbols of the graph's inputs that meet weights of constant shape."""
    known: dict[str, Dims] = {
        value.name: tuple(
            dim if isinstance(dim, int) else symbol_of(value, axis) for axis, dim in enumerate(value.dims)
        )
        for value in graph.inputs
        if value.dims is not None
    }
    known.update({tensor.name: tensor.dims for tensor in graph.initializers})
    found: dict[str, int] = {}
    for node in graph.nodes:
        for dim, extent in _met(node, known):
            if isinstance(dim, str) and isinstance(extent, int):
                found.setdefault(dim, extent)
        source = _of(node, 0, known)
        if not source or not node.outputs:
            continue
        if node.op_type in _KEEPS_SHAPE:
            known.setdefault(node.outputs[0], source)
        elif node.op_type == "Transpose":
            known.setdefault(node.outputs[0], _transposed(node, source))
    return found


def _met(node: FileNode, known: Mapping[str, Dims]) -> Iterator[tuple[int | str, int | str]]:
    """Pairs (dimension of data, dimension of weights) that must be equal."""
    attributes = {one.name: one.value for one in node.attributes}
    if node.op_type in _CONVOLUTIONS:
        data, weights = (_of(node, index, known) for index in _CONVOLUTIONS[node.op_type])
        groups = attributes.get("group", 1)
        if len(data) > 1 and len(weights) > 1 and isinstance(weights[1], int) and isinstance(groups, int):
            yield data[1], weights[1] * groups
    elif node.op_type in _PRODUCTS:
        data, weights = (_of(node, index, known) for index in _PRODUCTS[node.op_type])
        if data and len(weights) == 2:
            yield data[-1], weights[0]
    elif node.op_type == "Gemm":
        data, weights = _of(node, 0, known), _of(node, 1, known)
        if len(data) == len(weights) == 2:
            yield data[0 if attributes.get("transA") else 1], weights[1 if attributes.get("transB") else 0]
    elif node.op_type == "BatchNormalization":
        data, scale = _of(node, 0, known), _of(node, 1, known)
        if len(data) > 1 and len(scale) == 1:
            yield data[1], scale[0]


def _of(node: FileNode, index: int, known: Mapping[str, Dims]) -> Dims:
    return known.get(node.inputs[index], ()) if index < len(node.inputs) else ()


def _transposed(node: FileNode, dims: Dims) -> Dims:
    order = next((one.value for one in node.attributes if one.name == "perm"), tuple(reversed(range(len(dims)))))
    if not isinstance(order, tuple) or sorted(order) != list(range(len(dims))):
        return ()
    return tuple(dims[axis] for axis in order)
