"""Knows sigmoid, tanh, exp and softmax of floats on Cortex-M: by the unit of single floats, and by Helium.
Does not know how operands are walked, nor gates of recurrent layers, which call the same functions (`fpu_recurrent`).

exp(v) = 2^n exp(r) with v = n ln2 + r: adding 3 * 2^22 leaves no bit for a fraction, so that it rounds, and the lowest
bits of the sum are n. The polynomial is the core's; tanh is a table (`tanh_table`). Bounds that C states were found by
going through floats of all magnitudes, every third of them, and are inside the 4 ULP (8 units of 2^-24) of the core.
Helium takes what is below 2^-126 for 0: there results are copied, or leave by the unit of single floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    TileShape,
    c_element,
    c_functions,
    elementwise_walk,
    nest,
    walk,
)
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.tanh_table import END, rows

UNARY = ("Exp", "Sigmoid", "Tanh")
_EACH: Mapping[str, Mapping[str, float]] = MappingProxyType(  # instructions of an element
    {"dsp": {"Exp": 30.0, "Sigmoid": 34.0, "Tanh": 23.0, "Softmax": 41.0}, "mve": {"Sigmoid": 7.0, "Tanh": 5.8}}
)
_ROW = MappingProxyType({"dsp": 40.0, "mve": 75.0})  # of a row of a softmax
_NEAR = 9.0  # of an element of a row by Helium


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exponential:
    """The core's: `ln2` is the sum of both, `coefficients` are those of r^6, r^5 and so on."""

    log2e: float = float.fromhex("0x1.715476p+0")
    ln2: tuple[float, float] = (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20"))
    coefficients: tuple[float, ...] = (
        *map(float.fromhex, ("0x1.6ff254p-10", "0x1.1257d2p-7", "0x1.5552fep-5", "0x1.555466p-3")), 0.5, 1.0, 1.0,
    )  # fmt: skip


def _bits(value: float) -> str:
    """C for the word that is this float."""
    return f"UINT32_C(0x{int(np.float32(value).view(np.uint32)):08x})"


def _c_floats(*values: float) -> list[str]:
    return [c_element(value, DType.F32) for value in values]


_GIVEN = {"exponential": _Exponential(), "bits": _bits, "c_floats": _c_floats}
FUNCTIONS: CodeFragments = (
    *c_functions("tw_expf() tw_sigmoidf()"),
    c_template("tw_fpu_functions", "fpu_functions.c.mako").of(places=rows(), end=c_element(END, DType.F32)),
)


def _match(site: Site) -> str | None:
    floats = site.input(0).dtype is DType.F32 and site.output.dtype is DType.F32
    return None if floats and site.output.elements else "is not of float32, or has no elements"


def _axis(site: Site) -> int:
    return site.node.integer("axis", -1) % len(site.output.shape)


# --- functions of one float


def _values(call: Call) -> Mapping[str, object]:
    op = call.site.node.op.lower()
    loops = elementwise_walk(call.operands, "Y", ("X",))
    outer, steps = nest(loops, 1), {name: moves[-1] for name, moves in loops.steps.items()}
    near = set(steps.values()) == {1}
    return {
        "name": f"{op}_f32{'' if near else '_apart'}",
        "compute": f"tw_fpu_{op}f",
        "end": END,
        "near": near,
        "nest": outer,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "x_step": steps["X"],
        "y_step": steps["Y"],
    }


# --- rows


def _row_values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(y.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in others] for name, operand in (("X", x), ("Y", y))}
    outer = nest(walk([y.extents[index] for index in others], steps, "Y"), 0)
    near = x.strides[axis] == 1 and y.strides[axis] == 1
    name = f"softmax_f32{'' if near else '_apart'}"
    return {
        "name": name,
        "in_c": f"tw_fpu_{name}",
        "near": near,
        "nest": outer,
        "at": outer.offsets,
        "count": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
    }


_UNARY = c_template("${function}", "fpu_unary.c.mako")
_SOFTMAX = c_template("${function}", "fpu_softmax.c.mako")
_HELIUM = {
    "Sigmoid": c_template("${function}", "mve_float_sigmoid.c.mako"),
    "Softmax": c_template("${function}", "mve_float_softmax.c.mako"),
    "Tanh": c_template("${function}", "mve_float_tanh.c.mako"),
}


def _kernel(op: str, engine: str) -> Kernel:
    """Elements that are no neighbours are computed one by one, as they are where there is no Helium."""
    in_c = _SOFTMAX if op == "Softmax" else _UNARY
    helium = _HELIUM[op].of(**_GIVEN) if engine == "mve" else None
    unit = {"mve": "mve", "dsp": "fpu"}[engine]

    def values(call: Call) -> Mapping[str, object]:
        row = _row_values(call) if op == "Softmax" else _values(call)
        used = unit if row["near"] else "fpu"
        return {**row, "function": f"tw_{used}_{row['name']}", "helium": used == "mve"}

    def source(call_values: Mapping[str, Any]) -> CodeFragments:
        if helium is None or not call_values["helium"]:
            return (*FUNCTIONS, in_c)
        row = (in_c.of(function=call_values["in_c"]),) if op == "Softmax" else ()
        return (*FUNCTIONS, *row, helium)

    def instructions(tile: TileShape) -> float:
        elements, each = tile_elements(tile), _EACH[engine].get(op, _EACH["dsp"][op])
        if op != "Softmax":
            return each * elements + 25
        shape, axis = tile.site.output.shape, _axis(tile.site)
        last = axis == len(shape) - 1
        in_row = _NEAR if engine == "mve" and last else each
        return in_row * elements + _ROW[engine] * elements / shape[axis] + 25

    return Kernel(
        name=f"cortex-m.{unit}.{op.lower()}_f32",
        op=op,
        target="cortex-m",
        engine=engine,
        parallel=("*",),
        match=_match,
        in_place=lambda site: (("X", "Y"),),
        instructions=instructions,
        values=values,
        source=source,
        call=NEST + '${function}(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step});',
        includes=("<stdint.h>", "<math.h>"),
    )


KERNELS = (
    *(_kernel(op, "dsp") for op in (*UNARY, "Softmax")),
    *(_kernel(op, "mve") for op in ("Sigmoid", "Tanh", "Softmax")),
)
