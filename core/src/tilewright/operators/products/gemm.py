"""Knows Gemm on floats: a matrix product with a bias and a fused clip.
Does not know integers (`qgemm`), nor which passes turn one into the other.

Normal form: `Gemm(A[..., K], B, C?)` with B[K, N], or B[N, K] under `transB`; `alpha`, `beta`; C broadcasts to the
output. `transA` is gone: Transpose nodes stand for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_double, c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.shared.float_products import (
    CALL,
    INCLUDES,
    SOURCE,
    Wide,
    accumulates,
    finished,
    is_double,
    need_one_type,
    not_floats,
    product_values,
    wide,
)
from tilewright.operators.shared.float_results import dot_tolerance
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _factors(site: Site) -> tuple[float, float]:
    """`alpha` and `beta` as float32 values, which is how ONNX has attributes."""
    alpha, beta = (float(np.float32(site.node.number(name, 1.0))) for name in ("alpha", "beta"))
    return alpha, beta


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
    a, b, c = (None if array is None else wide(site, array) for array in (*inputs, None)[:3])
    alpha, beta = _factors(site)
    if a is None or b is None:
        raise TypeError(f"{site.node.name}: A and B are needed")
    if magnitude:
        a, b, c, alpha, beta = np.abs(a), np.abs(b), None if c is None else np.abs(c), abs(alpha), abs(beta)
    product: Wide = alpha * (a @ (b.T if site.node.integer("transB") else b))
    return product if c is None else product + beta * c


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
    """B as [N, K] with alpha in it, C with beta in it, but for 16 bits; C only where it is constant too."""
    b, c = site.constant(1), site.constant(2)
    if b is None:
        return {}
    alpha, beta = (np.asarray(factor, b.dtype) for factor in _factors(site))
    matrix, bias = (b, c) if _is_half(site) else (np.multiply(b, alpha), None if c is None else np.multiply(c, beta))
    packed: dict[str, Array] = {"B": np.ascontiguousarray(matrix if site.node.integer("transB") else matrix.T)}
    return packed if bias is None else {**packed, "C": bias}


def _is_half(site: Site) -> bool:
    """Whether weights would be rounded where factors went into them: they stay as they are."""
    return site.input(1).dtype.is_half


def _gemm_values(call: Call) -> Mapping[str, object]:
    node, a, b, y = call.site.node, call.operands["A"], call.operands["B"], call.operands["Y"]
    packed = call.site.constant(1) is not None
    column, depth = b.strides if packed or node.integer("transB") else b.strides[::-1]
    rows = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    within = packed and not _is_half(call.site)
    alpha = 1.0 if within else node.number("alpha", 1.0)
    beta = 1.0 if within and call.site.constant(2) is not None else node.number("beta", 1.0)
    write = c_double if is_double(call.site) else c_float
    return product_values(call, rows, depth, column, {"alpha": write(alpha), "beta": write(beta)})


def _import_gemm(node: OnnxNode, graph: Conversion) -> None:
    need_one_type(node, graph)
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


GEMM = Operator(
    name="Gemm",
    inputs=("A", "B", "C"),
    outputs=("Y",),
    summary="alpha A B + beta C, a fully connected layer",
    infer=_infer_gemm,
    reference=lambda site, inputs: (finished(site, _gemm(site, inputs)),),
    access=lambda site: _gemm_map(site, "n,k" if site.node.integer("transB") else "k,n", site.input(1).shape),
    tolerance=lambda site, inputs: (
        dot_tolerance(
            site.input(0).shape[-1] + 1,
            _gemm(site, inputs, magnitude=True),
            _gemm(site, inputs),
            double=is_double(site),
        ),
    ),
    macs=lambda site: site.output.elements * site.input(0).shape[-1],
    imports=with_halves(
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

GEMM_WEIGHTS_F32 = Kernel(
    name="portable.gemm_weights_f32",
    op="Gemm",
    match=lambda site: not_floats(site) or (None if site.constant(1) is not None else "B is not a constant"),
    access=_packed_access,
    pack=_pack_gemm,
    parallel=("n",),
    accumulates=accumulates,
    values=_gemm_values,
    source=SOURCE,
    call=CALL,
    includes=INCLUDES,
)

GEMM_F32 = Kernel(
    name="portable.gemm_f32",
    op="Gemm",
    match=lambda site: (
        not_floats(site)
        or (None if site.constant(1) is None else "B is a constant; portable.gemm_weights_f32 packs it")
    ),
    parallel=("n",),
    accumulates=accumulates,
    values=_gemm_values,
    source=SOURCE,
    call=CALL,
    includes=INCLUDES,
)

OPERATORS = (GEMM,)
KERNELS = (GEMM_WEIGHTS_F32, GEMM_F32)
