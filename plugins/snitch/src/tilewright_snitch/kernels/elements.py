"""Knows how the cluster adds, subtracts and multiplies floats element by element by streams, with a fused clip.
Does not know the instructions of a repetition.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape, elementwise_walk, nest
from tilewright_snitch.kernels import blocks
from tilewright_snitch.kernels.layers import NEAR, activation, not_floats, trips
from tilewright_snitch.kernels.products import INCLUDES
from tilewright_snitch.kernels.sources import c_section, c_template

_SIGNS: Mapping[str, str] = MappingProxyType({"Add": "+", "Sub": "-", "Mul": "*"})
SETUP_CYCLES = 95.0
STREAMED = 4  # words of a stream in a repetition with a clip


def _match(site: Site) -> str | None:
    shape = site.output.shape
    if any(site.input(number).shape != shape for number in (0, 1)):
        return "shapes differ: streams are set up once where all elements are neighbours"
    return not_floats(site)


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Not where something is clipped: what was no number is computed again."""
    return (("A", "Y"), ("B", "Y")) if activation(site)[0] == "none" else ()


def _at_once(site: Site) -> int:
    """Elements of a repetition."""
    words = 1 if activation(site)[0] == "none" else STREAMED
    return words if site.output.dtype is DType.F64 else 2 * words


def _cycles(tile: TileShape) -> float:
    site = tile.site
    each = (1, 3, 4)[("none", "low", "both").index(activation(site)[0])]
    lanes = 1 if site.output.dtype is DType.F64 else 2
    return SETUP_CYCLES + trips(tile, *tile.box) * each / lanes


def _values(call: Call) -> Mapping[str, object]:
    site, dtype = call.site, call.site.output.dtype
    clip, limits = activation(site)
    op, double = site.node.op.lower(), dtype is DType.F64
    loops = elementwise_walk(call.operands, "Y", ("A", "B"))
    outer = nest(loops, 1)
    body = blocks.element_lines(op, clip, double=double)
    return {
        "function": f"tw_sn_{dtype.value}_{op}_{clip}",
        "type": dtype.c_type,
        "clip": clip,
        "sign": _SIGNS[site.node.op],
        "body": body,
        "at_once": _at_once(site),
        "marks": blocks.MARKS,
        "zero": blocks.ZERO,
        "limits": blocks.LIMITS,
        "clobbered": ("ft0", "ft1", "ft2", *blocks.SUMS[:4]),
        "low": limits["low"],
        "high": limits["high"],
        "nest": outer.headers,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "steps": {name: steps[-1] for name, steps in loops.steps.items()},
    }


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"snitch.{op.lower()}",
        op=op,
        target="snitch",
        match=_match,
        in_place=_in_place,
        memories={"A": NEAR, "B": NEAR, "Y": NEAR},
        parallel=("*",),
        cycles=_cycles,
        values=_values,
        source=lambda values: (c_template("${function}", "elements.c.mako", c_section("streams.h")),),
        call="""\
% for line in nest:
${line}
% endfor
${function}(${count}, ${low}, ${high}, ${A}${at["A"]}, ${steps["A"]}, ${B}${at["B"]}, ${steps["B"]}, \
${Y}${at["Y"]}, ${steps["Y"]});""",
        includes=INCLUDES,
    )


KERNELS = tuple(_kernel(op) for op in _SIGNS)
