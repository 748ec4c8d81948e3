"""Knows the kernels of N-EUREKA: how a tile becomes a job of its registers, and what the cores do with the sums.
Does not know the arithmetic of layers (`layers`), nor what a word of weights looks like (`packing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import DType, Layout, MultiplyShift, Site, channels_last, row_major
from tilewright.api.kernel import (
    Call,
    CodeFragments,
    Finish,
    Kernel,
    Matched,
    Operand,
    TileShape,
    windows_of,
)
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.limits import limits_of_results
from tilewright_siracusa.kernels.sources import c_fragment, c_template
from tilewright_siracusa.neureka import packing
from tilewright_siracusa.neureka.finishing import LANES, START, finish_cycles, limit_of_finished, pick_cycles
from tilewright_siracusa.neureka.layers import (
    EngineLayer,
    conv_layer,
    dense_layer,
    depthwise_layer,
    point_layer,
    requant_words,
    scaled_by_engine,
)
from tilewright_siracusa.neureka.timing import Job, job_cycles
from tilewright_siracusa.platform import NEUREKA, WEIGHT_MEMORIES

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

QUEUE = 2
_BITS = tuple(range(packing.FEWEST_BITS, packing.BITS + 1))  # of weights that are stored bit by bit
_MODES = {"taps": 0, "channels": 1, "points": 2}
_SIGNED, _BIASED, _NO_RELU, _SUMS, _OFFSET, _WIDE_SCALES, _WEIGHT_MEMORY, _SCALED = (
    1 << 26,
    1 << 25,
    1 << 23,
    2 << 21,
    1 << 15,
    2 << 12,
    1 << 9,
    1 << 4,
)


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: EngineLayer = site.analysis
    weights = layer.layer.weights
    if layer.mode == "points":
        packed = packing.packed_points(weights.reshape(len(weights), -1), layer.offset)
    elif layer.mode == "taps":
        packed = packing.packed_taps(weights, layer.offset, layer.bits)
    else:
        packed = packing.packed_channels(weights[..., 0], layer.offset, layer.bits)
    scaling = layer.scaling
    if scaling is None:
        return {"W": packed, "P": requant_words(layer.layer.requant, layer.biases).astype(np.uint32).view(np.int32)}
    kind = np.uint8 if scaling.bits == 8 else np.int32
    return {"W": packed, "S": np.array(scaling.multipliers, kind), "B": np.array(scaling.addends, np.int32)}


def _access(site: Matched) -> Access:
    layer: EngineLayer = site.analysis
    shapes = {name: array.shape for name, array in _pack(site).items()}
    table = "S[{o}] B[{o}]" if layer.scaling else "P[{o},:]"
    if site.node.op == "QGemm":
        text = f"m n k : A[m,k] W[n,:] {table.format(o='n')} -> Y[m,n]"
        return parse_map(text).bind({**shapes, "A": site.input(0).shape, "Y": site.output.shape})
    windows = windows_of(site.node)
    outs, taps = windows.output_loops, windows.tap_loops
    deep = layer.mode != "channels"
    words = "o" if deep else f"o//{packing.TAP_INPUTS}"
    text = (
        f"n o {' '.join(outs)} {'c ' if deep else ''}{' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,{'c' if deep else 'o'},{','.join(windows.map_indices())}] W[{words},:] {table.format(o='o')} "
        f"-> Y[n,o,{','.join(outs)}]"
    )
    return parse_map(text).bind({**shapes, "X": site.input(0).shape, "Y": site.output.shape}, windows.map_values())


def _layouts(site: Site) -> Mapping[str, Layout]:
    if site.node.op == "QGemm":
        return {"A": row_major(2), "Y": row_major(2)}
    return {"X": channels_last(4), "Y": channels_last(4)}


def _job(tile: TileShape) -> Job:
    """The job of a tile; a fully connected layer's rows are the pixels of one row."""
    layer: EngineLayer = tile.site.analysis
    dense = tile.site.node.op == "QGemm"
    rows, columns = (1, trips(tile, "m")) if dense else (trips(tile, "h"), trips(tile, "w"))
    outputs = trips(tile, "n" if dense else "o")
    return Job(
        mode=layer.mode,
        rows=layer.job_extent(rows),
        columns=layer.job_extent(columns),
        inputs=outputs if layer.mode == "channels" else tile.site.input(0).shape[1],
        outputs=outputs,
        scale_bits=layer.scaling.bits if layer.scaling else 0,
        weight_bits=layer.bits,
        weight_memory=layer.weight_memory,
    )


