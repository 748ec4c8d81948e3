"""Knows QGemm and QMatMul: matrix products of values of 8 or 16 bits with an exact sum and one requantisation.
Does not know floats; `gemm` computes those. The meaning is in the architecture, section 9.

QGemm has constant weights of 8, 4 or 2 bits, stored as one row per output column; QMatMul multiplies two computed
tensors, whose zero points and requantisation are the same for all columns. Both compile to one C function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, accumulator_bits, dot_bounds, product_bounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.c_code.c_source import DOT, PACKED_DOT
from tilewright.operators.c_code.walk import NEST, broadcast_steps, innermost, nest, walk
from tilewright.operators.shared.c_rounding import (
    NULL_WORDS,
    c_requant,
    c_rounding,
    c_words,
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
from tilewright.operators.shared.matrices import computed_matmul_access
from tilewright.operators.shared.packed_weights import NARROW_BITS, pack_rows, packed_alone, row_bytes, weight_bits
from tilewright.operators.shared.reducing import sums_argument
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]
Rows = Mapping[str, tuple[int, ...]]  # operand -> step along every axis of Y but the last


# --- QGemm


def _infer_gemm(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if not a.shape or len(b.shape) != 2 or a.shape[-1] != b.shape[0]:
        raise shape_error(site, "A is [..., K] and B is [K, N]")
    if site.has_input(2) and site.input(2).shape != b.shape[1:]:
        raise shape_error(site, f"C must have the shape [{b.shape[1]}]")
    shape = (*a.shape[:-1], b.shape[1])
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=shape),)


def _gemm_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = centred(inputs[0], site.node.integer("a_zero_point")), centred_weights(site.node, inputs[1])
    acc = exact_product(a, b)
    if len(inputs) > 2 and inputs[2] is not None:
        acc = acc + centred(inputs[2])
    return (requantise(acc, site.node.requant(), -1).astype(site.output.dtype.numpy),)


def _gemm_access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    if site.has_input(2):
        shapes["C"] = site.input(2).shape
    return parse_map("n k : A[...,k] B[k,n] C[n] -> Y[...,n]").bind(shapes)


def _packed_access(site: Site, *, narrow: bool = False) -> Access:
    """Of weights as kernels have them, a row for each column; where they are `narrow`, whole rows of bytes."""
    depth, columns = site.input(1).shape
    requant = site.node.requant()
    words = words_shape(requant, columns)
    stored = row_bytes(depth, weight_bits(site)) if narrow else depth
    shapes = {"A": site.input(0).shape, "B": (columns, stored), "R": words, "Y": site.output.shape}
    if site.has_input(2):
        shapes["C"] = (columns,)
    if any(zero_points(site.node, "b_zero_point")):
        shapes["Z"] = (columns,)
    reduction, row = ("k<depth", ":") if narrow else ("k", "k")
    return parse_map(f"n {reduction} : A[...,k] B[n,{row}] C[n] {words_index(requant, 'n')} Z[n] -> Y[...,n]").bind(
        shapes, {"depth": depth}
    )


def gemm_bounds(site: Site) -> AccumulatorBounds:
    """Range of the accumulator of every column of a QGemm."""
    weights, zero = centred_weights(site.node, site.constant(1)).T, site.node.integer("a_zero_point")
    bias = centred(site.constant(2)) if site.has_input(2) else np.zeros(weights.shape[0], np.int64)
    low, high = input_range(site)
    return dot_bounds(weights, bias, (low - zero, high - zero))


def gemm_requant_form(site: Site) -> RequantForm:
    """How each column of a QGemm is requantised, for the kernel and for the report."""
    return requant_form(site.node.requant(), gemm_bounds(site), site.node.name)


def _pack(site: Matched) -> Mapping[str, Array]:
    packed: dict[str, Array] = {
        "B": np.ascontiguousarray(np.asarray(site.constant(1)).T),
        "R": channel_words(site.node.requant(), site.analysis, site.node.name),
    }
    if site.has_input(2):
        packed["C"] = packed_bias(site)
    zeros, columns = zero_points(site.node, "b_zero_point"), site.input(1).shape[1]
    if any(zeros):
        packed["Z"] = np.asarray(zeros * columns if len(zeros) == 1 else zeros, np.int32)
    return packed


def _pack_narrow(site: Matched) -> Mapping[str, Array]:
    packed = _pack(site)
    return {**packed, "B": pack_rows(packed["B"], weight_bits(site))}


def _match_gemm(site: Site) -> AccumulatorBounds | str:
    return not_weights(site) or not_values(site, 0) or _within_range(site, gemm_bounds(site))


def _gemm_values(call: Call, *, narrow: bool = False) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    fields = {"b_depth": b.strides[1], "b_column": b.strides[0], "own": 1}  # b_depth: not asked for by narrow ones
    columns = {
        "bias": call.operands.get("C", NULL_WORDS),
        "words": call.operands["R"],
        "zero_points": call.operands.get("Z", NULL_WORDS),
    }
    return {**_values(call, rows, fields, weight_bits(call.site) if narrow else 8), **columns}


# --- QMatMul


def _infer_matmul(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise shape_error(site, "the last axis of A and the last but one of B must be equal")
    try:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise shape_error(site, f"{list(a.shape[:-2])} and {list(b.shape[:-2])} do not broadcast") from None
    shape = (*lead, a.shape[-2], b.shape[-1])
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=shape),)


def _matmul_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node = site.node
    acc = exact_product(
        centred(inputs[0], node.integer("a_zero_point")), centred(inputs[1], zero_points(node, "b_zero_point")[0])
    )
    return (requantise(acc, node.requant(), -1).astype(site.output.dtype.numpy),)


def matmul_bounds(site: Site) -> AccumulatorBounds:
    """Range of the accumulator of a QMatMul, the same for all elements."""
    zeros = (site.node.integer("a_zero_point"), zero_points(site.node, "b_zero_point")[0])
    left, right = (tuple(end - zeros[index] for end in input_range(site, index)) for index in (0, 1))
    return product_bounds((left[0], left[1]), (right[0], right[1]), terms=site.input(0).shape[-1])


def matmul_requant_form(site: Site) -> RequantForm:
    """How a QMatMul is requantised: one channel."""
    return requant_form(site.node.requant(), matmul_bounds(site), site.node.name)


def _match_matmul(site: Site) -> AccumulatorBounds | str:
    if len(zero_points(site.node, "b_zero_point")) > 1 or len(site.node.requant().scale) > 1:
        return "columns with zero points or scales of their own need constant weights (QGemm)"
    return not_values(site, 0, 1) or _within_range(site, matmul_bounds(site))


def _matmul_values(call: Call) -> Mapping[str, object]:
    node, a, b, y = call.site.node, call.operands["A"], call.operands["B"], call.operands["Y"]
    zero = zero_points(node, "b_zero_point")[0]
    rows = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    fields = {"b_depth": b.strides[-2], "b_column": b.strides[-1], "own": 0}
    columns = {
        "bias": NULL_WORDS,
        "words": _one_column(call.site),
        "zero_points": f"(const int32_t[]){{{', '.join([str(zero)] * 4)}}}"
        if zero
        else NULL_WORDS,  # a block reads four
    }
    return {**_values(call, rows, fields), **columns}


# --- both


def _within_range(site: Site, bounds: AccumulatorBounds) -> AccumulatorBounds | str:
    """`bounds`, where a sum and its operands have types of C."""
    accumulator_bits(bounds, site.node.name)
    return too_wide(site.node.requant(), bounds) or bounds


def _one_column(site: Matched) -> str:
    """The words that all columns of a QMatMul share, as C for where they stand."""
    words = channel_words(site.node.requant(), site.analysis, site.node.name)
    return f"(const int32_t[]){{{words[0]}}}" if words.ndim == 1 else c_words(words[0])


def _values(call: Call, rows: Rows, fields: Mapping[str, object], width: int = 8) -> dict[str, object]:
    """`width`: bits of a weight, fewer than 8 where several share a byte."""
    site, a, b, y = call.site, call.operands["A"], call.operands["B"], call.operands["Y"]
    bits = site.analysis.bits
    types = f"{a.dtype.value}_{b.dtype.value if width == 8 else f'w{width}'}"
    acc, part = call.operands.get("acc"), call.is_part
    kept = {"ACC": acc.strides[:-1]} if acc else {}
    b_type, sums = sums_of(call.operands.get("C"), bits)
    all_rows = walk(y.extents[:-1], {**rows, **kept}, "Y")
    outer, (count, steps) = nest(all_rows, 1), innermost(all_rows)
    requant = site.node.requant()
    rounding = c_rounding(requant, bits)
    return {
        "rounding": rounding,
        "part": part,
        "kept": sums_argument(call, outer.offsets),
        "function": f"tw_qgemm{'_part' if part else ''}_{types}_{y.dtype.value}_{sums}{rounding.suffix}",
        "dot": f"tw_dot_{types}_acc{bits}",
        "bits": bits,
        "weight_bits": width,
        "x_type": a.dtype.c_type,
        "w_type": b.dtype.c_type,
        "y_type": y.dtype.c_type,
        "b_type": b_type,
        "nest": outer.headers,
        "at": outer.offsets,
        "fields": {
            "rows": count,
            "columns": y.extents[-1],
            "depth": a.extents[-1],
            **{f"{operand.lower()}_row": step for operand, step in steps.items()},
            "a_depth": a.strides[-1],
            "y_column": y.strides[-1],
            "a_zero_point": site.node.integer("a_zero_point"),
            **fields,
            **({"acc_column": acc.strides[-1]} if acc else {}),
            **call.part_fields,
            "requant": c_requant(requant, site.analysis, site.node.name),
        },
    }


def _accumulates(site: Matched) -> PartialSums:
    return PartialSums(loops=("k",), dtype=DType(f"i{site.analysis.bits}"))


def _describe(site: Matched) -> Mapping[str, object]:
    return described(site.node.requant(), site.analysis, site.node.name, site.analysis.bits)


def _macs(site: Site) -> int:
    return site.output.elements * site.input(0).shape[-1]


_SOURCE = requant_source("qgemm_part.c.mako", "qgemm.c.mako", DOT)
_CALL = (
    NEST
    + """\
