"""Knows how the cluster computes convolutions and fully connected layers: two pixels times four channels per step.
Does not know depthwise convolutions.

Where the bytes of a tap are a multiple of four, windows are read where they are, and taps that lie outside from one
word of padding; otherwise every window is copied into a column first, in scratch of the core. Where they are, windows
may be computed in parts, channels and rows of taps apart: sums are kept from part to part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tilewright.api.graph import DType, Layout, Site, channels_last, row_major
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Kernel,
    Matched,
    Operand,
    PartialSums,
    TileShape,
    image_fields,
    tap_fields,
    windows_of,
)
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import (
    apart_cycles,
    column_cycles,
    layer_edges,
    leading_trips,
    products_cycles,
    trips,
)
from tilewright_siracusa.kernels.forms import MOST_RUNS, WORD, Form, form_of
from tilewright_siracusa.kernels.layers import BLOCK, ROUNDINGS, ProductLayer, layer_of
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.nibbles import BITS, nibbles_of
from tilewright_siracusa.kernels.packing import needs_padding, pack, packed_shapes
from tilewright_siracusa.kernels.parts import GRAIN, always, image_sums
from tilewright_siracusa.kernels.sources import DOT, FINISH, TOTALS, WORD_FINISH, c_fragment, c_template
from tilewright_siracusa.kernels.strip_costs import copying_cycles
from tilewright_siracusa.kernels.windows import WINDOWS_CALL, pad_word
from tilewright_siracusa.kernels.words import VALUE_BYTES, in_bytes, word_finish, words_of

MOST_LEADING = 3  # axes of a fully connected layer's rows


def match_products(site: Site) -> Form | str:
    """The form of a convolution without groups or of a fully connected layer, or why it has none."""
    reason = _unsupported(site)
    layer = reason or layer_of(site)
    return layer if isinstance(layer, str) else form_of(layer)


def _match_nibbles(site: Site) -> Form | str:
    reason = _unsupported(site)
    layer = reason or nibbles_of(site)
    return layer if isinstance(layer, str) else form_of(layer, nibbles=True)


def _match_words(site: Site) -> Form | str:
    reason = _unsupported(site)
    layer = reason or words_of(site)
    return layer if isinstance(layer, str) else form_of(layer, value_bytes=VALUE_BYTES)


def _unsupported(site: Site) -> str | None:
    if site.node.op == "QConv":
        return "has more than one group" if site.node.integer("group", 1) != 1 else None
    leading = len(site.input(0).shape) - 1
    return f"A has {leading} axes of rows; {MOST_LEADING} are supported" if leading > MOST_LEADING else None


def _conv_access(site: Matched) -> Access:
    return conv_map(site, "", "Y")


def conv_map(site: Matched, more: str, output: str) -> Access:
    """Of a convolution that also reads as many values as it writes, where `more` names them."""
    windows = windows_of(site.node)
    outs, taps = windows.output_loops, windows.tap_loops
    written = f"[n,o,{','.join(outs)}]"
    inner = f"{','.join(taps)},c//{WORD // site.analysis.value_bytes},:" if site.analysis.direct else ":"
    text = (
        f"n o {' '.join(outs)} c {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,c,{','.join(windows.map_indices())}] W[o//{BLOCK},{inner}] P[o//{BLOCK},:] Z[c//{GRAIN},:] "
        f"{more and more + written} -> {output}{written}"
    )
    shapes = {"X": site.input(0).shape, output: site.output.shape, **packed_shapes(site)}
    shapes |= {more: site.output.shape} if more else {}
    return parse_map(text).bind(shapes, windows.map_values())


def _gemm_access(site: Matched) -> Access:
    shapes = {"A": site.input(0).shape, "Y": site.output.shape, **packed_shapes(site)}
    inner = f"k//{WORD // site.analysis.value_bytes},:" if site.analysis.direct else ":"
    return parse_map(f"n k : A[...,k] W[n//{BLOCK},{inner}] P[n//{BLOCK},:] -> Y[...,n]").bind(shapes)


def _accumulates(site: Matched) -> PartialSums | None:
    form: Form = site.analysis
    if not form.direct or form.taps[0] * form.taps[1] > MOST_RUNS:
        return None
    loops = {"QGemm": ("k",), "QConv": ("c", "y") if len(site.output.shape) == 4 else ("c",)}
    return PartialSums(loops=loops[site.node.op], dtype=DType.I32)


def _scratch(tile: TileShape) -> int:
    form: Form = tile.site.analysis
    return 0 if form.direct else 2 * form.strip_bytes(form.strip_windows)


def conv_cycles(tile: TileShape) -> float:
    """Of one core, for a convolution."""
    form: Form = tile.site.analysis
    layer, pixels, outputs = form.layer, trips(tile, "n", "h", "w"), trips(tile, "o")
    rows, columns = form.taps
    edges = layer_edges(tile.site, layer.windows)
    if not form.direct:
        copying = copying_cycles(
            layer.windows,
            max(1, min(form.strip_windows, trips(tile, "h"))),
            form.run_bytes,
            outside=edges.columns,
            joined=form.joined,
            padded=layer.padded,
        )
        words = form.column_bytes // WORD
        return column_cycles(pixels, outputs, words, copying) + _apart_cycles(form, pixels, outputs, words)
    some, tap = trips(tile, "y"), form.value_bytes * trips(tile, "c")  # of this part; one axis has one row of taps
    words, finished = some * columns * tap // WORD, some * tap / (rows * form.tap_bytes)
    beside, above = (edges.columns, edges.row_pairs) if trips(tile, "h") > 1 else (edges.pairs, edges.rows)
    apart = beside if form.joined else 1.0  # pairs whose taps are read one by one
    runs = some * (columns * apart + 1 - apart)
    pointers = 2 * some * (columns * apart + above * (1 - apart)) if layer.padded or not form.joined else 0
    products = products_cycles(pixels, outputs, words, runs, pointers, bool(pointers), finished)
    return products + _apart_cycles(form, pixels, outputs, words, runs)


def _gemm_cycles(tile: TileShape) -> float:
    form: Form = tile.site.analysis
    rows, outputs, words = leading_trips(tile), trips(tile, "n"), form.column_bytes // WORD
    if not form.direct:
        return column_cycles(rows, outputs, words, form.tap_bytes) + _apart_cycles(form, rows, outputs, words)
    depth = form.value_bytes * trips(tile, "k")
    products = products_cycles(rows, outputs, depth // WORD, 1, 0, False, depth / form.tap_bytes)
    return products + _apart_cycles(form, rows, outputs, depth // WORD)


def _apart_cycles(form: Form, pixels: int, outputs: int, words: int, runs: float = 1) -> float:
    return apart_cycles(pixels, outputs, words, runs) if form.shared else 0.0


def _conv_layouts(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _gemm_layouts(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def described(layer: ProductLayer) -> dict[str, object]:
    """What the report says of a layer's arithmetic."""
    return {"accumulator_bits": 32, "requant": {"channels": layer.outputs, "exact": layer.outputs}}


