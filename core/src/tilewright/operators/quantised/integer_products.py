"""Knows MatMulInteger and ConvInteger: 8-bit values whose zero points may be computed, summed in 32 bits.
Does not know products whose result is stored in 8 bits (`qgemm`, `qconv`), nor how sums become float (`scaled_sums`).

Normal form: A[..., M, K] and B[..., K, N], i8 or u8, and optionally P and Q, their zero points: of shape [] or [1],
or P[M], one for each row, and Q[N], one for each column. ConvInteger has attributes of `windows` and `group`;
X[N, C, ...] and W[O, C/group, ...], and optionally the zero points P of X, one, and Q of W, one or [O]; padding is the
zero point, and adds nothing. Sums wrap around, as ONNX lets them. With S or F they are scaled, see `scaled_sums`.
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
from tilewright.operators.c_code.walk import NEST, broadcast_steps, innermost, nest, walk
from tilewright.operators.convolution.conv import correlate
from tilewright.operators.quantised.scaled_sums import NAMES, ONE, c_values, map_operands, place, result_type, scaled
from tilewright.operators.shared.refusals import need_types, shape_error
from tilewright.operators.shared.windows import WINDOW_ATTRIBUTES, c_axes, import_windows, inferred_outputs, windows_of

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

_BYTES = (DType.I8, DType.U8)


def _infer(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise shape_error(site, "the last axis of A and the last but one of B must be equal")
    for index, (name, of, length) in enumerate((("P", a, a.shape[-2]), ("Q", b, b.shape[-1])), 2):
        if site.has_input(index) and site.input(index).shape not in (*ONE, (length,)):
            raise shape_error(site, f"{name} has one element, or {length}")
        if site.has_input(index) and site.input(index).dtype is not of.dtype:
            raise shape_error(site, f"{name} is {of.dtype.value}, as what it belongs to")
    try:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise shape_error(site, f"{list(a.shape[:-2])} and {list(b.shape[:-2])} do not broadcast") from None
    dtype = result_type(site, b.shape[-1])
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=(*lead, a.shape[-2], b.shape[-1])),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b, p, q = (None if array is None else np.asarray(array, np.int64) for array in (*inputs, None, None)[:4])
    if a is None or b is None:
        raise TypeError(f"{site.node.name}: A and B are needed")
    left = a if p is None else a - p.reshape(-1, 1)
    right = b if q is None else b - q
    return (scaled(site, left @ right, inputs, -1),)


def _access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    zeros = ""
    for index, (name, loop) in enumerate((("P", "m"), ("Q", "n")), 2):
        if site.has_input(index):
            shapes[name] = site.input(index).shape
            zeros += f" {name}[{place(shapes[name], loop)}]"
    more, scales = map_operands(site, "n")
    return parse_map(f"m n k : A[...,m,k] B[...,k,n]{zeros}{scales} -> Y[...,m,n]").bind({**shapes, **more})


def _match(site: Site) -> str | None:
    wrong = [tensor.dtype.value for tensor in site.inputs[:4] if tensor is not None and tensor.dtype not in _BYTES]
    return f"values must be i8 or u8, found {', '.join(wrong)}" if wrong else None


def _prefers(site: Site) -> Mapping[str, Layout]:
    """Columns of B together: a product goes along them."""
    rank = len(site.input(1).shape)
    return {"B": (*range(rank - 2), rank - 1, rank - 2)} if site.constant(1) is not None else {}


def _values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    p, q = call.operands.get("P"), call.operands.get("Q")
    lead = len(y.shape) - 2
    rows = {
        "A": broadcast_steps(a, y)[:-1],
        "B": (*broadcast_steps(b, y)[:-2], 0),
        "P": (*(0,) * lead, p.strides[0] if p and p.shape not in ONE else 0),
        "Y": y.strides[:-1],
    }
    all_rows = walk(y.extents[:-1], rows, "Y")
    outer, (count, steps) = nest(all_rows, 1), innermost(all_rows)
    types, scales = f"{a.dtype.value}_{b.dtype.value}", c_values(call)
    return {
        **scales,
        "function": f"tw_integer_matmul_{types}{'_f32' * bool(scales['is_float'])}",
        "a_type": a.dtype.c_type,
        "b_type": b.dtype.c_type,
        "nest": outer.headers,
        "at": outer.offsets,
        "fields": {
            "rows": count,
            "columns": y.extents[-1],
            "depth": a.extents[-1],
            **{f"{operand.lower()}_row": step for operand, step in steps.items()},
            "a_depth": a.strides[-1],
            "b_depth": b.strides[-2],
            "b_column": b.strides[-1],
            "q_column": q.strides[0] if q and q.shape not in ONE else 0,
            "y_column": y.strides[-1],
            **_fields(scales),
        },
        "row_zeros": f"{p}{outer.offsets['P']}" if p else f"(const {a.dtype.c_type} *)0",
        "column_zeros": q or f"(const {b.dtype.c_type} *)0",
    }


def _fields(scales: Mapping[str, object]) -> Mapping[str, object]:
    fields = scales["scale_fields"]
    return fields if isinstance(fields, Mapping) else {}


def _import(node: OnnxNode, graph: Conversion) -> None:
    """A vector on either side becomes a matrix of one row or column, which the result loses again."""
    need_types(node, graph, *_BYTES, first=2)
    a, b, *zeros = node.inputs
    a_shape, b_shape = graph.tensor(a).shape, graph.tensor(b).shape
    if not a_shape or not b_shape:
        raise graph.refuse(node, "a product with a scalar")
    if len(a_shape) == 1:
        a = graph.emit(node, "Reshape", (a,), (), {"shape": (1, *a_shape)}, "row")
    if len(b_shape) == 1:
        b = graph.emit(node, "Reshape", (b,), (), {"shape": (*b_shape, 1)}, "column")
    lengths = (graph.tensor(a).shape[-2], graph.tensor(b).shape[-1])
    zero_vectors = [
        zero_points(node, graph, name, length, ("row", "column")[index]) if name else ""
        for index, (name, length) in enumerate(zip(zeros, lengths, strict=False))
    ]
    whole = len(a_shape) > 1 and len(b_shape) > 1
    product = graph.emit(node, "MatMulInteger", (a, b, *zero_vectors), node.outputs if whole else (), hint="product")
    if not whole:
        shape = graph.tensor(product).shape
        shape = (*shape[:-2], *shape[-2:-1][: len(a_shape) > 1], *shape[-1:][: len(b_shape) > 1])
        graph.emit(node, "Reshape", (product,), node.outputs, {"shape": shape})


def zero_points(node: OnnxNode, graph: Conversion, name: str, length: int, what: str) -> str:
    """A zero point as one element or a vector of `length`; a refusal where it is neither."""
    tensor = graph.tensor(name)
    if tensor.elements not in (1, length) or sorted(tensor.shape)[:-1] != [1] * (len(tensor.shape) - 1):
        raise graph.refuse(node, f"zero points {list(tensor.shape)}: one, or one for each {what}, is supported")
    if len(tensor.shape) < 2:
        return name
    known = graph.constant(name)
    if known is not None:
        return graph.add_constant(known.reshape(-1), f"{what}_zero_points")
    return graph.emit(node, "Reshape", (name,), (), {"shape": (tensor.elements,)}, f"{what}_zero_points")


MATMUL_INTEGER = Operator(
    name="MatMulInteger",
    inputs=("A", "B", "P", "Q", *NAMES),
    outputs=("Y",),
    summary="products of 8-bit matrices, summed in 32 bits, or scaled; zero points may be computed",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: site.output.elements * site.input(0).shape[-1],
    imports=(Import(op_type="MatMulInteger", since=10, attributes={}, convert=_import, min_inputs=2, max_inputs=4),),
)

MATMUL_INTEGER_PORTABLE = Kernel(
    name="portable.matmul_integer",
    op="MatMulInteger",
    match=_match,
    prefers=_prefers,
    parallel=("m", "n"),
    values=_values,
    source=(c_template("${function}", "integer_matmul.c.mako"),),
    call=NEST
    + """\
