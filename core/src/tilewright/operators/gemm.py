"""Knows Gemm and MatMul on float32 and float64: matrix products with broadcasting, a bias and a fused clip.
Does not know integers (`qgemm`), nor which passes turn one into the other.

Normal form: `Gemm(A[..., K], B, C?)` with B[K, N], or B[N, K] under `transB`; `alpha`, `beta`; C broadcasts to the
output. `MatMul(A[..., M, K], B[..., K, N])` as ONNX, both of rank 2 at least. `transA` and vectors are gone:
Transpose and Reshape nodes stand for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_double, c_float
from tilewright.ir.access import Access, parse_map
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Site, Tensor
from tilewright.ir.importing import Conversion, Import, OnnxNode
from tilewright.ir.kernel import Call, Kernel, PartialSums
from tilewright.ir.operator import Operator
from tilewright.operators.c_source import c_template
from tilewright.operators.float_error import dot_tolerance
from tilewright.operators.fused_clip import clip_literals, clipped
from tilewright.operators.import_checks import need_types
from tilewright.operators.nest import NEST, innermost, nest
from tilewright.operators.partial_sums import either_source, is_part, part_fields, sums_argument
from tilewright.operators.shape_errors import shape_error
from tilewright.operators.walk import broadcast_steps, walk

Array = npt.NDArray[np.generic]
Wide = npt.NDArray[np.floating]  # float64, or longer where that is the type itself


def _not_floats(site: Site) -> str | None:
    found = sorted({tensor.dtype.value for tensor in site.inputs if tensor is not None})
    return None if found in (["f32"], ["f64"]) else f"values must all be f32 or all f64, found {', '.join(found)}"


def _is_double(site: Site) -> bool:
    return site.input(0).dtype is DType.F64


def _wide(site: Site, array: Array) -> Wide:
    """For sums that are rounded once, at their end."""
    return np.asarray(array, np.longdouble if _is_double(site) else np.float64)


def _finished(site: Site, exact: Wide) -> Array:
    with np.errstate(over="ignore"):
        if _is_double(site):
            return clipped(site.node, exact.astype(np.float64))
        return clipped(site.node, exact.astype(np.float32))


def _factors(site: Site) -> tuple[float, float]:
    """`alpha` and `beta` as float32 values, which is how ONNX has attributes."""
    alpha, beta = (float(np.float32(site.node.number(name, 1.0))) for name in ("alpha", "beta"))
    return alpha, beta


# --- Gemm


def _infer_gemm(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if not a.shape or len(b.shape) != 2:
        raise shape_error(site, "A is [..., K] and B a matrix")
    depth, columns = b.shape[::-1] if site.node.integer("transB") else b.shape
    if a.shape[-1] != depth:
        raise shape_error(site, f"A has {a.shape[-1]} columns, B {depth} rows")
    shape = (*a.shape[:-1], columns)
    if site.has_input(2) and not _broadcasts(site.input(2).shape, shape):
        raise shape_error(site, f"C does not broadcast to {list(shape)}")
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=shape),)


def _broadcasts(shape: Sequence[int], target: Sequence[int]) -> bool:
    missing = len(target) - len(shape)
    return missing >= 0 and all(own in (1, wanted) for own, wanted in zip(shape, target[missing:], strict=True))


def _gemm(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Wide:
    a, b, c = (None if array is None else _wide(site, array) for array in (*inputs, None)[:3])
    alpha, beta = _factors(site)
    if a is None or b is None:
        raise TypeError(f"{site.node.name}: A and B are needed")
    if magnitude:
        a, b, c, alpha, beta = np.abs(a), np.abs(b), None if c is None else np.abs(c), abs(alpha), abs(beta)
    product: Wide = alpha * (a @ (b.T if site.node.integer("transB") else b))
    return product if c is None else product + beta * c


def _gemm_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (_finished(site, _gemm(site, inputs)),)


def _gemm_tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    terms = site.input(0).shape[-1] + 1
    magnitude = _gemm(site, inputs, magnitude=True)
    return (dot_tolerance(terms, magnitude, _gemm(site, inputs), double=_is_double(site)),)


def _gemm_access(site: Site) -> Access:
    return _gemm_map(site, "n,k" if site.node.integer("transB") else "k,n", site.input(1).shape)


def _packed_access(site: Site) -> Access:
    b = site.input(1).shape
    return _gemm_map(site, "n,k", b if site.node.integer("transB") else b[::-1])


def _gemm_map(site: Site, b_text: str, b_shape: tuple[int, ...]) -> Access:
    y = site.output.shape
    rows = [f"m{axis}" for axis in range(len(y) - 1)]
    shapes = {"A": site.input(0).shape, "B": b_shape, "Y": y}
    c_text = ""
    if site.has_input(2):
        shapes["C"] = c = site.input(2).shape
        loops = [*rows, "n"][len(y) - len(c) :]
        c_text = ",".join("0" if own == 1 else loop for own, loop in zip(c, loops, strict=True))
    text = f"{' '.join(rows)} n k : A[{','.join([*rows, 'k'])}] B[{b_text}] C[{c_text}] -> Y[{','.join([*rows, 'n'])}]"
    return parse_map(text).bind(shapes)


def _pack_gemm(site: Site) -> Mapping[str, Array]:
    """B as [N, K] with alpha in it, C with beta in it; C only where it is constant too."""
    b, c = site.constant(1), site.constant(2)
    if b is None:
        return {}
    alpha, beta = (np.asarray(factor, b.dtype) for factor in _factors(site))
    matrix = np.multiply(b, alpha)
    packed: dict[str, Array] = {"B": np.ascontiguousarray(matrix if site.node.integer("transB") else matrix.T)}
    return packed if c is None else {**packed, "C": np.multiply(c, beta)}


def _gemm_values(call: Call) -> Mapping[str, object]:
    node, a, b, y = call.site.node, call.operands["A"], call.operands["B"], call.operands["Y"]
    packed = call.site.constant(1) is not None
    column, depth = b.strides if packed or node.integer("transB") else b.strides[::-1]
    rows = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    alpha = 1.0 if packed else node.number("alpha", 1.0)
    beta = 1.0 if packed and call.site.constant(2) is not None else node.number("beta", 1.0)
    write = c_double if _is_double(call.site) else c_float
    return _values(call, rows, depth, column, {"alpha": write(alpha), "beta": write(beta)})


def _values(
    call: Call, rows: dict[str, tuple[int, ...]], b_depth: int, b_column: int, factors: Mapping[str, str]
) -> Mapping[str, object]:
    """A call over the rows that join, and loops around it; `rows` are steps along all axes of Y but the last."""
    a, y, c = call.operands["A"], call.operands["Y"], call.operands.get("C")
    c_steps = broadcast_steps(c, y) if c else (0,) * len(y.shape)
    acc = call.operands.get("acc")
    kept = {"ACC": acc.strides[:-1]} if acc else {}
    all_rows = walk(y.extents[:-1], {**rows, "C": c_steps[:-1], **kept}, "Y")
    outer, (count, steps) = nest(all_rows, 1), innermost(all_rows)
    fields: dict[str, object] = {
        "rows": count,
        "columns": y.extents[-1],
        "depth": a.extents[-1],
        **{f"{operand.lower()}_row": step for operand, step in steps.items()},
        "a_depth": a.strides[-1],
        "b_depth": b_depth,
        "b_column": b_column,
        "c_column": c_steps[-1],
        "y_column": y.strides[-1],
        **factors,
        **clip_literals(call.site.node, double=_is_double(call.site)),
        **({"acc_column": acc.strides[-1]} if acc else {}),
        **part_fields(call),
    }
    double, part = _is_double(call.site), is_part(call)
    real = "double" if double else "float"
    bias = f"{c}{outer.offsets['C']}" if c else f"(const {real} *)0"
    return {
        "real": real,
        "kind": call.site.input(0).dtype.value,
        "record": f"tw_matmul{'_part' if part else ''}{'_doubles' if double else ''}",
        "zero": "0.0" if double else "0.0f",
        "fields": fields,
        "bias": bias,
        "nest": outer.headers,
        "at": outer.offsets,
        "part": part,
        "kept": sums_argument(call, outer.offsets),
    }


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("k",), dtype=site.output.dtype)


def _need_one_type(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32, DType.F64)
    need_types(node, graph, graph.tensor(node.inputs[0]).dtype)


def _import_gemm(node: OnnxNode, graph: Conversion) -> None:
    _need_one_type(node, graph)
    a, b, *rest = node.inputs
    if len(graph.tensor(a).shape) != 2 or len(graph.tensor(b).shape) != 2:
        raise graph.refuse(node, f"A{list(graph.tensor(a).shape)} and B{list(graph.tensor(b).shape)} must be matrices")
    if node.integer("transA"):
        a = graph.emit(node, "Transpose", (a,), (), {"perm": (1, 0)}, "a_transposed")
    attributes = {
        "alpha": node.number("alpha", 1.0),
        "beta": node.number("beta", 1.0),
        "transB": int(bool(node.integer("transB"))),
    }
    graph.emit(node, "Gemm", (a, b, *(name for name in rest if name)), node.outputs, attributes)


# --- MatMul


def _infer_matmul(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if len(a.shape) < 2 or len(b.shape) < 2 or a.shape[-1] != b.shape[-2]:
        raise shape_error(site, "the last axis of A and the last but one of B must be equal")
    lead_a, lead_b = a.shape[:-2], b.shape[:-2]
    rank = max(len(lead_a), len(lead_b))
    pairs = zip((1,) * (rank - len(lead_a)) + lead_a, (1,) * (rank - len(lead_b)) + lead_b, strict=True)
    lead = []
    for one, other in pairs:
        if one != other and 1 not in (one, other):
            raise shape_error(site, f"{list(lead_a)} and {list(lead_b)} do not broadcast")
        lead.append(other if one == 1 else one)
    shape = (*lead, a.shape[-2], b.shape[-1])
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=shape),)


def _matmul_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = (_wide(site, np.asarray(array)) for array in inputs)
    return (_finished(site, a @ b),)


def _matmul_tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    a, b = (_wide(site, np.asarray(array)) for array in inputs)
    return (dot_tolerance(a.shape[-1], np.abs(a) @ np.abs(b), a @ b, double=_is_double(site)),)


def _matmul_access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return parse_map("m n k : A[...,m,k] B[...,k,n] -> Y[...,m,n]").bind(shapes)


def _matmul_packed_access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape[::-1], "Y": site.output.shape}
    return parse_map("m n k : A[...,m,k] B[n,k] -> Y[...,m,n]").bind(shapes)


def _weights_are_constant(site: Site) -> bool:
    return site.constant(1) is not None and len(site.input(1).shape) == 2


def _match_weights(site: Site) -> str | None:
    return _not_floats(site) or (None if _weights_are_constant(site) else "B is not a constant matrix")


def _match_no_weights(site: Site) -> str | None:
    packed = "B is a constant matrix; portable.matmul_weights_f32 packs it"
    return _not_floats(site) or (packed if _weights_are_constant(site) else None)


def _pack_matmul(site: Site) -> Mapping[str, Array]:
    b = site.constant(1)
    return {} if b is None else {"B": np.ascontiguousarray(b.T)}


def _no_factors(call: Call) -> Mapping[str, str]:
    one = (c_double if _is_double(call.site) else c_float)(1.0)
    return {"alpha": one, "beta": one}


def _matmul_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    return _values(call, rows, b.strides[-2], b.strides[-1], _no_factors(call))


def _matmul_weights_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    return _values(call, rows, b.strides[1], b.strides[0], _no_factors(call))


def _import_matmul(node: OnnxNode, graph: Conversion) -> None:
    """A vector on either side becomes a matrix of one row or column, which the result loses again."""
    _need_one_type(node, graph)
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


_SOURCE = either_source(
    c_template("tw_matmul_part_${kind}", "matmul_part.c.mako"), c_template("tw_matmul_${kind}", "matmul.c.mako")
)
_CALL = (
    NEST
    + """\
