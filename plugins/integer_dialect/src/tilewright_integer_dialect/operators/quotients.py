"""Knows IntegerMean and IntegerDiv: quotients to the nearest whole number. Does not know requantisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.api.graph import DType, Site, Tensor
from tilewright.api.kernel import Call, Kernel, broadcast_steps, fragment_file, nest, walk
from tilewright.api.operator import Conversion, OnnxNode, Operator, parse_map
from tilewright_integer_dialect.operators.parts import (
    NEST,
    PACKAGE,
    broadcast_access,
    c_types,
    element_values,
    not_integers,
    signature,
    source,
    taken_as,
)


def _import_mean(node: OnnxNode, graph: Conversion) -> None:
    """Any axes become the one in the middle of three."""
    x, shape = node.inputs[0], graph.tensor(node.inputs[0]).shape
    rank = len(shape)
    named = node.integers("axes") or tuple(range(rank))
    if not all(-rank <= axis < rank for axis in named):
        raise graph.refuse(node, f"axes {list(named)} of a tensor of {rank}")
    axes = sorted({axis % rank for axis in named})
    if axes != list(range(axes[0], axes[-1] + 1)):
        kept = [axis for axis in range(rank) if axis not in axes]
        order = (*kept, *axes)
        x = graph.emit(node, "Transpose", (x,), (), {"perm": order}, "behind")
        front, count, back = [shape[axis] for axis in kept], [shape[axis] for axis in axes], list[int]()
    else:
        front, count, back = list(shape[: axes[0]]), [shape[axis] for axis in axes], list(shape[axes[-1] + 1 :])
    folded = (_product(front), _product(count), _product(back))
    x = graph.emit(node, "Reshape", (x,), (), {"shape": folded}, "folded")
    means = graph.emit(node, "integer.Mean", (x,), (), {}, "means")
    keeps = [1 if axis in axes else extent for axis, extent in enumerate(shape)]
    result = keeps if node.integer("keepdims", 1) else [extent for axis, extent in enumerate(shape) if axis not in axes]
    graph.emit(node, "Reshape", (means,), node.outputs, {"shape": tuple(result)})


def _product(extents: Sequence[int]) -> int:
    count = 1
    for extent in extents:
        count *= extent
    return count


def _infer_mean(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if len(x.shape) != 3 or not x.shape[1]:
        raise ValueError(f"X is [A, elements, B], found {list(x.shape)}")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=(x.shape[0], x.shape[2])),)


def _mean(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    sums, count = np.asarray(inputs[0], np.int64).sum(axis=1), site.input(0).shape[1]
    if not count & (count - 1):
        result = (sums + count // 2) >> (count.bit_length() - 1)
    else:
        result = np.sign(sums) * ((np.abs(sums) + count // 2) // count)
    return (result.astype(site.output.dtype.numpy),)


def _mean_values(call: Call) -> Mapping[str, object]:
    x, y, count = call.operands["X"], call.operands["Y"], call.site.input(0).shape[1]
    outer = nest(walk(y.extents, {"X": (x.strides[0], x.strides[2]), "Y": y.strides}, "Y"), 0)
    return {
        **c_types(call),
        "function": f"tw_integer_mean_{x.dtype.value}",
        "nest": outer.headers,
        "at": outer.offsets,
        "count": count,
        "x_step": x.strides[1],
        "shift": -1 if count & (count - 1) else count.bit_length() - 1,
    }


def _infer_div(site: Site) -> tuple[Tensor, ...]:
    import numpy as np

    shape = np.broadcast_shapes(site.input(0).shape, site.input(1).shape)
    return (Tensor(name=site.node.outputs[0], dtype=DType.I32, shape=tuple(shape)),)


def _div(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    a, b = (np.asarray(array, np.int64) for array in inputs)
    node = site.node
    divisor, above = node.integer("eta") * b + node.integer("eps"), _factor(site) * a
    return ((np.sign(above) * ((np.abs(above) + divisor // 2) // divisor)).astype(np.int32),)


def _factor(site: Site) -> int:
    return site.node.integer("delta") * site.node.integer("eta")


def _div_values(call: Call) -> Mapping[str, object]:
    a, b, y = (call.operands[name] for name in "ABY")
    result = element_values(call, {"A": broadcast_steps(a, y), "B": broadcast_steps(b, y), "Y": y.strides})
    node = call.site.node
    numbers = f"INT64_C({_factor(call.site)}), {node.integer('eta')}, {node.integer('eps')}"
    return {**result, "numbers": numbers}


MEAN = Operator(
    name="integer.Mean",
    inputs=("X",),
    outputs=("Y",),
    summary="IntegerMean: means to the nearest whole number",
    infer=_infer_mean,
    reference=_mean,
    access=lambda site: parse_map("a b : X[a,:,b] -> Y[a,b]").bind({"X": site.input(0).shape, "Y": site.output.shape}),
    imports=(signature("IntegerMean", "keepdims", _import_mean, lists="axes"),),
)
DIV = Operator(
    name="integer.Div",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="IntegerDiv: quotients to the nearest whole number",
    infer=_infer_div,
    reference=_div,
    access=broadcast_access,
    imports=(signature("IntegerDiv", "delta eta eps", taken_as("integer.Div", "delta", "eta", "eps"), inputs=2),),
)
MEAN_PORTABLE = Kernel(
    name="integer.mean",
    op="integer.Mean",
    match=not_integers,
    parallel=("*",),
    values=_mean_values,
    source=source("integer_mean.c.mako"),
    call=NEST + '${function}(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${shift});',
)
DIV_PORTABLE = Kernel(
    name="integer.div",
    op="integer.Div",
    parallel=("*",),
    values=_div_values,
    source=(fragment_file(PACKAGE, "c_code/integer_quotient.c"),),
    call=NEST
    + 'tw_integer_quotient(${count}, ${A}${at["A"]}, ${a_step}, ${B}${at["B"]}, ${b_step}, ${Y}${at["Y"]}, ${y_step}, '
    "${numbers});",
)
OPERATORS = (MEAN, DIV)
KERNELS = (MEAN_PORTABLE, DIV_PORTABLE)
