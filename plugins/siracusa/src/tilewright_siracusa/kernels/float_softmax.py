"""Knows how the cluster computes Softmax and LogSoftmax of floats: whole rows, four elements at a time.
Does not know how rows are shared, nor the integer form.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Sections, TileShape, nest, walk
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_function_costs import run_cycles
from tilewright_siracusa.kernels.float_functions import LARGEST, LESS, SCALED, SHARES, SHARES_ONLY, function_section
from tilewright_siracusa.kernels.float_lanes import Program
from tilewright_siracusa.kernels.float_layers import not_floats
from tilewright_siracusa.kernels.sources import c_section

_FUNCTIONS: Mapping[str, str] = MappingProxyType({"Softmax": "softmax", "LogSoftmax": "log_softmax"})
PROGRAMS: Mapping[str, tuple[Program, ...]] = MappingProxyType(
    {"Softmax": (LARGEST, SHARES, SCALED), "LogSoftmax": (LARGEST, SHARES_ONLY, LESS)}
)
LOGARITHM = 75.0  # cycles, for each row
APART = 1.2  # where elements of a row are no neighbours, and no hardware loop reads them


def _cycles(tile: TileShape) -> float:
    rows, count = trips(tile, *tile.box), tile.site.output.shape[_axis(tile.site)]
    logarithm = LOGARITHM if tile.site.node.op == "LogSoftmax" else 0
    each = sum(run_cycles(program, count) for program in PROGRAMS[tile.site.node.op]) + logarithm
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


def _source(op: str, name: str) -> Sections:
    largest, *others = (function_section(program) for program in PROGRAMS[op])
    return (c_section(f"float_{name}.inc", c_section("float_base.inc", largest), *others),)


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=f"siracusa.{name}_f32",
        op=op,
        target="siracusa",
        match=not_floats,
        in_place=lambda site: (("X", "Y"),),
        parallel=("*",),
        cycles=_cycles,
        values=_values,
        source=lambda _: _source(op, name),
        call=f"""\
% for line in nest:
${{line}}
% endfor
tw_xp_f32_{name}(${{count}}, ${{X}}${{at["X"]}}, ${{x_step}}, ${{Y}}${{at["Y"]}}, ${{y_step}});""",
        includes=("<stdint.h>", "<string.h>", "<math.h>"),
    )


KERNELS = tuple(_kernel(op, name) for op, name in _FUNCTIONS.items())