tw_matmul${"_part" if part else ""}_${kind}((${record}){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${A}${at["A"]}, ${B}${at["B"]}, ${bias},${kept} ${Y}${at["Y"]});"""
)
_INCLUDES = ("<stdint.h>", "<math.h>")

GEMM = Operator(
    name="Gemm",
    inputs=("A", "B", "C"),
    outputs=("Y",),
    summary="alpha A B + beta C, a fully connected layer",
    infer=_infer_gemm,
    reference=_gemm_reference,
    access=_gemm_access,
    tolerance=_gemm_tolerance,
    macs=lambda site: site.output.elements * site.input(0).shape[-1],
    imports=(
        Import(
            op_type="Gemm",
            since=7,
            attributes={"alpha": "FLOAT", "beta": "FLOAT", "transA": "INT", "transB": "INT"},
            convert=_import_gemm,
            min_inputs=2,
            max_inputs=3,
        ),
    ),
)

MATMUL = Operator(
    name="MatMul",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="matrix product, batched, with broadcasting",
    infer=_infer_matmul,
    reference=_matmul_reference,
    access=_matmul_access,
    tolerance=_matmul_tolerance,
    macs=lambda site: site.output.elements * site.input(0).shape[-1],
    imports=(Import(op_type="MatMul", since=1, attributes={}, convert=_import_matmul, min_inputs=2, max_inputs=2),),
)

GEMM_WEIGHTS_F32 = Kernel(
    name="portable.gemm_weights_f32",
    op="Gemm",
    match=lambda site: _not_floats(site) or (None if site.constant(1) is not None else "B is not a constant"),
    access=_packed_access,
    pack=_pack_gemm,
    parallel=("n",),
    accumulates=_accumulates,
    values=_gemm_values,
    source=_SOURCE,
    call=_CALL,
    includes=_INCLUDES,
)

GEMM_F32 = Kernel(
    name="portable.gemm_f32",
    op="Gemm",
    match=lambda site: (
        _not_floats(site)
        or (None if site.constant(1) is None else "B is a constant; portable.gemm_weights_f32 packs it")
    ),
    parallel=("n",),
    accumulates=_accumulates,
    values=_gemm_values,
    source=_SOURCE,
    call=_CALL,
    includes=_INCLUDES,
)

MATMUL_WEIGHTS_F32 = Kernel(
    name="portable.matmul_weights_f32",
    op="MatMul",
    match=_match_weights,
    access=_matmul_packed_access,
    pack=_pack_matmul,
    parallel=("m", "n"),
    accumulates=_accumulates,
    values=_matmul_weights_values,
    source=_SOURCE,
    call=_CALL,
    includes=_INCLUDES,
)

MATMUL_F32 = Kernel(
    name="portable.matmul_f32",
    op="MatMul",
    match=_match_no_weights,
    parallel=("m", "n"),
    accumulates=_accumulates,
    values=_matmul_values,
    source=_SOURCE,
    call=_CALL,
    includes=_INCLUDES,
)

OPERATORS = (GEMM, MATMUL)
KERNELS = (GEMM_WEIGHTS_F32, GEMM_F32, MATMUL_WEIGHTS_F32, MATMUL_F32)
