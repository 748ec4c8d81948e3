"""Knows how the cluster multiplies matrices of floats by streams: Gemm and MatMul with constant weights.
Does not know the instructions of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, broadcast_steps, nest, walk
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.costs import products_cycles
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, not_floats, trips
from tilewright_snitch.kernels.product_parts import GRAIN, NO_PART, accumulates, is_part, part_sections, part_values
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS, products_values
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CODE_BYTES = 2000  # that a product executes, of one width or of two


def short_of_streams(depth: int, dtype: DType) -> str | None:
    """Why sums of so many products are none for streams, or None."""
    if dtype is DType.F32 and depth % 2:
        return f"sums have {depth} products; of f32 a stream brings two at a time"
    return "sums have fewer than two elements of a stream" if depth < (4 if dtype is DType.F32 else 2) else None


def _match_gemm(site: Site) -> str | None:
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "B and C must be constants"
    return not_floats(site) or short_of_streams(site.input(0).shape[-1], site.output.dtype)


def _match_weights(site: Site) -> str | None:
    if site.constant(1) is None or len(site.input(1).shape) != 2:
        return "B is not a constant matrix"
    return not_floats(site) or short_of_streams(site.input(0).shape[-1], site.output.dtype)


def _match_doubles(site: Site) -> str | None:
    if site.output.dtype is not DType.F64:
        return f"values must be f64, found {site.output.dtype.value}"
    if min(len(site.input(0).shape), len(site.input(1).shape)) < 2:
        return "an operand is a vector"
    return not_floats(site) or short_of_streams(site.input(0).shape[-1], site.output.dtype)


def gemm_access(site: Site) -> Access:
    """B as [N, K]."""
    a, y = site.input(0).shape, site.output.shape
    rows = [f"m{axis}" for axis in range(len(y) - 1)]
    shapes, bias = {"A": a, "B": (y[-1], a[-1]), "Y": y}, ""
    if site.has_input(2):
        shapes["C"] = c = site.input(2).shape
        loops = [*rows, "n"][len(y) - len(c) :]
        bias = ",".join("0" if own == 1 else loop for own, loop in zip(c, loops, strict=True))
    text = f"{' '.join(rows)} n k : A[{','.join([*rows, 'k'])}] B[n,k] C[{bias}] -> Y[{','.join([*rows, 'n'])}]"
    return parse_map(text).bind(shapes)


def pack_gemm(site: Site) -> Mapping[str, Array]:
    """B as [N, K] with alpha in it, C with beta in it; in what sums are computed in."""
    b, c = site.constant(1), site.constant(2)
    if b is None:
        return {}
    real = site.output.dtype.computed_in.numpy
    alpha, beta = (np.asarray(site.node.number(name, 1.0), real) for name in ("alpha", "beta"))
    matrix = np.multiply(b.astype(real), alpha)
    packed: dict[str, Array] = {"B": np.ascontiguousarray(matrix if site.node.integer("transB") else matrix.T)}
    return packed if c is None else {**packed, "C": np.multiply(c.astype(real), beta)}


def weights_access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape[::-1], "Y": site.output.shape}
    return parse_map("m n k : A[...,m,k] B[n,k] -> Y[...,m,n]").bind(shapes)


def pack_weights(site: Site) -> Mapping[str, Array]:
    b = site.constant(1)
    return {} if b is None else {"B": np.ascontiguousarray(b.T.astype(site.output.dtype.computed_in.numpy))}


def weights_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    steps = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    return _values(call, steps, b.strides[1], b.strides[0])


def computed_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    steps = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    return _values(call, steps, b.strides[-2], b.strides[-1])


def _values(call: Call, steps: Mapping[str, tuple[int, ...]], b_depth: int, b_column: int) -> Mapping[str, object]:
    """A call over the rows that share B, and loops around it; `steps` are along all axes of Y but the last."""
    a, y, c = call.operands["A"], call.operands["Y"], call.operands.get("C")
    c_steps = broadcast_steps(c, y) if c else (0,) * len(y.shape)
    sums = call.operands.get("acc", y)
    all_rows = walk(y.extents[:-1], {**steps, "C": c_steps[:-1], "acc": sums.strides[:-1]}, "Y")
    shared = int(all_rows.steps["B"][-1] == 0)
    outer, moves = nest(all_rows, shared), {name: own[-1] for name, own in all_rows.steps.items()}
    joined = a.strides[-1] == 1
    dense = y.strides[-1] == 1 and (c is None or c_steps[-1] == 1)
    whole = products_values(call.site, bias=c is not None, dense=dense)
    values = {
        **whole,
        "called": whole["name"],
        "fields": {
            "rows": all_rows.extents[-1] if shared else "1",
            "outputs": y.extents[-1],
            "run": a.extents[-1] if joined else "1",
            "runs": "1" if joined else a.extents[-1],
            "a_row": moves["A"],
            "a_run": 0 if joined else a.strides[-1],
            "b_output": b_column,
            "b_run": 0 if joined else b_depth,
            "b_element": b_depth,
            "c_row": moves["C"],
            "c_output": c_steps[-1],
            "y_row": moves["Y"],
            "y_output": y.strides[-1],
        },
        "c_pointer": f"{c}{outer.offsets['C']}" if c else f"(const {call.site.output.dtype.computed_in.c_type} *)0",
        "nest": outer.headers,
        "at": outer.offsets,
        **NO_PART,
    }
    return part_values(call, values, moves["acc"]) if is_part(call) else values


def _source(values: Mapping[str, object]) -> CodeFragments:
    return part_sections(values) if values["part"] else (PRODUCTS,)


def _cycles(tile: TileShape) -> float:
    site = tile.site
    rows = trips(tile, *(name for name in tile.box if name not in ("n", "k")))
    clip = ("none", "low", "both").index(activation(site)[0])
    double = site.output.dtype is DType.F64
    bias = (len(site.inputs) > 2 and site.has_input(2)) or trips(tile, "k") < site.input(0).shape[-1]
    return products_cycles(rows, trips(tile, "n"), trips(tile, "k"), double=double, bias=bias, clip=clip)


CALL = """\
% for line in nest:
${line}
% endfor
${called}((tw_sn_products){
% for field, value in fields.items():
    .${field} = ${value},
% endfor
% if part:
}, &(tw_sn_results){
% for field, value in results.items():
    .${field} = ${value},
% endfor
% endif
}, ${low}, ${high}, ${A}${at["A"]}, ${B}${at["B"]}, ${c_pointer}, ${kept}${Y}${at["Y"]}, ${scratch});"""

GEMM = Kernel(
    name="snitch.gemm",
    op="Gemm",
    target="snitch",
    match=_match_gemm,
    access=gemm_access,
    pack=pack_gemm,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"A": NEAR, "B": NEAR},
    parallel=("*",),
    multiples={"k": GRAIN},
    accumulates=accumulates,
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=weights_values,
    source=_source,
    call=CALL,
    includes=INCLUDES,
)

MATMUL_WEIGHTS = Kernel(
    name="snitch.matmul_weights",
    op="MatMul",
    target="snitch",
    match=_match_weights,
    access=weights_access,
    pack=pack_weights,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"A": NEAR, "B": NEAR},
    parallel=("m", "n"),
    multiples={"k": GRAIN},
    accumulates=accumulates,
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=weights_values,
    source=_source,
    call=CALL,
    includes=INCLUDES,
)

MATMUL = Kernel(
    name="snitch.matmul_f64",
    op="MatMul",
    target="snitch",
    match=_match_doubles,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"A": NEAR, "B": NEAR},
    parallel=("m", "n"),
    multiples={"k": GRAIN},
    accumulates=accumulates,
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=computed_values,
    source=_source,
    call=CALL,
    includes=INCLUDES,
)

KERNELS = (GEMM, MATMUL_WEIGHTS, MATMUL)
