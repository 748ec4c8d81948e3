"""Knows kernels for LayerNormalization and RMSNormalization of floats: whole rows, in three passes.
Does not know how rows are shared. InstanceNormalization is rows as well, once it is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, c_element, nest, template_file, walk
from tilewright_riscv.floats.functions import DISTANCES, SQUARES, normalised, pair
from tilewright_riscv.floats.lanes import Program
from tilewright_riscv.floats.machines import INCLUDES, Machine, not_floats, trips
from tilewright_riscv.floats.sections import function_section, root_section

EPSILON = 1e-5  # ONNX's
_NAMES: Mapping[str, str] = MappingProxyType(
    {"LayerNormalization": "layer_normalization", "RMSNormalization": "rms_normalization"}
)
_ROW = template_file("tilewright_riscv.floats", "norm.c.mako", "${row}")


def _given(site: Site) -> tuple[bool, bool]:
    """Whether there are Scale and B."""
    result = [tensor is not None for tensor in site.inputs[1:]]
    return (*result, False, False)[0], (*result, False, False)[1]


def _programs(machine: Machine, site: Site) -> tuple[Program, ...]:
    """What a row goes through. B is added in a pass of its own where no fast run reads three inputs."""
    scale, shift = _given(site)
    apart = shift and scale and machine.two_inputs
    last = (normalised(scale=scale, shift=shift and not apart), *((pair("Add", relu=False),) if apart else ()))
    return (*(() if site.node.op == "RMSNormalization" else (DISTANCES,)), SQUARES, *last)


def _cycles(machine: Machine, tile: TileShape) -> float:
    count = tile.site.output.shape[-1]
    runs = sum(machine.run_cycles(program, count) for program in _programs(machine, tile.site))
    return trips(tile) * (runs + machine.row_cycles)


def _values(machine: Machine, call: Call) -> Mapping[str, object]:
    x, y, site, dialect = call.operands["X"], call.operands["Y"], call.site, machine.dialect
    rows = walk(y.extents[:-1], {"X": x.strides[:-1], "Y": y.strides[:-1]}, "Y")
    outer = nest(rows, 0)
    scale, shift = _given(site)
    programs = _programs(machine, site)
    centred, apart = programs[0] is DISTANCES, programs[-1] is pair("Add", relu=False)
    last = programs[-2] if apart else programs[-1]
    pointers = [str(call.operands[name]) for name, has in (("Scale", scale), ("B", shift)) if has]
    function = dialect.function(last)
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "prefix": dialect.prefix,
        "function": function,
        "programs": programs,
        "scaled": scale,
        "shifted": shift,
        "apart": apart,
        "centred": centred,
        "row": f"{function}_row_{'layer' if centred else 'rms'}{'_apart' if apart else ''}",
        "arguments": "".join(f"{pointer}, " for pointer in pointers),
        "count": y.extents[-1],
        "x_step": x.strides[-1],
        "y_step": y.strides[-1],
        "epsilon": c_element(site.node.number("epsilon", EPSILON), DType.F32),
    }


def _source(machine: Machine, values: Mapping[str, Any]) -> CodeFragments:
    functions = (function_section(program, machine.dialect) for program in values["programs"])
    return (*functions, root_section(machine.dialect), _ROW)


def norm_kernel(machine: Machine, op: str) -> Kernel:
    """Of LayerNormalization or RMSNormalization."""
    return Kernel(
        name=machine.name(_NAMES[op]),
        op=op,
        target=machine.target,
        match=not_floats,
        in_place=lambda site: (("X", "Y"),),
        memories=machine.memories("X", *(("Scale", "B") if op == "LayerNormalization" else ("Scale",)), "Y"),
        parallel=("*",),
        cycles=partial(_cycles, machine),
        step_cycles=machine.step_cycles((DISTANCES, SQUARES, normalised(scale=True, shift=True))),
        values=partial(_values, machine),
        source=partial(_source, machine),
        call="""\
% for line in nest:
${line}
% endfor
${row}(${count}, ${epsilon}, ${X}${at["X"]}, ${x_step}, ${arguments}${Y}${at["Y"]}, ${y_step});""",
        includes=INCLUDES,
    )
