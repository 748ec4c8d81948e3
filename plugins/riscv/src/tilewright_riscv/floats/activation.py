"""Knows how the results of a float layer are clipped: which form the C has, and the limits as C.
Does not know any layer, nor instructions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tilewright.api.graph import Site
from tilewright.api.kernel import c_element


def activation(site: Site, names: tuple[str, str] = ("clip_low", "clip_high")) -> tuple[str, Mapping[str, str]]:
    """ "none", "low" or "both" limits, and the limits as C, rounded to the type of the sums; the lower one gives way.

    `names` are those of the limits among the attributes.
    """
    dtype = site.output.dtype.computed_in
    high = float(dtype.numpy.type(site.node.number(names[1], math.inf)))
    low = min(float(dtype.numpy.type(site.node.number(names[0], -math.inf))), high)
    limits = {"low": c_element(low, dtype), "high": c_element(high, dtype)}
    if math.isinf(high) and high > 0:
        return ("none" if math.isinf(low) and low < 0 else "low"), limits
    return "both", limits
