"""Knows how the cluster multiplies matrices of float16 and bfloat16: by streams of float32, which weights are kept as.
Does not know the instructions of a block.

A row is widened into scratch, its results are rounded once: each element takes three instructions. Products that
expand (vfdotpex.s.h) would need neither; GVSoC gives them to the integer core, which has other registers, so that
neither streams nor repetition reach them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    TileShape,
    gemm_access,
    matmul_access,
    pack_gemm,
    pack_matmul,
)
from tilewright_riscv.floats.activation import activation
from tilewright_snitch.kernels.costs import products_cycles
from tilewright_snitch.kernels.layers import LANES_BYTES, NEAR, not_halves, trips
from tilewright_snitch.kernels.product_sections import INCLUDES, PRODUCTS, products_values
from tilewright_snitch.kernels.products import (
    CALL,
    computed_values,
    short_of_streams,
    weights_values,
)
from tilewright_snitch.kernels.sources import HALF_MODE, c_template, half_sections
from tilewright_snitch.machine import code_cycles

CODE_BYTES = 2700  # that a layer executes
AT_ONCE = 8  # rows
WIDEN_CYCLES, NARROW_CYCLES = 5.0, 5.0  # of an element
ROW_CYCLES = 60.0  # of a row, beside its elements
CALL_CYCLES = 150.0


def _match(site: Site) -> str | None:
    if site.constant(1) is None or (len(site.inputs) > 2 and site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if len(site.input(1).shape) != 2:
        return "B is not a constant matrix"
    return not_halves(site) or short_of_streams(site.input(0).shape[-1], DType.F32)


def _rows(tile: TileShape) -> int:
    return trips(tile, *(name for name in tile.box if name not in ("n", "k")))


def _scratch(tile: TileShape) -> int:
    rows = min(_rows(tile), AT_ONCE)
    return LANES_BYTES + 4 * rows * (tile.site.input(0).shape[-1] + trips(tile, "n"))


def _cycles(tile: TileShape) -> float:
    site, rows, outputs = tile.site, _rows(tile), trips(tile, "n")
    depth, clip = site.input(0).shape[-1], ("none", "low", "both").index(activation(site)[0])
    bias = len(site.inputs) > 2 and site.has_input(2)
    total = rows * (ROW_CYCLES + WIDEN_CYCLES * depth + NARROW_CYCLES * outputs)
    for together, count in ((AT_ONCE, rows // AT_ONCE), (rows % AT_ONCE, int(rows % AT_ONCE > 0))):
        total += count * (CALL_CYCLES + products_cycles(together, outputs, depth, double=False, bias=bias, clip=clip))
    return total


def _match_computed(site: Site) -> str | None:
    if min(len(site.input(0).shape), len(site.input(1).shape)) < 2:
        return "an operand is a vector"
    return not_halves(site) or short_of_streams(site.input(0).shape[-1], DType.F32)


def _computed_scratch(tile: TileShape) -> int:
    rows = min(_rows(tile), AT_ONCE)  # of all matrices: those that are multiplied by the same one may be one
    return LANES_BYTES + 4 * (rows + AT_ONCE) * tile.site.input(0).shape[-1] + 4 * rows * AT_ONCE


def _computed_cycles(tile: TileShape) -> float:
    """Columns are widened for every so many rows."""
    site, rows, outputs = tile.site, trips(tile, "m"), trips(tile, "n")
    matrices = trips(tile, *(name for name in tile.box if name not in ("m", "n", "k")))
    depth, clip = site.input(0).shape[-1], ("none", "low", "both").index(activation(site)[0])
    total = rows * (ROW_CYCLES + WIDEN_CYCLES * depth)
    for together, count in ((AT_ONCE, rows // AT_ONCE), (rows % AT_ONCE, int(rows % AT_ONCE > 0))):
        for width, blocks in ((AT_ONCE, outputs // AT_ONCE), (outputs % AT_ONCE, int(outputs % AT_ONCE > 0))):
            widened = width * (ROW_CYCLES + WIDEN_CYCLES * depth) + together * (ROW_CYCLES + NARROW_CYCLES * width)
            products = products_cycles(together, width, depth, double=False, bias=False, clip=clip)
            total += count * blocks * (CALL_CYCLES + widened + products)
    return matrices * total


def _computed_values(call: Call) -> Mapping[str, object]:
    """Results are dense, whatever the output is."""
    values, kind = computed_values(call), call.site.output.dtype.value
    own = products_values(call.site, bias=False, dense=True)
    function = f"{own['name']}_{kind}_computed"
    return {**values, **own, "kind": kind, "function": function, "called": function, "at_once": AT_ONCE}


def _values(call: Call) -> Mapping[str, object]:
    values, kind = weights_values(call), call.site.output.dtype.value
    function = f"{values['name']}_{kind}"
    return {**values, "kind": kind, "function": function, "called": function, "at_once": AT_ONCE}


def _source(values: Mapping[str, object]) -> CodeFragments:
    return (*half_sections(str(values["kind"])), HALF_PRODUCTS)


HALVES = c_template("tw_sn_${kind}_widen", "halves.c.mako", HALF_MODE)
HALF_MATRICES = c_template("${function}", "half_matrices.c.mako", HALVES, PRODUCTS)
HALF_PRODUCTS = c_template("${function}", "half_products.c.mako", HALVES, PRODUCTS)

GEMM = Kernel(
    name="snitch.gemm_halves",
    op="Gemm",
    target="snitch",
    match=_match,
    access=gemm_access,
    pack=pack_gemm,
    scratch_bytes=_scratch,
    memories={"A": NEAR, "B": NEAR},
    parallel=("*",),
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=_source,
    call=CALL,
    includes=INCLUDES,
)

MATMUL = Kernel(
    name="snitch.matmul_halves",
    op="MatMul",
    target="snitch",
    match=_match,
    access=matmul_access,
    pack=pack_matmul,
    scratch_bytes=_scratch,
    memories={"A": NEAR, "B": NEAR},
    parallel=("m", "n"),
    cycles=_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=_values,
    source=_source,
    call=CALL,
    includes=INCLUDES,
)

MATMUL_COMPUTED = Kernel(
    name="snitch.matmul_computed_halves",
    op="MatMul",
    target="snitch",
    match=_match_computed,
    scratch_bytes=_computed_scratch,
    memories={"A": NEAR, "B": NEAR},
    parallel=("m", "n"),
    cycles=_computed_cycles,
    step_cycles=code_cycles(CODE_BYTES),
    values=_computed_values,
    source=lambda values: (*half_sections(str(values["kind"])), HALF_MATRICES),
    call=CALL,
    includes=INCLUDES,
)

KERNELS = (GEMM, MATMUL, MATMUL_COMPUTED)
