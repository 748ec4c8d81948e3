"""Knows GridSample: X read at positions that a grid of coordinates has, between -1 and 1 from end to end of an image.
Does not know Resize, whose positions are known at compile time (`resize_rules`).

Normal form: X[N, C, spatial...] with one to three spatial axes, G[N, outputs..., axes], the last axis of X first;
attributes `mode` (nearest, linear, cubic), `padding` (zeros, border, reflection) and `align_corners`. Positions are
computed in float32, step by step as in C, so that both round to the same neighbours. A coordinate that is no number is
far before the first element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import c_functions, c_template
from tilewright.operators.shared.float_results import TINY, UNIT
from tilewright.operators.shared.refusals import need_types, shape_error
from tilewright.operators.shared.windows import C_AXES, MAX_SPATIAL, OUTPUT_LOOPS

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

TAPS = MappingProxyType({"nearest": 1, "linear": 2, "cubic": 4})
_PADDINGS = ("zeros", "border", "reflection")
_CUBIC = -0.75
_FAR = np.float32(2.0**24)  # positions beyond have no neighbours in float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """What one axis adds to every sample: places [..., taps], -1 where nothing is read, and their weights."""

    places: Places
    weights: Doubles


def _mode(site: Site) -> str:
    return str(site.node.attributes["mode"])


def _padding(site: Site) -> str:
    return str(site.node.attributes["padding"])


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, grid = site.input(0), site.input(1)
    rank = len(x.shape) - 2
    if not 1 <= rank <= MAX_SPATIAL or len(grid.shape) != rank + 2 or grid.shape[-1] != rank:
        raise shape_error(site, "X is [N, C, spatial...], the grid [N, outputs..., axes], with one to three axes")
    if grid.shape[0] != x.shape[0] or 0 in x.shape[2:]:
        raise shape_error(site, f"a grid {list(grid.shape)} does not fit X {list(x.shape)}")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=(*x.shape[:2], *grid.shape[1:-1])),)


def sampled(coordinates: Floats, size: int, mode: str, padding: str, *, align: bool) -> Sampled:
    """Neighbours and weights along one axis of `size` elements."""
    with np.errstate(invalid="ignore"):
        scaled = (coordinates + np.float32(1)) * np.float32(size - 1 if align else size)
        position = (scaled if align else scaled - np.float32(1)) * np.float32(0.5)
        position = np.where(position >= -_FAR, np.minimum(position, _FAR), -_FAR).astype(np.float32)
    if mode == "nearest":
        position = np.rint(position)
    position = _moved_inside(position, size, padding, align=align)
    first = np.floor(position).astype(np.int64) - (1 if mode == "cubic" else 0)
    places = first[..., None] + np.arange(TAPS[mode])
    distance = (position - np.floor(position)).astype(np.float64)[..., None]
    if mode == "linear":
        weights = np.concatenate([1 - distance, distance], axis=-1)
    else:
        weights = _cubic_weights(distance) if mode == "cubic" else np.ones_like(distance)
    return Sampled(places=_read(places, size, padding, align=align), weights=weights)


def _cubic_weights(distance: Doubles) -> Doubles:
    """Of the neighbours at -1, 0, 1 and 2: Keys' convolution."""
    near, far = np.abs(distance - [[0.0, 1.0]]), np.abs(distance - [[-1.0, 2.0]])
    inner = ((_CUBIC + 2) * near - (_CUBIC + 3)) * near * near + 1
    outer = ((_CUBIC * far - 5 * _CUBIC) * far + 8 * _CUBIC) * far - 4 * _CUBIC
    return np.concatenate([outer[..., :1], inner, outer[..., 1:]], axis=-1)


def _moved_inside(position: Floats, size: int, padding: str, *, align: bool) -> Floats:
    low, high = _ends(size, align=align)
    outside = (position < low) | (position > high)
    if padding == "border":
        inside = np.clip(position, np.float32(0), np.float32(size - 1))
    else:
        inside = reflected(position, low, high) if padding == "reflection" else position
    return np.where(outside, inside, position).astype(np.float32)


def _ends(size: int, *, align: bool) -> tuple[np.float32, np.float32]:
    return (np.float32(0), np.float32(size - 1)) if align else (np.float32(-0.5), np.float32(size - 0.5))


def reflected(position: Floats, low: np.float32, high: np.float32) -> Floats:
    """Positions outside thrown back at the ends, as often as it takes; `low` where there is nothing between them."""
    span = high - low
    if not span > 0:
        return np.full_like(position, low)
    beyond = np.where(position < low, low - position, position - high).astype(np.float32)
    times = (beyond / span).astype(np.int64)
    rest = beyond - times.astype(np.float32) * span
    from_low = (position < low) == (times % 2 == 0)
    return np.where(from_low, low + rest, high - rest).astype(np.float32)


def _read(places: Places, size: int, padding: str, *, align: bool) -> Places:
    """Where neighbours are read; -1 for nowhere."""
    inside = (places >= 0) & (places < size)
    if padding == "zeros":
        return np.where(inside, places, -1)
    if padding == "border":
        return np.clip(places, 0, size - 1)
    back = reflected(places.astype(np.float32), *_ends(size, align=align)).astype(np.int64)
    return np.where(inside, places, np.clip(back, 0, size - 1))