def describe(site: Matched) -> Mapping[str, object]:
    """What the report says of a layer."""
    form: Form = site.analysis
    bits = {"weight_bits": BITS} if form.nibbles else {}
    return {**described(form.layer), **bits, "windows": "in place" if form.direct else "copied to columns"}


def conv_values(call: Call) -> Mapping[str, object]:
    """What the call of a convolution is written with."""
    more: dict[str, object] = {}
    if call.is_part:
        w = call.operands["W"]
        more = {**call.part_fields, "w_tap": w.strides[-3], "w_block": w.strides[0], **image_sums(call)}
    rows = call.extents.get("y", "1") if len(call.operands["Y"].shape) == 4 else "1"
    return _values(call, call.operands["X"], {**image_fields(call), "row_taps": rows}, call.extents["c"], more)


def _gemm_values(call: Call) -> Mapping[str, object]:
    a, y = call.operands["A"], call.operands["Y"]
    lead, part = MOST_LEADING - (len(y.shape) - 1), call.is_part
    extents = ("1",) * lead + y.extents[:-1]
    a_steps, y_steps = (0,) * lead + a.strides[:-1], (0,) * lead + y.strides[:-1]
    more: dict[str, object] = {}
    if part:
        w, sums = call.operands["W"], (0,) * lead + call.operands["acc"].strides[:-1]
        more = {**call.part_fields, "w_tap": w.strides[0], "w_block": w.strides[0]}
        more |= dict(zip(("acc_batch", "acc_row", "acc_column"), sums, strict=True))
    rows = {
        "batches": extents[0],
        "rows": extents[1],
        "columns": extents[2],
        "outputs": y.extents[-1],
        "in_rows": extents[1],
        "in_columns": extents[2],
        "top": 0,
        "left": 0,
        "x_batch": a_steps[0],
        "x_row": a_steps[1],
        "x_column": a_steps[2],
        "y_batch": y_steps[0],
        "y_row": y_steps[1],
        "y_column": y_steps[2],
    }
    return _values(call, a, {**rows, "row_taps": 1}, call.extents["k"], more)


