"""Knows the C of products by streams, and what it needs of a layer: which limits, whether a bias is added, whether
results are neighbours. Does not know kernels, nor what is multiplied.
"""

from __future__ import annotations

from tilewright.api.graph import DType, Site
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels import blocks
from tilewright_snitch.kernels.sources import c_fragment, c_template

INCLUDES = ("<stdint.h>", "<math.h>")
CLIP = c_template("tw_sn_${type}_${clip}", "clip.c.mako", c_fragment("streams.h"))
RESULTS = c_template("tw_sn_${type}_${clip}_row", "results.c.mako", CLIP)
PRODUCTS = c_template("${name}", "products.c.mako", c_fragment("streams.h"), c_fragment("products.h"), CLIP)


def products_values(site: Site, *, bias: bool, dense: bool, deep: bool = False, clip: str = "") -> dict[str, object]:
    """What products.c needs of a layer; `clip` where it is another than the layer's."""
    own, limits = activation(site)
    sums = sums_values(site.output.dtype.computed_in, bias=bias, dense=dense, deep=deep, clip=clip or own)
    return {**sums, "low": limits["low"], "high": limits["high"]}


def sums_values(
    dtype: DType, *, bias: bool, dense: bool = True, deep: bool = False, clip: str = "none"
) -> dict[str, object]:
    """What products.c needs, but for limits."""
    return {
        "name": f"tw_sn_{dtype.value}_products_{clip}_{int(bias)}{int(dense)}{'_deep' if deep else ''}",
        "type": dtype.c_type,
        "clip": clip,
        "bias": bias,
        "dense": dense,
        "deep": deep,
        "limits": blocks.LIMITS,
        "zero": blocks.ZERO,
        "marks": blocks.MARKS,
        "clobbered": blocks.CLOBBERED,
        "widths": blocks.WIDTHS,
        "product_lines": blocks.product_lines,
        "finish_lines": blocks.finish_lines,
    }
