"""Knows how a matrix product of one row is computed in parts of its reduction, with sums between them.
Does not know instructions, nor how weights are packed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.api.graph import DType
from tilewright.api.kernel import Call, Matched, PartialSums, TileShape
from tilewright.api.operator import Access, parse_map
from tilewright_cortexm.kernels.products import CALL, Rows, product_access

LOOP = "k"


def in_parts(site: Matched, grain: int) -> bool:
    """Whether parts of so many values, and their multiples, can be summed one after the other."""
    rows: Rows = site.analysis.rows
    return site.node.op == "QGemm" and rows.pixels == 1 and rows.length % grain == 0


def part_access(site: Matched, constants: Mapping[str, tuple[int, ...]], columns: int, grain: int) -> Access:
    """A in parts, where that is possible; all else as `product_access` says."""
    if not in_parts(site, grain):
        return product_access(site, constants, columns)
    a, y = site.input(0).shape, site.output.shape
    packed = " ".join(f"{name}[:]" for name in constants)
    text = f"{LOOP} : A[{', '.join((':',) * (len(a) - 1) + (LOOP,))}] {packed} -> Y[{', '.join(':' * len(y))}]"
    return parse_map(text).bind({"A": a, **constants, "Y": y})


def accumulates(site: Matched, grain: int) -> PartialSums | None:
    """Sums of 32 bits, of every output."""
    return PartialSums(loops=(LOOP,), dtype=DType.I32) if in_parts(site, grain) else None


def share(tile: TileShape) -> float:
    """How much of the reduction a tile computes."""
    rows: Rows = tile.site.analysis.rows
    return tile.extent(LOOP) / rows.length if LOOP in tile.box else 1.0


def part_values(call: Call) -> Mapping[str, object]:
    """What the call of a part needs: values from which on, how many, of how many."""
    if "acc" not in call.operands:
        return NO_PART
    a = call.operands["A"]
    return {
        "part": True,
        "acc": call.operands["acc"],
        "start": a.origin[-1],
        "count": a.extents[-1],
        "first": call.first,
        "last": call.last,
    }


NO_PART: Mapping[str, object] = MappingProxyType(
    {"part": False, **dict.fromkeys(("acc", "start", "count", "first", "last", "numbers"), 0)}  # Mako wants every name
)

PART_CALL = """\
${function}((const uint8_t *)${x}, ${W}, ${P}, (uint8_t *)${Y}, ${acc}, ${start}, ${count}, ${first}, ${last}, \
${numbers});
"""
GEMM_CALL = f"% if part:\n{PART_CALL}% else:\n{CALL}\n% endif"
