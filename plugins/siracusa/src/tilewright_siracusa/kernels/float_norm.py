"""Knows how the cluster computes LayerNormalization and RMSNormalization of floats: whole rows, in three passes.
Does not know how rows are shared. InstanceNormalization is rows as well, once it is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Sections, TileShape, nest, walk
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.float_function_costs import run_cycles
from tilewright_siracusa.kernels.float_functions import SQUARES, TOTAL, function_section, normalised
from tilewright_siracusa.kernels.float_lanes import Program
from tilewright_siracusa.kernels.float_layers import c_float, not_floats
from tilewright_siracusa.kernels.sources import c_template

ROW = 45.0  # cycles: two or three quotients and a root
EPSILON = 1e-5  # ONNX's


def _given(site: Site) -> tuple[bool, bool]:
    """Whether there are Scale and B."""
    found = [tensor is not None for tensor in site.inputs[1:]]
    return (*found, False, False)[0], (*found, False, False)[1]


def _programs(site: Site) -> tuple[Program, ...]:
    scale, shift = _given(site)
    return TOTAL, SQUARES, normalised(scale=scale, shift=shift)


def _cycles(tile: TileShape) -> float:
    programs = _programs(tile.site)[tile.site.node.op == "RMSNormalization" :]
    count = tile.site.output.shape[-1]
    return trips(tile, *tile.box) * (sum(run_cycles(program, count) for program in programs) + ROW)


def _values(call: Call) -> Mapping[str, object]:
    x, y, site = call.operands["X"], call.operands["Y"], call.site
    rows = walk(y.extents[:-1], {"X": x.strides[:-1], "Y": y.strides[:-1]}, "Y")
    outer = nest(rows, 0)
    scale, shift = _given(site)
    centred = site.node.op != "RMSNormalization"
    function = normalised(scale=scale, shift=shift).name
    given = [str(call.operands[name]) for name, has in (("Scale", scale), ("B", shift)) if has]
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "function": function,
        "scaled": scale,
        "shifted": shift,
        "centred": centred,
        "row": f"{function}_row_{'layer' if centred else 'rms'}",
        "arguments": "".join(f"{pointer}, " for pointer in given),
        "count": y.extents[-1],
        "x_step": x.strides[-1],
        "y_step": y.strides[-1],
        "epsilon": c_float(site.node.number("epsilon", EPSILON)),
    }


_ROW = c_template("${row}", "float_norm.c.mako")


def _source(values: Mapping[str, Any]) -> Sections:
    last = normalised(scale=values["scaled"], shift=values["shifted"])
    programs = (*((TOTAL,) if values["centred"] else ()), SQUARES, last)
    return (*(function_section(program) for program in programs), _ROW)


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
        source=_source,
        call="""\
% for line in nest:
${line}
% endfor
${row}(${count}, ${epsilon}, ${X}${at["X"]}, ${x_step}, ${arguments}${Y}${at["Y"]}, ${y_step});""",
        includes=("<stdint.h>", "<string.h>", "<math.h>"),
    )


KERNELS = (_kernel("LayerNormalization", "layer_normalization"), _kernel("RMSNormalization", "rms_normalization"))
