"""Knows the signatures of operator sets 1 to 6 that later ones replaced, and which newer node means the same.
Does not know how any operator is computed; nothing is folded before it has its newer form.

Source: ONNX's operator changelog. `consumed_inputs`, a hint about memory, means nothing to a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from tilewright.frontend.reading.refusals import InvalidNode
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

Convert = Callable[[OnnxNode, Conversion], None]

_MANY = (1 << 31) - 1
_HINT = {"consumed_inputs": "INTS"}
_BROADCAST = {"broadcast": "INT", "axis": "INT"}
_NORM = {"epsilon": "FLOAT", "momentum": "FLOAT", "spatial": "INT", "is_test": "INT"}
_GEMM = {"alpha": "FLOAT", "beta": "FLOAT", "transA": "INT", "transB": "INT", "broadcast": "INT"}
_WINDOW = {"auto_pad": "STRING", "kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}
_NO_TEST = "is_test is 0, which means training; export the model for inference (model.eval())"
_TYPES = MappingProxyType(  # how Cast-1 spells an element type -> its number
    {
        "FLOAT": 1,
        "UINT8": 2,
        "INT8": 3,
        "UINT16": 4,
        "INT16": 5,
        "INT32": 6,
        "INT64": 7,
        "STRING": 8,
        "BOOL": 9,
        "FLOAT16": 10,
        "DOUBLE": 11,
        "UINT32": 12,
        "UINT64": 13,
    }
)


def _as(
    version: int, defaults: Mapping[str, object], dropped: tuple[str, ...], node: OnnxNode, graph: Conversion
) -> None:
    """The same operator of a newer set; `defaults` are the old operator's values of absent attributes."""
    kept = {name: value for name, value in node.attributes.items() if name not in dropped}
    graph.apply(node, node.op_type, version, node.inputs, node.outputs, {**defaults, **kept})


def _same(version: int, dropped: tuple[str, ...] = ("consumed_inputs",), **defaults: object) -> Convert:
    return partial(_as, version, defaults, dropped)


def _binary(node: OnnxNode, graph: Conversion) -> None:
    """The second operand is laid along the first from `axis` on; without it, along the last axes."""
    first, second = node.inputs
    whole, part = graph.tensor(first).shape, graph.tensor(second).shape
    if not node.integer("broadcast"):
        if whole != part:
            raise InvalidNode(f"shapes {list(whole)} and {list(part)} differ, and broadcast is not 1")
    else:
        axis = node.integer("axis", len(whole) - len(part))
        axis += len(whole) if axis < 0 else 0
        along = whole[axis : axis + len(part)] if axis >= 0 else ()
        if len(along) != len(part) or any(mine not in (1, theirs) for mine, theirs in zip(part, along, strict=True)):
            raise InvalidNode(f"{list(part)} does not fit along {list(whole)} from axis {axis}")
        second = _with_trailing_ones(node, graph, second, len(whole) - axis - len(part))
    graph.apply(node, node.op_type, 7, (first, second), node.outputs)


def _with_trailing_ones(node: OnnxNode, graph: Conversion, value: str, count: int) -> str:
    """`value` with `count` axes of extent 1 after its own."""
    rank = len(graph.tensor(value).shape)
    if not count:
        return value
    axes = {"axes": tuple(range(rank, rank + count))}
    return graph.apply(node, "Unsqueeze", 1, (value,), attributes=axes, hint="aligned")


def _prelu(node: OnnxNode, graph: Conversion) -> None:
    """A slope of more than one element is one for each channel."""
    x, slope = node.inputs
    if graph.tensor(slope).elements != 1:
        slope = _with_trailing_ones(node, graph, slope, len(graph.tensor(x).shape) - 2)
    graph.apply(node, "PRelu", 7, (x, slope), node.outputs)


def _for_inference(node: OnnxNode, graph: Conversion) -> None:
    if not node.integer("is_test"):
        raise graph.refuse(node, _NO_TEST)
    _as(7, {}, ("consumed_inputs", "is_test"), node, graph)


def _with_input(op_type: str, version: int, name: str, node: OnnxNode, graph: Conversion) -> None:
    """The attribute `name` of the old operator is the second input of the new one."""
    if name not in node.attributes:
        raise InvalidNode(f"attribute {name} is missing")
    value = np.asarray(node.attributes[name])
    made = graph.add_constant(value.astype(np.float32 if value.dtype.kind == "f" else np.int64), name)
    kept = {key: value for key, value in node.attributes.items() if key not in (name, "consumed_inputs")}
    graph.apply(node, op_type, version, (node.inputs[0], made), node.outputs, kept)


def _pad(node: OnnxNode, graph: Conversion) -> None:
    kept = {("pads" if name == "paddings" else name): value for name, value in node.attributes.items()}
    graph.apply(node, "Pad", 2, node.inputs, node.outputs, kept)


