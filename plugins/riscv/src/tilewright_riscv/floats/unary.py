"""Knows kernels for functions of one float, element by element: runs of neighbours, four at a time.
Does not know the functions, nor tables of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from types import MappingProxyType

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragment, Kernel, TileShape, c_element, elementwise_walk, nest
from tilewright_riscv.floats.functions import TOTAL
from tilewright_riscv.floats.lanes import Program
from tilewright_riscv.floats.machines import INCLUDES, Machine, not_floats, trips
from tilewright_riscv.floats.sections import GELU, GELU_RUN, function_section, gelu_section

# ONNX's
_DEFAULTS: Mapping[str, Mapping[str, float]] = MappingProxyType({
    "LeakyRelu": {"alpha": 0.01},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
    "Swish": {"alpha": 1.0},
})  # fmt: skip
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


def _cycles(machine: Machine, tile: TileShape) -> float:
    """Of runs of neighbours: the axes from the last one on that is cut."""
    program, (runs, count) = machine.functions[tile.site.node.op], _runs(tile)
    return runs * (machine.run_cycles(program, count) + (machine.run_cycles(TOTAL, count) if program.keeps_nan else 0))


def _runs(tile: TileShape) -> tuple[int, int]:
    """How many, and elements of each."""
    extents = [span.extent for span in tile.access.window("Y", tile.box)]
    cuts = [axis for axis, whole in enumerate(tile.site.output.shape) if extents[axis] < whole]
    first = cuts[-1] if cuts else 0
    return prod(extents[:first]), prod(extents[first:])


def _gelu_cycles(machine: Machine, tile: TileShape) -> float:
    """Of elements near 0."""
    count = trips(tile)
    parts = (*[GELU_RUN] * (count // GELU_RUN), count % GELU_RUN)
    return sum(machine.run_cycles(program, part) for part in parts if part for program in GELU) + 20 * len(parts)


def _values(call: Call) -> Mapping[str, object]:
    loops = elementwise_walk(call.operands, "Y", ("X",))
    outer = nest(loops, 1)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "count": loops.extents[-1],
        "steps": {name: steps[-1] for name, steps in loops.steps.items()},
        "numbers": "".join(f", {c_element(value, DType.F32)}" for value in _numbers(call.site).values()),
    }


def _kernel(
    machine: Machine,
    op: str,
    section: CodeFragment,
    programs: tuple[Program, ...],
    cycles: Callable[[Machine, TileShape], float] = _cycles,
) -> Kernel:
    function = machine.dialect.function(programs[0]) if len(programs) == 1 else f"{machine.dialect.prefix}_f32_gelu"
    return Kernel(
        name=machine.name(op.lower()),
        op=op,
        target=machine.target,
        match=_match,
        in_place=lambda site: (("X", "Y"),),
        memories=machine.memories("X", "Y"),
        parallel=("*",),
        cycles=partial(cycles, machine),
        step_cycles=machine.step_cycles(programs),
        values=_values,
        source=lambda _: (section,),
        call=f"""\
% for line in nest:
${{line}}
% endfor
{function}(${{count}}, ${{X}}${{at["X"]}}, ${{steps["X"]}}, ${{Y}}${{at["Y"]}}, ${{steps["Y"]}}${{numbers}});""",
        includes=INCLUDES,
    )


def unary_kernel(machine: Machine, op: str) -> Kernel:
    """Of one of the operators that the machine has `functions` for."""
    program = machine.functions[op]
    return _kernel(machine, op, function_section(program, machine.dialect), (program,))


def gelu_kernel(machine: Machine) -> Kernel:
    """Of Gelu without a tanh."""
    return _kernel(machine, "Gelu", gelu_section(machine.dialect), GELU, _gelu_cycles)
