"""Knows how the cluster multiplies matrices of floats by streams: Gemm and MatMul with constant weights.
Does not know the instructions of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    TileShape,
    broadcast_steps,
    gemm_access,
    matmul_access,
    nest,
    pack_gemm,
    pack_matmul,
    walk,
)
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.costs import products_cycles, products_reads
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


def _stack_reads(tile: TileShape) -> float:
    return products_reads(trips(tile, "n"))


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
    stack_reads=_stack_reads,
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
    access=matmul_access,
    pack=pack_matmul,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"A": NEAR, "B": NEAR},
    parallel=("m", "n"),
    multiples={"k": GRAIN},
    accumulates=accumulates,
    cycles=_cycles,
    stack_reads=_stack_reads,
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
