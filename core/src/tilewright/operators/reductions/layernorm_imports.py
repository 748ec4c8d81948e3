"""Knows how ONNX's normalisations become rows that are normalised one by one: LayerNormalization, RMSNormalization,
InstanceNormalization and GroupNormalization, and MeanVarianceNormalization, whose epsilon is outside the root.
Does not know how a row is computed (`layernorm`).

Where rows have more axes than the last, Reshape nodes join them. Every variance is the mean of squared distances from
the mean. ONNX defines GroupNormalization and MeanVarianceNormalization by mean(x^2) - mean^2, which cancels where a
mean is large, so that their definitions are not followed. Source: ONNX 17, 23, 6, 18 and 21, 9 and 13.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.refusals import need_axis, need_types

EPSILON = 1e-5  # where a node does not say
_OUTSIDE = 1e-9  # what MeanVarianceNormalization adds to the root
_SCALE_PER_CHANNEL = 21  # the operator set from which GroupNormalization has a scale for each channel, not each group


def _import_layer(node: OnnxNode, graph: Conversion) -> None:
    """One row per index of the axes before `axis`; Scale and B are broadcast to a row."""
    need_types(node, graph, DType.F32)
    shape = graph.tensor(node.inputs[0]).shape
    axis = need_axis(node, graph, node.integer("axis", -1), len(shape))
    attributes: dict[str, Attribute] = {"epsilon": node.number("epsilon", EPSILON)}
    if any(node.outputs[1:]):
        _emit_statistics(node, graph, tuple(range(axis, len(shape))))
    outputs = node.outputs[:1]
    parameters = [_as_row(node, graph, name, shape[axis:]) for name in node.inputs[1:]]
    if axis == len(shape) - 1:
        graph.emit(node, node.op_type, (node.inputs[0], *parameters), outputs, attributes)
        return
    rows = (math.prod(shape[:axis]), math.prod(shape[axis:]))
    flat = graph.emit(node, "Reshape", node.inputs[:1], (), {"shape": rows}, "flat")
    result = graph.emit(node, node.op_type, (flat, *parameters), (), attributes, "rows")
    graph.emit(node, "Reshape", (result,), outputs, {"shape": shape})


def _emit_statistics(node: OnnxNode, graph: Conversion, axes: tuple[int, ...]) -> None:
    """The optional outputs Mean and InvStdDev, by reductions of their own."""
    mean, inverse = (*node.outputs[1:], "")[:2]
    if mean:
        graph.emit(node, "ReduceMean", node.inputs[:1], (mean,), {"axes": axes, "keepdims": 1})
    if inverse:
        epsilon = graph.add_constant(np.float32(node.number("epsilon", EPSILON)).reshape(1), "epsilon")
        variance = _emit_variance(node, graph, _emit_centred(node, graph, axes), axes)
        safe = graph.emit(node, "Add", (variance, epsilon), hint="safe")
        graph.emit(node, "Reciprocal", (graph.emit(node, "Sqrt", (safe,), hint="deviation"),), (inverse,))


def _emit_centred(node: OnnxNode, graph: Conversion, axes: tuple[int, ...]) -> str:
    """x - mean over the axes, by the distances from the first element there: 0 where all are equal."""
    x = node.inputs[0]
    shape = graph.tensor(x).shape
    ones: dict[str, Attribute] = {
        "starts": (0,) * len(shape),
        "steps": (1,) * len(shape),
        "shape": tuple(min(extent, 1) if axis in axes else extent for axis, extent in enumerate(shape)),
    }
    apart = graph.emit(node, "Sub", (x, graph.emit(node, "Slice", (x,), (), ones, "first")), hint="apart")
    mean = graph.emit(node, "ReduceMean", (apart,), (), {"axes": axes, "keepdims": 1}, "mean_apart")
    return graph.emit(node, "Sub", (apart, mean), hint="centred")


def _emit_variance(node: OnnxNode, graph: Conversion, centred: str, axes: tuple[int, ...]) -> str:
    squares = graph.emit(node, "Mul", (centred, centred), hint="squares")
    return graph.emit(node, "ReduceMean", (squares,), (), {"axes": axes, "keepdims": 1}, "variance")


def _as_row(node: OnnxNode, graph: Conversion, name: str, row: tuple[int, ...]) -> str:
    if not name:
        return ""
    value = graph.constant(name)
    if value is not None:
        try:
            return graph.add_constant(np.broadcast_to(value, row).reshape(-1), "row")
        except ValueError:
            raise graph.refuse(node, f"{name} does not broadcast to the normalised axes {list(row)}") from None
    if graph.tensor(name).shape != row:
        raise graph.refuse(node, f"{name} is computed, and is not {list(row)} as the normalised axes are")
    return graph.emit(node, "Reshape", (name,), (), {"shape": (math.prod(row),)}, "row")


def _import_instance(node: OnnxNode, graph: Conversion) -> None:
    """Rows are what one channel of one image has; Scale and B belong to channels."""
    need_types(node, graph, DType.F32)
    shape = graph.tensor(node.inputs[0]).shape
    if len(shape) < 3:
        raise graph.refuse(node, "X has no axes but N and C")
    _emit_groups(node, graph, shape[1], shape[1])


def _import_group(node: OnnxNode, graph: Conversion) -> None:
    """Rows are what the channels of a group of one image have; scale and bias belong to channels or to groups."""
    need_types(node, graph, DType.F32)
    shape = graph.tensor(node.inputs[0]).shape
    groups = node.integer("num_groups")
    if len(shape) < 3 or groups < 1 or shape[1] % groups:
        raise graph.refuse(node, f"X {list(shape)} has no channels for {groups} equal groups")
    _emit_groups(node, graph, groups, shape[1] if node.version >= _SCALE_PER_CHANNEL else groups)


def _emit_groups(node: OnnxNode, graph: Conversion, groups: int, factors: int) -> None:
    """`factors`: for how many channels, or groups of them, there is a scale, which follows as Mul, and a shift."""
    x, *parameters = node.inputs
    shape = graph.tensor(x).shape
    if any(graph.tensor(name).shape != (factors,) for name in parameters):
        raise graph.refuse(node, f"its scale and shift do not have {factors} elements each")
    rows = (shape[0] * groups, math.prod(shape[1:]) // groups)
    flat = graph.emit(node, "Reshape", (x,), (), {"shape": rows}, "flat")
    even = graph.emit(node, "LayerNormalization", (flat,), (), {"epsilon": node.number("epsilon", EPSILON)}, "rows")
    whole = factors == shape[1]
    split = shape if whole else (shape[0], factors, rows[1])
    even = graph.emit(node, "Reshape", (even,), (), {"shape": split}, "normalised")
    channels = (factors, *(1,) * (len(split) - 2))
    factor, offset = (
        graph.emit(node, "Reshape", (name,), (), {"shape": channels}, hint)
        for name, hint in zip(parameters, ("scale", "shift"), strict=True)
    )
    scaled = graph.emit(node, "Mul", (even, factor), (), {}, "scaled")
    shifted = graph.emit(node, "Add", (scaled, offset), node.outputs if whole else (), {}, "shifted")
    if not whole:
        graph.emit(node, "Reshape", (shifted,), node.outputs, {"shape": shape})


def _import_mean_variance(node: OnnxNode, graph: Conversion) -> None:
    """(x - mean) / (sqrt(variance) + 1e-9), over any axes."""
    need_types(node, graph, DType.F32)
    rank = len(graph.tensor(node.inputs[0]).shape)
    axes_given = node.integers("axes", (0, 2, 3))
    axes = tuple(sorted({need_axis(node, graph, axis, rank) for axis in axes_given} or range(rank)))
    centred = _emit_centred(node, graph, axes)
    deviation = graph.emit(node, "Sqrt", (_emit_variance(node, graph, centred, axes),), hint="deviation")
    outside = graph.add_constant(np.full(1, _OUTSIDE, np.float32), "epsilon")
    graph.emit(node, "Div", (centred, graph.emit(node, "Add", (deviation, outside), hint="safe")), node.outputs)


_ROWS = {"axis": "INT", "epsilon": "FLOAT", "stash_type": "INT"}
_GROUPS = {"num_groups": "INT", "epsilon": "FLOAT"}
LAYER_IMPORTS = (
    Import(op_type="LayerNormalization", since=17, attributes=_ROWS, convert=_import_layer, min_inputs=2, max_inputs=3),
    Import(
        op_type="InstanceNormalization",
        since=6,
        attributes={"epsilon": "FLOAT"},
        convert=_import_instance,
        min_inputs=3,
        max_inputs=3,
    ),
    Import(
        op_type="GroupNormalization", since=18, attributes=_GROUPS, convert=_import_group, min_inputs=3, max_inputs=3
    ),
    Import(
        op_type="GroupNormalization",
        since=_SCALE_PER_CHANNEL,
        attributes={**_GROUPS, "stash_type": "INT"},
        convert=_import_group,
        min_inputs=3,
        max_inputs=3,
    ),
    Import(op_type="MeanVarianceNormalization", since=9, attributes={"axes": "INTS"}, convert=_import_mean_variance),
)
RMS_IMPORTS = (
    Import(op_type="RMSNormalization", since=23, attributes=_ROWS, convert=_import_layer, min_inputs=2, max_inputs=2),
)
