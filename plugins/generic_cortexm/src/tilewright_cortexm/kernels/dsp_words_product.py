"""Knows how products of two tensors of 16 bits are rounded twice, element by element, by one long product each.
Does not know how operands broadcast, nor bytes (`dsp_elementwise`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import DoubleRounding, DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape
from tilewright_cortexm.kernels.elementwise import INPUTS, NEST, in_place, limits, rows_of
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template

_MOST = 14  # bits to the right: a zero point fits above them


def _numbers(site: Site) -> tuple[int, int]:
    """The multiplier, and the shift to the right behind it."""
    multiplier, exponent = DoubleRounding().numbers(site.node.requant().scale[0])
    return multiplier, -exponent


def _match(site: Site) -> str | None:
    if any(tensor.dtype is not DType.I16 for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i16"
    node = site.node
    if node.rounding != "tflm" or len(node.requant().scale) != 1:
        return "is not rounded twice, or has several scales"
    if node.integer("a_zero_point") or node.integer("b_zero_point"):
        return "has zero points in its factors"
    return None if 0 <= _numbers(site)[1] <= _MOST else f"its scale is {node.requant().scale[0]}, not from 2^-15 to 1"


def _values(call: Call) -> Mapping[str, object]:
    rows, (low, high), zero_point = rows_of(call), limits(call.site), call.site.node.requant().zero_point
    multiplier, right = _numbers(call.site)
    one_value = [name.lower() for name in INPUTS if rows.steps[name] == 0]
    near = rows.steps["Y"] == 1 and all(rows.steps[name] in (0, 1) for name in INPUTS)
    kind = (*(f"one_{name}" for name in one_value), *([] if near else ["apart"]), right, zero_point, low, high)
    pointers = ", ".join(
        rows.pointer(call, name, f"{'' if name == 'Y' else 'const '}int16_t *") for name in (*INPUTS, "Y")
    )
    steps = ", ".join(str(rows.steps[name]) for name in (*INPUTS, "Y"))
    return {
        "function": f"tw_dsp_words_product_{'_'.join(map(str, kind))}".replace("-", "m"),
        "one_value": one_value,
        "near": near,
        "right": right,
        "zero_point": zero_point,
        "low": low,
        "high": high,
        "nest": rows.outer,
        "arguments": f"{rows.count}, {steps}, {pointers}, {multiplier}",
    }


def _instructions(tile: TileShape) -> float:
    return 21.0 * tile_elements(tile) + 30


KERNELS = (
    Kernel(
        name="cortex-m.dsp.qmul_words",
        op="QMul",
        roundings=("tflm",),
        target="cortex-m",
        engine="dsp",
        match=_match,
        in_place=in_place,
        instructions=_instructions,
        describe=lambda site: {"accumulator_bits": 64, "rounding": site.node.rounding},
        values=_values,
        source=(c_template("${function}", "dsp_words_product.c.mako"),),
        call=NEST + "${function}(${arguments});",
        includes=("<stdint.h>",),
    ),
)
