"""Knows which public function of CMSIS-NN computes a layer, and what it is called with. Does not know how it is built,
run or counted (`cmsis_nn`). What is called is Arm's; all that is written here is ours.

Images lie by channels last, weights as the functions want them. Weights of floats are given in both formats that there
are: a layer may have several calls, and the one with the fewest instructions counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from cortex_m_layers import Layer

from tilewright.arithmetic.pair_sums import fixed_multipliers, input_shift
from tilewright.arithmetic.wide_softmax import PLACES, fixed_numbers, fixed_tables
from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.roundings import fixed_multiplier
from tilewright.operators.quantised.qelementwise import scaled_sum_of
from tilewright.operators.shared.windows import windows_of

WORDS = {DType.I8: "s8", DType.I16: "s16", DType.F32: "f32"}
NONE = "-3.4e38f, 3.4e38f"
NHWC, PACKED, PLAIN = "ARM_NN_LAYOUT_NHWC", "ARM_NN_WEIGHT_FORMAT_NT_N_PACKED", "ARM_NN_WEIGHT_FORMAT_STANDARD"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerCall:
    """One call. `@` in C stands for the number of the layer; `feeds` are read into memory of their names before
    `ready`, which is not counted. `axes`: of the result, into those of the layer's output.
    """

    constants: str
    ready: str
    call: str
    feeds: Mapping[str, Any]
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: DType


def calls(layer: Layer) -> Iterator[PeerCall]:
    """All that compute a layer; none where CMSIS-NN has no function for it."""
    made = _CALLS.get(layer.site.node.op)
    if made is not None and layer.site.input(0).dtype in WORDS:
        yield from made(layer)


def _numbers(scales: Sequence[float]) -> dict[str, Any]:
    """Multipliers and shifts, for each channel."""
    pairs = np.array([fixed_multiplier(scale) for scale in scales], np.int32)
    return {"multiplier": pairs[:, 0], "shift": pairs[:, 1]}


def _dims(name: str, *sizes: int) -> str:
    return f"static const cmsis_nn_dims {name}_@ = {{{', '.join(map(str, sizes))}}};\n"


def _last(array: Any) -> Any:
    """Channels behind rows and columns."""
    return np.moveaxis(array, 1, -1)


def _square(site: Site) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The image's and the result's shape, by channels last."""
    return tuple(
        tuple(np.moveaxis(np.empty(item.shape, np.int8), 1, -1).shape) for item in (site.input(0), site.output)
    )


_IMAGE = (0, 3, 1, 2)


def _tile(pair: Sequence[int]) -> str:
    """Width first."""
    return f"{{{pair[1]}, {pair[0]}}}"


def _conv(layer: Layer) -> Iterator[PeerCall]:
    site = layer.site
    if site.input(0).dtype is DType.F32:
        yield from _float_conv(layer)
        return
    x, w, *rest = layer.inputs
    windows, requant = windows_of(site.node), site.node.requant()
    image, result = _square(site)
    channels, outputs = image[-1], result[-1]
    group, zero = site.node.integer("group", 1), site.node.integer("pad_value")
    depthwise = group == channels
    bias = rest[0].astype(np.int64) + zero * w.astype(np.int64).reshape(outputs, -1).sum(axis=1)
    narrow = site.node.attributes.get("weight_bits") == 4
    word = "s4" if narrow else WORDS[site.input(0).dtype]
    tiles = ", ".join(map(_tile, (windows.strides, windows.before, windows.dilations)))
    offsets = f"{-zero}, {requant.zero_point}, {f'{outputs // channels}, ' if depthwise else ''}"
    kind = "dw_conv" if depthwise else "conv"
    weights = np.moveaxis(w[:, 0], 0, -1)[None] if depthwise else _last(w)
    filters = (1, *w.shape[2:], outputs) if depthwise else (outputs, *w.shape[2:], w.shape[1])
    wide = site.input(0).dtype is DType.I16
    boxed = wide and not depthwise
    constants = (
        f"static const cmsis_nn_{kind}_params params_@ = {{{offsets}{tiles}, {{{requant.low}, {requant.high}}}}};\n"
        "static const cmsis_nn_per_channel_quant_params numbers_@ = {(int32_t *)multiplier, (int32_t *)shift};\n"
        + _dims("in", *image) + _dims("filter", *filters) + _dims("biases", 1, 1, 1, outputs) + _dims("out", *result)
    )  # fmt: skip
    name = f"arm_{'depthwise_conv' if depthwise else 'convolve'}_wrapper_{word}"
    for bits in (64, 32) if boxed else (64,) if wide else (32,):
        box = f"static const cmsis_nn_bias_data box_@ = {{bias, {str(bits == 32).lower()}}};\n" if boxed else ""
        yield PeerCall(
            constants=constants + box,
            ready=f"room({name}_get_buffer_size(&params_@, &in_@, &filter_@, &out_@));",
            call=f"{name}(&scratch, &params_@, &numbers_@, &in_@, (void *)a, &filter_@, (void *)w, &biases_@, "
            f"{'&box_@' if boxed else '(void *)bias'}, &out_@, (void *)y)",
            feeds={
                "a": _last(x), "w": nibbles(weights) if narrow else weights, "bias": bias.astype(f"int{bits}"),
                **_numbers(requant.scales(outputs)),
            },
            shape=result, axes=_IMAGE, dtype=site.output.dtype,
        )  # fmt: skip


