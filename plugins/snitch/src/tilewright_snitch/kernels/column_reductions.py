"""Knows how the cluster sums floats over axes behind which others are kept, and finds the largest: columns are
channels of a window, each by itself. Does not know runs of neighbours, nor the instructions of a block.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, TileShape, nest, walk
from tilewright_snitch.kernels.conv import WINDOWS_FIELDS
from tilewright_snitch.kernels.costs import taps_cycles
from tilewright_snitch.kernels.layers import NEAR, not_floats
from tilewright_snitch.kernels.product_sections import INCLUDES
from tilewright_snitch.kernels.taps import TAPS, taps_values
from tilewright_snitch.machine import code_cycles

# By operator what a window does, and where positions end by which a sum is divided: at 1, or behind the last one.
_KINDS: Mapping[str, tuple[str, str]] = {
    "ReduceSum": ("sum", "1, 1, "),
    "ReduceMean": ("sum", "0, 0, "),
    "ReduceMax": ("max", ""),
}
CODE_BYTES = 1940  # that a layer executes, with one width of blocks or with several
_KNOWN_CYCLES = 160.0  # of a call, that compilers save: there is one window, without edges
_ODD_CYCLES = 8.0  # of an element, where a tile has an odd number of columns


def _axes(site: Site) -> tuple[int, ...]:
    return site.node.integers("axes")


def _match(site: Site) -> str | None:
    shape, axes = site.input(0).shape, _axes(site)
    if not axes or axes != tuple(range(axes[0], axes[-1] + 1)) or len(axes) > 2:
        return f"axes are {list(axes)}, not one or two that are neighbours"
    if axes[-1] == len(shape) - 1:
        return "no axis behind them is kept"
    if shape[-1] % 2:
        return f"the last axis has {shape[-1]} elements; a stream brings two at a time"
    if site.output.dtype is not DType.F32:
        return f"values must be f32, found {site.output.dtype.value}"
    return not_floats(site)


def _requires(site: Site) -> Mapping[str, Layout]:
    return {"X": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _cycles(tile: TileShape) -> float:
    kind, _ = _KINDS[tile.site.node.op]
    rank, axes = len(tile.site.input(0).shape), _axes(tile.site)
    taps, columns = math.prod(tile.extent(f"r{axis}") for axis in axes), tile.extent(f"i{rank - 1}")
    rows = math.prod(tile.extent(f"i{axis}") for axis in range(rank - 1) if axis not in axes)
    if columns % 2:
        return rows * taps * columns * _ODD_CYCLES
    return taps_cycles(rows, [(1, taps)], columns, kind=kind, clip=0) - _KNOWN_CYCLES


def _values(call: Call) -> Mapping[str, object]:
    """Every row of results is an image of one pixel, its columns the channels."""
    x, y, axes = call.operands["X"], call.operands["Y"], _axes(call.site)
    kept = [axis for axis in range(len(x.shape) - 1) if axis not in axes]
    own = kept if len(y.shape) == len(x.shape) else range(len(kept))
    steps = {"X": [x.strides[axis] for axis in kept], "Y": [y.strides[axis] for axis in own]}
    rows = walk([x.extents[axis] for axis in kept], steps, "Y")
    outer = nest(rows, 1)
    *above, last = ((x.extents[axis], x.strides[axis]) for axis in axes)
    (row_taps, row), (taps, column) = (above or [("1", 0)])[0], last
    kind, ends = _KINDS[call.site.node.op]
    fields = {
        "batches": rows.extents[-1],
        "rows": 1,
        "columns": 1,
        "in_rows": row_taps,
        "in_columns": taps,
        "row_taps": row_taps,
        "column_taps": taps,
        "row_stride": 1,
        "column_stride": 1,
        "row_dilation": 1,
        "column_dilation": 1,
        "channels": x.extents[-1],
        "x_batch": rows.steps["X"][-1],
        "x_row": row,
        "x_column": column,
        "y_batch": rows.steps["Y"][-1],
    }
    return {**taps_values(call.site, kind, fields), "ends": ends, "nest": outer.headers, "at": outer.offsets}


_CALL = f"""\
% for line in nest:
${{line}}
% endfor
${{function}}({WINDOWS_FIELDS}, ${{ends}}${{low}}, ${{high}}, ${{X}}${{at["X"]}}, ${{Y}}${{at["Y"]}});"""


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"snitch.{op.removeprefix('Reduce').lower()}_of_columns",
        op=op,
        target="snitch",
        match=_match,
        requires=_requires,
        memories={"X": NEAR},
        parallel=("*",),
        cycles=_cycles,
        step_cycles=code_cycles(CODE_BYTES),
        values=_values,
        source=lambda values: (TAPS,),
        call=_CALL,
        includes=INCLUDES,
    )


KERNELS = tuple(_kernel(op) for op in _KINDS)
