"""Knows how the cluster looks bytes up in tables of 256: eight elements at a time.
Does not know what a table means.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape, elementwise_walk, nest
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.layers import BYTES
from tilewright_siracusa.kernels.sources import c_template

_TRIP, _SINGLE, _RUN = 37.0, 6.0, 5.0  # cycles: eight elements, one, and around them


def _match(site: Site) -> str | None:
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i8 or u8"
    return "has no elements" if 0 in site.output.shape else None


def _cycles(tile: TileShape) -> float:
    """Of one run."""
    eights, rest = divmod(trips(tile, *tile.box), 8)
    return eights * _TRIP + rest * _SINGLE + _RUN


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    loops = elementwise_walk(call.operands, "Y", ("X",))
    outer = nest(loops, 1)
    return {
        "function": f"tw_xp_lookup_{x.dtype.value}_{y.dtype.value}",
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "nest": outer.headers,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "steps": {name: steps[-1] for name, steps in loops.steps.items()},
        "middle": " + 128" if x.dtype is DType.I8 else "",  # the entry for x = 0
    }


QLOOKUP = Kernel(
    name="siracusa.qlookup",
    op="QLookup",
    target="siracusa",
    match=_match,
    in_place=lambda site: (("X", "Y"),),
    parallel=("*",),
    cycles=_cycles,
    values=_values,
    source=(c_template("${function}", "lookup.c.mako"),),
    call="""\
% for line in nest:
${line}
% endfor
${function}(${count}, ${X}${at["X"]}, ${steps["X"]}, ${T}${middle}, ${Y}${at["Y"]}, ${steps["Y"]});""",
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (QLOOKUP,)