${function}((${function}_shape){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${A}${at["A"]}, ${B}${at["B"]}, ${row_zeros}, ${column_zeros}, ${scale_arguments}${Y}${at["Y"]});""",
)


def _conv_infer(site: Site) -> tuple[Tensor, ...]:
    x, w, group = site.input(0), site.input(1), site.node.integer("group", 1)
    if len(x.shape) < 3 or len(w.shape) != len(x.shape) or w.shape[2:] != site.node.integers("kernel_shape"):
        raise shape_error(site, "X is [N, C, spatial...], W has as many axes and the extents of the kernel")
    if group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise shape_error(site, f"{x.shape[1]} channels, {group} groups and W{list(w.shape)} do not fit together")
    for index, (of, lengths) in enumerate(((x, (1,)), (w, (1, w.shape[0]))), 2):
        if site.has_input(index) and site.input(index).shape not in {(), *((length,) for length in lengths)}:
            raise shape_error(site, f"zero points have one element, those of W one or {w.shape[0]}")
        if site.has_input(index) and site.input(index).dtype is not of.dtype:
            raise shape_error(site, f"a zero point is {of.dtype.value}, as what it belongs to")
    shape = (x.shape[0], w.shape[0], *inferred_outputs(site))
    return (Tensor(name=site.node.outputs[0], dtype=result_type(site, w.shape[0]), shape=shape),)


def _conv_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    """Sums of integers this small are exact in float64."""
    x, w, p, q = (None if array is None else np.asarray(array, np.float64) for array in (*inputs, None, None)[:4])
    if x is None or w is None:
        raise TypeError(f"{site.node.name}: X and W are needed")
    left = x if p is None else x - p
    right = w if q is None else w - q.reshape(-1, *(1,) * (w.ndim - 1))
    sums = correlate(left, right, windows_of(site.node), site.node.integer("group", 1)).astype(np.int64)
    return (scaled(site, sums, inputs, 1),)


def _conv_access(site: Site) -> Access:
    windows, group = windows_of(site.node), site.node.integer("group", 1)
    outs, taps = windows.output_loops, windows.tap_loops
    shapes = {"X": site.input(0).shape, "W": site.input(1).shape, "Y": site.output.shape}
    zeros = ""
    for index, name in enumerate("PQ", 2):
        if site.has_input(index):
            shapes[name] = site.input(index).shape
            zeros += f" {name}[{place(shapes[name], 'o')}]"
    more, scales = map_operands(site, "o")
    text = (
        f"n o {' '.join(outs)} c {' '.join(taps)} : X[n,o//og*cg+c,{','.join(windows.map_indices())}] "
        f"W[o,c,{','.join(taps)}]{zeros}{scales} -> Y[n,o,{','.join(outs)}]"
    )
    per_group = {"og": site.input(1).shape[0] // group, "cg": site.input(1).shape[1]}
    return parse_map(text).bind({**shapes, **more}, {**windows.map_values(), **per_group})


def _conv_prefers(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout, **({"W": layout} if site.constant(1) is not None else {})}


def _conv_values(call: Call) -> Mapping[str, object]:
    site, x, w, y = call.site, call.operands["X"], call.operands["W"], call.operands["Y"]
    q, scales = call.operands.get("Q"), c_values(call)
    return {
        **scales,
        "function": f"tw_integer_conv_{x.dtype.value}_{w.dtype.value}{'_f32' * bool(scales['is_float'])}",
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
            "q_output": q.strides[0] if q and q.shape not in ONE else 0,
            **c_axes(windows_of(site.node), x, y, w.strides[2:]),
            **_fields(scales),
        },
        "x_zero": call.operands.get("P", f"(const {x.dtype.c_type} *)0"),
        "w_zeros": q or f"(const {w.dtype.c_type} *)0",
    }


def _conv_import(node: OnnxNode, graph: Conversion) -> None:
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
    inputs=("X", "W", "P", "Q", *NAMES),
    outputs=("Y",),
    summary="convolution of 8-bit values, summed in 32 bits, or scaled; zero points may be computed",
    infer=_conv_infer,
    reference=_conv_reference,
    access=_conv_access,
    macs=lambda site: site.output.elements * math.prod(site.input(1).shape[1:]),
    imports=(
        Import(
            op_type="ConvInteger",
            since=10,
            attributes={**WINDOW_ATTRIBUTES, "dilations": "INTS", "group": "INT"},
            convert=_conv_import,
            min_inputs=2,
            max_inputs=4,
        ),
    ),
)

CONV_INTEGER_PORTABLE = Kernel(
    name="portable.conv_integer",
    op="ConvInteger",
    match=_match,
    prefers=_conv_prefers,
    parallel=("o", "d", "h", "w"),
    values=_conv_values,
    source=(c_template("${function}", "integer_conv.c.mako"),),
    call="""\
${function}((${function}_shape){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${W}, ${x_zero}, ${w_zeros}, ${scale_arguments}${Y});""",
)

OPERATORS = (
    MATMUL_INTEGER,
    CONV_INTEGER,
)
KERNELS = (
    MATMUL_INTEGER_PORTABLE,
    CONV_INTEGER_PORTABLE,
)
