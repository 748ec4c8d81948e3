"""Knows ConvInteger: convolution of 8-bit values whose zero points may be computed, summed in 32 bits.
Does not know convolutions whose result is stored in 8 bits (`qconv`).

Normal form: attributes of `windows` and `group`; X[N, C, ...] and W[O, C/group, ...], i8 or u8, and optionally the zero
points P[1] of X, and Q of W, of shape [1] or [O]. Padding is the zero point, and adds nothing. Sums wrap around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, channels_last
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.convolution.conv import correlate
from tilewright.operators.quantised.integer_matmul import wrapped, zero_points
from tilewright.operators.shared.import_checks import need_types
from tilewright.operators.shared.shape_errors import shape_error
from tilewright.operators.shared.windows import WINDOW_ATTRIBUTES, c_axes, import_windows, inferred_outputs, windows_of

Array = npt.NDArray[np.generic]

_BYTES = (DType.I8, DType.U8)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, w, group = site.input(0), site.input(1), site.node.integer("group", 1)
    if len(x.shape) < 3 or len(w.shape) != len(x.shape) or w.shape[2:] != site.node.integers("kernel_shape"):
        raise shape_error(site, "X is [N, C, spatial...], W has as many axes and the extents of the kernel")
    if group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise shape_error(site, f"{x.shape[1]} channels, {group} groups and W{list(w.shape)} do not fit together")
    for index, (of, lengths) in enumerate(((x, (1,)), (w, (1, w.shape[0]))), 2):
        if site.has_input(index) and site.input(index).shape not in {(length,) for length in lengths}:
            raise shape_error(site, f"zero points have one element, those of W one or {w.shape[0]}")
        if site.has_input(index) and site.input(index).dtype is not of.dtype:
            raise shape_error(site, f"a zero point is {of.dtype.value}, as what it belongs to")
    return (
        Tensor(name=site.node.outputs[0], dtype=DType.I32, shape=(x.shape[0], w.shape[0], *inferred_outputs(site))),
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    """Sums of integers this small are exact in float64."""
    x, w, p, q = (None if array is None else np.asarray(array, np.float64) for array in (*inputs, None, None)[:4])
    if x is None or w is None:
        raise TypeError(f"{site.node.name}: X and W are needed")
    left = x if p is None else x - p
    right = w if q is None else w - q.reshape(-1, *(1,) * (w.ndim - 1))
    return (wrapped(correlate(left, right, windows_of(site.node), site.node.integer("group", 1)).astype(np.int64)),)


def _access(site: Site) -> Access:
    windows, group = windows_of(site.node), site.node.integer("group", 1)
    outs, taps = windows.output_loops, windows.tap_loops
    shapes = {"X": site.input(0).shape, "W": site.input(1).shape, "Y": site.output.shape}
    zeros = ""
    for index, name in enumerate("PQ", 2):
        if site.has_input(index):
            shapes[name] = site.input(index).shape
            zeros += f" {name}[{'0' if shapes[name] == (1,) else 'o'}]"
    text = (
        f"n o {' '.join(outs)} c {' '.join(taps)} : X[n,o//og*cg+c,{','.join(windows.map_indices())}] "
        f"W[o,c,{','.join(taps)}]{zeros} -> Y[n,o,{','.join(outs)}]"
    )
    per_group = {"og": site.input(1).shape[0] // group, "cg": site.input(1).shape[1]}
    return parse_map(text).bind(shapes, {**windows.map_values(), **per_group})


def _match(site: Site) -> str | None:
    wrong = [tensor.dtype.value for tensor in site.inputs if tensor is not None and tensor.dtype not in _BYTES]
    return f"values must be i8 or u8, found {', '.join(wrong)}" if wrong else None


def _prefers(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout, **({"W": layout} if site.constant(1) is not None else {})}


def _values(call: Call) -> Mapping[str, object]:
    site, x, w, y = call.site, call.operands["X"], call.operands["W"], call.operands["Y"]
    q = call.operands.get("Q")
    return {
        "function": f"tw_integer_conv_{x.dtype.value}_{w.dtype.value}",
        "x_type": x.dtype.c_type,
        "w_type": w.dtype.c_type,
        "fields": {
            "batches": y.extents[0],
            "outputs": y.extents[1],
            "group_inputs": site.input(1).shape[1],
            "group_outputs": site.input(1).shape[0] // site.node.integer("group", 1),
            "first_output": y.origin[1],
            "x_batch": x.strides[0],
            "x_channel": x.strides[1],
            "y_batch": y.strides[0],
            "y_channel": y.strides[1],
            "w_output": w.strides[0],
            "w_channel": w.strides[1],
            "q_output": q.strides[0] if q and q.shape != (1,) else 0,
            **c_axes(windows_of(site.node), x, y, w.strides[2:]),
        },
        "x_zero": call.operands.get("P", f"(const {x.dtype.c_type} *)0"),
        "w_zeros": q or f"(const {w.dtype.c_type} *)0",
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, *_BYTES)
    x, w = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    kernel, group = node.integers("kernel_shape") or w.shape[2:], node.integer("group", 1)
    if len(x.shape) < 3 or kernel != w.shape[2:]:
        raise graph.refuse(node, f"X{list(x.shape)}, W{list(w.shape)} and kernel_shape {list(kernel)} do not fit")
    if group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise graph.refuse(node, f"{group} groups do not divide X{list(x.shape)} and W{list(w.shape)}")
    windows = import_windows(node, graph, x.shape[2:], kernel)
    lengths = ((1, "image"), (w.shape[0], "output"))
    zeros = [
        zero_points(node, graph, name, length, what) if name else ""
        for name, (length, what) in zip(node.inputs[2:], lengths, strict=False)
    ]
    attributes = {**windows.attributes(), "group": group}
    graph.emit(node, "ConvInteger", (*node.inputs[:2], *zeros), node.outputs, attributes)


CONV_INTEGER = Operator(
    name="ConvInteger",
    inputs=("X", "W", "P", "Q"),
    outputs=("Y",),
    summary="convolution of 8-bit values, summed in 32 bits; zero points may be computed",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: site.output.elements * math.prod(site.input(1).shape[1:]),
    imports=(
        Import(
            op_type="ConvInteger",
            since=10,
            attributes={**WINDOW_ATTRIBUTES, "dilations": "INTS", "group": "INT"},
            convert=_import,
            min_inputs=2,
            max_inputs=4,
        ),
    ),
)

CONV_INTEGER_PORTABLE = Kernel(
    name="portable.conv_integer",
    op="ConvInteger",
    match=_match,
    prefers=_prefers,
    parallel=("o", "d", "h", "w"),
    values=_values,
    source=(c_template("${function}", "integer_conv.c.mako"),),
    call="""\
${function}((${function}_shape){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${W}, ${x_zero}, ${w_zeros}, ${Y});""",
)

OPERATORS = (CONV_INTEGER,)
KERNELS = (CONV_INTEGER_PORTABLE,)
