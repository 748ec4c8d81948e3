"""Knows how the cluster computes functions of one float, element by element: runs of neighbours, four at a time.
Does not know the functions, nor tables of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Sections, TileShape, elementwise_walk, nest
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_function_costs import run_cycles
from tilewright_siracusa.kernels.float_functions import BELL, BELOW_RELU, REACH, TOTAL, UNARY, function_section
from tilewright_siracusa.kernels.float_lanes import Program
from tilewright_siracusa.kernels.float_layers import c_float, not_floats
from tilewright_siracusa.kernels.sources import c_section

# ONNX's
_DEFAULTS: Mapping[str, Mapping[str, float]] = MappingProxyType({
    "LeakyRelu": {"alpha": 0.01},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "Swish": {"alpha": 1.0},
})  # fmt: skip
GELU, GELU_RUN = (REACH, BELL, BELOW_RELU), 16  # elements at a time, as float_gelu.c has it
_SLOPES = (0.5, 2.0**20)  # of a Swish: flatter ones are far from 0 where the exponential is no longer a float


def _numbers(site: Site) -> Mapping[str, float]:
    """By name, what the function takes beside x."""
    node = site.node
    if node.op == "Clip":
        high = node.number("max", float("inf"))
        return {"low": min(node.number("min", -float("inf")), high), "high": high}
    return {name: node.number(name, default) for name, default in _DEFAULTS.get(node.op, {}).items()}


def _match(site: Site) -> str | None:
    slope = _numbers(site).get("alpha", 1.0)
    if site.node.op == "Swish" and not _SLOPES[0] <= slope <= _SLOPES[1]:
        return f"alpha is {slope}, not between 0.5 and 2^20"
    return not_floats(site)


def _cycles(tile: TileShape) -> float:
    """Of runs that are whole tiles."""
    program, count = UNARY[tile.site.node.op], trips(tile, *tile.box)
    return run_cycles(program, count) + (run_cycles(TOTAL, count) if program.keeps_nan else 0)


def _values(call: Call) -> Mapping[str, object]:
    loops = elementwise_walk(call.operands, "Y", ("X",))
    outer = nest(loops, 1)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "steps": {name: steps[-1] for name, steps in loops.steps.items()},
        "numbers": "".join(f", {c_float(value)}" for value in _numbers(call.site).values()),
    }


def _kernel(
    op: str, function: str, source: Callable[[Mapping[str, Any]], Sections], cycles: Callable[[TileShape], float]
) -> Kernel:
    return Kernel(
        name=f"siracusa.{op.lower()}_f32",
        op=op,
        target="siracusa",
        match=_match,
        in_place=lambda site: (("X", "Y"),),
        parallel=("*",),
        cycles=cycles,
        values=_values,
        source=source,
        call=f"""\
% for line in nest:
${{line}}
% endfor
{function}(${{count}}, ${{X}}${{at["X"]}}, ${{steps["X"]}}, ${{Y}}${{at["Y"]}}, ${{steps["Y"]}}${{numbers}});""",
        includes=("<stdint.h>", "<string.h>", "<math.h>"),
    )


def _gelu_cycles(tile: TileShape) -> float:
    """Of elements near 0."""
    count = trips(tile, *tile.box)
    parts = (*[GELU_RUN] * (count // GELU_RUN), count % GELU_RUN)
    return sum(run_cycles(program, part) for part in parts if part for program in GELU) + 20 * len(parts)


def _gelu_source(_: Mapping[str, Any]) -> Sections:
    return (c_section("float_gelu.inc", *(function_section(program) for program in GELU)),)


def _source(program: Program) -> Callable[[Mapping[str, Any]], Sections]:
    return lambda _: (function_section(program),)


KERNELS = (
    *(_kernel(op, program.name, _source(program), _cycles) for op, program in UNARY.items()),
    _kernel("Gelu", "tw_xp_f32_gelu", _gelu_source, _gelu_cycles),
)
