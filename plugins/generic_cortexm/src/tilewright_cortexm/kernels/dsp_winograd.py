"""Knows how cores compute 3x3 convolutions by Winograd's transforms: products over points, of three tiles at a time,
with SMLAD where the DSP extension is.
Does not know the transforms (`winograd`), nor how much larger constants may become for that (`Kernel.more_constants`).

Four channels of a tile of bytes are transformed at once, two in every word. For each point, products of three tiles
with two outputs are summed over channels, modulo 2**32, and taken back to sums that are requantised as all others are.
Points are in scratch: of one group of tiles at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, windows_of
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described, requantiser
from tilewright_cortexm.kernels.products import Products, Rows, products, rows_of
from tilewright_cortexm.kernels.row_tiles import image_access, image_layouts, row_fields
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS
from tilewright_cortexm.kernels.winograd import FOUR, KERNEL, MOST, TWO, Transform

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

SCRATCH_LIMIT_BYTES = 20480
_TILES = 3  # at a time
_OUTPUTS = 2
_UNROLLS = (16, 12, 10, 8, 6, 4, 2)  # pairs of channels
_SHORT_UNROLL = 8  # where each of them takes more code
_FIELDS = (
    "width", "height", "x_row", "out_width", "out_height", "y_step", "y_row", "top", "left", "pad",
    "above", "zero_point",
)  # fmt: skip
_REGISTER = 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Executed:
    """Instructions, as counted: of a tile's four channels, of the tile of one output, and of a channel at an edge."""

    values: float
    result: float
    edge: float


