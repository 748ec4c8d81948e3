"""Knows how the cluster adds, subtracts and multiplies floats element by element: four at a time.
Does not know what may be fused but a clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.api import Call, Kernel, Site, TileShape, elementwise_walk, nest
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_layers import activation, not_floats
from tilewright_siracusa.kernels.sources import c_text

CYCLES: Mapping[str, float] = MappingProxyType({"none": 5.5, "low": 9.0, "both": 13.0})


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    pairs = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)


def _cycles(tile: TileShape) -> float:
    """Of runs that are whole rows."""
    return trips(tile, *tile.box) * CYCLES[activation(tile.site)[0]] + 40


def _values(sign: str, call: Call) -> Mapping[str, object]:
    walk = elementwise_walk(call.operands, "Y", ("A", "B"))
    outer = nest(walk, 1)
    clip, limits = activation(call.site)
    return {
        "function": f"tw_xp_f32_{call.site.node.op.lower()}_{clip}",
        "clip": clip,
        "sign": sign,
        "nest": outer.headers,
        "at": outer.offsets,
        "count": walk.extents[-1],
        "steps": {name: steps[-1] for name, steps in walk.steps.items()},
        "limits": limits,
    }


def _kernel(op: str, sign: str) -> Kernel:
    return Kernel(
        name=f"siracusa.{op.lower()}_f32",
        op=op,
        target="siracusa",
        accepts=not_floats,
        in_place=_in_place,
        parallel=("*",),
        cycles=_cycles,
        values=lambda call: _values(sign, call),
        source=c_text("float_finish.c", "float_elements.c"),
        call="""\
% for line in nest:
${line}
% endfor
${function}(${count}, ${A}${at["A"]}, ${steps["A"]}, ${B}${at["B"]}, ${steps["B"]}, ${Y}${at["Y"]}, ${steps["Y"]},
    ${limits["low"]}, ${limits["high"]});""",
        includes=("<stdint.h>", "<string.h>", "<math.h>"),
    )


KERNELS = tuple(_kernel(op, sign) for op, sign in (("Add", "+"), ("Sub", "-"), ("Mul", "*")))