def _values(
    call: Call, x: Operand, image: Mapping[str, object], channels: str, more: Mapping[str, object]
) -> Mapping[str, object]:
    """`more` has the fields of `tw_xp_part` where the call computes a part."""
    form: Form = call.site.analysis
    layer, windows, part = form.layer, form.layer.windows, bool(more)
    together = form.joined and (not part or _joined(call, form, channels))
    edges = layer.padded or together is not True
    runs = form.taps[0] * form.taps[1] if part and edges else form.runs if form.direct else 1
    kind = {DType.U8: "us", DType.I16: "hh"}.get(x.dtype, "ss")
    limit, to = _finish(form)
    return {
        "function": f"tw_xp_products_{'nibbles_' * form.nibbles}{kind}_{limit}_{_read(form, part, edges, runs)}",
        "nibbles": form.nibbles,
        "limit": limit,
        "kind": kind,
        "direct": form.direct,
        "run": form.run_bytes,
        "pitch": form.pitch_bytes,
        "most": form.strip_windows,
        "strip_bytes": form.strip_bytes(form.strip_windows),
        "edges": edges,
        "runs": runs,
        "part": part,
        "apart": part,
        "summed": "",
        "more": more,
        "acc": call.operands.get("acc", ""),
        "fields": {
            **tap_fields(windows),
            **(in_bytes(image) if form.value_bytes > 1 else image),
            "channels": _bytes(form, channels) if form.direct else form.tap_bytes,
            "joined": int(together) if isinstance(together, bool) else together,
            "column": form.column_bytes,
            "padding": pad_word(layer.pad, form.value_bytes),
            "to": to,
        },
        "x": x,
        "behind": call.operands["Z"] if needs_padding(form) else _last(call, form),
    }


def _finish(form: Form) -> tuple[str, str]:
    """How sums become results, as a part of a C name, and a `tw_xp_limits` initialiser."""
    requant = form.layer.requant
    if form.value_bytes > 1:
        return word_finish(requant)
    limit = limit_of(requant, form.layer.reach)
    return limit, limits(requant, limit)


def _bytes(form: Form, channels: str) -> str:
    return channels if form.value_bytes == 1 else f"{form.value_bytes} * ({channels})"


def _read(form: Form, part: bool, edges: bool, runs: int) -> str:
    """How windows are read, as a part of a C name."""
    if form.direct:
        return f"{'part' if part else 'direct'}_{int(edges)}_{runs}"
    windows = form.strip_windows
    return f"columns_{int(edges)}_{form.run_bytes}_{form.pitch_bytes}_{windows}_{form.strip_bytes(windows)}"


def _joined(call: Call, form: Form, channels: str) -> bool | str:
    """Whether a part's taps of a row are neighbours, among values and among weights; C where only the program knows."""
    if form.taps[1] == 1:
        return True
    w_tap, x_tap = call.operands["W"].strides[-3], call.operands["X"].strides[-1]
    if WORD * w_tap != form.weight_bytes * form.value_bytes * x_tap:
        return False
    known = always(channels, str(x_tap))
    return f"{channels} == {x_tap}" if known is None else known


def _last(call: Call, form: Form) -> object:
    return "(const uint8_t *)0" if form.direct else call.operands["scratch"]


_PRODUCTS, _WORDS = (c_template("${function}", "products.c.mako", DOT, finish) for finish in (FINISH, WORD_FINISH))


def source(values: Mapping[str, Any]) -> CodeFragments:
    """What calls need at file scope."""
    pixel = ("part_pixel.h", "parts.h") if values["part"] else ("pixel.h",)
    taps = ("taps.h",) if values["direct"] and values["edges"] else ()
    words = values["kind"] == "hh"
    needs = (c_fragment("words.h" if words else "nibbles.h"), TOTALS) if words or values["nibbles"] else ()
    return (*(c_fragment(name) for name in (*pixel, *taps)), *needs, _WORDS if words else _PRODUCTS)


_CALL = WINDOWS_CALL.format(
    arguments="""\\
% if part:
(tw_xp_part){
% for name, value in more.items():
    .${name} = ${value},
% endfor
}, ${acc}, \\
% endif
(const uint8_t *)${x}, (const uint8_t *)${W}, ${P}, (uint8_t *)${Y}, ${behind}"""
)


CONV = Kernel(
    name="siracusa.qconv",
    op="QConv",
    target="siracusa",
    roundings=ROUNDINGS,
    match=match_products,
    access=_conv_access,
    requires=_conv_layouts,
    pack=pack,
    scratch_bytes=_scratch,
    multiples={"o": BLOCK, "c": GRAIN},
    parallel=("h", "w", "o", "n"),
    cycles=conv_cycles,
    describe=describe,
    values=conv_values,
    accumulates=_accumulates,
    source=source,
    call=_CALL,
    includes=("<stdint.h>", "<string.h>"),
)

GEMM = Kernel(
    name="siracusa.qgemm",
    op="QGemm",
    target="siracusa",
    roundings=ROUNDINGS,
    match=match_products,
    access=_gemm_access,
    requires=_gemm_layouts,
    pack=pack,
    scratch_bytes=_scratch,
    multiples={"n": BLOCK, "k": GRAIN},
    parallel=("*",),
    cycles=_gemm_cycles,
    describe=describe,
    values=_gemm_values,
    accumulates=_accumulates,
    source=source,
    call=_CALL,
    includes=("<stdint.h>", "<string.h>"),
)

NIBBLES = tuple(
    replace(kernel, name=f"{kernel.name}_nibbles", match=_match_nibbles, weight_bits=(BITS,)) for kernel in (CONV, GEMM)
)
WORDS = tuple(replace(kernel, name=f"{kernel.name}_words", match=_match_words) for kernel in (CONV, GEMM))
KERNELS = (CONV, GEMM, *NIBBLES, *WORDS)
