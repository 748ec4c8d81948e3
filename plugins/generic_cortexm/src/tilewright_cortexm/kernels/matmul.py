"""Knows QMatMul, products of two activations, in one form for all instruction sets. Does not know instructions.

With the zero points outside, a product is `sum(a * b) - b_zero * sum(a) - a_zero * sum(b) + depth * a_zero * b_zero`:
the first sum is that of a layer with constant weights, the others belong to a row of A or to a column of B. Some
columns of B at a time, a panel, are brought into the form that such a layer's weights have, in scratch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import DType, Requant, Site
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    RequantForm,
    broadcast_steps,
    nest,
    sum_bounds,
    walk,
    zero_points,
)
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.twice import formula_form

_OPERANDS = ("A", "B", "Y")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatMul:
    """`Y[rows, columns] = requant(A[rows, depth] B[depth, columns])`, `batches` times. `b` is taken as signed bytes."""

    batches: int
    rows: int
    depth: int
    columns: int
    a_zero: int
    b_zero: int  # of the signed bytes
    b_flip: int  # what the bytes of B are xored with to be signed: 128 or 0
    requant: Requant
    bounds: AccumulatorBounds
    form: RequantForm | None  # of `onnx`


def matmul(site: Site) -> MatMul | str:
    """The product in this form, or why it has none. Each kernel adds its own limits."""
    return _refused(site) or _matmul(site)


def _refused(site: Site) -> str | None:
    tensors = (site.input(0), site.input(1), site.output)
    if any(tensor.dtype not in BYTES for tensor in tensors):
        return "values must be i8 or u8"
    if any(0 in tensor.shape for tensor in tensors):
        return "has no elements"
    if len(zero_points(site.node, "b_zero_point")) > 1 or len(site.node.requant().scale) > 1:
        return "columns have zero points or scales of their own"
    bits = sum_bounds(site).bits
    return f"the accumulator needs {bits} bits; this kernel has 32" if bits > 32 else None


def _matmul(site: Site) -> MatMul:
    rows, columns = site.output.shape[-2:]
    flip = 128 if site.input(1).dtype is DType.U8 else 0
    return MatMul(
        batches=site.output.elements // (rows * columns),
        rows=rows,
        depth=site.input(0).shape[-1],
        columns=columns,
        a_zero=site.node.integer("a_zero_point"),
        b_zero=zero_points(site.node, "b_zero_point")[0] - flip,
        b_flip=flip,
        requant=site.node.requant(),
        bounds=sum_bounds(site),
        form=formula_form(site),
    )


def access(site: Site) -> Access:
    """Whole operands."""
    return whole({"A": site.input(0).shape, "B": site.input(1).shape}, {"Y": site.output.shape})


def call_values(call: Call) -> dict[str, object]:
    """The loops around one product, where each operand begins in it, and the elements between neighbours."""
    operands, y = call.operands, call.operands["Y"]
    steps = {name: broadcast_steps(operands[name], y)[:-2] for name in ("A", "B")}
    outer = nest(walk(y.extents[:-2], {**steps, "Y": y.strides[:-2]}, "Y"), 0)
    at = {name: f"(uint8_t *){operands[name]}{outer.offsets[name]}" for name in _OPERANDS}
    return {
        "nest": outer,
        "pointers": ", ".join((f"(const {at['A'][1:]}", f"(const {at['B'][1:]}", at["Y"])),
        "fields": {**_geometry(call.site.analysis), **_strides(call)},
    }


def _geometry(layer: MatMul) -> Mapping[str, int]:
    return {
        "rows": layer.rows,
        "depth": layer.depth,
        "columns": layer.columns,
        "a_zero": layer.a_zero,
        "b_zero": layer.b_zero,
        "b_flip": layer.b_flip,
    }


def _strides(call: Call) -> Mapping[str, int]:
    (a_row, a_step), (b_step, b_column), (y_row, y_step) = (call.operands[name].strides[-2:] for name in _OPERANDS)
    return {
        "a_row": a_row, "a_step": a_step, "b_step": b_step, "b_column": b_column, "y_row": y_row, "y_step": y_step,
    }  # fmt: skip


CALL = """\
% for line in nest.headers:
${line}
% endfor
${function}((tw_arm_matmul){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${pointers}, (void *)${scratch}, ${numbers});"""
