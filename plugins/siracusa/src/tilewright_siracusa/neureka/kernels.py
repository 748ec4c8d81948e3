"""Knows the kernels of N-EUREKA: how a tile becomes a job of its registers, and what the cores do with the sums.
Does not know the arithmetic of layers (`layers`), nor what a word of weights looks like (`packing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import Layout, Site, channels_last, row_major
from tilewright.api.kernel import (
    CodeFragments,
    Finish,
    Kernel,
    Matched,
    TileShape,
    windows_of,
)
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.sources import c_fragment, c_template
from tilewright_siracusa.neureka import packing
from tilewright_siracusa.neureka.calls import left_bytes, values
from tilewright_siracusa.neureka.finishing import LANES, START, finish_cycles, pick_cycles
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
    return QUEUE * align_up(left_bytes(layer) * job.rows * job.columns * job.outputs, 8)


def _pick_cycles(tile: TileShape) -> float:
    return pick_cycles(trips(tile, "h", "w"), trips(tile, "o"))


def _finish_cycles(tile: TileShape) -> float:
    if tile.site.node.op == "QGemm":
        return finish_cycles(tile.site.analysis, 1, trips(tile, "m"), trips(tile, "n"))
    return finish_cycles(tile.site.analysis, trips(tile, "h"), trips(tile, "w"), trips(tile, "o"))


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
            values=values,
            source=source,
            call=_START,
            wait="tw_neureka_wait(${behind});",
            finish=finish,
            includes=("<stdint.h>", "<string.h>"),
        )

    sums = Finish(call=_FINISH_CALL, parallel=(outputs, *rows), cycles=_finish_cycles, multiples={outputs: LANES})
    kernels = (kernel("", match, sums, _sources), kernel("_scaled", scaled, None, (_JOB,)))
    if match in (point_layer, dense_layer):
        return kernels  # the engine reads every second pixel of 1x1 windows itself
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
