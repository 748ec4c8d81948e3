"""Knows how cores without the DSP extension compute convolutions and matrix products: values of up to five pixels as
words, so that one weight is loaded for all of them, and a product and a sum are all that is left for each.
Does not know depthwise convolutions.

A column is everything that one output pixel reads, a word for each value, in scratch. Cores of Armv6-M load bytes at
immediate offsets without their sign only: weights are 128 more there, and sums begin at what that adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described
from tilewright_cortexm.kernels.plain_requant import formulas, plain_names, plain_requantiser
from tilewright_cortexm.kernels.products import (
    CALL_BY_POINTER,
    Products,
    Rows,
    call_values,
    fields,
    product_access,
    products,
    rows_of,
)
from tilewright_cortexm.kernels.row_tiles import product_layouts
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_SCRATCH_LIMIT_BYTES = 4096
_MOST_PIXELS = 5
_UNROLLS = (8, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """An instruction set: what weights are more than they count for, and instructions, as counted. Of a product, a turn
    of the loop, a result beside these, one by the formula; a value of a column, a run and a pixel.
    """

    offset: int
    product: float
    turn: float
    result: float
    formula: float
    column: float
    run: float
    pixel: float


UNITS: Mapping[str, _Unit] = {
    "v6m": _Unit(offset=128, product=2, turn=3, result=43, formula=126, column=9, run=68, pixel=109),
    "v7m": _Unit(offset=0, product=1, turn=2, result=11, formula=108, column=6, run=53, pixel=55),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """A layer, and how its sums are requantised."""

    products: Products
    form: AnyForm

    @property
    def rows(self) -> Rows:
        """Its geometry."""
        return self.products.rows

    @property
    def values(self) -> int:
        """Values of a column, fours."""
        return align_up(self.rows.runs * self.rows.length, 4)

    @property
    def pixels(self) -> int:
        """Columns that are computed together."""
        return min(_MOST_PIXELS, self.rows.pixels, max(1, _SCRATCH_LIMIT_BYTES // (4 * self.values)))

    @property
    def unroll(self) -> int:
        """Values in one turn of the loop."""
        return next(count for count in _UNROLLS if self.values % count == 0)


def _match(site: Site) -> _Layer | str:
    layer = products(site)
    if isinstance(layer, str):
        return layer
    form = any_form(layer.requant, layer.form, layer.bounds)
    if isinstance(form, str):
        return form
    matched = _Layer(products=layer, form=form)
    if 4 * matched.values > _SCRATCH_LIMIT_BYTES:
        return f"needs {4 * matched.values} bytes of scratch, more than {_SCRATCH_LIMIT_BYTES}"
    return matched


def _pack(site: Matched, unit: _Unit) -> Mapping[str, Array]:
    """Weights channel by channel, biases with what requantises."""
    matched: _Layer = site.analysis
    layer, rows = matched.products, matched.rows
    weights = np.zeros((rows.y_step, matched.values), np.int64)
    weights[:, : rows.runs * rows.length] = layer.weights.reshape(rows.y_step, -1)
    parameters = [(bias, *matched.form.of_block(range(c, c + 1))) for c, bias in enumerate(layer.bias)]
    return {
        "W": (weights + unit.offset).astype(np.uint8 if unit.offset else np.int8).reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: _Layer = site.analysis
    outputs = layer.rows.y_step
    return product_access(site, {"W": (outputs * layer.values,), "P": (outputs * (1 + layer.form.stored),)}, 1)


def _scratch(tile: TileShape) -> int:
    layer: _Layer = tile.site.analysis
    return 4 * layer.values * layer.pixels


def _instructions(tile: TileShape, of: _Unit) -> float:
    """Executed instructions."""
    layer: _Layer = tile.site.analysis
    rows, pixels, values = rows_of(tile), layer.pixels, layer.values
    loads = values * pixels / (4 if pixels < 3 else pixels)
    block = values * (pixels * of.product + 1) + loads + values / layer.unroll * of.turn
    columns = rows.pixels * (of.column * values + of.run * rows.runs + of.pixel)
    results = rows.pixels * (of.result + of.formula * formulas(layer.form))
    return rows.batches * rows.groups * (columns + rows.outputs * (ceil_div(rows.pixels, pixels) * block + results))


def _describe(site: Matched) -> Mapping[str, object]:
    layer: _Layer = site.analysis
    requant = described(layer.form, layer.products.form)
    return {"accumulator_bits": 32, "pixels": layer.pixels, "requant": requant}


def _values(call: Call, name: str) -> Mapping[str, object]:
    matched: _Layer = call.site.analysis
    layer, rows, form, unit = matched.products, matched.rows, matched.form, UNITS[name]
    dtype = call.site.input(0).dtype
    return {
        "function": f"tw_{name}_products_{dtype.value}_{matched.pixels}_u{matched.unroll}_{form.label(layer.requant)}",
        "results": f"tw_plain_results_{matched.pixels}_{form.label(layer.requant)}",
        "block": f"tw_{name}_block_{matched.pixels}_u{matched.unroll}",
        "column": f"tw_plain_column_{dtype.value}_{matched.pixels}",
        "pixels": matched.pixels,
        "unroll": matched.unroll,
        "unit": name,
        "offset": unit.offset,
        "x_type": dtype.c_type,
        "w_type": "uint8_t" if unit.offset else "int8_t",
        "stored": form.stored,
        **plain_names(form, layer.requant),
        "fields": {
            **fields(rows, call),
            "pad": layer.pad,
            "groups": matched.values // 4,
            "above": form.above,
            "zero_point": layer.requant.zero_point,
        },
        "columns": f"(int32_t *){call.operands['scratch']}",
        "x": call.operands["X" if call.site.node.op == "QConv" else "A"],
        "struct": "tw_dsp_conv",
        "w_step": rows.outputs * matched.values,
        "p_step": rows.outputs * (1 + form.stored),
        **call_values(layer),
    }


_PARTS = (
    c_template("${block}", "plain_block.c.mako"),
    c_template("${column}", "plain_column.c.mako"),
    c_template("${results}", "plain_results.c.mako"),
)
_PRODUCTS = c_template("${function}", "plain_products.c.mako", *_PARTS)


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*plain_requantiser(values), _PRODUCTS)


def _kernel(op: str, name: str) -> Kernel:
    unit = UNITS[name]
    return Kernel(
        name=f"cortex-m.{name}.{op.lower()}",
        op=op,
        target="cortex-m",
        engine=name,
        match=_match,
        access=_access,
        requires=product_layouts,
        pack=lambda site: _pack(site, unit),
        scratch_bytes=_scratch,
        instructions=lambda tile: _instructions(tile, unit),
        describe=_describe,
        values=lambda call: _values(call, name),
        source=_source,
        call=CALL_BY_POINTER,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = tuple(_kernel(op, name) for name in UNITS for op in ("QConv", "QGemm"))
