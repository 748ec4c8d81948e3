"""Knows how the cluster computes windows of which every channel is by itself: depthwise convolutions, averages, maxima.
Does not know sums over channels, nor the instructions of a block.

Channels are neighbours, two float32 in a register; all taps of a window pass through sums of up to sixteen channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, Operand, TileShape, Windows, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels import blocks
from tilewright_snitch.kernels.conv import WINDOWS_FIELDS, edge_columns, window_fields
from tilewright_snitch.kernels.costs import taps_cycles
from tilewright_snitch.kernels.layers import NEAR, not_floats, trips
from tilewright_snitch.kernels.product_sections import INCLUDES
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CODE_BYTES, POOL_CODE_BYTES = 2200, 1850  # that a layer executes
_KINDS: Mapping[str, str] = {"Conv": "products", "AveragePool": "sum", "MaxPool": "max"}


def _match(site: Site) -> Windows | str:
    if site.output.dtype is not DType.F32:
        return f"values must be f32, found {site.output.dtype.value}"
    if site.output.shape[1] % 2:
        return f"has {site.output.shape[1]} channels; a stream brings two at a time"
    if len(site.input(0).shape) not in (3, 4):
        return f"has {len(site.input(0).shape) - 2} spatial axes; 1 and 2 are supported"
    return not_floats(site) or windows_of(site.node)


def _match_depthwise(site: Site) -> Windows | str:
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    return _match(site)


def _pack(site: Matched) -> Mapping[str, Array]:
    """W as [taps, channels]; a bias, were it 0."""
    weights, bias = site.constant(1), site.constant(2)
    if weights is None:
        return {}
    packed = np.ascontiguousarray(weights.reshape(len(weights), -1).T)
    return {"W": packed, "B": np.zeros(len(weights), weights.dtype) if bias is None else bias}


def _access(site: Matched) -> Access:
    windows: Windows = site.analysis
    outs, channels = ",".join(windows.output_loops), site.output.shape[1]
    taps = " ".join(f"{tap}<k{tap}" for tap in windows.tap_loops)
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    weights = ""
    if site.node.op == "Conv":
        shapes |= {"W": (int(np.prod(windows.kernel)), channels), "B": (channels,)}
        weights = "W[:,c] B[c] "
    text = (
        f"n c {' '.join(windows.output_loops)} {taps} : X[n,c,{','.join(windows.map_indices())}] "
        f"{weights}-> Y[n,c,{outs}]"
    )
    return parse_map(text).bind(shapes, windows.map_values())


def _requires(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _cycles(tile: TileShape) -> float:
    site, windows = tile.site, tile.site.analysis.two_axes
    rows, columns = trips(tile, "n", "h"), trips(tile, "w")
    edges = round(edge_columns(site, windows) * columns)
    clip = ("none", "low", "both").index(activation(site)[0])
    row_taps, taps = windows.kernel
    edge = (1, row_taps * max(taps - 1, 1))
    runs = [*([(columns - edges, row_taps * taps)] if columns > edges else []), *[edge] * edges]
    return taps_cycles(rows, runs, trips(tile, "c"), kind=_KINDS[site.node.op], clip=clip)


def _ends(site: Matched, x: Operand) -> str:
    """Arguments: where the positions that an average counts end, from the tile's first element; 0 without padding."""
    if site.node.op != "AveragePool":
        return ""
    if not site.node.integer("count_include_pad"):
        return "0, 0, "
    after: tuple[int, ...] = site.analysis.after
    ends = (f"{x.shape[axis + 2] + more} - {x.origin[axis + 2]}" for axis, more in enumerate(after))
    return f"{', '.join((*('1',) * (2 - len(after)), *ends))}, "


def _values(call: Call) -> Mapping[str, object]:
    site, x, w = call.site, call.operands["X"], call.operands.get("W")
    fields = window_fields(call, site.analysis.two_axes, channels=x.extents[1], w_output=w.strides[0] if w else 0)
    return {
        **taps_values(site, _KINDS[site.node.op], fields),
        "ends": _ends(site, x),
        "weights": f"{w}, {call.operands['B']}, " if w else "",
    }


def taps_values(site: Site, kind: str, fields: Mapping[str, object]) -> dict[str, object]:
    """What taps.c and its call need of windows of any kind; `fields` are those of tw_sn_windows, see windows.h."""
    clip, limits = activation(site)
    return {**window_sums_values(kind, clip), "fields": fields, "low": limits["low"], "high": limits["high"]}


def window_sums_values(kind: str, clip: str) -> dict[str, object]:
    """What taps.c needs, but for windows and limits."""
    return {
        "function": f"tw_sn_f32_taps_{kind}_{clip}",
        "kind": kind,
        "clip": clip,
        "widths": blocks.WIDTHS,
        "lines": lambda width: blocks.tap_lines(width, kind, clip),
        "marks": blocks.MARKS,
        "zero": blocks.ZERO,
        "lowest": blocks.LOWEST,
        "factor": blocks.FACTOR,
        "limits": blocks.LIMITS,
        "clobbered": ("ft0", "ft1", "ft2", *blocks.SUMS),
        "ends": "",
        "weights": "",
    }


_CALL = f"${{function}}({WINDOWS_FIELDS}, ${{ends}}${{low}}, ${{high}}, ${{X}}, ${{weights}}${{Y}});"
TAPS = c_template("${function}", "taps.c.mako", c_fragment("windows.h"), c_fragment("streams.h"))

DEPTHWISE = Kernel(
    name="snitch.conv_depthwise",
    op="Conv",
    target="snitch",
    match=_match_depthwise,
    access=_access,
    requires=_requires,
    pack=_pack,
    memories={"X": NEAR, "W": NEAR},
    multiples={"c": 2},
    parallel=("h", "w", "c", "n"),
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=lambda values: (TAPS,),
    call=_CALL,
    includes=INCLUDES,
)


def _pool(op: str, name: str) -> Kernel:
    return Kernel(
        name=f"snitch.{name}",
        op=op,
        target="snitch",
        match=_match,
        access=_access,
        requires=_requires,
        memories={"X": NEAR},
        multiples={"c": 2},
        parallel=("h", "w", "c", "n"),
        cycles=_cycles,
        step_cycles=code_cycles(POOL_CODE_BYTES),
        values=_values,
        source=lambda values: (TAPS,),
        call=_CALL,
        includes=INCLUDES,
    )


KERNELS = (DEPTHWISE, _pool("AveragePool", "average_pool"), _pool("MaxPool", "max_pool"))
