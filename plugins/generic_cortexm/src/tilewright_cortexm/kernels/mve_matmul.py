"""Knows how Helium multiplies two activations: two rows and four columns at a time, as layers are.
Does not know how sums are requantised.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api import align_down, align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright_cortexm.kernels import matmul as form_of
from tilewright_cortexm.kernels.matmul import MatMul, matmul
from tilewright_cortexm.kernels.mve_packing import CHANNELS, LANES
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form
from tilewright_cortexm.kernels.mve_rows import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.sources import MVE_BLOCK, c_template, each_of, mve_block
from tilewright_cortexm.kernels.twice import ROUNDINGS

_UNROLLS = (4, 3, 2, 1)


def _rows(layer: MatMul) -> int:
    """Computed together."""
    return 2 if layer.rows > 1 else 1


def _steps(layer: MatMul) -> int:
    """Of sixteen values."""
    return ceil_div(layer.depth, LANES)


def _scratch(layer: MatMul, columns: int) -> int:
    """Rows of A, the panel and its parameters, results."""
    room = _steps(layer) * LANES
    return _rows(layer) * room + columns * (room + 4 * (1 + _form(layer).stored) + _rows(layer))


def _form(layer: MatMul) -> MveForm:
    return taken_form(layer.requant, layer.bounds)


def _panel(layer: MatMul) -> int:
    """Columns of B in scratch: as many blocks as fit. 0 where not even one does."""
    room = SCRATCH_LIMIT_BYTES - _scratch(layer, 0)
    fit = align_down(room // (_scratch(layer, 1) - _scratch(layer, 0)), CHANNELS)
    return max(0, min(fit, align_up(layer.columns, CHANNELS)))


def _match(site: Site) -> MatMul | str:
    layer = matmul(site)
    form = layer if isinstance(layer, str) else mve_form(layer.requant, layer.bounds)
    if isinstance(layer, str) or isinstance(form, str):
        return form if isinstance(form, str) else layer
    if not _panel(layer):
        return f"rows have {layer.depth} elements; four columns of B do not fit in scratch"
    return _refused_lanes(site) or layer


def _refused_lanes(site: Site) -> str | None:
    """Offsets of eight neighbours are 16-bit numbers; they are at most as far apart as a tensor is large."""
    largest = max(site.input(0).elements, site.input(1).elements)
    return f"a tensor has {largest} elements; offsets in it need more than 16 bits" if largest >= 2**16 else None


def _unroll(layer: MatMul) -> int:
    return next(count for count in _UNROLLS if _steps(layer) % count == 0)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: MatMul = tile.site.analysis
    rows, steps = _rows(layer), _steps(layer)
    blocks, panels = ceil_div(layer.columns, CHANNELS), ceil_div(layer.columns, _panel(layer))
    block = steps * (rows * 5 + 4) + 45
    turns = ceil_div(layer.rows, rows) * (blocks * block + panels * rows * steps * 80)
    return layer.batches * (turns + layer.columns * steps * 55 + 300)


def _describe(site: Matched) -> Mapping[str, object]:
    return {"accumulator_bits": 32, "requant": _form(site.analysis).described()}


def _values(call: Call) -> Mapping[str, object]:
    layer: MatMul = call.site.analysis
    rows, requant, unroll, rest = _rows(layer), layer.requant, _unroll(layer), layer.columns % CHANNELS
    form = _form(layer)
    kind, words = f"u{unroll}_{form.label}", ", ".join(str(word) for word in form.words[:, 0])
    a_flip = 128 if call.site.input(0).dtype is DType.U8 else 0
    return {
        "function": f"tw_mve_matmul_{rows}_{rest}_{'u' if a_flip else 's'}_{kind}",
        "a_flip": a_flip,
        "pixels": rows,
        "rest": rest,
        "blocks": [
            mve_block(f"tw_mve_rows_{rows}x{size}_{kind}", rows, size, more=True, suffix=form.suffix)
            | {"unroll": unroll, "tail": 0, "jump": 0}
            for size in (CHANNELS, rest)
            if size
        ],
        **form.names(),
        "needs": form.needs(),
        "numbers": f"{_panel(layer)}, {_steps(layer) // unroll}, (const int32_t[]){{{words}}}, {requant.zero_point}",
        **form_of.call_values(call),
    }


_MATMUL = c_template("${function}", "mve_matmul.c.mako")

KERNELS = (
    Kernel(
        name="cortex-m.mve.qmatmul",
        op="QMatMul",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=form_of.access,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis, _panel(tile.site.analysis)),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*values["needs"], *each_of(MVE_BLOCK, values["blocks"]), _MATMUL),
        call=form_of.CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    ),
)