def nibbles(values: Any) -> Any:
    """Two weights of 4 bits to a byte, the first one low."""
    flat = values.reshape(-1)
    pairs = np.append(flat, np.zeros(len(flat) % 2, flat.dtype)).reshape(-1, 2).astype(np.int16)
    return ((pairs[:, 0] & 15) | (pairs[:, 1] << 4)).astype(np.uint8)


def packed(rows: Any) -> Any:
    """Rows of floats as blocks of four columns."""
    padded = np.concatenate([rows, np.zeros((-len(rows) % 4, rows.shape[1]), rows.dtype)])
    return np.ascontiguousarray(padded.reshape(-1, 4, rows.shape[1]).transpose(0, 2, 1))


def _float_conv(layer: Layer) -> Iterator[PeerCall]:
    site, (x, w, bias) = layer.site, layer.inputs
    windows, (image, result) = windows_of(site.node), _square(site)
    depthwise = 1 < site.node.integer("group", 1) == image[-1]
    if not depthwise and site.node.integer("group", 1) > 1:
        return
    tiles = ", ".join(map(_tile, (windows.strides, windows.before, windows.dilations)))
    outputs = result[-1]
    filters = (1, *w.shape[2:], outputs) if depthwise else (outputs, *w.shape[2:], w.shape[1])
    name = "arm_depthwise_conv_wrapper_f32" if depthwise else "arm_convolve_wrapper_f32"
    for form in (PLAIN,) if depthwise else (PLAIN, PACKED):
        lines = np.moveaxis(w[:, 0], 0, -1)[None] if depthwise else _last(w)
        last = "" if depthwise else f", {form}"
        first = f"{outputs // image[-1]}, " if depthwise else ""
        kind = "dw_conv" if depthwise else "conv"
        yield PeerCall(
            constants=f"static const cmsis_nn_{kind}_params_f32 params_@ = {{{first}{tiles}, {{{NONE}}}{last}}};\n"
            + _dims("in", *image) + _dims("filter", *filters) + _dims("biases", 1, 1, 1, outputs)
            + _dims("out", *result),
            ready=f"room({name}_get_buffer_size(&params_@, &in_@, &filter_@, &out_@));",
            call=f"{name}(&scratch, &params_@, &in_@, (void *)a, &filter_@, (void *)w, &biases_@, (void *)bias, "
            "&out_@, (void *)y)",
            feeds={
                "a": _last(x), "w": packed(lines.reshape(outputs, -1)) if form is PACKED else lines, "bias": bias,
            },
            shape=result, axes=_IMAGE, dtype=DType.F32,
        )  # fmt: skip


