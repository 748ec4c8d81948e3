"""Knows how the cluster multiplies two computed matrices of float32: pairs of outputs beside each other in a register.
Does not know constant weights, nor the instructions of a block.

Where B's rows lie in memory as columns, products of one sum are neighbours, and kernels for weights do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, broadcast_steps, nest, walk
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels import blocks
from tilewright_snitch.kernels.costs import lanes_cycles
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, not_floats, trips
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS
from tilewright_snitch.kernels.products import computed_values
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

CODE_BYTES = 2000  # that a product executes, of one width or of two
HEIGHTS = (2, 1)


def _match(site: Site) -> str | None:
    if site.output.dtype is not DType.F32:
        return f"values must be f32, found {site.output.dtype.value}"
    if site.output.shape[-1] % 2:
        return f"B has {site.output.shape[-1]} columns; a register holds two"
    return not_floats(site)


def _cycles(tile: TileShape) -> float:
    rows, lead = trips(tile, "m"), trips(tile, *(name for name in tile.box if name not in ("m", "n", "k")))
    clip = ("none", "low", "both").index(activation(tile.site)[0])
    return lead * lanes_cycles(rows, trips(tile, "n"), trips(tile, "k"), clip=clip)


def _values(call: Call) -> Mapping[str, object]:
    a, b, y = call.operands["A"], call.operands["B"], call.operands["Y"]
    if b.strides[-1] != 1 or y.strides[-1] != 1:
        values = computed_values(call)
        more = {"between": f"{values['c_pointer']}, ", "room": f", {call.operands['scratch']}"}
        return {**values, **more, "lanes": False, "record": "tw_sn_products"}
    (clip, limits), dense = activation(call.site), a.strides[-1] == 1
    steps = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    rows = walk(y.extents[:-1], steps, "Y")
    shared = int(rows.steps["B"][-1] == 0)
    outer, name = nest(rows, shared), f"tw_sn_f32_lanes_{clip}_{int(dense)}"
    return {
        "lanes": True,
        "name": name,
        "record": f"{name}_matrices",
        "between": "",
        "room": "",
        "clip": clip,
        "dense": dense,
        "widths": blocks.WIDTHS,
        "heights": HEIGHTS,
        "lines": lambda height, width: blocks.lane_lines(height, width, clip, dense=dense),
        "limits": blocks.LIMITS,
        "mark": blocks.LANES_MARK,
        "clobbered": ("ft0", "ft1", "ft2", *blocks.SUMS, *blocks.OTHERS, *blocks.A_REGISTERS),
        "fields": {
            "rows": rows.extents[-1] if shared else "1",
            "outputs": y.extents[-1],
            "depth": a.extents[-1],
            "a_row": rows.steps["A"][-1],
            "a_element": a.strides[-1],
            "b_element": b.strides[-2],
            "y_row": rows.steps["Y"][-1],
        },
        "low": limits["low"],
        "high": limits["high"],
        "nest": outer.headers,
        "at": outer.offsets,
    }


_LANES = c_template("${name}", "lanes.c.mako", c_fragment("streams.h"))


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (_LANES if values["lanes"] else PRODUCTS,)


_CALL = """\
% for line in nest:
${line}
% endfor
${name}((${record}){
% for field, value in fields.items():
    .${field} = ${value},
% endfor
}, ${low}, ${high}, ${A}${at["A"]}, ${B}${at["B"]}, ${between}${Y}${at["Y"]}${room});"""

MATMUL_F32 = Kernel(
    name="snitch.matmul_f32",
    op="MatMul",
    target="snitch",
    match=_match,
    scratch_bytes=lambda tile: LANES_BYTES,
    memories={"A": NEAR, "B": NEAR},
    multiples={"n": 2},
    parallel=("m", "n"),
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=_source,
    call=_CALL,
    includes=INCLUDES,
)

KERNELS = (MATMUL_F32,)
