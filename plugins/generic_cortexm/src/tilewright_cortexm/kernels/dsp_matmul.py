"""Knows how the DSP extension multiplies two activations: three rows and two columns at a time, as layers are.
Does not know fewer than three rows, where bringing B into form would cost more than it saves.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api import align_down, align_up, ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright_cortexm.kernels import matmul as form_of
from tilewright_cortexm.kernels.dsp_blocks import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form
from tilewright_cortexm.kernels.dsp_twice import TWICE, TwiceForm
from tilewright_cortexm.kernels.matmul import MatMul, matmul
from tilewright_cortexm.kernels.sources import BLOCK, WIDEN, c_template, dsp_block, each_of
from tilewright_cortexm.kernels.twice import ROUNDINGS

_ROWS, _BLOCK = 3, 2
_UNROLLS = (4, 3, 2, 1)


def _groups(layer: MatMul) -> int:
    return ceil_div(layer.depth, 4)


def _scratch(layer: MatMul, columns: int) -> int:
    """Three widened rows, the panel and its parameters, one row of A as bytes, results of three rows."""
    groups = _groups(layer)
    return groups * (_ROWS * 8 + 4) + columns * (groups * 4 + 4 * (1 + _form(layer).stored) + _ROWS)


def _panel(layer: MatMul) -> int:
    """Columns of B in scratch: as many blocks as fit. 0 where not even one does."""
    room = SCRATCH_LIMIT_BYTES - _scratch(layer, 0)
    fit = align_down(room // (_scratch(layer, 1) - _scratch(layer, 0)), _BLOCK)
    return max(0, min(fit, align_up(layer.columns, _BLOCK)))


def _form_or_reason(layer: MatMul) -> AnyForm | str:
    return any_form(layer.requant, layer.form, layer.bounds)


def _form(layer: MatMul) -> AnyForm:
    """Of a layer that `_match` took."""
    result = _form_or_reason(layer)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _match(site: Site) -> MatMul | str:
    layer = matmul(site)
    if isinstance(layer, str):
        return layer
    if layer.rows < _ROWS:
        return f"has {layer.rows} rows; three are computed together"
    form = _form_or_reason(layer)
    if isinstance(form, str):
        return form
    return layer if _panel(layer) else f"rows have {layer.depth} elements; two columns of B do not fit in scratch"


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: MatMul = tile.site.analysis
    groups, panels = _groups(layer), ceil_div(layer.columns, _panel(layer))
    blocks, triples = ceil_div(layer.columns, _BLOCK), ceil_div(layer.rows, _ROWS)
    block = groups * 20 + 3 * groups / _unroll(groups) + 28 + _ROWS * _BLOCK * _form(layer).more
    rows = _ROWS * (groups * (18 if layer.b_zero else 9) + 40)
    packed = layer.columns * (groups * 20 + 30)
    return layer.batches * (triples * (blocks * block + panels * rows) + packed + 150)


def _unroll(groups: int) -> int:
    return next(count for count in _UNROLLS if groups % count == 0)


def _describe(site: Matched) -> Mapping[str, object]:
    return {"accumulator_bits": 32, "requant": _form(site.analysis).described()}


def _values(call: Call) -> Mapping[str, object]:
    layer: MatMul = call.site.analysis
    form, requant, unroll = _form(layer), layer.requant, _unroll(_groups(layer))
    twice = isinstance(form, TwiceForm)
    kind, widen = f"u{unroll}_{form.label(requant)}", call.site.input(0).dtype.value
    return {
        "function": f"tw_dsp_matmul_{widen}_{kind}",
        "widen": widen,
        "blocks": [
            {**dsp_block(f"tw_dsp_rows_3x{size}_{kind}", _ROWS, size, more=True, twice=twice), "unroll": unroll}
            for size in (_BLOCK, 1)
        ],
        **form.names(requant),
        "stored": form.stored,
        "numbers": ", ".join(map(str, (_panel(layer), *form.only(requant.zero_point)))),
        **form_of.call_values(call),
    }


_WIDENED = c_template("tw_dsp_row_${widen}", "dsp_rows.c.mako", WIDEN)
_MATMUL = c_template("${function}", "dsp_matmul.c.mako")

KERNELS = (
    Kernel(
        name="cortex-m.dsp.qmatmul",
        op="QMatMul",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=form_of.access,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis, _panel(tile.site.analysis)),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (
            *([TWICE] if values["twice"] else []),
            _WIDENED,
            *each_of(BLOCK, values["blocks"]),
            _MATMUL,
        ),
        call=form_of.CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    ),
)
