"""Knows how the cluster convolves floats of 16 bits in groups, or each channel by itself: by the kernels of float32, on
what windows reach, widened. Does not know how those compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, FragmentTemplate, Kernel, Matched, TileShape, Windows
from tilewright_snitch.kernels import grouped, taps
from tilewright_snitch.kernels.conv import PRODUCTS_FIELDS, WINDOWS_FIELDS, conv_windows
from tilewright_snitch.kernels.halves import HALVES
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, not_halves, trips
from tilewright_snitch.kernels.products import short_of_streams
from tilewright_snitch.kernels.sources import c_template, half_sections
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CODE_BYTES = 1200  # that widening and rounding execute
ELEMENT_CYCLES = 4.0  # of an element that is widened or rounded, in runs as long as a row


def _windows(site: Site) -> Windows | str:
    return not_halves(site) or conv_windows(site, grouped=True, halves=True)


def _match_depthwise(site: Site) -> Windows | str:
    windows, channels = _windows(site), site.input(0).shape[1]
    if not isinstance(windows, str) and site.input(1).shape[:2] != (channels, 1):
        return "is no depthwise convolution with one output per channel"
    return f"has {channels} channels; a stream brings two at a time" if channels % 2 else windows


def _match_grouped(site: Site) -> Windows | str:
    windows, channels = _windows(site), site.input(1).shape[1]
    if channels % 2:
        return f"groups have {channels} channels; of f32 a stream brings two at a time"
    return short_of_streams(prod(site.input(1).shape[1:]), DType.F32) or windows


def _pack(own: Kernel) -> Callable[[Matched], Mapping[str, Array]]:
    """What the kernel of float32 packs, as float32."""
    return lambda site: {name: array.astype(np.float32) for name, array in own.pack(site).items()}


def _seen(tile: TileShape) -> int:
    """The most elements that windows of a tile reach, wherever it is; every channel of their groups."""
    site, windows = tile.site, tile.site.analysis
    outputs, each = _outputs(tile), site.input(1).shape[0] // site.node.integer("group", 1)
    channels = min(site.input(0).shape[1], ((outputs + each - 2) // each + 1) * site.input(1).shape[1])
    made = [trips(tile, loop) for loop in windows.output_loops]
    reach = zip(made, windows.strides, windows.kernel, windows.dilations, site.input(0).shape[2:], strict=True)
    return trips(tile, "n") * channels * prod(
        min(extent, (some - 1) * stride + (taps_ - 1) * dilation + 1) for some, stride, taps_, dilation, extent in reach
    )  # fmt: skip


def _made(tile: TileShape) -> int:
    return _outputs(tile) * trips(tile, "n", *tile.site.analysis.output_loops)


def _outputs(tile: TileShape) -> int:
    """Each channel is an output where groups have one."""
    return trips(tile, "c" if tile.site.input(1).shape[1] == 1 else "o")


def _scratch(tile: TileShape) -> int:
    return LANES_BYTES + 4 * (_seen(tile) + _made(tile))


def _cycles(own: Kernel) -> Callable[[TileShape], float]:
    def cycles(tile: TileShape) -> float:
        copied = ELEMENT_CYCLES * (_seen(tile) + _made(tile))
        return copied + (own.cycles(tile) if own.cycles is not None else 0.0)

    return cycles


def _values(call: Call, whole: Mapping[str, Any], *, channels: object, outputs: object) -> dict[str, Any]:
    half = call.site.output.dtype.value
    return {
        **whole,
        "half": half,
        "wide": f"{whole['function']}_{half}",
        "channels": channels,
        "outputs": outputs,
    }


def _depthwise_values(call: Call) -> Mapping[str, Any]:
    x, y = call.operands["X"], call.operands["Y"]
    result = _values(call, taps.DEPTHWISE.values(call), channels=x.extents[1], outputs=y.extents[1])
    return {**result, "told": "", "passed": "q, ", "last": ""}


def _grouped_values(call: Call) -> Mapping[str, Any]:
    x, y = call.operands["X"], call.operands["Y"]
    result = _values(call, grouped.GROUPED.values(call), channels=x.extents[1], outputs=y.extents[1])
    told = f"tw_sn_products *products, const {result['function']}_of groups, "
    return {**result, "told": told, "passed": "&q, products, groups, ", "last": ", scratch"}


def _kernel(own: Kernel, match: Callable[[Site], Windows | str], inner: FragmentTemplate, **changed: Any) -> Kernel:
    wide = c_template("${wide}", "wide.c.mako", inner)

    def source(values: Mapping[str, Any]) -> CodeFragments:
        return (*half_sections(values["half"]), HALVES.of(kind=values["half"]), wide)

    return replace(
        own,
        name=f"{own.name}_halves",
        match=match,
        pack=_pack(own),
        memories={"W": NEAR},
        scratch_bytes=_scratch,
        cycles=_cycles(own),
        step_cycles=own.step_cycles + code_cycles(CODE_BYTES),
        source=source,
        **changed,
    )


_SIZES, _REST = "${channels}, ${outputs}", "${low}, ${high}, ${X}, ${W}"
DEPTHWISE = _kernel(
    taps.DEPTHWISE,
    _match_depthwise,
    taps.TAPS,
    values=_depthwise_values,
    call=f"${{wide}}(&{WINDOWS_FIELDS}, {_SIZES}, {_REST}, ${{B}}, ${{Y}}, ${{scratch}});",
)
GROUPED = _kernel(
    grouped.GROUPED,
    _match_grouped,
    grouped.GROUPS,
    values=_grouped_values,
    call=f"${{wide}}(&{WINDOWS_FIELDS}, {_SIZES}, &{PRODUCTS_FIELDS}, {grouped.GROUPS_FIELDS}, {_REST}, "
    "${bias_pointer}, ${Y}, ${scratch});",
)
KERNELS = (DEPTHWISE, GROUPED)