def _cycles(tile: TileShape) -> float:
    return job_cycles(_job(tile))


def _next_cycles(tile: TileShape) -> float:
    """Of a job that leaves nothing: until the next one begins, which a core starts meanwhile."""
    return max(job_cycles(_job(tile)), START)


def _left_bytes(tile: TileShape) -> int:
    """Of what two jobs leave to the cores."""
    layer, job = tile.site.analysis, _job(tile)
    return QUEUE * align_up(_left_size(layer) * job.rows * job.columns * job.outputs, 8)


def _left_size(layer: EngineLayer) -> int:
    """Bytes of each element that a job leaves to the cores: sums, or results of which they pick some."""
    return 1 if layer.scaling else 4


def _pick_cycles(tile: TileShape) -> float:
    return pick_cycles(trips(tile, "h", "w"), trips(tile, "o"))


def _finish_cycles(tile: TileShape) -> float:
    if tile.site.node.op == "QGemm":
        return finish_cycles(tile.site.analysis, 1, trips(tile, "m"), trips(tile, "n"))
    return finish_cycles(tile.site.analysis, trips(tile, "h"), trips(tile, "w"), trips(tile, "o"))


def _values(call: Call) -> Mapping[str, object]:
    return {**_job_values(call), **_finish_values(call)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Image:
    """Rows and columns of an operand, as C; a matrix is one row."""

    extents: tuple[str, ...]
    origin: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    strides: tuple[int, ...]


def _image(operand: Operand) -> _Image:
    if len(operand.extents) == 4:
        return _Image(
            extents=operand.extents[2:],
            origin=operand.origin[2:],
            before=operand.before[2:],
            after=operand.after[2:],
            strides=operand.strides[2:],
        )
    return _Image(
        extents=("1", operand.extents[0]),
        origin=("0", operand.origin[0]),
        before=("0", "0"),
        after=("0", "0"),
        strides=(0, operand.strides[0]),
    )


def _job_values(call: Call) -> Mapping[str, object]:
    layer: EngineLayer = call.site.analysis
    x, y = call.operands["A" if "A" in call.operands else "X"], call.operands["Y"]
    read, written, scaling = _image(x), _image(y), layer.scaling
    columns, outputs = _stretched(written.extents[1], layer), y.extents[1]
    direct, size = scaling is not None and not layer.picked, _left_size(layer)
    step = layer.stride if layer.mode == "points" else 1
    conf = _MODES[layer.mode] << 5 | layer.bits - 1 | _OFFSET | (_SIGNED if x.dtype is DType.I8 else 0)
    conf |= _WEIGHT_MEMORY if layer.weight_memory else 0
    if scaling:
        conf |= _SCALED | _BIASED | scaling.shift << 16 | (_WIDE_SCALES if scaling.bits == 32 else 0)
        conf |= _NO_RELU if y.dtype is DType.I8 else 0
    else:
        conf |= _SUMS | _NO_RELU
    return {
        "x": x,
        "to": y if direct else call.operands["scratch"],
        "scales": call.operands["S"] if scaling else "(const void *)0",
        "biases": call.operands["B"] if scaling else "(const void *)0",
        "fields": {
            "rows": _stretched(written.extents[0], layer),
            "columns": columns,
            "inputs": outputs if layer.mode == "channels" else x.extents[1],
            "outputs": outputs,
            "top": read.before[0],
            "left": read.before[1],
            "bottom": read.after[0],
            "right": read.after[1],
            "x_column": step * read.strides[1],
            "x_row": step * read.strides[0],
            "y_column": written.strides[1] if direct else f"{size} * ({outputs})",
            "y_row": written.strides[0] if direct else f"{size} * ({outputs}) * ({columns})",
            "conf": f"0x{conf:x}u",
            "offset": layer.offset,
        },
    }


def _stretched(extent: str, layer: EngineLayer) -> str:
    if extent.isdecimal():
        return str(layer.job_extent(int(extent)))
    return extent if layer.mode == "points" or layer.stride == 1 else f"{layer.stride} * ({extent} - 1) + 1"


def _finish_values(call: Call) -> Mapping[str, object]:
    layer: EngineLayer = call.site.analysis
    requant, rounding = layer.layer.requant, layer.layer.requant.rounding
    shift = isinstance(rounding, MultiplyShift)
    limit, ways = limit_of_finished(layer), len(layer.biases) > 1
    form = f"{'shifted' if shift else 'rounded'}_{limit}"
    names = {"limit": limit, "shift": shift, "ways": ways, "function": f"tw_neureka_finish_{form}_{int(ways)}"}
    if not call.job:
        return names
    y = call.operands["Y"]
    fields = _pixels(call)
    if layer.scaling:
        return {**names, "finish": fields, "first": _first(call)}
    written = _image(y)
    top, bottom = _leaves(written, 0, layer)
    left, right = _leaves(written, 1, layer)
    fields |= {
        "words": call.operands["P"].strides[0],
        "top": top,
        "bottom": bottom,
        "left": left,
        "right": right,
        "shift": rounding.shift[0] if isinstance(rounding, MultiplyShift) else 0,
        "to": limits_of_results(requant, "any"),
    }
    return {**names, "finish": fields, "first": _first(call)}


def _pixels(call: Call) -> dict[str, object]:
    """Where the cores read what a job has left, and write."""
    layer, written, left = call.site.analysis, _image(call.operands["Y"]), call.job["Y"].extents[1]
    columns = _stretched(_image(call.job["Y"]).extents[1], layer)
    step = 1 if layer.mode == "points" else layer.stride
    return {
        "rows": written.extents[0],
        "columns": written.extents[1],
        "outputs": call.operands["Y"].extents[1],
        "sum_column": f"{step} * ({left})",
        "sum_row": f"{step} * ({columns}) * ({left})",
        "y_column": written.strides[1],
        "y_row": written.strides[0],
    }


def _first(call: Call) -> str:
    """The element of what a job has left that belongs to a share's first result."""
    layer, y, job = call.site.analysis, call.operands["Y"], call.job["Y"]
    written, whole = _image(y), _image(job)
    columns = _stretched(whole.extents[1], layer)
    step = 1 if layer.mode == "points" else layer.stride
    rows, along = (f"({mine} - {first})" for mine, first in zip(written.origin, whole.origin, strict=True))
    pixels = f"({rows} * {step} * ({columns}) + {along} * {step})"
    return f"{pixels} * ({job.extents[1]}) + ({y.origin[1]} - {job.origin[1]})"


def _leaves(written: _Image, axis: int, layer: EngineLayer) -> tuple[str, str]:
    """Whether along an axis the first windows begin before the image, and whether the last ones end behind it."""
    first, before = written.origin[axis], layer.layer.windows.before[axis]
    last = f"{first} + {written.extents[axis]} - 1"
    return (
        f"(({first}) * {layer.stride} < {before})",
        f"(({last}) * {layer.stride} > {layer.extents[axis] - layer.side + before})",
    )


_JOB = c_fragment("neureka.c")
_FINISH = c_template("${function}", "neureka_finish.c.mako")


_PICK = c_fragment("neureka_pick.h")


def _sources(values: Mapping[str, Any]) -> CodeFragments:
    return (_JOB, _FINISH)


_START = """\\
tw_neureka_start((tw_neureka_job){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}, ${W}, ${to}, ${scales}, ${biases});"""
_FINISH_CALL = """\\
${function}((tw_neureka_sums){
% for name, value in finish.items():
    .${name} = ${value},
% endfor
}, (const int32_t *)${scratch} + (${first}), ${P}, (uint8_t *)${Y});"""
_PICK_CALL = """\\
tw_neureka_pick((tw_neureka_picked){
% for name, value in finish.items():
    .${name} = ${value},
% endfor
}, ${scratch} + (${first}), (uint8_t *)${Y});"""
Match = Callable[[Site], "EngineLayer | str"]
_Source = CodeFragments | Callable[[Mapping[str, Any]], CodeFragments]


def _kernels(name: str, op: str, match: Match, outputs: str, step: int, rows: tuple[str, ...]) -> tuple[Kernel, ...]:
    """One that leaves sums to the cores, and where the engine is proved to requantise one that leaves nothing, and one
    of whose results the cores pick every second.
    """

    def scaled(site: Site) -> EngineLayer | str:
        return scaled_by_engine(site, match(site))

    def picked(site: Site) -> EngineLayer | str:
        return scaled_by_engine(site, match(site), picked=True)

    def kernel(suffix: str, matched: Match, finish: Finish | None, source: _Source) -> Kernel:
        return Kernel(
            name=f"siracusa.neureka_{name}{suffix}",
            op=op,
            target="siracusa",
            engine=NEUREKA,
            roundings=("onnx", "multiply-shift"),
            match=matched,
            access=_access,
            requires=_layouts,
            pack=_pack,
            scratch_bytes=_left_bytes if finish else lambda tile: 0,
            multiples={outputs: step},
            cycles=_cycles if finish else _next_cycles,
            describe=_described,
            values=_values,
            source=source,
            call=_START,
            wait="tw_neureka_wait(${behind});",
            finish=finish,
            includes=("<stdint.h>", "<string.h>"),
        )

    sums = Finish(call=_FINISH_CALL, parallel=(outputs, *rows), cycles=_finish_cycles, multiples={outputs: LANES})
    kernels = (kernel("", match, sums, _sources), kernel("_scaled", scaled, None, (_JOB,)))
    if op == "QGemm":
        return kernels
    picking = Finish(call=_PICK_CALL, parallel=rows, cycles=_pick_cycles)
    return (*kernels, kernel("_scaled_strided", picked, picking, (_JOB, _PICK)))


def _by_bits(kernels: Iterable[Kernel]) -> Iterator[Kernel]:
    """The same of 3x3 windows, whose words have as many bits as weights need."""
    return (replace(kernel, weight_bits=_BITS) for kernel in kernels)


def _in_weight_memory(kernel: Kernel) -> Kernel:
    """The same whose weights are where no copy has to bring them from: better where it takes no longer."""

    def matched(site: Site) -> object:
        layer = kernel.match(site)
        return replace(layer, weight_memory=True) if isinstance(layer, EngineLayer) else layer

    return replace(
        kernel,
        name=f"{kernel.name}_wmem",
        match=matched,
        memories={"W": WEIGHT_MEMORIES},
        align={"W": packing.WORD_BYTES},
        rank=1,
    )


def _described(site: Matched) -> Mapping[str, object]:
    layer: EngineLayer = site.analysis
    by = f"the engine, {layer.scaling.bits}-bit scales" if layer.scaling else "the cores"
    return {"accumulator_bits": 32, "requantised by": by, "weight_bits": layer.bits}


_IN_L1 = (
    *_by_bits(_kernels("conv", "QConv", conv_layer, "o", packing.OUTPUTS, ("h", "w"))),
    *_kernels("points", "QConv", point_layer, "o", packing.OUTPUTS, ("h", "w")),
    *_by_bits(_kernels("depthwise", "QConv", depthwise_layer, "o", packing.TAP_INPUTS, ("h", "w"))),
    *_kernels("gemm", "QGemm", dense_layer, "n", packing.OUTPUTS, ("m",)),
)
KERNELS = (*_IN_L1, *map(_in_weight_memory, _IN_L1))
