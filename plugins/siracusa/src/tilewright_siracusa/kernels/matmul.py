"""Knows how the cluster multiplies two tensors of bytes that are both computed: columns of B are packed in scratch.
Does not know products with constant weights, which are packed at compile time.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Layout, Requant, Site, row_major
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    Kernel,
    PartialSums,
    TileShape,
    broadcast_steps,
    nest,
    sum_bounds,
    walk,
    zero_points,
)
from tilewright_siracusa.kernels.costs import leading_trips, matmul_cycles, trips
from tilewright_siracusa.kernels.layers import BLOCK, BYTES, ROUNDINGS
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.shifts import ShiftWords, shift_words
from tilewright_siracusa.kernels.sources import DOT, FINISH, c_fragment, c_template

WORD = 4
MOST_DEPTH = 8192  # parts of a sum are added up in 32 bits


def _match(site: Site) -> AccumulatorBounds | str:
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i8 or u8"
    if len(zero_points(site.node, "b_zero_point")) > 1 or len(site.node.requant().scale) > 1:
        return "columns with zero points or scales of their own need constant weights (QGemm)"
    if 0 in site.input(0).shape or 0 in site.output.shape:
        return "has no elements"
    depth = site.input(0).shape[-1]
    if depth > MOST_DEPTH:
        return f"a sum has {depth} products; {MOST_DEPTH} are supported"
    bounds = sum_bounds(site)
    if bounds.bits > 32:
        return f"the accumulator needs {bounds.bits} bits; this kernel has 32"
    words = shift_words(site.node.requant(), bounds)
    return words if isinstance(words, str) else bounds


def _row_sums(site: Site) -> bool:
    """Whether a zero point of B makes sums of A's rows part of the result."""
    return bool(zero_points(site.node, "b_zero_point")[0])


def _whole(site: Site) -> bool:
    return site.input(0).shape[-1] % WORD == 0


def _scratch(tile: TileShape) -> int:
    site = tile.site
    words = ceil_div(tile.extent("k"), WORD)
    copies = 0 if _whole(site) else 2 * WORD * words
    sums = WORD * tile.extent("m") if _row_sums(site) else 0
    return BLOCK * WORD * words + copies + sums


def _cycles(tile: TileShape) -> float:
    depth = trips(tile, "k")
    finished = depth / tile.site.input(0).shape[-1]
    matrix = matmul_cycles(trips(tile, "m"), trips(tile, "n"), depth, finished, row_sums=_row_sums(tile.site))
    return leading_trips(tile) * matrix


def _requires(site: Site) -> Mapping[str, Layout]:
    tensors = {"A": site.input(0), "B": site.input(1), "Y": site.output}
    return {name: row_major(len(tensor.shape)) for name, tensor in tensors.items()}


def _values(call: Call) -> Mapping[str, object]:
    site, a, b, y = call.site, call.operands["A"], call.operands["B"], call.operands["Y"]
    node, requant, bounds = site.node, site.node.requant(), site.analysis
    reach = max(abs(bounds.lowest[0]), abs(bounds.highest[0])) * requant.scale[0]
    kind = "".join("s" if operand.dtype is DType.I8 else "u" for operand in (a, b))
    limit, whole, sums, part = limit_of(requant, reach), _whole(site), _row_sums(site), call.is_part
    acc = {"acc": call.operands["acc"].strides} if part else {}
    steps = {"A": broadcast_steps(a, y)[:-2], "B": broadcast_steps(b, y)[:-2], "Y": y.strides[:-2]}
    steps |= {name: own[:-2] for name, own in acc.items()}
    outer = nest(walk(y.extents[:-2], steps, "Y"), 0)
    return {
        "function": f"tw_xp_matmul_{'part_' if part else ''}{kind}_{limit}_{int(whole)}{int(sums)}",
        "part": part,
        "acc": f" {call.operands['acc']}{outer.offsets['acc']}," if part else "",
        "kind": kind,
        "weighted": False,
        "apart": False,
        "nibbles": False,
        "limit": limit,
        "whole": whole,
        "zero_sums": sums,
        "nest": outer.headers,
        "at": outer.offsets,
        "fields": {
            "rows": y.extents[-2],
            "columns": y.extents[-1],
            "depth": call.extents["k"],
            "a_row": a.strides[-2],
            "b_row": b.strides[-2],
            "y_row": y.strides[-2],
            "a_zero_point": node.integer("a_zero_point"),
            "b_zero_point": zero_points(site.node, "b_zero_point")[0],
            **_finish(requant, bounds),
            "to": limits(requant, limit),
            **({"acc_row": acc["acc"][-2], **call.part_fields} if part else {}),
        },
    }


def _finish(requant: Requant, bounds: AccumulatorBounds) -> dict[str, int]:
    """What finishes a sum: the bits of a scale, or the word of `shifts` and what moves sums before."""
    words = shift_words(requant, bounds)
    if isinstance(words, ShiftWords):
        return {"scale": int(words.words[0]), "moved": int(words.moved.astype(np.int32)[0])}
    return {"scale": struct.unpack("<i", struct.pack("<f", requant.scale[0]))[0]}


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=("k",), dtype=DType.I32)


_FIELDS, _PART_FIELDS, _PARTS = (c_fragment(name) for name in ("matmul.h", "matmul_part.h", "parts.h"))
_MATMUL = c_template("${function}", "matmul.c.mako", DOT, FINISH)

MATMUL = Kernel(
    name="siracusa.qmatmul",
    op="QMatMul",
    target="siracusa",
    roundings=ROUNDINGS,
    match=_match,
    requires=_requires,
    scratch_bytes=_scratch,
    multiples={"n": BLOCK, "k": GRAIN},
    parallel=("n", "m", "_lead0", "_lead1"),
    cycles=_cycles,
    accumulates=_accumulates,
    values=_values,
    source=lambda values: (*((_PART_FIELDS, _PARTS) if values["part"] else (_FIELDS,)), _MATMUL),
    call="""\
% for line in nest:
${line}
% endfor
${function}((tw_xp_matmul${"_part" if part else ""}){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${A}${at["A"]}, (const uint8_t *)${B}${at["B"]},${acc} (uint8_t *)${Y}${at["Y"]}, ${scratch});""",
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (MATMUL,)
