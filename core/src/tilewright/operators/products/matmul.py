"""Knows MatMul on floats: matrix products, batched, with broadcasting.
Does not know integers (`qgemm`), nor which passes turn one into the other.

Normal form: `MatMul(A[..., M, K], B[..., K, N])` as ONNX, both of rank 2 at least: Reshape nodes stand for vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_double, c_float
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.walk import broadcast_steps
from tilewright.operators.shared.float_products import (
    CALL,
    INCLUDES,
    SOURCE,
    accumulates,
    finished,
    is_double,
    need_one_type,
    not_floats,
    product_values,
    wide,
)
from tilewright.operators.shared.float_results import dot_tolerance
from tilewright.operators.shared.matrices import computed_matmul_access, matmul_access
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _infer_matmul(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise shape_error(site, "the last axis of A and the last but one of B must be equal")
    lead_a, lead_b = a.shape[:-2], b.shape[:-2]
    rank = max(len(lead_a), len(lead_b))
    pairs = zip((1,) * (rank - len(lead_a)) + lead_a, (1,) * (rank - len(lead_b)) + lead_b, strict=True)
    lead = []
    for left, right in pairs:
        if left != right and 1 not in (left, right):
            raise shape_error(site, f"{list(lead_a)} and {list(lead_b)} do not broadcast")
        lead.append(right if left == 1 else left)
    shape = (*lead, a.shape[-2], b.shape[-1])
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=shape),)


def _matmul_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = (wide(site, np.asarray(array)) for array in inputs)
    return (finished(site, a @ b),)


def _matmul_tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    a, b = (wide(site, np.asarray(array)) for array in inputs)
    return (dot_tolerance(a.shape[-1], np.abs(a) @ np.abs(b), a @ b, double=is_double(site)),)


def _weights_are_constant(site: Site) -> bool:
    return site.constant(1) is not None and len(site.input(1).shape) == 2


def _pack_matmul(site: Site) -> Mapping[str, Array]:
    b = site.constant(1)
    return {} if b is None else {"B": np.ascontiguousarray(b.T)}


def _no_factors(call: Call) -> Mapping[str, str]:
    one = (c_double if is_double(call.site) else c_float)(1.0)
    return {"alpha": one, "beta": one}


def _matmul_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    return product_values(call, rows, b.strides[-2], b.strides[-1], _no_factors(call))


def _matmul_weights_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    return product_values(call, rows, b.strides[1], b.strides[0], _no_factors(call))


def _import_matmul(node: OnnxNode, graph: Conversion) -> None:
    """A vector on either side becomes a matrix of one row or column, which the result loses again."""
    need_one_type(node, graph)
    a, b = node.inputs
    a_shape, b_shape = graph.tensor(a).shape, graph.tensor(b).shape
    if not a_shape or not b_shape:
        raise graph.refuse(node, "MatMul of a scalar")
    if len(a_shape) > 1 and len(b_shape) > 1:
        graph.emit(node, "MatMul", (a, b), node.outputs)
        return
    if len(a_shape) == 1:
        a = graph.emit(node, "Reshape", (a,), (), {"shape": (1, *a_shape)}, "row")
    if len(b_shape) == 1:
        b = graph.emit(node, "Reshape", (b,), (), {"shape": (*b_shape, 1)}, "column")
    product = graph.emit(node, "MatMul", (a, b), (), hint="product")
    *lead, rows, columns = graph.tensor(product).shape
    shape = (*lead, *((rows,) if len(a_shape) > 1 else ()), *((columns,) if len(b_shape) > 1 else ()))
    graph.emit(node, "Reshape", (product,), node.outputs, {"shape": shape})


MATMUL = Operator(
    name="MatMul",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="matrix product, batched, with broadcasting",
    infer=_infer_matmul,
    reference=_matmul_reference,
    access=computed_matmul_access,
    tolerance=_matmul_tolerance,
    macs=lambda site: site.output.elements * site.input(0).shape[-1],
    imports=with_halves(
        Import(op_type="MatMul", since=1, attributes={}, convert=_import_matmul, min_inputs=2, max_inputs=2)
    ),
)

MATMUL_WEIGHTS_F32 = Kernel(
    name="portable.matmul_weights_f32",
    op="MatMul",
    match=lambda site: not_floats(site) or (None if _weights_are_constant(site) else "B is not a constant matrix"),
    access=matmul_access,
    pack=_pack_matmul,
    parallel=("m", "n"),
    accumulates=accumulates,
    values=_matmul_weights_values,
    source=SOURCE,
    call=CALL,
    includes=INCLUDES,
)

MATMUL_F32 = Kernel(
    name="portable.matmul_f32",
    op="MatMul",
    match=lambda site: (
        not_floats(site)
        or ("B is a constant matrix; portable.matmul_weights_f32 packs it" if _weights_are_constant(site) else None)
    ),
    parallel=("m", "n"),
    accumulates=accumulates,
    values=_matmul_values,
    source=SOURCE,
    call=CALL,
    includes=INCLUDES,
)

OPERATORS = (MATMUL,)
KERNELS = (MATMUL_WEIGHTS_F32, MATMUL_F32)