def _upsample(node: OnnxNode, graph: Conversion) -> None:
    scales = np.array([1.0, 1.0, node.number("height_scale"), node.number("width_scale")], np.float32)
    inputs = (node.inputs[0], graph.add_constant(scales, "scales"))
    graph.apply(node, "Upsample", 9, inputs, node.outputs, {"mode": node.text("mode", "nearest")})


def _cast(node: OnnxNode, graph: Conversion) -> None:
    wanted = node.text("to").upper()
    if wanted not in _TYPES:
        raise InvalidNode(f"{node.text('to')!r} is no element type")
    graph.apply(node, "Cast", 6, node.inputs, node.outputs, {"to": _TYPES[wanted]})


def _split(node: OnnxNode, graph: Conversion) -> None:
    axis = {"axis": node.integer("axis")}
    if len(node.inputs) < 2:
        graph.apply(node, "Split", 2, node.inputs, node.outputs, node.attributes)
        return
    sizes = graph.add_constant(graph.need_constant(node, 1).astype(np.int64).reshape(-1), "split")
    graph.apply(node, "Split", 13, (node.inputs[0], sizes), node.outputs, axis)


def _tile(node: OnnxNode, graph: Conversion) -> None:
    """A number of copies along one axis."""
    count, axis = (int(graph.need_constant(node, index).reshape(-1)[0]) for index in (1, 2))
    rank = len(graph.tensor(node.inputs[0]).shape)
    if not 0 <= axis < rank:
        raise InvalidNode(f"axis {axis} is outside a tensor of {rank} axes")
    repeats = np.array([count if other == axis else 1 for other in range(rank)], np.int64)
    graph.apply(node, "Tile", 6, (node.inputs[0], graph.add_constant(repeats, "repeats")), node.outputs)


def _old(
    op_type: str,
    since: int,
    attributes: Mapping[str, str],
    convert: Convert,
    least: int = 1,
    most: int | None = None,
) -> Import:
    return Import(
        op_type=op_type,
        since=since,
        attributes=attributes,
        convert=convert,
        min_inputs=least,
        max_inputs=most or least,
    )


IMPORTS = (
    *(
        _old(name, 1, _HINT, _same(6))
        for name in ("Abs", "Ceil", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh")
    ),
    *(_old(name, 1, _HINT, _same(6), 1, _MANY) for name in ("Max", "Min", "Sum")),
    *(_old("Mean", since, _HINT if since == 1 else {}, _same(8), 1, _MANY) for since in (1, 6)),
    *(_old(name, 1, {**_HINT, "alpha": "FLOAT"}, _same(6)) for name in ("Elu", "LeakyRelu")),
    _old("HardSigmoid", 1, {**_HINT, "alpha": "FLOAT", "beta": "FLOAT"}, _same(6)),
    _old("Selu", 1, {**_HINT, "alpha": "FLOAT", "gamma": "FLOAT"}, _same(6, alpha=1.6732, gamma=1.0507)),
    _old("Clip", 1, {**_HINT, "min": "FLOAT", "max": "FLOAT"}, _same(6)),
    _old("InstanceNormalization", 1, {**_HINT, "epsilon": "FLOAT"}, _same(6), 3),
    _old("AveragePool", 1, _WINDOW, _same(7)),
    _old("Concat", 1, {"axis": "INT"}, _same(4, axis=1), 1, _MANY),
    *(
        _old(name, since, {**_BROADCAST, **_HINT} if since == 1 else _BROADCAST, _binary, 2)
        for name in ("Add", "Sub", "Mul", "Div")
        for since in (1, 6)
    ),
    *(_old(name, 1, _BROADCAST, _binary, 2) for name in ("And", "Or", "Xor", "Equal", "Greater", "Less", "Pow")),
    *(_old("PRelu", since, _HINT if since == 1 else {}, _prelu, 2) for since in (1, 6)),
    *(_old("Gemm", since, _GEMM, _same(7, ("broadcast",)), 3) for since in (1, 6)),
    *(
        _old("BatchNormalization", since, {**_NORM, **_HINT} if since == 1 else _NORM, _for_inference, 5)
        for since in (1, 6)
    ),
    *(
        _old("Dropout", since, {"ratio": "FLOAT", "is_test": "INT", **(_HINT if since == 1 else {})}, _for_inference)
        for since in (1, 6)
    ),
    _old("Reshape", 1, {**_HINT, "shape": "INTS"}, partial(_with_input, "Reshape", 5, "shape")),
    _old("Pad", 1, {"mode": "STRING", "value": "FLOAT", "paddings": "INTS"}, _pad),
    _old("Upsample", 1, {"mode": "STRING", "height_scale": "FLOAT", "width_scale": "FLOAT"}, _upsample),
    _old("Upsample", 7, {"mode": "STRING", "scales": "FLOATS"}, partial(_with_input, "Upsample", 9, "scales")),
    _old("Cast", 1, {"to": "STRING"}, _cast),
    _old("Split", 1, {"axis": "INT", "split": "INTS"}, _split, 1, 2),
    _old("Tile", 1, {}, _tile, 3),
)
