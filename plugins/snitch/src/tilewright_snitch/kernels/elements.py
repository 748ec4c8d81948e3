"""Knows how the cluster computes floats element by element by streams: sums, differences, products, and limits.
Does not know the instructions of a repetition.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd, prod
from types import MappingProxyType

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, TileShape, elementwise_walk, nest
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels import blocks
from tilewright_snitch.kernels.costs import LIMIT_CYCLES, PACKED_LIMIT_CYCLES
from tilewright_snitch.kernels.layers import NEAR, WORD_KINDS, element_texts, not_floats, not_halves
from tilewright_snitch.kernels.product_sections import INCLUDES
from tilewright_snitch.kernels.sources import HALF_MODE, c_fragment, c_template, half_sections
from tilewright_snitch.machine import code_cycles
from tilewright_snitch.portable import portable_cycles

_EXPRESSIONS: Mapping[str, str] = MappingProxyType({"Add": "a + b", "Sub": "a - b", "Mul": "a * b", "Clip": "a"})
CODE_BYTES = 800  # that a layer executes, in whole runs or with a rest
CALL_CYCLES, SETUP_CYCLES, ROW_CYCLES = 60.0, 110.0, 200.0
HALF_CYCLES = 110.0  # of a set-up for floats of 16 bits: limits are spread, marks looked at, the format is said
SHARED = ("_lead1", "_lead3", "_lead0", "*")  # among cores: channels last of all, whose neighbours a stream brings
STREAMED = 4  # words of a stream in a repetition with a clip


def _clip(site: Site) -> tuple[str, Mapping[str, str]]:
    return activation(site, ("min", "max")) if site.node.op == "Clip" else activation(site)


def _match(site: Site) -> str | None:
    refused = not_floats(site) if not_halves(site) else None
    if refused is None and site.node.op == "Clip" and _clip(site)[0] == "none":
        return "has no limits"
    return refused


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Not where something is clipped: what was no number is computed again."""
    if _clip(site)[0] != "none":
        return ()
    same = (
        name for name, tensor in zip("AB", site.inputs, strict=True) if tensor and tensor.shape == site.output.shape
    )
    return tuple((name, "Y") for name in same)


def _words(site: Site) -> int:
    """Of the output, in a repetition."""
    return 1 if _clip(site)[0] == "none" else STREAMED


def _each(site: Site, operands: int) -> float:
    """Cycles of an element: its instructions, or what `operands` streams read through the core's one port."""
    clip, lanes = ("none", "low", "both").index(_clip(site)[0]), 8 // site.output.dtype.size_bytes
    limits = clip * (LIMIT_CYCLES if lanes == 1 else PACKED_LIMIT_CYCLES)
    each = limits + (operands if clip == 0 or site.node.op == "Clip" else 2)
    return each / lanes


def _inner(site: Site) -> int:
    """Axes at the end over which no operand, or one from its start to its end, is a single value."""
    shape = site.output.shape
    full = [(1,) * (len(shape) - len(own.shape)) + own.shape for own in site.inputs if own is not None]
    kinds = [tuple(own[axis] == extent for own in full) for axis, extent in enumerate(shape)]
    return next((count for count, kind in enumerate(reversed(kinds)) if kind != kinds[-1]), len(shape))


def _cycles(tile: TileShape) -> float:
    """Rows in which an operand is one value have a set-up each; streams bring those that begin with a word."""
    site = tile.site
    extents = [span.extent for span in tile.access.window("Y", tile.box)]
    inner = _inner(site)
    scalar = any(prod(own.shape[-inner:]) == 1 < prod(extents[-inner:]) for own in site.inputs if own is not None)
    operands = len(site.inputs) - scalar
    lines, together = prod(extents[: len(extents) - inner]), not scalar and inner < len(extents)
    near = gcd(prod(extents[len(extents) - inner :]) * site.output.dtype.size_bytes, 8) / 8 if lines > 1 else 1.0
    rows = lines / extents[-inner - 1] if together and near == 1 else lines
    setup = (ROW_CYCLES if scalar else SETUP_CYCLES) + HALF_CYCLES * site.output.dtype.is_half
    plain = (portable_cycles(site) or 0.0) / max(site.output.elements, 1)  # rows that begin inside a word
    return CALL_CYCLES + rows * setup + prod(extents) * (near * _each(site, operands) + (1 - near) * plain)


def _values(call: Call) -> Mapping[str, object]:
    site, dtype = call.site, call.site.output.dtype
    (clip, limits), op = _clip(site), site.node.op.lower()
    names = tuple(name for name in call.operands if name not in ("Y", "scratch"))
    loops = elementwise_walk(call.operands, "Y", names)
    inputs = ("a", "b")[: len(names)]
    register = next((own for own, name in zip(inputs, names, strict=True) if loops.steps[name][-1] == 0), "")
    together = 1 if register or loops.depth == 1 else 2
    outer = nest(loops, together)
    fields: dict[str, object] = {"rows": loops.extents[-2] if together == 2 else "1", "count": loops.extents[-1]}
    for own, name in zip((*inputs, "y"), (*names, "Y"), strict=True):
        fields |= {f"{own}_row": loops.steps[name][-2] if together == 2 else 0, f"{own}_step": loops.steps[name][-1]}
    return {
        "function": f"tw_sn_{dtype.value}_{op}_{clip}{f'_{register}' if register else ''}",
        **element_texts(dtype),
        "clip": clip,
        "expression": _EXPRESSIONS[site.node.op],
        "inputs": inputs,
        "register": register,
        "body": blocks.element_lines(op, clip, register, kind=WORD_KINDS[dtype]),
        "words": _words(site),
        "repeat": int(op == "clip"),
        "marks": blocks.MARKS,
        "zero": blocks.ZERO,
        "limits": blocks.LIMITS,
        "value": blocks.VALUE,
        "clobbered": ("ft0", "ft1", "ft2", *blocks.SUMS[:STREAMED]),
        "low": limits["low"],
        "high": limits["high"],
        "nest": outer.headers,
        "fields": fields,
        "pointers": ", ".join(f"{call.operands[name]}{outer.offsets[name]}" for name in (*names, "Y")),
    }


def _source(values: Mapping[str, object]) -> CodeFragments:
    if values["stored"] == values["type"]:
        return (c_template("${function}", "elements.c.mako", c_fragment("streams.h")),)
    return (*half_sections(str(values["kind"])), c_template("${function}", "elements.c.mako", HALF_MODE))


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"snitch.{op.lower()}",
        op=op,
        target="snitch",
        match=_match,
        in_place=_in_place,
        memories=dict.fromkeys(("X", "Y") if op == "Clip" else ("A", "B", "Y"), NEAR),
        parallel=SHARED,
        cycles=_cycles,
        step_cycles=code_cycles(CODE_BYTES),
        values=_values,
        source=_source,
        call="""\
% for line in nest:
${line}
% endfor
${function}((${function}_rows){
% for field, value in fields.items():
    .${field} = ${value},
% endfor
}, ${low}, ${high}, ${pointers});""",
        includes=INCLUDES,
    )


KERNELS = tuple(_kernel(op) for op in _EXPRESSIONS)