def _gemm(layer: Layer) -> Iterator[PeerCall]:
    site, (a, w, bias) = layer.site, layer.inputs
    (rows, depth), columns = a.shape, w.shape[1]
    shapes = {"shape": (rows, columns), "axes": (0, 1), "dtype": site.output.dtype}
    sizes = (
        _dims("in", rows, 1, 1, depth) + _dims("filter", depth, 1, 1, columns) + _dims("biases", 1, 1, 1, columns)
        + _dims("out", rows, 1, 1, columns)
    )  # fmt: skip
    places = "&in_@, (void *)a, &filter_@, (void *)w, &biases_@, (void *)bias, &out_@, (void *)y"
    if a.dtype == np.float32:
        for form in (PLAIN, PACKED):
            feeds = {"a": a, "w": packed(w.T) if form is PACKED else w.T, "bias": bias}
            params = f"static const cmsis_nn_fc_params_f32 params_@ = {{{{{NONE}}}, {form}}};\n"
            call = f"arm_fully_connected_f32(&scratch, &params_@, {places}, {NHWC})"
            yield PeerCall(constants=params + sizes, ready="", call=call, feeds=feeds, **shapes)
        return
    requant = site.node.requant()
    ((multiplier, shift),) = [fixed_multiplier(scale) for scale in requant.scale]
    word = "s4" if site.node.attributes.get("weight_bits") == 4 else WORDS[site.input(0).dtype]
    sums = f"arm_vector_sum_s8((int32_t *)buffer, {depth}, {columns}, (int8_t *)w, 0, 0, (int32_t *)bias);"
    yield PeerCall(
        constants=f"static const cmsis_nn_fc_params params_@ = {{0, 0, {requant.zero_point}, "
        f"{{{requant.low}, {requant.high}}}}};\n"
        f"static const cmsis_nn_per_tensor_quant_params numbers_@ = {{{multiplier}, {shift}}};\n{sizes}",
        ready=f"room({4 * columns});{f' {sums}' if word == 's8' else ''}",
        call=f"arm_fully_connected_{word}(&scratch, &params_@, &numbers_@, {places})",
        feeds={
            "a": a, "w": nibbles(w.T) if word == "s4" else w.T,
            "bias": bias.astype(np.int64 if word == "s16" else np.int32),
        },
        **shapes,
    )  # fmt: skip


def _matmul(layer: Layer) -> Iterator[PeerCall]:
    """The second matrix transposed beforehand, which costs them nothing here."""
    site, (a, b) = layer.site, layer.inputs
    (*_, m, k), n, lead = a.shape, b.shape[-1], math.prod(a.shape[:-2])
    right = np.swapaxes(b, -1, -2)
    places = "&in_@, (void *)a, &filter_@, (void *)w, &out_@, (void *)y"
    shapes = {"shape": (*a.shape[:-1], n), "axes": tuple(range(a.ndim)), "dtype": site.output.dtype}
    if a.dtype == np.float32:
        sizes = _dims("in", lead, 1, k, m) + _dims("filter", lead, 1, k, n) + _dims("out", lead, 1, n, m)
        for stated, order in ((b, "true"), (right, "false")):
            params = f"static const cmsis_nn_bmm_params_f32 params_@ = {{false, {order}, {{{NONE}}}, {PLAIN}}};\n"
            call = f"arm_batch_matmul_f32(&scratch, &params_@, {places})"
            yield PeerCall(constants=params + sizes, ready="", call=call, feeds={"a": a, "w": stated}, **shapes)
        return
    sizes = _dims("in", lead, 1, m, k) + _dims("filter", lead, 1, n, k) + _dims("out", lead, 1, m, n)
    requant, zero, (other,) = site.node.requant(), site.node.integer("a_zero_point"), site.node.integers("b_zero_point")
    multiplier, shift = fixed_multiplier(requant.scale[0])
    yield PeerCall(
        constants=f"static const cmsis_nn_bmm_params params_@ = {{false, true, {{{-zero}, {-other}, "
        f"{requant.zero_point}, {{{requant.low}, {requant.high}}}}}}};\n"
        f"static const cmsis_nn_per_tensor_quant_params numbers_@ = {{{multiplier}, {shift}}};\n{sizes}",
        ready=f"room({4 * n});",
        call=f"arm_batch_matmul_{WORDS[site.input(0).dtype]}(&scratch, &params_@, &numbers_@, {places})",
        feeds={"a": a, "w": right}, **shapes,
    )  # fmt: skip


def _pool(layer: Layer) -> Iterator[PeerCall]:
    site, windows, (image, result) = layer.site, windows_of(layer.site.node), _square(layer.site)
    word, most = WORDS[site.input(0).dtype], site.node.op == "MaxPool"
    limits = NONE if word == "f32" else ", ".join(map(str, site.output.dtype.limits))
    name = f"arm_{'max_pool' if most else 'avgpool' if word != 'f32' else 'avg_pool'}_{word}"
    kind = "pool_params_f32" if word == "f32" else "pool_params"
    before, size = (_tile(pair) for pair in (windows.before, windows.strides))
    counted = not most and word != "f32"
    yield PeerCall(
        constants=f"static const cmsis_nn_{kind} params_@ = {{{size}, {before}, {{{limits}}}}};\n"
        + _dims("in", *image) + _dims("filter", 1, *windows.kernel, 1) + _dims("out", *result),
        ready=f"room({name}_get_buffer_size({result[2]}, {image[3]}));" if counted else "",
        call=f"{name}(&scratch, &params_@, &in_@, (void *)a, &filter_@, &out_@, (void *)y)",
        feeds={"a": _last(layer.inputs[0])}, shape=result, axes=_IMAGE, dtype=site.output.dtype,
    )  # fmt: skip


