"""Knows how cores without the DSP extension compute convolutions and matrix products without scratch: values are read
where they lie, and each is loaded once for four channels.
Does not know depthwise convolutions, nor how several pixels are computed together (`plain_products`).

Cores of Armv6-M load bytes at immediate offsets without their sign only: weights are 128 more there, and sums begin at
what that adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import DType, Site
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

_CHANNELS = 4  # that are computed together
_UNROLLS = (8, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """An instruction set: what weights are more than they count for, and instructions, as counted. Of a value for four
    channels, a turn of the loop, four channels beside these, a run for them; a result beside these, one by the formula;
    a pixel, and a value that is added up; a run that may reach beyond the image.
    """

    offset: int
    value: float
    turn: float
    four: float
    run: float
    result: float
    formula: float
    pixel: float
    added: float
    edge: float


UNITS: Mapping[str, _Unit] = {
    "v6m": _Unit(offset=128, value=14, turn=4, four=140, run=30, result=38, formula=126, pixel=90, added=5, edge=10),
    "v7m": _Unit(offset=0, value=9, turn=4, four=40, run=30, result=20, formula=108, pixel=60, added=0, edge=32),
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
        """Values that a window has."""
        return self.rows.runs * self.rows.length

    @property
    def outputs(self) -> int:
        """Channels of a group, fours."""
        return align_up(self.rows.outputs, _CHANNELS)

    @property
    def unroll(self) -> int:
        """Values in one turn of the loop."""
        return next((count for count in _UNROLLS if self.rows.length % count == 0), _UNROLLS[-1])


def _match(site: Site) -> _Layer | str:
    layer = products(site)
    if isinstance(layer, str):
        return layer
    form = any_form(layer.requant, layer.form, layer.bounds)
    return form if isinstance(form, str) else _Layer(products=layer, form=form)


def _pack(site: Matched, unit: _Unit) -> Mapping[str, Array]:
    """Weights of four channels beside each other, value by value; biases with what requantises."""
    layer: _Layer = site.analysis
    groups, outputs = layer.rows.groups, layer.rows.outputs
    weights = np.zeros((groups, layer.outputs, layer.values), np.int64)
    weights[:, :outputs] = layer.products.weights.reshape(groups, outputs, -1)
    fours = weights.reshape(groups, -1, _CHANNELS, layer.values).swapaxes(-1, -2)
    parameters = [(bias, *layer.form.of_block(range(c, c + 1))) for c, bias in enumerate(layer.products.bias)]
    return {
        "W": (fours + unit.offset).astype(np.uint8 if unit.offset else np.int8).reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: _Layer = site.analysis
    weights = layer.rows.groups * layer.outputs * layer.values
    return product_access(site, {"W": (weights,), "P": (layer.rows.y_step * (1 + layer.form.stored),)}, 1)


def _instructions(tile: TileShape, of: _Unit) -> float:
    """Executed instructions."""
    layer: _Layer = tile.site.analysis
    rows, values, fours = rows_of(tile), layer.values, layer.outputs // _CHANNELS
    tail = rows.runs * (rows.length % _UNROLLS[-1])
    run = of.run + (of.edge if rows.padded else 0.0)
    four = of.four + rows.runs * run + values * (of.value + of.turn / layer.unroll) + 2 * tail * of.value
    results = rows.outputs * (of.result + of.formula * formulas(layer.form))
    pixel = of.pixel + values * of.added
    return rows.batches * rows.groups * rows.pixels * (pixel + fours * four + results)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: _Layer = site.analysis
    return {"accumulator_bits": 32, "requant": described(layer.form, layer.products.form)}


def _values(call: Call, name: str) -> Mapping[str, object]:
    layer: _Layer = call.site.analysis
    rows, form, unit = layer.rows, layer.form, UNITS[name]
    dtype = call.site.input(0).dtype
    label = f"{dtype.value}_u{layer.unroll}"
    return {
        "function": f"tw_{name}_lean_{label}_{form.label(layer.products.requant)}{'_edges' if rows.padded else ''}",
        "block": f"tw_{name}_four_{label}",
        "unroll": layer.unroll,
        "unit": name,
        "signed": dtype is DType.I8,
        "offset": unit.offset,
        "edges": rows.padded,
        "x_type": dtype.c_type,
        "w_type": "uint8_t" if unit.offset else "int8_t",
        "stored": form.stored,
        **plain_names(form, layer.products.requant),
        "fields": {
            **fields(rows, call),
            "pad": layer.products.pad,
            "above": form.above,
            "zero_point": layer.products.requant.zero_point,
        },
        "x": call.operands["X" if call.site.node.op == "QConv" else "A"],
        "struct": "tw_dsp_conv",
        "w_step": layer.outputs * layer.values,
        "p_step": rows.outputs * (1 + form.stored),
        **call_values(layer.products),
    }


_FOUR = c_template("${block}", "plain_four.c.mako")
_LEAN = c_template("${function}", "plain_lean.c.mako", _FOUR)


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*plain_requantiser(values), _LEAN)


def _kernel(op: str, name: str) -> Kernel:
    unit = UNITS[name]
    return Kernel(
        name=f"cortex-m.{name}.{op.lower()}_lean",
        op=op,
        target="cortex-m",
        engine=name,
        match=_match,
        access=_access,
        requires=product_layouts,
        pack=lambda site: _pack(site, unit),
        instructions=lambda tile: _instructions(tile, unit),
        describe=_describe,
        values=lambda call: _values(call, name),
        source=_source,
        call=CALL_BY_POINTER.replace(", ${columns});", ");"),
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = tuple(_kernel(op, name) for name in UNITS for op in ("QConv", "QGemm"))
