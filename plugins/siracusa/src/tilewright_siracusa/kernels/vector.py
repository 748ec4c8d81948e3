"""Knows how the cluster computes fully connected layers of a single row: channels one by one, so that cores and tiles
may share them in any number. Does not know layers of several rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, Matched, PartialSums, TileShape
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import trips, vector_cycles
from tilewright_siracusa.kernels.layers import ROUNDINGS, ProductLayer, layer_of
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.products import described
from tilewright_siracusa.kernels.sources import FINISH, c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

WORD = 4


def _match(site: Site) -> ProductLayer | str:
    rows = int(np.prod(site.input(0).shape[:-1]))
    return f"A has {rows} rows, not one" if rows != 1 else layer_of(site)


def _row_bytes(site: Site) -> int:
    return align_up(site.input(0).shape[-1], WORD)


def _whole(site: Site) -> bool:
    return site.input(0).shape[-1] % WORD == 0


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: ProductLayer = site.analysis
    weights = np.zeros((layer.outputs, _row_bytes(site)), np.int8)
    weights[:, : site.input(0).shape[-1]] = layer.weights[:, 0, 0]
    return {"W": weights, "P": np.stack([layer.bias.astype(np.int32), layer.scales.astype(np.int32)], axis=1)}


def _access(site: Site) -> Access:
    outputs = site.output.shape[-1]
    shapes = {"A": site.input(0).shape, "W": (outputs, _row_bytes(site)), "P": (outputs, 2), "Y": site.output.shape}
    row = "k" if _whole(site) else ":"
    return parse_map(f"n k : A[...,k] W[n,{row}] P[n,:] -> Y[...,n]").bind(shapes)


def _accumulates(site: Site) -> PartialSums | None:
    return PartialSums(loops=("k",), dtype=DType.I32) if _whole(site) else None


def _requires(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _cycles(tile: TileShape) -> float:
    depth = trips(tile, "k")
    return vector_cycles(trips(tile, "n"), depth, depth / tile.site.input(0).shape[-1])


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer: ProductLayer = site.analysis
    kind, limit = "us" if call.operands["A"].dtype is DType.U8 else "ss", limit_of(layer.requant, layer.reach)
    whole, part = _whole(site), call.is_part
    return {
        "function": f"tw_xp_vector_{'part_' if part else ''}{kind}_{limit}_{int(whole)}",
        "part": part,
        "acc": call.operands.get("acc", ""),
        "more": call.part_fields,
        "kind": kind,
        "limit": limit,
        "whole": whole,
        "outputs": call.operands["Y"].extents[-1],
        "depth": call.extents["k"],
        "row": call.operands["W"].strides[0],
        "to": limits(layer.requant, limit),
        "copy": "(uint8_t *)0" if whole else call.operands["scratch"],
    }


_ROWS = c_template("tw_xp_vector_rows_${kind}", "vector_rows.c.mako")
_VECTOR = c_template("${function}", "vector.c.mako", FINISH, _ROWS)

VECTOR = Kernel(
    name="siracusa.qgemm_row",
    code_stays=True,
    op="QGemm",
    target="siracusa",
    roundings=ROUNDINGS,
    match=_match,
    access=_access,
    requires=_requires,
    pack=_pack,
    scratch_bytes=lambda tile: 0 if _whole(tile.site) else _row_bytes(tile.site),
    multiples={"k": GRAIN},
    parallel=("n",),
    accumulates=_accumulates,
    cycles=_cycles,
    describe=lambda site: described(site.analysis),
    values=_values,
    source=(_VECTOR,),
    call="""\
${function}(${outputs}, ${depth}, ${row}, (tw_xp_limits)${to}, (const uint8_t *)${A}, (const uint8_t *)${W}, ${P},
    (uint8_t *)${Y}, ${copy}${", %s, %s, %s" % (acc, more["first"], more["last"]) if part else ""});""",
    includes=("<stdint.h>", "<string.h>"),
    rank=1,
)

KERNELS = (VECTOR,)
