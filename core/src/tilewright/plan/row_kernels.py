"""Knows which kernels are best for steps that are computed row by row: those that take rows, and lose little by it.
Does not know which steps are.
"""

from __future__ import annotations

from tilewright.ir.access import Loop, MapAccess
from tilewright.ir.graph import Site
from tilewright.ir.index import bare_loop
from tilewright.ir.layer import Layer, Layers, layer_key
from tilewright.ir.stages import Bound, Candidate
from tilewright.tile.row_steps import CALL_CYCLES

_ROWS_AXIS = 2  # of images and signals: batch, channels, rows


def kernels_by_rows(bound: Bound, layers: Layers) -> dict[str, str]:
    """By node, for steps over images and signals, the kernel that takes least where every call computes one row; only
    where that is not the one that is bound.
    """
    found: dict[str, str] = {}
    for site in bound.graph.sites():
        binding = bound.bindings.get(site.node.name)
        if binding is None or len(site.input(0).shape) <= _ROWS_AXIS or len(binding.candidates) < 2:
            continue
        costs = {one.kernel.name: _cycles(one, site, layers) for one in binding.candidates}
        best = min(costs, key=lambda name: costs[name])
        if costs[best] < costs[binding.kernel.name]:
            found[site.node.name] = best
    return found


def _cycles(candidate: Candidate, site: Site, layers: Layers) -> float:
    """Of one row of the output in each call; infinite where a kernel computes an image in one piece only."""
    layer = layers.of(candidate.kernel, site, layer_key(site))
    if isinstance(layer, str) or not isinstance(layer.access, MapAccess):
        return float("inf")
    loop = _rows(layer, layer.access)
    if loop is None:
        return candidate.cycles if layer.sums is not None else float("inf")
    if candidate.kernel.cycles is None:
        return candidate.cycles + loop.extent * CALL_CYCLES
    one = layer.tile({**layer.whole.box, loop.name: (0, 1)})
    return loop.extent * (candidate.kernel.cycles(one) + CALL_CYCLES)


def _rows(layer: Layer, access: MapAccess) -> Loop | None:
    """The loop over the rows of the output; None where it has one row, or none."""
    axes = access.axes[access.outputs[0]]
    if len(axes) <= _ROWS_AXIS or axes[_ROWS_AXIS].extent == 1:
        return None
    name = bare_loop(axes[_ROWS_AXIS])
    return next((loop for loop in access.loops if loop.name == name and loop.kind == "parallel"), None)