_EXECUTED = {4: _Executed(values=888, result=400, edge=106), 2: _Executed(values=355, result=134, edge=25)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """A layer, the transform that computes it, and how its sums are requantised."""

    products: Products
    transform: Transform
    form: AnyForm

    @property
    def rows(self) -> Rows:
        return self.products.rows

    @property
    def channels(self) -> int:
        return self.rows.channels

    @property
    def outputs(self) -> int:
        return self.rows.outputs

    @property
    def out_height(self) -> int:
        return self.rows.pixels // self.rows.out_width

    @property
    def weights(self) -> Integers:
        """[outputs, channels, 3, 3]"""
        return np.moveaxis(self.products.weights.reshape(self.outputs, KERNEL, KERNEL, self.channels), -1, 1)


def _matched(transform: Transform) -> Callable[[Site], _Layer | str]:
    def match(site: Site) -> _Layer | str:
        result = products(site)
        if isinstance(result, str):
            return result
        form = any_form(result.requant, result.form, result.bounds)
        if isinstance(form, str):
            return form
        layer = _Layer(products=result, transform=transform, form=form)
        return _refused(site, layer) or layer

    return match


def _refused(site: Site, layer: _Layer) -> str | None:
    rows, side = layer.rows, layer.transform.side
    windows = windows_of(site.node).two_axes
    if len(site.output.shape) != 4 or windows.kernel != (KERNEL, KERNEL) or rows.groups > 1:
        return "is no convolution of 3x3 over images, or has groups"
    if windows.strides != (1, 1) or windows.dilations != (1, 1):
        return f"strides are {windows.strides}, dilations {windows.dilations}; neighbouring windows are needed"
    if rows.channels % 4 or rows.outputs % _OUTPUTS:
        return f"has {rows.channels} channels and {rows.outputs} outputs; fours and twos are computed together"
    if min(rows.out_width, layer.out_height) < side:
        return f"the result is {layer.out_height}x{rows.out_width}; tiles of {side}x{side} are computed"
    if not layer.transform.is_exact(layer.products.weights):
        return f"sums may be as large as 2**{31 - 2 * max(layer.transform.shifts)}, and are not found then"
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return None


def _scratch(layer: _Layer) -> int:
    """Points of all channels; then sums, in whose place bytes of a tile at the edge are before."""
    points = layer.transform.points
    return 2 * points * layer.channels * _TILES + points * max(4 * _OUTPUTS * _TILES, layer.channels)


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: _Layer = site.analysis
    points, pairs = layer.transform.points, layer.outputs // _OUTPUTS
    weights = layer.transform.of_weights(layer.weights).reshape(pairs, _OUTPUTS, layer.channels // 4, 2, 2, points)
    # of every point and four channels in turn: even ones of both outputs, then odd ones
    ordered = weights.transpose(0, 5, 2, 4, 1, 3).astype("<i2")
    biases = layer.products.bias - _offset(site) * layer.products.weights.sum(axis=(1, 2))
    wrapped = (biases + _REGISTER // 2) % _REGISTER - _REGISTER // 2
    parameters = [(bias, *layer.form.of_block(range(c, c + 1))) for c, bias in enumerate(wrapped)]
    return {
        "W": np.ascontiguousarray(ordered).view("<u4").reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _offset(site: Site) -> int:
    """What is added to values, so that they have no sign."""
    return 128 if site.input(0).dtype is DType.I8 else 0


def _more_constants(site: Matched) -> int:
    """Bytes beyond a byte for each weight."""
    layer: _Layer = site.analysis
    return layer.channels * layer.outputs * (2 * layer.transform.points - KERNEL * KERNEL)


def _access(site: Matched) -> Access:
    layer: _Layer = site.analysis
    words = layer.channels * layer.outputs * layer.transform.points // 2
    constants = {"W": (words,), "P": ((1 + layer.form.stored) * layer.outputs,)}
    return image_access(site, windows_of(site.node).two_axes, constants, least_columns=layer.transform.side)


def _instructions(tile: TileShape, engine: str) -> float:
    """Executed instructions."""
    layer: _Layer = tile.site.analysis
    transform, rows = layer.transform, rows_of(tile)
    side, points, of = transform.side, transform.points, _EXECUTED[transform.side]
    across, down = ceil_div(rows.out_width, side), ceil_div(rows.pixels // rows.out_width, side)
    tiles, pairs = across * down, layer.channels // 2
    edges = tiles - max(0, across - 2) * max(0, down - 2)
    turns, dsp = pairs // _unroll(layer, engine), engine == "dsp"
    block = points * ((8 if dsp else 22) * pairs + (4 if turns == 1 and dsp else 14 + 4 * turns)) + 52
    values = tiles * of.values * layer.channels / 4 + edges * of.edge * layer.channels
    results = tiles * layer.outputs * (of.result + layer.form.more * side**2)
    return rows.batches * (values + ceil_div(tiles, _TILES) * layer.outputs / _OUTPUTS * block + results)


def _unroll(layer: _Layer, engine: str) -> int:
    most = _UNROLLS[0] if engine == "dsp" else _SHORT_UNROLL
    return next(count for count in _UNROLLS if count <= most and layer.channels // 2 % count == 0)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: _Layer = site.analysis
    reach = MOST * np.abs(layer.products.weights).sum(axis=(1, 2)).max()
    return {
        "accumulator_bits": 32,
        "tile": f"{layer.transform.side}x{layer.transform.side}",
        "sums": int(reach),
        "more_constants": _more_constants(site),
        "requant": described(layer.form, layer.products.form),
    }


def _values(call: Call, engine: str) -> Mapping[str, object]:
    layer: _Layer = call.site.analysis
    transform, rows, requant = layer.transform, layer.rows, layer.products.requant
    dtype, fields = call.site.input(0).dtype.value, _fields(layer, call)
    extents = (str(fields["out_height"]), str(fields["out_width"]))
    partial = not all(extent.isdigit() and int(extent) >= transform.side for extent in extents)
    turns = layer.channels // 2 // _unroll(layer, engine)
    name, shape = f"tw_dsp_winograd{transform.side}", f"{dtype}_{layer.channels}"
    label = f"{layer.form.label(requant)}{'_partial' if partial else ''}"
    return {
        "function": f"{name}_{engine}_{shape}_{layer.outputs}_{label}",
        "tile": f"{name}_tile_{shape}",
        "values": f"{name}_values_{shape}",
        "dsp": engine == "dsp",
        "block": f"{name}_{engine}_block_u{_unroll(layer, engine)}{'' if turns == 1 else '_turns'}",
        "results": f"{name}_results_{label}",
        **{key: getattr(transform, key) for key in ("side", "reads", "points", "inverse", "shifts")},
        "flip": dtype == "i8",
        "turns": turns,
        "unroll": _unroll(layer, engine),
        "channels": layer.channels,
        "outputs": layer.outputs,
        "stored": layer.form.stored,
        "partial": partial,
        **layer.form.names(requant),
        "fields": fields,
        "columns": f"(uint32_t *){call.operands['scratch']}",
        "x": call.operands["X"],
        "batches": rows.batches,
        "x_bytes": rows.width * rows.height * rows.channels,
        "y_bytes": rows.pixels * rows.outputs,
    }


def _fields(layer: _Layer, call: Call) -> Mapping[str, object]:
    rows = layer.rows
    known: dict[str, object] = {
        "width": rows.width, "height": rows.height, "x_row": rows.x_row, "out_width": rows.out_width,
        "out_height": layer.out_height, "y_step": layer.outputs, "y_row": rows.y_row, "top": rows.top,
        "left": rows.left, "pad": layer.products.pad, "above": layer.form.above,
        "zero_point": layer.products.requant.zero_point,
    }  # fmt: skip
    known.update(row_fields(call))
    return {name: known[name] for name in _FIELDS}


_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<%
    def of(image):
        return f" + n * {image}" if batches > 1 else ""
%>\\
${function}((tw_dsp_winograd){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${x}${of(x_bytes)}, ${W}, ${P}, (uint8_t *)${Y}${of(y_bytes)}, ${columns});"""

_VALUES = c_template("${values}", "dsp_winograd_values.c.mako")
_TILE = c_template("${tile}", "dsp_winograd_tile.c.mako", _VALUES)
_BLOCK = c_template("${block}", "dsp_winograd_block.c.mako")
_RESULTS = c_template("${results}", "dsp_winograd_results.c.mako")
_WINOGRAD = c_template("${function}", "dsp_winograd.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (*requantiser(values), _TILE, _BLOCK, _RESULTS, _WINOGRAD)


def _kernel(transform: Transform, engine: str) -> Kernel:
    return Kernel(
        name=f"cortex-m.{engine}.winograd{transform.side}",
        op="QConv",
        target="cortex-m",
        engine=engine,
        match=_matched(transform),
        access=_access,
        requires=image_layouts,
        pack=_pack,
        more_constants=_more_constants,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=lambda tile: _instructions(tile, engine),
        describe=_describe,
        values=lambda call: _values(call, engine),
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = tuple(_kernel(transform, engine) for engine in ("dsp", "cpu") for transform in (FOUR, TWO))
