"""Knows how the cluster adds, subtracts, multiplies and divides floats element by element: four at a time.
Does not know what may be fused but a clip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, elementwise_walk, nest
from tilewright_riscv.floats.activation import activation
from tilewright_riscv.floats.functions import pair
from tilewright_riscv.floats.lanes import Program
from tilewright_riscv.floats.machines import INCLUDES, not_floats
from tilewright_riscv.floats.quotients import multiplied
from tilewright_riscv.floats.sections import function_section
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_function_costs import run_cycles
from tilewright_siracusa.kernels.sources import DIALECT, FLOAT_FINISH, c_template

_SIGNS: Mapping[str, str] = MappingProxyType({"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"})
CYCLES: Mapping[str, float] = MappingProxyType({"low": 9.0, "both": 13.0})  # of what is no straight line
DIVIDE_CYCLES = 9


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    pairs = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)


def _clip(site: Site) -> str:
    """As `activation`, and "relu" where the lower limit is 0 and the only one."""
    clip, limits = activation(site)
    return "relu" if clip == "low" and float.fromhex(limits["low"].removesuffix("f")) == 0 else clip


def is_straight(site: Site) -> bool:
    """Whether straight lines compute it: what has a limit that would lose NaN there is divided, element by element."""
    return _clip(site) in ("none", "relu")


def _program(op: str, *, relu: bool) -> Program:
    return multiplied(pair(op, relu=relu))


def _cycles(tile: TileShape) -> float:
    """Of runs that are whole rows."""
    count, clip, op = trips(tile, *tile.box), _clip(tile.site), tile.site.node.op
    if is_straight(tile.site):
        return run_cycles(_program(op, relu=clip == "relu"), count)
    return count * (CYCLES[clip] + DIVIDE_CYCLES * (op == "Div")) + 40


def _values(call: Call) -> Mapping[str, object]:
    op = call.site.node.op
    loops = elementwise_walk(call.operands, "Y", ("A", "B"))
    outer = nest(loops, 1)
    clip, limits = _clip(call.site), activation(call.site)[1]
    straight = is_straight(call.site)
    return {
        "function": DIALECT.function(_program(op, relu=clip == "relu"))
        if straight
        else f"tw_xp_f32_{op.lower()}_{clip}",
        "straight": straight,
        "clip": clip,
        "sign": _SIGNS[op],
        "nest": outer.headers,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "steps": {name: steps[-1] for name, steps in loops.steps.items()},
        "limits": "" if straight else f", {limits['low']}, {limits['high']}",
    }


_LIMITED = c_template("${function}", "float_elements.c.mako", FLOAT_FINISH)


def _source(op: str) -> Callable[[Mapping[str, Any]], CodeFragments]:
    """Straight lines, or what has a limit that would lose NaN there."""
    return lambda values: (
        (function_section(_program(op, relu=values["clip"] == "relu"), DIALECT),) if values["straight"] else (_LIMITED,)
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"siracusa.{op.lower()}_f32",
        op=op,
        target="siracusa",
        match=not_floats,
        in_place=_in_place,
        parallel=("*",),
        cycles=_cycles,
        values=_values,
        source=_source(op),
        call="""\
% for line in nest:
${line}
% endfor
${function}(${count}, ${A}${at["A"]}, ${steps["A"]}, ${B}${at["B"]}, ${steps["B"]}, ${Y}${at["Y"]}, ${steps["Y"]}\
${limits});""",
        includes=INCLUDES,
    )


KERNELS = tuple(_kernel(op) for op in _SIGNS)
