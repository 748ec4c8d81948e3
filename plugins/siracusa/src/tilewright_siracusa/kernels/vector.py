"""Knows how the cluster computes fully connected layers of a single row: channels one by one, so that cores and tiles
may share them in any number. Does not know layers of several rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, Matched, PartialSums, TileShape
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import trips, vector_cycles
from tilewright_siracusa.kernels.layers import ROUNDINGS, ProductLayer, layer_of
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.nibbles import BITS, nibble_biases, nibble_bytes, nibbles_of
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.products import described
from tilewright_siracusa.kernels.sources import FINISH, c_fragment, c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

WORD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A layer, and how many channels share each row of its weights: two where they have 4 bits, see `nibbles`."""

    layer: ProductLayer
    shared: int

    @property
    def nibbles(self) -> bool:
        """Whether weights have 4 bits."""
        return self.shared > 1


def _match(site: Site) -> Row | str:
    layer = _several(site) or layer_of(site)
    return layer if isinstance(layer, str) else Row(layer=layer, shared=1)


def _match_nibbles(site: Site) -> Row | str:
    layer = _several(site) or nibbles_of(site)
    return layer if isinstance(layer, str) else Row(layer=layer, shared=2)


def _several(site: Site) -> str | None:
    rows = int(np.prod(site.input(0).shape[:-1]))
    return f"A has {rows} rows, not one" if rows != 1 else None


def _row_bytes(site: Site) -> int:
    return align_up(site.input(0).shape[-1], WORD)


def _whole(site: Site) -> bool:
    return site.input(0).shape[-1] % WORD == 0


def _pack(site: Matched) -> Mapping[str, Array]:
    row: Row = site.analysis
    layer = row.layer
    weights = np.zeros((layer.outputs, _row_bytes(site)), np.int8)
    weights[:, : site.input(0).shape[-1]] = layer.weights[:, 0, 0]
    if row.nibbles:
        weights, layer = nibble_bytes(weights), replace(layer, bias=nibble_biases(layer.bias))
    return {"W": weights, "P": np.stack([layer.bias.astype(np.int32), layer.scales.astype(np.int32)], axis=1)}


def _access(site: Matched) -> Access:
    shared, outputs = site.analysis.shared, site.output.shape[-1]
    stored = {"W": (ceil_div(outputs, shared), _row_bytes(site)), "P": (outputs, 2)}
    shapes = {"A": site.input(0).shape, **stored, "Y": site.output.shape}
    at, row = "n" if shared == 1 else f"n//{shared}", "k" if _whole(site) else ":"
    return parse_map(f"n k : A[...,k] W[{at},{row}] P[n,:] -> Y[...,n]").bind(shapes)


def _accumulates(site: Site) -> PartialSums | None:
    return PartialSums(loops=("k",), dtype=DType.I32) if _whole(site) else None


def _requires(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _cycles(tile: TileShape) -> float:
    depth = trips(tile, "k")
    share = depth / tile.site.input(0).shape[-1]
    return vector_cycles(trips(tile, "n"), depth, share, nibbles=tile.site.analysis.nibbles)


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer, nibbles = site.analysis.layer, site.analysis.nibbles
    kind, limit = "us" if call.operands["A"].dtype is DType.U8 else "ss", limit_of(layer.requant, layer.reach)
    whole, part = _whole(site), call.is_part
    return {
        "function": f"tw_xp_vector_{'nibbles_' if nibbles else ''}{'part_' if part else ''}{kind}_{limit}_{int(whole)}",
        "nibbles": nibbles,
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


def _describe(site: Matched) -> Mapping[str, object]:
    row: Row = site.analysis
    return {**described(row.layer), **({"weight_bits": BITS} if row.nibbles else {})}


_ROWS = c_template("tw_xp_vector_rows_${kind}${'_nibbles' if nibbles else ''}", "vector_rows.c.mako")
_VECTOR = c_template("${function}", "vector.c.mako", FINISH, _ROWS)

_NIBBLES = c_fragment("nibbles.h")

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
    describe=_describe,
    values=_values,
    source=lambda values: (*((_NIBBLES,) if values["nibbles"] else ()), _VECTOR),
    call="""\
${function}(${outputs}, ${depth}, ${row}, (tw_xp_limits)${to}, (const uint8_t *)${A}, (const uint8_t *)${W}, ${P},
    (uint8_t *)${Y}, ${copy}${", %s, %s, %s" % (acc, more["first"], more["last"]) if part else ""});""",
    includes=("<stdint.h>", "<string.h>"),
    rank=1,
)

VECTOR_NIBBLES = replace(
    VECTOR,
    name=f"{VECTOR.name}_nibbles",
    match=_match_nibbles,
    weight_bits=(BITS,),
    multiples={"n": 2, "k": GRAIN},
)
KERNELS = (VECTOR, VECTOR_NIBBLES)
