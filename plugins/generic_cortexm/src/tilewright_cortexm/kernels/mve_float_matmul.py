"""Knows how Helium multiplies two matrices of floats that are both computed: four rows times four columns.
Does not know products with constant weights (`float_products`).

Nothing is copied: rows of B are read where they are, and the distance between them is part of the code.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, broadcast_steps, nest, walk
from tilewright.api.operator import Access, parse_map
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.float_products import BYTES, HELIUM, OUTPUTS, PIXELS, clip_of, limits
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template, each_of

_MOST_COLUMNS = 1023  # whose bytes are the number in an ADDW
_NEAR = 128  # columns from which on a load does not step to the next row itself
_CALL, _FEWER = 45.0, 12.0  # instructions of some rows, of four columns without biases and a predicate


def _match(site: Site) -> str | None:
    a, b, columns = site.input(0), site.input(1), site.output.shape[-1]
    if {a.dtype, b.dtype, site.output.dtype} != {DType.F32} or not site.output.elements:
        return "is not all of float32, or has no elements"
    if site.constant(1) is not None and len(b.shape) == 2:
        return "B is a constant matrix: cortex-m.mve.matmul_f32 packs it"
    if not OUTPUTS <= columns <= _MOST_COLUMNS:
        return f"has {columns} columns; from {OUTPUTS} to {_MOST_COLUMNS} are supported"
    return None


def _access(site: Matched) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return parse_map("m : A[...,m,:] B[...,:,:] -> Y[...,m,:]").bind(shapes)


def _requires(site: Site) -> Mapping[str, Layout]:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return {name: row_major(len(shape)) for name, shape in shapes.items()}


def _instructions(tile: TileShape) -> float:
    site = tile.site
    depth, columns = site.input(0).shape[-1], site.output.shape[-1]
    rows = tile.extent("m")
    matrices = tile_elements(tile) / (rows * columns)
    result = 0.0
    for count, times in ((PIXELS, rows // PIXELS), (1, rows % PIXELS)):
        more = 1.0 if columns >= _NEAR else 0.0
        run = depth // 4 * (HELIUM.four[count] + 4 * more) + depth % 4 * (HELIUM.rest[count] + more)
        block = run + HELIUM.block[clip_of(site)][count] - _FEWER
        result += times * (_CALL + ceil_div(columns, OUTPUTS) * block)
    return matrices * result


def _values(call: Call) -> Mapping[str, object]:
    a, b, y = (call.operands[name] for name in ("A", "B", "Y"))
    steps = {"A": broadcast_steps(a, y)[:-1], "B": (*broadcast_steps(b, y)[:-2], 0), "Y": y.strides[:-1]}
    rows = walk(y.extents[:-1], steps, "Y")
    together = rows.steps["B"][-1] == 0  # whether the innermost loop is over rows of one matrix
    outer = nest(rows, 1 if together else 0)
    clip, step, depth = clip_of(call.site), BYTES * b.strides[-2], a.shape[-1]
    blocks = [
        {"block": f"tw_mve_float_columns_{count}_{step}_{clip}", "pixels": count, "step": step, "clip": clip}
        for count in (PIXELS, 1)
    ]
    return {
        "function": f"tw_mve_float_matmul_{step}_{clip}",
        "four": blocks[0]["block"],
        "one": blocks[1]["block"],
        "blocks": blocks,
        "nest": outer,
        "fields": {
            "a": f"{a}{outer.offsets['A']}",
            "a_row": BYTES * rows.steps["A"][-1],
            "b": f"{b}{outer.offsets['B']}",
            "blocks": y.shape[-1] // OUTPUTS,
            "y": f"{y}{outer.offsets['Y']}",
            "y_row": BYTES * rows.steps["Y"][-1],
            "fours": depth // 4,
            "rest": depth % 4,
            **limits(call.site),
        },
        "numbers": f"{rows.extents[-1] if together else 1}, {y.shape[-1]}",
    }


_STATEMENT = """\
${function}((tw_float_columns){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${numbers});"""

_BLOCK = c_template("${block}", "mve_float_columns.c.mako")
_MATMUL = c_template("${function}", "mve_float_matmul.c.mako")

KERNELS = (
    Kernel(
        name="cortex-m.mve.computed_matmul_f32",
        op="MatMul",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=_requires,
        instructions=_instructions,
        values=_values,
        source=lambda values: (*each_of(_BLOCK, values["blocks"]), _MATMUL),
        call=NEST + _STATEMENT,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    ),
)