${function}((tw_qgemm${"_part" if part else ""}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${A}${at["A"]}, ${B}${at["B"]}, ${bias}, ${words}, ${zero_points},${kept} ${Y}${at["Y"]});"""
)

QGEMM = Operator(
    name="QGemm",
    inputs=("A", "B", "C"),
    outputs=("Y",),
    summary="fully connected layer of integers with weights of 8, 4 or 2 bits, an exact accumulator, requantised per "
    "column",
    infer=_infer_gemm,
    reference=_gemm_reference,
    access=_gemm_access,
    macs=_macs,
)

QMATMUL = Operator(
    name="QMatMul",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="batched product of two integer tensors with an exact accumulator, requantised",
    infer=_infer_matmul,
    reference=_matmul_reference,
    access=computed_matmul_access,
    macs=_macs,
)

QGEMM_PORTABLE = Kernel(
    name="portable.qgemm",
    op="QGemm",
    roundings=("*",),
    match=_match_gemm,
    access=_packed_access,
    pack=_pack,
    blocks={"n": 4},
    parallel=("n",),
    accumulates=_accumulates,
    describe=_describe,
    values=_gemm_values,
    source=_SOURCE,
    call=_CALL,
)

QGEMM_NARROW = replace(
    QGEMM_PORTABLE,
    name="portable.qgemm_narrow",
    weight_bits=NARROW_BITS,
    match=packed_alone(_match_gemm),
    access=partial(_packed_access, narrow=True),
    pack=_pack_narrow,
    accumulates=lambda site: None,
    values=partial(_gemm_values, narrow=True),
    rank=1,
    source=requant_source("", "qgemm.c.mako", PACKED_DOT),
)

QMATMUL_PORTABLE = Kernel(
    name="portable.qmatmul",
    op="QMatMul",
    roundings=("*",),
    match=_match_matmul,
    blocks={"n": 4},
    parallel=("m", "n"),
    accumulates=_accumulates,
    describe=_describe,
    values=_matmul_values,
    source=_SOURCE,
    call=_CALL,
)

OPERATORS = (QGEMM, QMATMUL)
KERNELS = (QGEMM_PORTABLE, QGEMM_NARROW, QMATMUL_PORTABLE)
