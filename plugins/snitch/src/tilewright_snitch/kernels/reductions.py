"""Knows how the cluster sums floats over the last axes, and finds their largest and smallest: runs of neighbours.
Does not know other axes, nor products.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, PartialSums, TileShape, c_element, nest, walk
from tilewright_riscv.floats.functions import LARGEST, SMALLEST, TOTAL
from tilewright_riscv.floats.lanes import Program
from tilewright_riscv.floats.machines import INCLUDES, not_floats
from tilewright_riscv.floats.sections import function_section, scalar_section
from tilewright_snitch.kernels.function_costs import ORDERED_CYCLES, SUMMED_CYCLES, code_bytes, run_cycles
from tilewright_snitch.kernels.functions import DIALECT
from tilewright_snitch.kernels.layers import NEAR
from tilewright_snitch.kernels.sources import c_template
from tilewright_snitch.machine import code_cycles

# What a run goes through, and what no element gives.
_PROGRAMS: Mapping[str, tuple[Program, str]] = MappingProxyType({
    "ReduceSum": (TOTAL, "0.0f"),
    "ReduceMean": (TOTAL, "0.0f"),
    "ReduceMax": (LARGEST, "-INFINITY"),
    "ReduceMin": (SMALLEST, "INFINITY"),
})  # fmt: skip
_RUN = c_template("tw_sn_f32_reduced_${kind}", "reductions.c.mako")


def _axes(site: Site) -> tuple[int, ...]:
    return site.node.integers("axes")


def _match(site: Site) -> str | None:
    rank, axes = len(site.input(0).shape), _axes(site)
    if not axes or axes != tuple(range(rank - len(axes), rank)):
        return f"axes are {list(axes)}, not the last ones"
    return not_floats(site)


def _cycles(tile: TileShape) -> float:
    """Of runs that are neighbours in memory."""
    program, _ = _PROGRAMS[tile.site.node.op]
    run = math.prod(tile.extent(f"r{axis}") for axis in _axes(tile.site))
    kept = math.prod(high - low for loop, (low, high) in tile.box.items() if not loop.startswith("r"))
    return kept * (run_cycles(program, run) + (SUMMED_CYCLES if program is TOTAL else ORDERED_CYCLES))


def _values(call: Call) -> Mapping[str, object]:
    x, y, site, axes = call.operands["X"], call.operands["Y"], call.site, _axes(call.site)
    kept, part = range(len(x.shape) - len(axes)), "acc" in call.operands
    sums = call.operands.get("acc", y)
    results = walk(
        [y.extents[axis] for axis in kept],
        {name: [operand.strides[axis] for axis in kept] for name, operand in (("X", x), ("Y", y), ("ACC", sums))},
        "Y",
    )
    terms = walk([x.extents[axis] for axis in axes], {"X": [x.strides[axis] for axis in axes]}, "X")
    outer, inner = nest(results, 0), nest(terms, 1, prefix="tw_r")
    count = math.prod(site.input(0).shape[axis] for axis in axes)
    program, empty = _PROGRAMS[site.node.op]
    return {
        "kind": program.name,
        "nest": outer.headers,
        "inner": inner.headers,
        "empty": empty,
        "first": call.first,
        "last": call.last,
        "part": part,
        "count": terms.extents[-1],
        "x": f"{x}{outer.offsets['X']}{inner.offsets['X']}",
        "x_step": terms.steps["X"][-1],
        "sum": f"({sums})[0{outer.offsets['ACC']}]",
        "result": f"({y})[0{outer.offsets['Y']}]",
        "divided": f" / {c_element(count, DType.F32)}" if site.node.op == "ReduceMean" else "",
    }


_CALL = """\
% for line in nest:
${line}
% endfor
{
% if part:
    if (${first}) {
        ${sum} = ${empty};
    }
% else:
    ${sum} = ${empty};
% endif
% for line in inner:
    ${line}
% endfor
    ${sum} = tw_sn_f32_reduced_${kind}(${count}, ${x}, ${x_step}, ${sum});
% if part:
    if (${last}) {
        ${result} = ${sum}${divided};
    }
% elif divided:
    ${result} = ${sum}${divided};
% endif
}"""


def _kernel(op: str) -> Kernel:
    program, _ = _PROGRAMS[op]
    sections: CodeFragments = (scalar_section(DIALECT), function_section(program, DIALECT), _RUN)
    return Kernel(
        name=f"snitch.reduce_{op.removeprefix('Reduce').lower()}",
        op=op,
        target="snitch",
        match=_match,
        memories={"X": NEAR},
        parallel=("*",),
        accumulates=lambda site: PartialSums(loops=tuple(f"r{axis}" for axis in _axes(site)), dtype=DType.F32),
        cycles=_cycles,
        step_cycles=code_cycles(code_bytes((program,))),
        values=_values,
        source=sections,
        call=_CALL,
        includes=INCLUDES,
    )


KERNELS = tuple(_kernel(op) for op in _PROGRAMS)
