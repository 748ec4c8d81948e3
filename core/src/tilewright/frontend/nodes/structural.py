"""Knows the ONNX operators that leave no node behind: Identity, Dropout, Constant, Shape, Size, and those that are
only allowed where their inputs are known. Does not know operators that compute at run time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

_MANY = 1 << 16  # inputs of a variadic operator
_BOOL_MASK = 10  # the operator set from which Dropout's mask is bool


def _identity(node: OnnxNode, graph: Conversion) -> None:
    graph.rename(node, node.inputs[0])


def _dropout(node: OnnxNode, graph: Conversion) -> None:
    """At inference Dropout is the identity, and its mask all true (before version 10: ones of the input's type)."""
    if len(node.inputs) > 2 and node.inputs[2] and graph.need_constant(node, 2).any():
        raise graph.refuse(node, "training_mode is on; export the model for inference (model.eval())")
    if len(node.outputs) > 1 and node.outputs[1] not in node.unread:
        x = graph.tensor(node.inputs[0])
        mask_type = np.dtype(np.bool_) if node.version >= _BOOL_MASK else x.dtype.numpy
        graph.add_constant(np.ones(x.shape, mask_type), node.outputs[1])
    graph.rename(node, node.inputs[0])


def _constant(node: OnnxNode, graph: Conversion) -> None:
    if len(node.attributes) != 1:
        raise graph.refuse(node, f"it needs one value, but has {len(node.attributes)}")
    ((name, value),) = node.attributes.items()
    dtype = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
    graph.rename(node, graph.add_constant(np.asarray(value, dtype.get(name)), node.outputs[0]))


def _shape(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    end = node.integer("end", len(shape))
    extents = np.array(shape[node.integer("start", 0) : end], np.int64)
    graph.rename(node, graph.add_constant(extents, node.outputs[0]))


def _size(node: OnnxNode, graph: Conversion) -> None:
    count = np.array(graph.tensor(node.inputs[0]).elements, np.int64)
    graph.rename(node, graph.add_constant(count, node.outputs[0]))


def _has_element(node: OnnxNode, graph: Conversion) -> None:
    """An optional is a tensor here, or absent."""
    there = bool(node.inputs and node.inputs[0])
    graph.rename(node, graph.add_constant(np.array(there), node.outputs[0]))


def _constant_only(node: OnnxNode, graph: Conversion) -> None:
    raise graph.refuse(node, "it is supported only where all its inputs are known at compile time")


def _only(op_type: str, since: int, inputs: tuple[int, int], attributes: Mapping[str, str] | None = None) -> Import:
    return Import(
        op_type=op_type,
        since=since,
        attributes=attributes or {},
        convert=_constant_only,
        min_inputs=inputs[0],
        max_inputs=inputs[1],
    )


_CONSTANT_SCALARS = {"value_float": "FLOAT", "value_floats": "FLOATS", "value_int": "INT", "value_ints": "INTS"}
_REDUCE = {"axes": "INTS", "keepdims": "INT"}
_REDUCE_INPUT = {"keepdims": "INT", "noop_with_empty_axes": "INT"}

IMPORTS = (
    Import(op_type="Identity", since=1, attributes={}, convert=_identity),
    Import(op_type="OptionalGetElement", since=15, attributes={}, convert=_identity),
    Import(op_type="OptionalHasElement", since=15, attributes={}, convert=_has_element, min_inputs=0),
    Import(op_type="Dropout", since=7, attributes={"ratio": "FLOAT"}, convert=_dropout),
    Import(op_type="Dropout", since=12, attributes={"seed": "INT"}, convert=_dropout, max_inputs=3),
    Import(op_type="Constant", since=1, attributes={"value": "TENSOR"}, convert=_constant, min_inputs=0, max_inputs=0),
    Import(
        op_type="Constant",
        since=12,
        attributes={"value": "TENSOR", **_CONSTANT_SCALARS},
        convert=_constant,
        min_inputs=0,
        max_inputs=0,
    ),
    Import(op_type="Shape", since=1, attributes={}, convert=_shape),
    Import(op_type="Shape", since=15, attributes={"start": "INT", "end": "INT"}, convert=_shape),
    Import(op_type="Size", since=1, attributes={}, convert=_size),
)

CONSTANT_ONLY = (
    *(_only(name, 7, (2, 2)) for name in ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor")),
    *(_only(name, 7, (2, 2)) for name in ("Equal", "Greater", "Less")),
    *(_only(name, 12, (2, 2)) for name in ("GreaterOrEqual", "LessOrEqual")),
    *(_only(name, 6, (1, 1)) for name in ("Neg", "Abs", "Floor", "Ceil", "Sqrt")),
    *(_only(name, 6, (1, _MANY)) for name in ("Min", "Max")),
    _only("Mod", 10, (2, 2), {"fmod": "INT"}),
    _only("Sign", 9, (1, 1)),
    _only("Round", 11, (1, 1)),
    _only("Not", 1, (1, 1)),
    _only("Where", 9, (3, 3)),
    _only("Gather", 1, (2, 2), {"axis": "INT"}),
    _only("Squeeze", 1, (1, 1), {"axes": "INTS"}),
    _only("Squeeze", 13, (1, 2)),
    _only("Unsqueeze", 1, (1, 1), {"axes": "INTS"}),
    _only("Unsqueeze", 13, (2, 2)),
    _only("Concat", 4, (1, _MANY), {"axis": "INT"}),
    _only("Slice", 1, (1, 1), {"starts": "INTS", "ends": "INTS", "axes": "INTS"}),
    _only("Slice", 10, (3, 5)),
    _only("Split", 2, (1, 1), {"axis": "INT", "split": "INTS"}),
    _only("Split", 13, (1, 2), {"axis": "INT"}),
    _only("Split", 18, (1, 2), {"axis": "INT", "num_outputs": "INT"}),
    _only("Range", 11, (3, 3)),
    _only("ConstantOfShape", 9, (1, 1), {"value": "TENSOR"}),
    _only("Expand", 8, (2, 2)),
    _only("Tile", 6, (2, 2)),
    _only("Reshape", 5, (2, 2)),
    _only("Reshape", 14, (2, 2), {"allowzero": "INT"}),
    _only("Flatten", 1, (1, 1), {"axis": "INT"}),
    _only("Transpose", 1, (1, 1), {"perm": "INTS"}),
    _only("Cast", 6, (1, 1), {"to": "INT"}),
    _only("Cast", 19, (1, 1), {"to": "INT", "saturate": "INT"}),
    _only("Cast", 24, (1, 1), {"to": "INT", "saturate": "INT", "round_mode": "STRING"}),
    _only("ReduceSum", 1, (1, 1), _REDUCE),
    _only("ReduceSum", 13, (1, 2), _REDUCE_INPUT),
    *(_only(name, 1, (1, 1), _REDUCE) for name in ("ReduceProd", "ReduceMin", "ReduceMax")),
    *(_only(name, 18, (1, 2), _REDUCE_INPUT) for name in ("ReduceProd", "ReduceMin", "ReduceMax")),
    _only("NonZero", 9, (1, 1)),
)