def _pair(layer: Layer) -> Iterator[PeerCall]:
    """Of two tensors of one shape: CMSIS-NN broadcasts nothing."""
    site, (a, b) = layer.site, layer.inputs
    if a.shape != b.shape:
        return
    word, adds = WORDS[site.input(0).dtype], site.node.op in ("Add", "QAdd")
    if word == "f32":
        numbers = f"(void *)y, {NONE}"
    elif adds:
        total = scaled_sum_of(site)
        one, two, whole = fixed_multipliers(total)
        numbers = (
            f"{-total.a_zero_point}, {one[0]}, {one[1]}, {-total.b_zero_point}, {two[0]}, {two[1]}, "
            f"{input_shift(total)}, (void *)y, {total.zero_point}, {whole[0]}, {whole[1]}, {total.low}, {total.high}"
        )
    else:
        requant, zeros = site.node.requant(), [site.node.integer(name) for name in ("a_zero_point", "b_zero_point")]
        multiplier, shift = fixed_multiplier(requant.scale[0])
        numbers = (
            f"{-zeros[0]}, {-zeros[1]}, (void *)y, {requant.zero_point}, {multiplier}, {shift}, "
            f"{requant.low}, {requant.high}"
        )
    call = f"arm_elementwise_{'add' if adds else 'mul'}_{word}((void *)a, (void *)w, {numbers}, {a.size})"
    yield _flat(layer, call, {"a": a, "w": b})


def _flat(layer: Layer, call: str, feeds: Mapping[str, Any], constants: str = "") -> PeerCall:
    """Of elements that lie as they are."""
    shape = layer.site.output.shape
    axes = tuple(range(len(shape)))
    return PeerCall(
        constants=constants, ready="", call=call, feeds=feeds, shape=shape, axes=axes, dtype=layer.site.output.dtype
    )


def _softmax(layer: Layer) -> Iterator[PeerCall]:
    site, x = layer.site, layer.inputs[0]
    rows, length, word = x.size // x.shape[-1], x.shape[-1], WORDS[site.input(0).dtype]
    if word == "f32":
        yield _flat(layer, f"arm_softmax_f32((void *)a, {rows}, {length}, (void *)y)", {"a": x})
        return
    scale = site.node.number("x_scale")
    if word == "s8":
        multiplier, shift = fixed_multiplier(min(scale * 2.0**26, 2.0**31 - 1))
        least = -math.floor(31 * 2**26 / 2**shift)
        numbers = f"{multiplier}, {shift}, {least}, (void *)y"
        yield _flat(layer, f"(arm_softmax_s8((void *)a, {rows}, {length}, {numbers}), ARM_CMSIS_NN_SUCCESS)", {"a": x})
        return
    multiplier, shift = fixed_numbers(scale)
    table = f"static const cmsis_nn_softmax_lut_s16 params_@ = {{(int16_t *)w, (int16_t *)w + {PLACES}}};\n"
    call = f"arm_softmax_s16((void *)a, {rows}, {length}, {multiplier}, {shift}, &params_@, (void *)y)"
    yield _flat(layer, call, {"a": x, "w": fixed_tables()}, table)


def _activation(kind: str) -> Callable[[Layer], Iterator[PeerCall]]:
    def made(layer: Layer) -> Iterator[PeerCall]:
        x = layer.inputs[0]
        yield _flat(layer, f"arm_nn_activation_f32((void *)a, (void *)y, {x.size}, ARM_NN_FLT_ACT_{kind}, 0)", {"a": x})

    return made


_CALLS: Mapping[str, Callable[[Layer], Iterator[PeerCall]]] = MappingProxyType(
    {
        "QConv": _conv, "Conv": _conv, "QGemm": _gemm, "Gemm": _gemm, "QMatMul": _matmul, "MatMul": _matmul,
        "QAveragePool": _pool, "AveragePool": _pool, "MaxPool": _pool, "QAdd": _pair, "Add": _pair, "QMul": _pair,
        "Mul": _pair, "QSoftmax": _softmax, "Softmax": _softmax, "Clip": _activation("RELU"),
        "Sigmoid": _activation("SIGMOID"), "Tanh": _activation("TANH"),
    }
)  # fmt: skip
