"""Knows how the cluster multiplies rows of bytes with constant matrices of bytes, QGemm, in the float unit.
Does not know which sums are exact.

A network's rows are few, so weights stay bytes: each is read once, and converted where it is multiplied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access, parse_map
from tilewright_snitch.kernels.byte_costs import gemm_cycles
from tilewright_snitch.kernels.byte_layers import ByteLayer, byte_products
from tilewright_snitch.kernels.byte_rounding import ROUNDINGS
from tilewright_snitch.kernels.conv import WINDOWS_FIELDS
from tilewright_snitch.kernels.integer_layers import row_fields
from tilewright_snitch.kernels.layers import trips
from tilewright_snitch.kernels.sources import c_fragment, c_template
from tilewright_snitch.machine import code_cycles

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

BLOCK = 4  # outputs beside each other
CODE_BYTES = 1100  # that products of one row execute


def _packed_shapes(layer: ByteLayer) -> dict[str, tuple[int, int]]:
    blocks = align_up(layer.outputs, BLOCK) // BLOCK
    return {"W": (blocks, layer.channels * BLOCK), "P": (blocks, 2 * BLOCK)}


def _pack(site: Matched) -> Mapping[str, Array]:
    """Of each four outputs: W, the element of every one in turn; P, biases and scales."""
    layer: ByteLayer = site.analysis
    shapes = _packed_shapes(layer)
    blocks, depth = shapes["W"][0], layer.channels
    weights = np.zeros((blocks * BLOCK, depth), np.int8)
    weights[: layer.outputs] = layer.weights[:, 0, :depth]
    parameters = np.zeros((2, blocks * BLOCK), np.float32)
    parameters[:, : layer.outputs] = layer.parameters
    return {
        "W": np.ascontiguousarray(weights.reshape(blocks, BLOCK, -1).swapaxes(1, 2)).reshape(shapes["W"]),
        "P": np.ascontiguousarray(parameters.reshape(2, blocks, BLOCK).swapaxes(0, 1)).reshape(shapes["P"]),
    }


def _match(site: Site) -> ByteLayer | str:
    layer = byte_products(site)
    if isinstance(layer, ByteLayer) and not -128 <= layer.weights.min() <= layer.weights.max() <= 127:
        return "weights minus their zero points do not fit 8 bits"
    return layer


def _access(site: Matched) -> Access:
    shapes = {"A": site.input(0).shape, "Y": site.output.shape, **_packed_shapes(site.analysis)}
    return parse_map(f"n : A[...,:] W[n//{BLOCK},:] P[n//{BLOCK},:] -> Y[...,n]").bind(shapes)


def _layouts(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _cycles(tile: TileShape) -> float:
    rows = trips(tile, *(name for name in tile.box if name != "n"))
    return gemm_cycles(rows, trips(tile, "n"), tile.site.analysis.channels)


def _describe(site: Matched) -> Mapping[str, object]:
    outputs = site.analysis.outputs
    return {"accumulator_bits": 32, "requant": {"channels": outputs, "exact": outputs}}


def _values(call: Call) -> Mapping[str, object]:
    a, requant = call.operands["A"].dtype, call.site.node.requant()
    return {
        "function": f"tw_sn_{a.value}_byte_products",
        "element": a.value,
        "stored": a.c_type,
        "fields": row_fields(call, call.site.analysis.channels),
        "row": {
            "outputs": call.operands["Y"].extents[-1],
            "zero_point": requant.zero_point,
            "low": requant.low,
            "high": requant.high,
        },
    }


_SOURCE = c_template("${function}", "byte_products.c.mako", *map(c_fragment, ("windows.h", "byte_rows.h")))
BYTES_FIELDS = """(tw_sn_bytes){
% for field, value in row.items():
    .${field} = ${value},
% endfor
}"""

GEMM = Kernel(
    name="snitch.qgemm_floats",
    roundings=ROUNDINGS,
    op="QGemm",
    target="snitch",
    match=_match,
    access=_access,
    requires=_layouts,
    pack=_pack,
    multiples={"n": BLOCK},
    parallel=("*",),
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    describe=_describe,
    values=_values,
    source=lambda values: (_SOURCE,),
    call=f"${{function}}(&{WINDOWS_FIELDS}, &{BYTES_FIELDS}, ${{A}}, ${{W}}, ${{P}}, (uint8_t *)${{Y}});",
    includes=("<stdint.h>",),
)

KERNELS = (GEMM,)
