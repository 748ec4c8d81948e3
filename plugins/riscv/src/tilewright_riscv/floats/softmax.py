"""Knows kernels for Softmax and LogSoftmax of floats: whole rows, four elements at a time.
Does not know how rows are shared, nor the integer form.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, TileShape, nest, walk
from tilewright_riscv.floats.functions import LARGEST, LESS, SCALED, SHARES, SHARES_ONLY
from tilewright_riscv.floats.lanes import Program
from tilewright_riscv.floats.machines import INCLUDES, Machine, not_floats, trips
from tilewright_riscv.floats.sections import base_section, function_section, shared_section

_FUNCTIONS: Mapping[str, str] = MappingProxyType({"Softmax": "softmax", "LogSoftmax": "log_softmax"})
PROGRAMS: Mapping[str, tuple[Program, ...]] = MappingProxyType(
    {"Softmax": (LARGEST, SHARES, SCALED), "LogSoftmax": (LARGEST, SHARES_ONLY, LESS)}
)
APART = 1.2  # where elements of a row are no neighbours, and no loop of instructions reads them


def _cycles(machine: Machine, tile: TileShape) -> float:
    rows, count = trips(tile), tile.site.output.shape[_axis(tile.site)]
    logarithm = machine.logarithm_cycles if tile.site.node.op == "LogSoftmax" else 0
    each = sum(machine.run_cycles(program, count) for program in PROGRAMS[tile.site.node.op]) + logarithm
    return rows * each * (1.0 if _axis(tile.site) == len(tile.site.output.shape) - 1 else APART)


def _axis(site: Site) -> int:
    return site.node.integer("axis")


def _values(call: Call) -> Mapping[str, object]:
    x, y, axis = call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(y.shape)) if index != axis]
    rows = walk(
        [y.extents[index] for index in others],
        {name: [operand.strides[index] for index in others] for name, operand in (("X", x), ("Y", y))},
        "Y",
    )
    outer = nest(rows, 0)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "count": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
    }


def softmax_kernel(machine: Machine, op: str) -> Kernel:
    """Of Softmax or LogSoftmax."""
    name, dialect, (_, *others) = _FUNCTIONS[op], machine.dialect, PROGRAMS[op]
    functions = tuple(function_section(program, dialect) for program in others)
    row = shared_section(f"{name}.inc", dialect)
    return Kernel(
        name=machine.name(name),
        op=op,
        target=machine.target,
        match=not_floats,
        in_place=lambda site: (("X", "Y"),),
        memories=machine.memories("X", "Y"),
        parallel=("*",),
        cycles=partial(_cycles, machine),
        step_cycles=machine.step_cycles(PROGRAMS[op]),
        values=_values,
        source=(base_section(dialect), *functions, row),
        call=f"""\
% for line in nest:
${{line}}
% endfor
{dialect.prefix}_f32_{name}(${{count}}, ${{X}}${{at["X"]}}, ${{x_step}}, ${{Y}}${{at["Y"]}}, ${{y_step}});""",
        includes=INCLUDES,
    )
