"""Knows how cores without the DSP extension compute depthwise convolutions: one channel after the other, the taps of a
row written out. Does not know other layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import Depthwise, depthwise
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described
from tilewright_cortexm.kernels.plain_requant import formulas, plain_names, plain_requantiser
from tilewright_cortexm.kernels.row_tiles import image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_MOST_COLUMNS = 7  # that are written out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Executed:
    """Instructions, as counted: of a tap and of a row of them, of a result beside these, of one by the formula itself,
    of a pixel, and of a tap of a window that is gathered, by channel and beside that.
    """

    tap: float
    row: float
    result: float
    formula: float
    pixel: float
    copied: float
    gathered: float


_EXECUTED: Mapping[str, _Executed] = {
    "v6m": _Executed(tap=10.3, row=10.4, result=10.3, formula=153.0, pixel=183.0, copied=0.7, gathered=49.0),
    "v7m": _Executed(tap=3.0, row=11.3, result=0.0, formula=118.0, pixel=0.0, copied=0.0, gathered=41.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """A layer, and how its sums are requantised."""

    depthwise: Depthwise
    form: AnyForm


def _match(site: Site) -> _Layer | str:
    layer = depthwise(site)
    if isinstance(layer, str):
        return layer
    form = any_form(layer.requant, layer.form, layer.bounds)
    if isinstance(form, str):
        return form
    columns = layer.windows.kernel[1]
    if columns > _MOST_COLUMNS:
        return f"windows have {columns} columns; up to {_MOST_COLUMNS} are written out"
    return _Layer(depthwise=layer, form=form)


def _pack(site: Matched) -> Mapping[str, Array]:
    """Weights tap by tap, neighbours of channels."""
    matched: _Layer = site.analysis
    layer = matched.depthwise
    parameters = [(bias, *matched.form.of_block(range(c, c + 1))) for c, bias in enumerate(layer.bias)]
    return {
        "W": np.ascontiguousarray(np.moveaxis(layer.weights, 0, -1)).astype(np.int8).reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _access(site: Matched) -> Access:
    matched: _Layer = site.analysis
    layer = matched.depthwise
    constants = {"W": (layer.taps * layer.channels,), "P": ((1 + matched.form.stored) * layer.channels,)}
    return layer.access(site, constants)


def _scratch(tile: TileShape) -> int:
    """The taps of one window."""
    layer: Depthwise = tile.site.analysis.depthwise
    return layer.taps * layer.channels if layer.edges else 0


def _instructions(tile: TileShape, of: _Executed) -> float:
    """Executed instructions: edges in proportion."""
    found: _Layer = tile.site.analysis
    layer = found.depthwise
    pixels = layer.batches * tile_rows(tile) * tile_columns(tile)
    edges = pixels * layer.edges / (layer.out_height * layer.out_width)
    formula = of.formula * formulas(found.form)
    result = layer.taps * of.tap + layer.windows.kernel[0] * of.row + of.result + formula
    gathered = layer.taps * (of.gathered + layer.channels * of.copied)
    return pixels * (of.pixel + layer.channels * result) + edges * gathered


def _describe(site: Matched) -> Mapping[str, object]:
    layer: _Layer = site.analysis
    return {"accumulator_bits": 32, "requant": described(layer.form, layer.depthwise.form)}


def _values(call: Call) -> Mapping[str, object]:
    matched: _Layer = call.site.analysis
    layer, form = matched.depthwise, matched.form
    dtype, (rows, columns) = call.site.input(0).dtype, layer.windows.kernel
    return {
        "function": f"tw_plain_depthwise_{dtype.value}_{rows}x{columns}_{form.label(layer.requant)}",
        "x_type": dtype.c_type,
        "rows": rows,
        "columns": columns,
        "stored": form.stored,
        **plain_names(form, layer.requant),
        "fields": layer.fields(call),
        "above": form.above,
        "zero_point": layer.requant.zero_point,
        **layer.call_values(),
    }


_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_depthwise){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at(x_bytes)}, ${W}, ${P}, (uint8_t *)${Y}${at(y_bytes)}, (void *)${scratch}, ${above}, ${zero_point});"""

_DEPTHWISE = c_template("${function}", "plain_depthwise.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*plain_requantiser(values), _DEPTHWISE)


def _kernel(unit: str) -> Kernel:
    of = _EXECUTED[unit]
    return Kernel(
        name=f"cortex-m.{unit}.depthwise",
        op="QConv",
        target="cortex-m",
        engine=unit,
        match=_match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=_scratch,
        instructions=lambda tile: _instructions(tile, of),
        describe=_describe,
        values=_values,
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = tuple(_kernel(unit) for unit in _EXECUTED)
