"""Knows how Helium adds two quantised tensors: four elements at a time, in the 32-bit form that is proved equal.
Does not know broadcasting; where shapes or layouts differ, portable C adds.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api import Access, Call, DType, Kernel, Layout, Site, TileShape, channels_last, scaled_sum_form, whole
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.sources import c_text


def _accepts(site: Site) -> str | None:
    a, b = site.input(0), site.input(1)
    if a.shape != b.shape:
        return "A and B have different shapes"
    if a.name in site.constants or b.name in site.constants:
        return "an input is constant, and is not stored as the other one is"
    if any(tensor.dtype not in BYTES for tensor in (a, b, site.output)):
        return "values must be i8 or u8"
    form = scaled_sum_form(site)
    if form is None or form.bits > 32 or form.ties:
        return "the sum has no 32-bit form without ties"
    limits = (site.node.integer("low"), site.node.integer("high"))
    if limits not in ((-128, 127), (0, 255)):
        return f"the result is clamped to {limits}; only whole types are supported"
    return None


def _requires(site: Site) -> Mapping[str, Layout]:
    """One order for all: that of images, which the convolutions around have."""
    layout = channels_last(len(site.output.shape))
    return {"A": layout, "B": layout, "Y": layout}


def _access(site: Site) -> Access:
    return whole({"A": site.input(0).shape, "B": site.input(1).shape}, {"Y": site.output.shape})


def _cycles(tile: TileShape) -> float:
    """Executed instructions."""
    return 3.0 * tile.site.output.elements + 20


def _values(call: Call) -> Mapping[str, object]:
    site, form = call.site, scaled_sum_form(call.site)
    if form is None:
        raise ValueError(f"{site.node.name}: accepts() was not asked")
    low, high = site.node.integer("low"), site.node.integer("high")
    widen = ["u32" if site.input(index).dtype is DType.U8 else "s32" for index in (0, 1)]
    numbers = (site.output.elements, form.a_factor, form.b_factor, form.offset, form.shift)
    return {
        "function": f"tw_mve_add_{widen[0]}_{widen[1]}_{'i8' if low < 0 else 'u8'}",
        "widen_a": widen[0],
        "widen_b": widen[1],
        "low": low,
        "high": high,
        "arguments": ", ".join(str(number) for number in (*numbers, site.node.integer("zero_point"))),
    }


KERNELS = (
    Kernel(
        name="cortex-m.mve.qadd",
        op="QAdd",
        target="cortex-m",
        engine="mve",
        accepts=_accepts,
        access=_access,
        requires=_requires,
        in_place=lambda site: (("A", "Y"), ("B", "Y")),
        cycles=_cycles,
        values=_values,
        source=c_text("mve.h", "mve_add.c"),
        call="${function}((const uint8_t *)${A}, (const uint8_t *)${B}, (uint8_t *)${Y}, ${arguments});",
        includes=("<stdint.h>", "<string.h>"),
    ),
)
