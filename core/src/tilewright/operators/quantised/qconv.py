"""Knows QConv: convolution of values of 8 or 16 bits with constant weights of 8, 4 or 2 bits, an exact sum, one
requantisation per channel.
Does not know floats; Conv computes those. The meaning is in the architecture, section 9.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, accumulator_bits, dot_bounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.c_code.c_source import DOT, PACKED_DOT
from tilewright.operators.shared.c_rounding import (
    NULL_WORDS,
    c_requant,
    c_rounding,
    channel_words,
    described,
    requant_source,
    sums_of,
    too_wide,
    words_index,
    words_shape,
)
from tilewright.operators.shared.integer_sites import (
    centred,
    centred_weights,
    exact_product,
    input_range,
    not_values,
    not_weights,
    packed_bias,
    requant_dtype,
    zero_points,
)
from tilewright.operators.shared.packed_weights import NARROW_BITS, pack_rows, packed_alone, row_bytes, weight_bits
from tilewright.operators.shared.reducing import sums_argument, window_part_fields
from tilewright.operators.shared.refusals import shape_error
from tilewright.operators.shared.windows import (
    Windows,
    c_axes,
    inferred_outputs,
    prefers_channels_last,
    tap_views,
    windows_of,
)

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbers:
    """What a QConv computes with, taken from its node and constants."""

    windows: Windows
    group: int
    outputs: int  # channels
    x_zero_point: int
    pad_value: int
    w_zero_points: tuple[int, ...]  # empty where all are zero

    @property
    def group_outputs(self) -> int:
        return self.outputs // self.group


def _numbers(site: Site) -> _Numbers:
    node, outputs = site.node, site.input(1).shape[0]
    zeros = zero_points(node, "w_zero_point")
    x_zero_point = node.integer("x_zero_point")
    return _Numbers(
        windows=windows_of(node),
        group=node.integer("group", 1),
        outputs=outputs,
        x_zero_point=x_zero_point,
        pad_value=node.integer("pad_value", x_zero_point),
        w_zero_points=(zeros * outputs if len(zeros) == 1 else zeros) if any(zeros) else (),
    )


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, w, group = site.input(0), site.input(1), site.node.integer("group", 1)
    if len(x.shape) < 3 or len(w.shape) != len(x.shape):
        raise shape_error(site, f"X has rank {len(x.shape)} and W rank {len(w.shape)}")
    if group < 1 or w.shape[0] % group or x.shape[1] != w.shape[1] * group:
        raise shape_error(site, f"{x.shape[1]} channels do not make {group} groups for W {list(w.shape)}")
    shape = (x.shape[0], w.shape[0], *inferred_outputs(site))
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    numbers = _numbers(site)
    windows, spatial = numbers.windows, site.output.shape[2:]
    x, w = centred(inputs[0], numbers.x_zero_point), centred_weights(site.node, inputs[1])
    group, channels, columns = numbers.group, w.shape[1], math.prod(spatial)
    acc = np.zeros((x.shape[0], group, numbers.group_outputs, columns), np.int64)
    seen_by_tap = tap_views(x, windows, numbers.pad_value - numbers.x_zero_point)
    for tap, seen in zip(np.ndindex(*windows.kernel), seen_by_tap, strict=True):
        factors = w[(..., *tap)].reshape(group, numbers.group_outputs, channels)
        acc += exact_product(factors, seen.reshape(-1, group, channels, columns))
    acc = acc.reshape(-1, numbers.outputs, *spatial)
    if len(inputs) > 2 and inputs[2] is not None:
        acc = acc + centred(inputs[2]).reshape(-1, *(1,) * len(spatial))
    return (requantise(acc, site.node.requant(), 1).astype(site.output.dtype.numpy),)


def _map(site: Site, weights: str, *, words: str = "") -> tuple[str, Mapping[str, int]]:
    """The index map with W indexed as `weights`, and the values it names. W may leave the taps out."""
    numbers = _numbers(site)
    windows = numbers.windows
    outs, taps = ",".join(windows.output_loops), ",".join(windows.tap_loops)
    inner = ["c", *windows.tap_loops]
    if "c" not in weights:
        inner = ["c<cg", *(f"{loop}<k{loop}" for loop in windows.tap_loops)]
    text = (
        f"n o {' '.join(windows.output_loops)} {' '.join(inner)} : "
        f"X[n, o//og*cg + c, {', '.join(windows.map_indices())}] W[{weights.format(taps=taps)}] B[o] {words} "
        f"-> Y[n,o,{outs}]"
    )
    return text, {**windows.map_values(), "og": numbers.group_outputs, "cg": site.input(1).shape[1]}


def _access(site: Site) -> Access:
    text, values = _map(site, "o,c,{taps}")
    shapes = {"X": site.input(0).shape, "W": site.input(1).shape, "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = site.input(2).shape
    return parse_map(text).bind(shapes, values)


def _packed_access(site: Site, *, narrow: bool = False) -> Access:
    """Of weights as kernels have them: the channels innermost; where they are `narrow`, whole rows of bytes."""
    requant = site.node.requant()
    text, values = _map(site, "o,:" if narrow else "o,{taps},c", words=f"{words_index(requant, 'o')} Z[o]")
    w = site.input(1).shape
    words = words_shape(requant, w[0])
    stored = (w[0], row_bytes(math.prod(w[1:]), weight_bits(site))) if narrow else (w[0], *w[2:], w[1])
    shapes = {"X": site.input(0).shape, "W": stored, "R": words, "Y": site.output.shape}
    if site.has_input(2):
        shapes["B"] = w[:1]
    if _numbers(site).w_zero_points:
        shapes["Z"] = w[:1]
    return parse_map(text).bind(shapes, values)


def conv_bounds(site: Site) -> AccumulatorBounds:
    """Range of the accumulator of every output channel, padding included."""
    numbers, zero = _numbers(site), _numbers(site).x_zero_point
    weights = centred_weights(site.node, site.constant(1)).reshape(numbers.outputs, -1)
    bias = centred(site.constant(2)) if site.has_input(2) else np.zeros(numbers.outputs, np.int64)
    low, high = input_range(site)
    padded = any((*numbers.windows.before, *numbers.windows.after))
    extra = (numbers.pad_value - zero,) if padded else ()
    return dot_bounds(weights, bias, (low - zero, high - zero), extra)


def conv_requant_form(site: Site) -> RequantForm:
    """How each channel is requantised, for the kernel and for the report."""
    return requant_form(site.node.requant(), conv_bounds(site), site.node.name)


def _pack(site: Matched) -> Mapping[str, Array]:
    numbers, weights = _numbers(site), site.constant(1)
    packed: dict[str, Array] = {
        "W": np.ascontiguousarray(np.moveaxis(np.asarray(weights), 1, -1)),
        "R": channel_words(site.node.requant(), site.analysis, site.node.name),
    }
    if site.has_input(2):
        packed["B"] = packed_bias(site)
    if numbers.w_zero_points:
        packed["Z"] = np.asarray(numbers.w_zero_points, np.int32)
    return packed


def _pack_narrow(site: Matched) -> Mapping[str, Array]:
    packed = _pack(site)
    rows = packed["W"].reshape(len(packed["W"]), -1)
    return {**packed, "W": pack_rows(rows, weight_bits(site))}


def _match(site: Site) -> AccumulatorBounds | str:
    reason = not_weights(site) or not_values(site, 0)
    if reason:
        return reason
    bounds = conv_bounds(site)
    accumulator_bits(bounds, site.node.name)
    return too_wide(site.node.requant(), bounds) or bounds


def _values(call: Call, *, narrow: bool = False) -> Mapping[str, object]:
    site, operands = call.site, call.operands
    numbers, x, w, y = _numbers(site), operands["X"], operands["W"], operands["Y"]
    width = weight_bits(site) if narrow else 8
    types = f"{x.dtype.value}_{f'w{width}' if narrow else w.dtype.value}"
    bits = site.analysis.bits
    group_inputs, part = site.input(1).shape[1], call.is_part
    step, joined = _run(numbers.windows, group_inputs, x.strides)
    b_type, sums = sums_of(operands.get("B"), bits)
    rounding = c_rounding(site.node.requant(), bits)
    return {
        "rounding": rounding,
        "part": part,
        "kept": sums_argument(call),
        "function": f"tw_qconv{'_part' if part else ''}_{types}_{y.dtype.value}_{sums}{rounding.suffix}",
        "dot": f"tw_dot_{types}_acc{bits}",
        "bits": bits,
        "weight_bits": width,
        **{f"{name}_type": tensor.dtype.c_type for name, tensor in (("x", x), ("w", w), ("y", y))},
        "b_type": b_type,
        "fields": {
            "batches": y.extents[0],
            "outputs": y.extents[1],
            "group_inputs": call.extents["c"],
            "group_outputs": numbers.group_outputs,
            "first_output": y.origin[1],
            "x_batch": x.strides[0],
            "x_channel": x.strides[1],
            "y_batch": y.strides[0],
            "y_channel": y.strides[1],
            "w_output": w.strides[0],
            **c_axes(numbers.windows, x, y, _tap_steps(site) if narrow else w.strides[1:-1]),
            "x_zero_point": numbers.x_zero_point,
            "padding": numbers.pad_value - numbers.x_zero_point,
            **(window_part_fields(call, group_inputs) if part else {"joined": int(joined), "step": step}),
            "requant": c_requant(site.node.requant(), site.analysis, site.node.name),
        },
        "bias": operands.get("B", NULL_WORDS),
        "zero_points": operands.get("Z", NULL_WORDS),
    }


def _tap_steps(site: Site) -> Sequence[int]:
    """Values between neighbouring taps along each axis, in a row of narrow weights."""
    _, channels, *taps = site.input(1).shape
    return [channels * math.prod(taps[axis + 1 :]) for axis in range(len(taps))]


def _run(windows: Windows, group_inputs: int, x_strides: Sequence[int]) -> tuple[int, bool]:
    """Elements of x between successive products, and whether that holds from tap to tap of a row as well."""
    tap = x_strides[-1] * windows.dilations[-1]
    if group_inputs == 1:
        return tap, True
    return x_strides[1], tap == x_strides[1] * group_inputs


QCONV = Operator(
    name="QConv",
    inputs=("X", "W", "B"),
    outputs=("Y",),
    summary="convolution of integers with weights of 8, 4 or 2 bits, an exact accumulator, requantised per channel",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: site.output.elements * math.prod(site.input(1).shape[1:]),
)

QCONV_PORTABLE = Kernel(
    name="portable.qconv",
    op="QConv",
    roundings=("*",),
    match=_match,
    access=_packed_access,
    prefers=prefers_channels_last,
    pack=_pack,
    blocks={"o": 4},
    parallel=("n", "o", "d", "h", "w"),
    describe=lambda site: described(site.node.requant(), site.analysis, site.node.name, site.analysis.bits),
    values=_values,
    accumulates=lambda site: PartialSums(loops=("c",), dtype=DType(f"i{site.analysis.bits}")),
    source=requant_source("qconv_part.c.mako", "qconv.c.mako", DOT),
    call="""${function}((tw_qconv${"_part" if part else ""}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}, ${W}, ${bias}, ${R}, ${zero_points},${kept} ${Y});""",
)

QCONV_NARROW = replace(
    QCONV_PORTABLE,
    name="portable.qconv_narrow",
    weight_bits=NARROW_BITS,
    match=packed_alone(_match),
    access=partial(_packed_access, narrow=True),
    pack=_pack_narrow,
    values=partial(_values, narrow=True),
    accumulates=lambda site: None,
    rank=1,
    source=requant_source("", "qconv.c.mako", PACKED_DOT),
)

OPERATORS = (QCONV,)
KERNELS = (QCONV_PORTABLE, QCONV_NARROW)
