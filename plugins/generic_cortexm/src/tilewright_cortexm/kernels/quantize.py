"""Knows how an FPU quantises floats, as at the border of a network: one division, VCVTR, one saturation.
Does not know scales for each channel, which only weights have. Every core here that has the DSP extension has an FPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, nest, walk
from tilewright.api.operator import whole
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template, narrowed

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def _match(site: Site) -> str | None:
    if site.input(0).dtype is not DType.F32 or site.output.dtype not in BYTES:
        return f"{site.input(0).dtype.value} to {site.output.dtype.value}; this kernel takes f32 to 8 bits"
    parameters = [index for index in (1, 2) if site.has_input(index)]
    if any(site.constant(index) is None or site.input(index).elements != 1 for index in parameters):
        return "the scale and the zero point must be constants, one of each"
    return None


def _pack(site: Site) -> Mapping[str, Array]:
    """Scale and zero point."""
    numbers = (np.asarray(site.constant(index)).reshape(-1)[0] for index in (1, 2) if site.has_input(index))
    return {"P": np.asarray([*numbers, 0][:2], np.float32)}


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    rows = walk(y.extents, {"X": x.strides, "Y": y.strides}, "Y")
    outer, (low, high) = nest(rows, 1), y.dtype.limits
    steps = f"{rows.steps['X'][-1]}, {rows.steps['Y'][-1]}"
    pointers = f"{x}{outer.offsets['X']}, {call.operands['P']}, {y}{outer.offsets['Y']}"
    return {
        "function": f"tw_arm_quantize_{y.dtype.value}",
        "y_type": y.dtype.c_type,
        "low": low,
        "high": high,
        "nest": outer,
        "arguments": f"{rows.extents[-1]}, {steps}, {pointers}",
    }


_QUANTIZE = c_template("${function}", "quantize.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    name, narrow = narrowed(0, values["low"], values["high"])
    return (narrow, _QUANTIZE.of(narrow=name))


KERNELS = (
    Kernel(
        name="cortex-m.quantize",
        op="QuantizeLinear",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=lambda site: whole({"X": site.input(0).shape, "P": (2,)}, {"Y": site.output.shape}),
        pack=_pack,
        instructions=lambda tile: 10.0 * tile_elements(tile) + 20,
        values=_values,
        source=_source,
        call=NEST + "${function}(${arguments});",
    ),
)
