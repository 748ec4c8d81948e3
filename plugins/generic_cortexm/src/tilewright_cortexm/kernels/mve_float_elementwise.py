"""Knows how Helium adds, subtracts, multiplies and limits floats element by element, four at a time.
Does not know how operands broadcast. Rows whose elements are not neighbours are computed one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape, elementwise_walk, nest
from tilewright_cortexm.kernels.elementwise import INPUTS, NEST, in_place
from tilewright_cortexm.kernels.float_products import clip_of, limits
from tilewright_cortexm.kernels.mve_elementwise import run_of
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operator:
    """What is computed: `instruction` and `symbol` of two inputs, nothing of one."""

    inputs: tuple[str, ...]
    instruction: str = ""
    symbol: str = ""


_OPERATORS = MappingProxyType(
    {
        "Add": _Operator(inputs=INPUTS, instruction="vadd.f32", symbol="+"),
        "Sub": _Operator(inputs=INPUTS, instruction="vsub.f32", symbol="-"),
        "Mul": _Operator(inputs=INPUTS, instruction="vmul.f32", symbol="*"),
        "Clip": _Operator(inputs=("X",)),
    }
)
_ENDS = (("min", "low"), ("max", "high"))
_ROW = 9.0  # instructions of a row
_LIMITS = MappingProxyType({"none": 0, "low": 2, "both": 4})


def _match(site: Site) -> str | None:
    floats = all(tensor.dtype is DType.F32 for tensor in (*site.inputs, site.output) if tensor is not None)
    return None if floats and site.output.elements else "is not all of float32, or has no elements"


def _clipped(site: Site) -> Site:
    """The same, with the limits of a Clip as those of an activation that is fused."""
    if site.node.op != "Clip":
        return site
    attributes = {f"clip_{to}": value for name, to in _ENDS if (value := site.node.attributes.get(name)) is not None}
    return replace(site, node=replace(site.node, attributes=attributes))


def _instructions(tile: TileShape) -> float:
    site = tile.site
    inputs, elements = _OPERATORS[site.node.op].inputs, tile_elements(tile)
    run = run_of(site) if len(inputs) > 1 else site.output.elements
    loads = sum(tensor is not None and tensor.elements > 1 for tensor in site.inputs)
    each = loads + len(inputs) - 1 + 2 + _LIMITS[clip_of(_clipped(site))]
    return elements * each / 4 + _ROW * elements / run + 20


def _values(call: Call) -> Mapping[str, object]:
    op = call.site.node.op
    operator, clipped = _OPERATORS[op], _clipped(call.site)
    clip = clip_of(clipped)
    walk = elementwise_walk(call.operands, "Y", operator.inputs)
    steps = {name: moves[-1] for name, moves in walk.steps.items()}
    outer, operands = nest(walk, 1), (*operator.inputs, "Y")
    one_value = [name.lower() for name in operator.inputs if steps[name] == 0]
    vector = steps["Y"] == 1 and all(step in (0, 1) for step in steps.values())
    kind = (op.lower(), clip, *(f"one_{name}" for name in one_value), *(() if vector else ("apart",)))
    return {
        "function": f"tw_mve_float_{'_'.join(kind)}",
        "inputs": [name.lower() for name in operator.inputs],
        "one_value": one_value,
        "vector": vector,
        "instruction": operator.instruction,
        "symbol": operator.symbol,
        "clip": clip,
        "nest": outer,
        "count": walk.extents[-1],
        "steps": ", ".join(str(steps[name]) for name in operands),
        "pointers": ", ".join(f"{call.operands[name]}{outer.offsets[name]}" for name in operands),
        **limits(clipped),
    }


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    return (("X", "Y"),) if site.node.op == "Clip" else in_place(site)


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"cortex-m.mve.{op.lower()}_f32",
        op=op,
        target="cortex-m",
        engine="mve",
        match=_match,
        in_place=_in_place,
        instructions=_instructions,
        values=_values,
        source=(c_template("${function}", "mve_float_elementwise.c.mako"),),
        call=NEST + "${function}(${count}, ${steps}, ${pointers}, ${low}, ${high});",
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = tuple(_kernel(op) for op in _OPERATORS)
