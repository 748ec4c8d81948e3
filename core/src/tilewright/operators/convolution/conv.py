"""Knows Conv on floats: grouped, dilated, padded cross-correlation over one to three spatial axes, with a fused clip.
Does not know integers (`qconv`), nor which layout its operands get.

Normal form: attributes of `windows`, `group`, and optionally `clip_low`, `clip_high`. Inputs X[N, C, ...],
W[O, C/group, ...] and optionally B[O]. NaN in a window makes the output NaN; padding reads 0.
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
from tilewright.ir.machines.kernel import Call, Kernel, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import element_names
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.shared.float_results import clip_literals, dot_tolerance, rounded_and_clipped
from tilewright.operators.shared.reducing import either_source, sums_argument, window_part_fields
from tilewright.operators.shared.refusals import need_types, shape_error
from tilewright.operators.shared.window_imports import LP_POOL
from tilewright.operators.shared.windows import (
    WINDOW_ATTRIBUTES,
    Windows,
    c_axes,
    import_windows,
    inferred_outputs,
    prefers_channels_last,
    tap_views,
    windows_of,
)

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, w = site.input(0), site.input(1)
    group = site.node.integer("group", 1)
    if len(x.shape) < 3 or len(w.shape) != len(x.shape):
        raise shape_error(site, "X is [N, C, spatial...] and W has as many axes")
    if w.shape[2:] != site.node.integers("kernel_shape"):
        raise shape_error(site, f"kernel_shape is {list(site.node.integers('kernel_shape'))}, W says otherwise")
    if group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise shape_error(site, f"{x.shape[1]} channels, {group} groups and W{list(w.shape)} do not fit together")
    if site.has_input(2) and site.input(2).shape != w.shape[:1]:
        raise shape_error(site, f"B has one element for each of the {w.shape[0]} outputs")
    shape = (x.shape[0], w.shape[0], *inferred_outputs(site))
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def correlate(x: Doubles, w: Doubles, windows: Windows, group: int) -> Doubles:
    """Exact sums of X[N, C, ...] with W[O, C/group, ...], padding 0: one matrix product per tap."""
    outputs = windows.outputs(x.shape[2:])
    weights = w.reshape(group, w.shape[0] // group, w.shape[1], -1)
    total = np.zeros((x.shape[0], group, weights.shape[1], math.prod(outputs)))
    for tap, seen in enumerate(tap_views(x, windows, 0.0)):
        total += np.matmul(weights[..., tap], seen.reshape(x.shape[0], group, w.shape[1], -1))
    return total.reshape(x.shape[0], w.shape[0], *outputs)


def _sums(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Doubles:
    x, w, b = (None if array is None else np.asarray(array, np.float64) for array in (*inputs, None)[:3])
    if x is None or w is None:
        raise TypeError(f"{site.node.name}: X and W are needed")
    if magnitude:
        x, w, b = np.abs(x), np.abs(w), None if b is None else np.abs(b)
    total = correlate(x, w, windows_of(site.node), site.node.integer("group", 1))
    return total if b is None else total + b.reshape(-1, *(1,) * (x.ndim - 2))


def _packed_access(site: Site) -> Access:
    outputs, inputs, *taps = site.input(1).shape
    return _map(site, {"W": (outputs, *taps, inputs)}, "W[o,{taps},c]")


def _map(site: Site, weights: Mapping[str, tuple[int, ...]], weights_text: str) -> Access:
    windows, group = windows_of(site.node), site.node.integer("group", 1)
    outs, taps = windows.output_loops, windows.tap_loops
    text = (
        f"n o {' '.join(outs)} c {' '.join(taps)} : X[n,o//og*cg+c,{','.join(windows.map_indices())}] "
        f"{weights_text.format(taps=','.join(taps))} B[o] -> Y[n,o,{','.join(outs)}]"
    )
    shapes = {"X": site.input(0).shape, **weights, "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = site.input(2).shape
    per_group = {"og": site.input(1).shape[0] // group, "cg": site.input(1).shape[1]}
    return parse_map(text).bind(shapes, {**windows.map_values(), **per_group})


_FLOATS = frozenset((DType.F32, DType.F16, DType.BF16))


def _match_any(site: Site) -> str | None:
    types = {tensor.dtype for tensor in site.inputs if tensor is not None}
    if len(types) == 1 and types.issubset(_FLOATS):
        return None
    return f"values must all be of one of f32, f16 and bf16, found {', '.join(sorted(dtype.value for dtype in types))}"


def _pack(site: Site) -> Mapping[str, Array]:
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    packed = {"W": np.ascontiguousarray(np.moveaxis(weights, 1, -1))}
    return packed if bias is None else {**packed, "B": bias}


def _packed_values(call: Call) -> Mapping[str, object]:
    output, *taps, channel = call.operands["W"].strides
    return _values(call, output, channel, taps)


def _computed_values(call: Call) -> Mapping[str, object]:
    output, channel, *taps = call.operands["W"].strides
    return _values(call, output, channel, taps)


def _values(call: Call, w_output: int, w_channel: int, w_taps: Sequence[int]) -> Mapping[str, object]:
    site, x, y = call.site, call.operands["X"], call.operands["Y"]
    fields: dict[str, object] = {
        "batches": y.extents[0],
        "outputs": y.extents[1],
        "group_inputs": call.extents["c"],
        "group_outputs": site.input(1).shape[0] // site.node.integer("group", 1),
        "first_output": y.origin[1],
        "x_batch": x.strides[0],
        "x_channel": x.strides[1],
        "y_batch": y.strides[0],
        "y_channel": y.strides[1],
        "w_output": w_output,
        "w_channel": w_channel,
        **c_axes(windows_of(site.node), x, y, w_taps),
        **clip_literals(site.node),
        **window_part_fields(call, site.input(1).shape[1]),
    }
    part, dtype = call.is_part, x.dtype
    return {
        **element_names(dtype),
        "record": f"tw_conv{'_part' if part else ''}{f'_{dtype.value}s' if dtype.is_half else ''}",
        "fields": fields,
        "bias": call.operands.get("B", f"(const {dtype.c_type} *)0"),
        "part": part,
        "kept": sums_argument(call),
    }


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("c",), dtype=DType.F32)


def _import_conv(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32, DType.F16, DType.BF16)
    need_types(node, graph, graph.tensor(node.inputs[0]).dtype)
    x, w = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    kernel = node.integers("kernel_shape") or w.shape[2:]
    if len(x.shape) < 3 or kernel != w.shape[2:]:
        raise graph.refuse(node, f"X{list(x.shape)}, W{list(w.shape)} and kernel_shape {list(kernel)} do not fit")
    group = node.integer("group", 1)
    if group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise graph.refuse(node, f"{group} groups do not divide X{list(x.shape)} and W{list(w.shape)}")
    windows = import_windows(node, graph, x.shape[2:], kernel)
    inputs = node.inputs if len(node.inputs) > 2 and node.inputs[2] else node.inputs[:2]
    graph.emit(node, "Conv", inputs, node.outputs, {**windows.attributes(), "group": group})


CONV = Operator(
    name="Conv",
    inputs=("X", "W", "B"),
    outputs=("Y",),
    summary="convolution, 1-D to 3-D, grouped, dilated, padded",
    infer=_infer,
    reference=lambda site, inputs: (rounded_and_clipped(site.node, _sums(site, inputs)),),
    access=lambda site: _map(site, {"W": site.input(1).shape}, "W[o,c,{taps}]"),
    tolerance=lambda site, inputs: (
        dot_tolerance(math.prod(site.input(1).shape[1:]) + 1, _sums(site, inputs, magnitude=True), _sums(site, inputs)),
    ),
    macs=lambda site: site.output.elements * math.prod(site.input(1).shape[1:]),
    imports=(
        Import(
            op_type="Conv",
            since=1,
            attributes={**WINDOW_ATTRIBUTES, "dilations": "INTS", "group": "INT"},
            convert=_import_conv,
            min_inputs=2,
            max_inputs=3,
            halves=True,
        ),
        *LP_POOL,
    ),
)

_SOURCE = either_source(
    c_template("tw_conv_part_${kind}", "conv_part.c.mako"), c_template("tw_conv_${kind}", "conv.c.mako")
)
_CALL = """\
tw_conv${"_part" if part else ""}_${kind}((${record}){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${W}, ${bias},${kept} ${Y});"""

CONV_F32 = Kernel(
    name="portable.conv_f32",
    op="Conv",
    match=lambda site: _match_any(site) or (None if site.constant(1) is not None else "W is not a constant"),
    access=_packed_access,
    prefers=prefers_channels_last,
    pack=_pack,
    parallel=("o", "d", "h", "w"),
    accumulates=_accumulates,
    values=_packed_values,
    source=_SOURCE,
    call=_CALL,
    includes=("<stdint.h>", "<math.h>"),
)

CONV_COMPUTED_F32 = Kernel(
    name="portable.conv_computed_weights_f32",
    op="Conv",
    match=lambda site: (
        _match_any(site) or (None if site.constant(1) is None else "W is a constant; portable.conv_f32 packs it")
    ),
    prefers=prefers_channels_last,
    parallel=("o", "d", "h", "w"),
    accumulates=_accumulates,
    values=_computed_values,
    source=_SOURCE,
    call=_CALL,
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (CONV,)
KERNELS = (CONV_F32, CONV_COMPUTED_F32)
