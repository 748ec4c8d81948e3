"""Knows how the cluster multiplies matrices of floats: Gemm and MatMul, four rows times four columns.
Does not know the C of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    Operand,
    PartialSums,
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
from tilewright_riscv.floats.machines import not_floats
from tilewright_siracusa.kernels.costs import leading_trips, trips
from tilewright_siracusa.kernels.float_costs import matmul_cycles
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.sources import FLOAT_DOT, FLOAT_FINISH, c_fragment, c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def _weights(site: Site) -> bool:
    return site.constant(1) is not None and len(site.input(1).shape) == 2


def _match_gemm(site: Site) -> str | None:
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "B and C must be constants"
    return not_floats(site)


def _match_weights(site: Site) -> str | None:
    return not_floats(site) if _weights(site) else "B is not a constant matrix"


def _match_computed(site: Site) -> str | None:
    return "B is a constant matrix; siracusa.matmul_weights_f32 packs it" if _weights(site) else not_floats(site)


def _weights_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    steps = {"A": a.strides[:-1], "B": (0,) * (len(y.shape) - 1), "Y": y.strides[:-1]}
    return _values(call, steps, b.strides[1], b.strides[0])


def _computed_values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    steps = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    return _values(call, steps, b.strides[-2], b.strides[-1])


def _form(a: Operand, b_depth: int, b_column: int) -> str:
    """The block of float_dot.c for operands that are stored so."""
    if a.strides[-1] != 1 or 1 not in (b_depth, b_column):
        return "any"
    return "rows" if b_depth == 1 else "columns"


def _values(call: Call, steps: Mapping[str, tuple[int, ...]], b_depth: int, b_column: int) -> Mapping[str, object]:
    """A call over the rows that join, and loops around it; `steps` are along all axes of Y but the last."""
    a, y, c = call.operands["A"], call.operands["Y"], call.operands.get("C")
    c_steps, part = broadcast_steps(c, y) if c else (0,) * len(y.shape), call.is_part
    acc_steps = call.operands["acc"].strides if part else ()
    kept = {"ACC": acc_steps[:-1]} if part else {}
    all_rows = walk(y.extents[:-1], {**steps, "C": c_steps[:-1], **kept}, "Y")
    outer, moves = nest(all_rows, 1), {name: own[-1] for name, own in all_rows.steps.items()}
    clip, limits = activation(call.site)
    form, joint = _form(a, b_depth, b_column), moves["B"] == 0
    return {
        "function": f"tw_xp_f32_matmul_{'part_' if part else ''}{form}_{clip}_{int(joint)}",
        "part": part,
        "acc": f" {call.operands['acc']}{outer.offsets['ACC']}," if part else "",
        "form": form,
        "clip": clip,
        "joint": joint,
        "fields": {
            "rows": all_rows.extents[-1],
            "columns": y.extents[-1],
            "depth": a.extents[-1],
            **{f"{name.lower()}_row": step for name, step in moves.items()},
            "a_depth": a.strides[-1],
            "b_depth": b_depth,
            "b_column": b_column,
            "c_column": c_steps[-1],
            "y_column": y.strides[-1],
            **limits,
            **({"acc_column": acc_steps[-1], **call.part_fields} if part else {}),
        },
        "bias": f"{c}{outer.offsets['C']}" if c else "(const float *)0",
        "nest": outer.headers,
        "at": outer.offsets,
    }


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("k",), dtype=DType.F32)


def _gemm_cycles(tile: TileShape) -> float:
    rows = trips(tile, *(name for name in tile.box if name.startswith("m")))
    return matmul_cycles(rows, trips(tile, "n"), trips(tile, "k"))


def _matmul_cycles(tile: TileShape) -> float:
    rows, columns, depth = trips(tile, "m"), trips(tile, "n"), trips(tile, "k")
    if _weights(tile.site):
        return matmul_cycles(leading_trips(tile) * rows, columns, depth)
    return leading_trips(tile) * matmul_cycles(rows, columns, depth)


_MATMUL = c_template("${function}", "float_matmul.c.mako", FLOAT_FINISH, FLOAT_DOT)


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (c_fragment("float_matmul_part.h" if values["part"] else "float_matmul.h"), _MATMUL)


_CALL = """\
% for line in nest:
${line}
% endfor
${function}((tw_xp_f32_matmul${"_part" if part else ""}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${A}${at["A"]}, ${B}${at["B"]}, ${bias},${acc} ${Y}${at["Y"]});"""
_INCLUDES = ("<stdint.h>", "<string.h>", "<math.h>")

GEMM = Kernel(
    name="siracusa.gemm_f32",
    op="Gemm",
    target="siracusa",
    match=_match_gemm,
    access=gemm_access,
    pack=pack_gemm,
    multiples={"k": GRAIN},
    parallel=("*",),
    accumulates=_accumulates,
    cycles=_gemm_cycles,
    values=_weights_values,
    source=_source,
    call=_CALL,
    includes=_INCLUDES,
)

MATMUL_WEIGHTS = Kernel(
    name="siracusa.matmul_weights_f32",
    op="MatMul",
    target="siracusa",
    match=_match_weights,
    access=matmul_access,
    pack=pack_matmul,
    multiples={"k": GRAIN},
    parallel=("m", "n"),
    accumulates=_accumulates,
    cycles=_matmul_cycles,
    values=_weights_values,
    source=_source,
    call=_CALL,
    includes=_INCLUDES,
)

MATMUL = Kernel(
    name="siracusa.matmul_f32",
    op="MatMul",
    target="siracusa",
    match=_match_computed,
    multiples={"k": GRAIN},
    parallel=("m", "n"),
    accumulates=_accumulates,
    cycles=_matmul_cycles,
    values=_computed_values,
    source=_source,
    call=_CALL,
    includes=_INCLUDES,
)

KERNELS = (GEMM, MATMUL_WEIGHTS, MATMUL)