def _samples(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Doubles:
    x, grid = np.asarray(inputs[0], np.float64), np.asarray(inputs[1], np.float32)
    align, mode, spatial = bool(site.node.integer("align_corners")), _mode(site), x.shape[2:]
    axes = [
        sampled(grid[..., len(spatial) - 1 - axis], size, mode, _padding(site), align=align)
        for axis, size in enumerate(spatial)
    ]
    batch = np.arange(x.shape[0]).reshape(-1, *(1,) * len(spatial))
    total = np.zeros((*grid.shape[:-1], x.shape[1]))
    source = np.moveaxis(np.abs(x) if magnitude else x, 1, -1)
    for taps in product(range(TAPS[mode]), repeat=len(axes)):
        places = [axis.places[..., tap] for axis, tap in zip(axes, taps, strict=True)]
        weight, there = np.ones(grid.shape[:-1]), np.ones(grid.shape[:-1], np.bool_)
        for axis, tap, place in zip(axes, taps, places, strict=True):
            own = axis.weights[..., tap]
            weight = weight * (np.abs(own) + 0.5 if magnitude else own)
            there &= place >= 0
        seen = source[(batch, *(np.maximum(place, 0) for place in places))] * weight[..., None]
        total += np.where(there[..., None], seen, 0)
    return np.moveaxis(total, -1, 1)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        return (_samples(site, inputs).astype(np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Weights are polynomials in float32, and then a sum of products."""
    with np.errstate(all="ignore"):
        return (64 * UNIT * _samples(site, inputs, magnitude=True) + 64 * TINY,)


def _access(site: Site) -> Access:
    """Any position of an image may be asked for, so its axes are whole."""
    rank = len(site.input(0).shape) - 2
    outs = ",".join(OUTPUT_LOOPS[MAX_SPATIAL - rank :])
    text = f"n c {outs.replace(',', ' ')} : X[n,c,{','.join(':' * rank)}] G[n,{outs},:] -> Y[n,c,{outs}]"
    return parse_map(text).bind({"X": site.input(0).shape, "G": site.input(1).shape, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    types = {tensor.dtype.value for tensor in site.inputs if tensor is not None}
    return None if types == {"f32"} else f"X and G must be f32, found {', '.join(sorted(types))}"


def _values(call: Call) -> Mapping[str, object]:
    x, grid, y = call.operands["X"], call.operands["G"], call.operands["Y"]
    rank, mode, padding = len(x.shape) - 2, _mode(call.site), _padding(call.site)
    align = bool(call.site.node.integer("align_corners"))
    axes = dict.fromkeys(C_AXES, "{.size = 1, .outputs = 1, .part = -1}")
    for axis, name in enumerate(C_AXES[MAX_SPATIAL - rank :]):
        fields = {
            "size": x.shape[axis + 2],
            "outputs": y.extents[axis + 2],
            "part": (rank - 1 - axis) * grid.strides[-1],
            "x_step": x.strides[axis + 2],
            "g_step": grid.strides[axis + 1],
            "y_step": y.strides[axis + 2],
        }
        axes[name] = c_initialiser(fields)
    return {
        "function": f"tw_grid_sample_{mode}_{padding}{'_aligned' if align else ''}",
        "mode": mode,
        "padding": padding,
        "align": align,
        "taps": TAPS[mode],
        "fields": {
            "batches": y.extents[0],
            "channels": y.extents[1],
            "x_batch": x.strides[0],
            "x_channel": x.strides[1],
            "g_batch": grid.strides[0],
            "y_batch": y.strides[0],
            "y_channel": y.strides[1],
            **axes,
        },
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    mode, padding = node.text("mode", "linear"), node.text("padding_mode", "zeros")
    known = {"bilinear": "linear", "bicubic": "cubic", **{name: name for name in TAPS}}
    if mode not in known or padding not in _PADDINGS:
        raise graph.refuse(node, f"mode is {mode!r}, padding_mode {padding!r}")
    aligned = int(bool(node.integer("align_corners")))
    attributes: dict[str, Attribute] = {"mode": known[mode], "padding": padding, "align_corners": aligned}
    graph.emit(node, "GridSample", node.inputs, node.outputs, attributes)


GRID_SAMPLE = Operator(
    name="GridSample",
    inputs=("X", "G"),
    outputs=("Y",),
    summary="an image read at positions that the program computes, between its elements or beyond its border",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.output.elements * TAPS[_mode(site)] ** (len(site.output.shape) - 2),
    imports=(
        Import(
            op_type="GridSample",
            since=16,
            attributes={"align_corners": "INT", "mode": "STRING", "padding_mode": "STRING"},
            convert=_import,
            min_inputs=2,
            max_inputs=2,
        ),
    ),
)

_SAMPLES = c_template("${function}", "grid_sample.c.mako")


GRID_SAMPLE_F32 = Kernel(
    name="portable.grid_sample_f32",
    op="GridSample",
    parallel=("*",),
    match=_match,
    values=_values,
    source=lambda values: (*(c_functions("tw_roundf()") if values["mode"] == "nearest" else ()), _SAMPLES),
    call="""\
${function}((tw_grid_sample){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${G}, ${Y});""",
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (GRID_SAMPLE,)
KERNELS = (GRID_SAMPLE_F32,)
