"""Knows ConvTranspose on floats: grouped, dilated, strided, over one to three spatial axes, each output gathered.
Does not know integers: an island around it stays DequantizeLinear, ConvTranspose, QuantizeLinear.

Normal form: `kernel_shape`, `strides`, `dilations`, `pads`, `output_padding`, `group`. Inputs X[N, C, ...],
W[C, O/group, ...] and optionally B[O]. Output position p gets x[q] * w[t] from every q and t with
q * stride + t * dilation = p + pad. Source: ONNX ConvTranspose-1 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Operand, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.shared.float_results import dot_tolerance, rounded
from tilewright.operators.shared.refusals import need_types, shape_error
from tilewright.operators.shared.window_imports import COL2IM
from tilewright.operators.shared.windows import (
    C_AXES,
    MAX_SPATIAL,
    WINDOW_ATTRIBUTES,
    Windows,
    import_windows,
    prefers_channels_last,
    windows_of,
)

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, w, group, windows = site.input(0), site.input(1), site.node.integer("group", 1), windows_of(site.node)
    if len(x.shape) < 3 or len(w.shape) != len(x.shape) or w.shape[2:] != windows.kernel:
        raise shape_error(site, f"X is [N, C, spatial...], W [C, O/group, {', '.join(map(str, windows.kernel))}]")
    if group < 1 or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise shape_error(site, f"{x.shape[1]} channels, {group} groups and W{list(w.shape)} do not fit together")
    if site.has_input(2) and site.input(2).shape != (w.shape[1] * group,):
        raise shape_error(site, f"B has one element for each of the {w.shape[1] * group} outputs")
    extents = outputs_of(windows, site.node.integers("output_padding", (0,) * windows_of(site.node).rank), x.shape[2:])
    if any(extent < 1 for extent in extents):
        raise shape_error(site, f"the pads cut everything off: the output would be {list(extents)}")
    shape = (x.shape[0], w.shape[1] * group, *extents)
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def outputs_of(windows: Windows, extra: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """Spatial extents of the output of an input with these."""
    rows = zip(extents, windows.strides, windows.reach, extra, windows.before, windows.after, strict=True)
    return tuple((extent - 1) * stride + reach + more - low - high for extent, stride, reach, more, low, high in rows)


def _spread(x: Doubles, w: Doubles, site: Site) -> Doubles:
    """Every input into all outputs that it reaches, then the pads cut off."""
    windows, group, extents = windows_of(site.node), site.node.integer("group", 1), site.input(0).shape[2:]
    grouped = x.reshape(x.shape[0], group, x.shape[1] // group, -1)
    weights = w.reshape(group, w.shape[0] // group, w.shape[1], -1)
    outputs = zip(windows.before, site.output.shape[2:], windows.after, strict=True)
    whole = [low + extent + high for low, extent, high in outputs]
    total = np.zeros((x.shape[0], site.output.shape[1], *whole))
    for number, tap in enumerate(product(*(range(taps) for taps in windows.kernel))):
        place = [slice(None), slice(None)]
        for at, dilation, extent, stride in zip(tap, windows.dilations, extents, windows.strides, strict=True):
            place.append(slice(at * dilation, at * dilation + (extent - 1) * stride + 1, stride))
        seen = np.einsum("ngcp,gco->ngop", grouped, weights[..., number])
        total[tuple(place)] += seen.reshape(x.shape[0], -1, *extents)
    kept = [slice(low, low + extent) for low, extent in zip(windows.before, site.output.shape[2:], strict=True)]
    return np.asarray(total[(slice(None), slice(None), *kept)])


def _sums(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Doubles:
    x, w, b = (None if array is None else np.asarray(array, np.float64) for array in (*inputs, None)[:3])
    if x is None or w is None:
        raise TypeError(f"{site.node.name}: X and W are needed")
    if magnitude:
        x, w, b = np.abs(x), np.abs(w), None if b is None else np.abs(b)
    total = _spread(x, w, site)
    return total if b is None else total + b.reshape(-1, *(1,) * (x.ndim - 2))


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    w = site.input(1).shape
    terms = w[0] // site.node.integer("group", 1) * math.prod(w[2:]) + 1
    return (dot_tolerance(terms, _sums(site, inputs, magnitude=True), _sums(site, inputs)),)


def _access(site: Site) -> Access:
    taps = windows_of(site.node).tap_loops
    return _map(site, {"W": site.input(1).shape}, f"W[o//og*cg+c,o%og,{','.join(taps)}]")


def _kernel_access(site: Site) -> Access:
    """Constant weights are packed as [O, taps, C/group]."""
    if site.constant(1) is None:
        return _access(site)
    inputs, outputs, *kernel = site.input(1).shape
    shape = (outputs * site.node.integer("group", 1), *kernel, inputs // site.node.integer("group", 1))
    return _map(site, {"W": shape}, f"W[o,{','.join(windows_of(site.node).tap_loops)},c]")


def _map(site: Site, weights: Mapping[str, tuple[int, ...]], weights_text: str) -> Access:
    """A tap that falls between two inputs reads none; the window has the one before it all the same."""
    windows, group = windows_of(site.node), site.node.integer("group", 1)
    outs, taps = windows.output_loops, windows.tap_loops
    rows = (f"({out}+p{out}-{tap}*d{out})//s{out}?" for out, tap in zip(outs, taps, strict=True))
    text = (
        f"n o {' '.join(outs)} c<cg {' '.join(f'{tap}<k{tap}' for tap in taps)} : X[n,o//og*cg+c,{','.join(rows)}] "
        f"{weights_text} B[o] -> Y[n,o,{','.join(outs)}]"
    )
    shapes = {"X": site.input(0).shape, **weights, "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = site.input(2).shape
    per_group = {"og": site.input(1).shape[1], "cg": site.input(1).shape[0] // group}
    return parse_map(text).bind(shapes, {**windows.map_values(), **per_group})


def _match(site: Site) -> str | None:
    for name, tensor in zip(("X", "W", "B"), site.inputs, strict=False):
        if tensor is not None and tensor.dtype is not DType.F32:
            return f"{name} must be f32, found {tensor.dtype.value}"
    return None


def _pack(site: Site) -> Mapping[str, Array]:
    weights, bias, group = site.constant(1), site.constant(2), site.node.integer("group", 1)
    if weights is None:
        return {}
    inputs, outputs, *kernel = weights.shape
    split = np.moveaxis(weights.reshape(group, inputs // group, outputs, *kernel), 1, -1)  # [group, O/group, taps, C]
    packed = {"W": np.ascontiguousarray(split.reshape(group * outputs, *kernel, inputs // group))}
    return packed if bias is None else {**packed, "B": bias}


def _values(call: Call) -> Mapping[str, object]:
    site, w = call.site, call.operands["W"]
    x, y = call.operands["X"], call.operands["Y"]
    acc = call.operands.get("acc", y)
    packed = site.constant(1) is not None
    channel, output, *taps = w.strides
    if packed:
        output, *taps, channel = w.strides
    group_inputs = site.input(1).shape[0] // site.node.integer("group", 1)
    fields: dict[str, object] = {
        "batches": y.extents[0],
        "outputs": y.extents[1],
        "group_inputs": call.extents["c"],
        "group_outputs": site.input(1).shape[1],
        "first_output": y.origin[1],
        "x_batch": x.strides[0],
        "x_channel": x.strides[1],
        "x_group": group_inputs * x.strides[1],
        "y_batch": y.strides[0],
        "y_channel": y.strides[1],
        "s_batch": acc.strides[0],
        "s_channel": acc.strides[1],
        "w_output": output,
        "w_channel": channel,
        "w_group": site.input(1).shape[1] * output if packed else group_inputs * channel,
        "w_first": f"{y.origin[1]} % {site.input(1).shape[1]}" if packed else w.origin[1],
        "first": call.first or "1",
        "last": call.last or "1",
        **_axes(windows_of(site.node), (x, y, acc), taps),
    }
    return {"fields": fields, "bias": call.operands.get("B", "(const float *)0"), "sums": str(acc)}


def _axes(windows: Windows, operands: tuple[Operand, Operand, Operand], w_steps: Sequence[int]) -> Mapping[str, str]:
    """`tw_spread` initialisers; axes that the tensor lacks have one position."""
    x, y, acc = operands
    axes = dict.fromkeys(C_AXES, "{.outputs = 1, .inputs = 1, .taps = 1, .stride = 1, .dilation = 1}")
    for axis, name in enumerate(C_AXES[MAX_SPATIAL - windows.rank :]):
        at = axis + 2
        fields = {
            "outputs": y.extents[at],
            "first": f"{y.origin[at]} + {windows.before[axis]}" if windows.before[axis] else y.origin[at],
            "inputs": x.extents[at],
            "origin": x.origin[at],
            "taps": windows.kernel[axis],
            "stride": windows.strides[axis],
            "dilation": windows.dilations[axis],
            "x_step": x.strides[at],
            "y_step": y.strides[at],
            "s_step": acc.strides[at],
            "w_step": w_steps[axis],
        }
        axes[name] = c_initialiser(fields)
    return axes


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    x, w = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    kernel, group, rank = node.integers("kernel_shape") or w.shape[2:], node.integer("group", 1), len(x.shape) - 2
    if rank < 1 or kernel != w.shape[2:]:
        raise graph.refuse(node, f"X{list(x.shape)}, W{list(w.shape)} and kernel_shape {list(kernel)} do not fit")
    if group < 1 or x.shape[1] != w.shape[0] or w.shape[0] % group:
        raise graph.refuse(node, f"{group} groups do not divide X{list(x.shape)} and W{list(w.shape)}")
    windows = import_windows(_without_auto_pad(node), graph, x.shape[2:], kernel)
    windows, extra = _padded(node, graph, windows, x.shape[2:])
    limits = zip(extra, windows.strides, windows.dilations, strict=True)
    if any(not 0 <= more < max(stride, dilation) for more, stride, dilation in limits):
        raise graph.refuse(node, f"output_padding {list(extra)} is not smaller than strides or dilations")
    attributes: dict[str, Attribute] = {**windows.attributes(), "group": group, "output_padding": extra}
    inputs = node.inputs if len(node.inputs) > 2 and node.inputs[2] else node.inputs[:2]
    graph.emit(node, "ConvTranspose", inputs, node.outputs, attributes)


def _without_auto_pad(node: OnnxNode) -> OnnxNode:
    """The node with explicit pads only: those of a convolution would be others."""
    implied = node.text("auto_pad", "NOTSET") not in ("", "NOTSET") or "output_shape" in node.attributes
    left_out = ("auto_pad", "pads") if implied else ("auto_pad",)
    return replace(node, attributes={name: value for name, value in node.attributes.items() if name not in left_out})


def _padded(
    node: OnnxNode, graph: Conversion, windows: Windows, extents: Sequence[int]
) -> tuple[Windows, tuple[int, ...]]:
    """Pads and output padding that make the output as large as `output_shape` says, or a stride for each input."""
    extra = node.integers("output_padding") or (0,) * windows.rank
    mode = node.text("auto_pad", "NOTSET") or "NOTSET"
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise graph.refuse(node, f"auto_pad is {mode!r}; NOTSET, SAME_UPPER, SAME_LOWER and VALID are known")
    wanted = node.integers("output_shape")[-windows.rank :]
    if not wanted and mode.startswith("SAME"):
        wanted = tuple(extent * stride for extent, stride in zip(extents, windows.strides, strict=True))
    if len(extra) != windows.rank or len(wanted) not in (0, windows.rank):
        raise graph.refuse(node, f"output_padding and output_shape have an entry for each of {windows.rank} axes")
    if not wanted:
        return windows, extra
    largest = outputs_of(windows, extra, extents)
    beyond = [extent - most for extent, most in zip(wanted, largest, strict=True)]
    total = [max(0, -more) for more in beyond]
    less, more = tuple(pad // 2 for pad in total), tuple(pad - pad // 2 for pad in total)
    before, after = (less, more) if mode == "SAME_UPPER" else (more, less)
    longer = tuple(more + max(0, rest) for more, rest in zip(extra, beyond, strict=True))
    return replace(windows, before=before, after=after), longer


CONV_TRANSPOSE = Operator(
    name="ConvTranspose",
    inputs=("X", "W", "B"),
    outputs=("Y",),
    summary="transposed convolution, 1-D to 3-D, grouped, dilated, strided",
    infer=_infer,
    reference=lambda site, inputs: (rounded(_sums(site, inputs)),),
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.input(0).elements * math.prod(site.input(1).shape[1:]),
    imports=(
        Import(
            op_type="ConvTranspose",
            since=1,
            attributes={
                **WINDOW_ATTRIBUTES,
                "dilations": "INTS",
                "group": "INT",
                "output_padding": "INTS",
                "output_shape": "INTS",
            },
            convert=_import,
            min_inputs=2,
            max_inputs=3,
        ),
        *COL2IM,
    ),
)

CONV_TRANSPOSE_F32 = Kernel(
    name="portable.conv_transpose_f32",
    op="ConvTranspose",
    match=_match,
    access=_kernel_access,
    prefers=prefers_channels_last,
    pack=_pack,
    parallel=("o", "d", "h", "w"),
    accumulates=lambda site: PartialSums(loops=("c",), dtype=DType.F32),
    values=_values,
    source=(c_fragment("conv_transpose.c"),),
    call="""\
tw_conv_transpose_f32((tw_conv_transpose){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${W}, ${bias}, ${sums}, ${Y});""",
)

OPERATORS = (CONV_TRANSPOSE,)
KERNELS = (CONV_TRANSPOSE_F32,)
