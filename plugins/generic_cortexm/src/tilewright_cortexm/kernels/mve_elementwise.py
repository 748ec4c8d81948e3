"""Knows how Helium adds and multiplies element by element: sums of four at a time, products of eight.
Does not know how operands broadcast. Rows whose elements are not neighbours are computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape
from tilewright_cortexm.kernels.elementwise import (
    NEST,
    SUM_ROUNDINGS,
    in_place,
    limits,
    refused,
    rows_of,
    sum_of,
)
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template


def _shared(call: Call, name: str, lanes: int) -> dict[str, object]:
    """What both operators give the templates. `name` tells apart what the code depends on beside types and steps."""
    rows, (low, high) = rows_of(call), limits(call.site)
    dtypes = {operand: call.operands[operand].dtype for operand in ("A", "B", "Y")}
    one_value = [operand.lower() for operand in ("A", "B") if rows.steps[operand] == 0]
    vector = rows.steps["Y"] == 1 and all(rows.steps[operand] in (0, 1) for operand in ("A", "B"))
    kind = (*(dtype.value for dtype in dtypes.values()), *(f"one_{operand}" for operand in one_value), name)
    return {
        "function": f"tw_mve_{'_'.join(kind)}_{low}_{high}{'' if vector else '_apart'}".replace("-", "m"),
        "types": {operand.lower(): dtype.c_type for operand, dtype in dtypes.items()},
        "loads": {name.lower(): f"{'u' if dtype is DType.U8 else 's'}{lanes}" for name, dtype in dtypes.items()},
        "one_value": one_value,
        "vector": vector,
        "low": low,
        "high": high,
        "nest": rows.outer,
        "count": rows.count,
        "steps": ", ".join(str(rows.steps[operand]) for operand in ("A", "B", "Y")),
        "pointers": ", ".join(
            rows.pointer(call, operand, f"{'' if operand == 'Y' else 'const '}{dtype.c_type} *")
            for operand, dtype in dtypes.items()
        ),
    }


def _sum_values(call: Call) -> Mapping[str, object]:
    form, zero_point = call.site.analysis, call.site.node.integer("zero_point")
    return {
        **_shared(call, f"sum{form.shift}{'t' if form.ties else ''}", 32),
        "shift": form.shift,
        "ties": form.ties,
        "numbers": f"{form.a_factor}, {form.b_factor}, {form.offset}, {zero_point}",
    }


def _product_values(call: Call) -> Mapping[str, object]:
    node = call.site.node
    zeros = [node.integer(name) for name in ("a_zero_point", "b_zero_point")]
    bits = int(np.float32(node.requant().scale[0]).view(np.int32))
    return {
        **_shared(call, "product", 16),
        "numbers": f"{zeros[0]}, {zeros[1]}, {bits}, {node.requant().zero_point}",
    }


def _refused_product(site: Site) -> str | None:
    return refused(site) or (None if len(site.node.requant().scale) == 1 else "QMul has one scale for all")


def run_of(site: Site) -> int:
    """Elements in a row: those of the last axes along which the same operands broadcast, as if all were row-major."""
    y, length = site.output.shape, 1
    shapes = [(1,) * (len(y) - len(tensor.shape)) + tensor.shape for tensor in (site.input(0), site.input(1))]
    axes = [
        (extent, [other == 1 for other in others]) for extent, *others in zip(y, *shapes, strict=True) if extent > 1
    ]
    for extent, broadcasts in reversed(axes):
        if broadcasts != axes[-1][1]:
            break
        length *= extent
    return length


def element_instructions(each: float, row: float) -> Callable[[TileShape], float]:
    """Executed instructions: of an element, and of a row, of which there is one for every run that broadcasts."""

    def instructions(tile: TileShape) -> float:
        elements = tile_elements(tile)
        return each * elements + row * elements / run_of(tile.site) + 20

    return instructions


_CALL = NEST + "${function}(${count}, ${steps}, ${pointers}, ${numbers});"

KERNELS = (
    Kernel(
        name="cortex-m.mve.qadd",
        op="QAdd",
        roundings=SUM_ROUNDINGS,
        target="cortex-m",
        engine="mve",
        match=sum_of,
        in_place=in_place,
        instructions=element_instructions(3.0, 20),
        describe=lambda site: {"accumulator_bits": 32, "ties": site.analysis.ties},
        values=_sum_values,
        source=(c_template("${function}", "mve_sum.c.mako"),),
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
    Kernel(
        name="cortex-m.mve.qmul",
        op="QMul",
        target="cortex-m",
        engine="mve",
        match=_refused_product,
        in_place=in_place,
        instructions=element_instructions(2.8, 22),
        describe=lambda site: {"accumulator_bits": 32, "requant": {"exact": 1}},
        values=_product_values,
        source=(c_template("${function}", "mve_product.c.mako"),),
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
)
