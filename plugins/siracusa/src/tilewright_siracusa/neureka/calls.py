"""Knows what calls say: the registers of a job, where the cores read what it has left, and what they write.
Does not know what a kernel is, nor how long anything takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import DType, MultiplyShift
from tilewright.api.kernel import Call, Operand
from tilewright_siracusa.kernels.limits import limits_of_results
from tilewright_siracusa.neureka.finishing import limit_of_finished
from tilewright_siracusa.neureka.layers import EngineLayer

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


def left_bytes(layer: EngineLayer) -> int:
    """Bytes of each element that a job leaves to the cores: sums, or results of which they pick some."""
    return 1 if layer.scaling else 4


def values(call: Call) -> Mapping[str, object]:
    """What the templates of a job, of what the cores finish, and of their calls ask for."""
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
    direct, size = scaling is not None and not layer.picked, left_bytes(layer)
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
