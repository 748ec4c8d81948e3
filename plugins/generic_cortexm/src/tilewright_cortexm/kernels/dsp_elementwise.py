"""Knows how the DSP extension adds and multiplies element by element: sums in two MLA, rounded and clamped by one SSAT.
Does not know how operands broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, sum_bounds
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, requantiser
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
from tilewright_cortexm.kernels.sources import c_template, narrowed
from tilewright_cortexm.kernels.twice import ROUNDINGS, formula_form

_FULL = ((-128, 127), (0, 255))


def _shared(call: Call, name: str) -> dict[str, object]:
    """What both operators give the templates. `name` tells apart what the code depends on beside types and steps."""
    rows, (low, high) = rows_of(call), limits(call.site)
    types = [call.operands[operand].dtype for operand in ("A", "B", "Y")]
    one_value = [operand.lower() for operand in ("A", "B") if rows.steps[operand] == 0]
    label = "_".join((*(dtype.value for dtype in types), *(f"one_{operand}" for operand in one_value), name))
    return {
        "function": f"tw_dsp_{label}_{low}_{high}".replace("-", "m"),
        "types": {operand: dtype.c_type for operand, dtype in zip("aby", types, strict=True)},
        "one_value": one_value,
        "low": low,
        "high": high,
        "nest": rows.outer,
        "count": rows.count,
        "steps": ", ".join(str(rows.steps[operand]) for operand in ("A", "B", "Y")),
        "pointers": ", ".join(
            rows.pointer(call, operand, f"{'' if operand == 'Y' else 'const '}{dtype.c_type} *")
            for operand, dtype in zip(("A", "B", "Y"), types, strict=True)
        ),
    }


# --- QAdd


def _sum_values(call: Call) -> Mapping[str, object]:
    form, zero_point = call.site.analysis, call.site.node.integer("zero_point")
    inside = not form.ties and abs(zero_point) << form.shift < 2**30  # then the whole sum stays below 2**31
    offset = form.offset + (zero_point << form.shift if inside else 0)
    return {
        **_shared(call, f"sum{form.shift}{'t' if form.ties else ''}{'i' if inside else ''}"),
        "shift": form.shift,
        "ties": form.ties,
        "inside": inside,
        "numbers": f"{form.a_factor}, {form.b_factor}, {offset}, {zero_point}",
    }


def _sum_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    site, form = tile.site, tile.site.analysis
    extra = (4 if form.ties else 0) + (0 if limits(site) in _FULL else 6)
    return (7.2 + extra) * tile_elements(tile) + 60


# --- QMul


def _match_product(site: Site) -> AnyForm | str:
    reason = refused(site) or (None if len(site.node.requant().scale) == 1 else "QMul has one scale for all")
    return reason or any_form(site.node.requant(), formula_form(site), sum_bounds(site))


def _product_values(call: Call) -> Mapping[str, object]:
    node, form = call.site.node, call.site.analysis
    zeros = [node.integer(name) for name in ("a_zero_point", "b_zero_point")]
    numbers = (*zeros, *form.only(node.requant().zero_point))
    return {
        **_shared(call, f"product_{form.label(node.requant())}"),
        **form.names(node.requant()),
        "numbers": ", ".join(map(str, numbers)),
    }


def _product_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    extra = (5 if tile.site.analysis.exact.any() else 0) + (0 if limits(tile.site) in _FULL else 6)
    return (9.2 + extra) * tile_elements(tile) + 60


_SUM = c_template("${function}", "dsp_sum.c.mako")
_PRODUCT = c_template("${function}", "dsp_product.c.mako")


def _sum_source(values: Mapping[str, Any]) -> CodeFragments:
    name, narrow = narrowed(values["shift"] if values["inside"] else 0, values["low"], values["high"])
    return (narrow, _SUM.of(narrow=name))


_CALL = NEST + "${function}(${count}, ${steps}, ${pointers}, ${numbers});"

KERNELS = (
    Kernel(
        name="cortex-m.dsp.qadd",
        op="QAdd",
        roundings=SUM_ROUNDINGS,
        target="cortex-m",
        engine="dsp",
        match=sum_of,
        in_place=in_place,
        instructions=_sum_instructions,
        describe=lambda site: {"accumulator_bits": 32, "ties": site.analysis.ties},
        values=_sum_values,
        source=_sum_source,
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
    Kernel(
        name="cortex-m.dsp.qmul",
        op="QMul",
        roundings=ROUNDINGS,
        target="cortex-m",
        engine="dsp",
        match=_match_product,
        in_place=in_place,
        instructions=_product_instructions,
        describe=lambda site: {"accumulator_bits": 32, "requant": {"exact": int(site.analysis.exact.sum())}},
        values=_product_values,
        source=lambda values: (*requantiser(values), _PRODUCT),
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
)
