"""Knows MaxPool with its output Indices: the largest element of each window, and where it is in the whole tensor.
Does not know MaxPool alone (`pool`), which has faster kernels.

Normal form: attributes of `windows`, and `column_major`: whether spatial axes are counted first to last, as
`storage_order` 1 has them, instead of last to first. Of equals the first in row-major order is taken, and the first NaN
before every number; a window of padding alone gives the type's lowest value and -1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float, c_int
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.pooling.pool import lowest_value
from tilewright.operators.shared.refusals import not_float32_or_bytes, shape_error
from tilewright.operators.shared.windows import C_AXES, MAX_SPATIAL, c_axes, inferred_outputs, tap_views, windows_of

Array = npt.NDArray[np.generic]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, (values, places) = site.input(0), site.node.outputs
    if len(x.shape) < 3:
        raise shape_error(site, "X is [N, C, spatial...]")
    shape = (*x.shape[:2], *inferred_outputs(site))
    return Tensor(name=values, dtype=x.dtype, shape=shape), Tensor(name=places, dtype=DType.I64, shape=shape)


def _steps(site: Site) -> tuple[int, ...]:
    """How far apart neighbours along each spatial axis are counted."""
    spatial = site.input(0).shape[2:]
    if site.node.integer("column_major"):
        return tuple(accumulate((1, *spatial[:-1]), lambda step, extent: step * extent))
    return tuple(math.prod(spatial[axis + 1 :]) for axis in range(len(spatial)))


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, windows = np.asarray(inputs[0]), windows_of(site.node)
    batches, channels, *spatial = x.shape
    inside = sum(
        (grid * step for grid, step in zip(np.indices(spatial, sparse=True), _steps(site), strict=True)), np.int64(0)
    )
    images = np.arange(batches * channels).reshape(batches, channels, *(1,) * len(spatial)) * math.prod(spatial)
    values = np.full(site.outputs[0].shape, lowest_value(site.input(0).dtype), x.dtype)
    places = np.full(values.shape, -1, np.int64)
    seen_places = tap_views(np.asarray(images + inside, np.int64), windows, -1)
    for seen, at in zip(tap_views(x, windows, 0), seen_places, strict=True):
        better = (places < 0) | (seen > values) | ((seen != seen) & (values == values))
        values, places = (np.where(better & (at >= 0), new, old) for new, old in ((seen, values), (at, places)))
    return values, places


def _access(site: Site) -> Access:
    windows = windows_of(site.node)
    outs, taps = ",".join(windows.output_loops), windows.tap_loops
    text = (
        f"n c {' '.join(windows.output_loops)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,c,{','.join(windows.map_indices())}] -> Y[n,c,{outs}] I[n,c,{outs}]"
    )
    made = {name: tensor.shape for name, tensor in zip("YI", site.outputs, strict=True)}
    return parse_map(text).bind({"X": site.input(0).shape, **made}, windows.map_values())


def _values(call: Call) -> Mapping[str, object]:
    site, x, y, places = call.site, call.operands["X"], call.operands["Y"], call.operands["I"]
    dtype, lowest, missing = x.dtype, lowest_value(x.dtype), MAX_SPATIAL - len(x.shape) + 2
    own = zip(C_AXES[missing:], x.origin[2:], _steps(site), places.strides[2:], strict=True)
    axes = dict.fromkeys(C_AXES[:missing], ("0", 0, 0)) | {name: facts for name, *facts in own}
    return {
        "function": f"tw_max_pool_indices_{dtype.value}",
        "type": dtype.c_type,
        "floating": dtype.is_float,
        "lowest": c_float(lowest) if dtype.is_float else c_int(int(lowest)),
        "fields": {
            "batches": y.extents[0],
            "channels": y.extents[1],
            "x_batch": x.strides[0],
            "x_channel": x.strides[1],
            "y_batch": y.strides[0],
            "y_channel": y.strides[1],
            **c_axes(windows_of(site.node), x, y),
        },
        "places": {
            "first_batch": x.origin[0],
            "first_channel": x.origin[1],
            "all_channels": x.shape[1],
            "image": math.prod(x.shape[2:]),
            "batch": places.strides[0],
            "channel": places.strides[1],
            **{f"{name}_origin": origin for name, (origin, _, _) in axes.items()},
            **{f"{name}_counted": step for name, (_, step, _) in axes.items()},
            **{f"{name}_step": step for name, (_, _, step) in axes.items()},
        },
    }


MAX_POOL_INDICES = Operator(
    name="MaxPoolIndices",
    inputs=("X",),
    outputs=("Y", "I"),
    summary="largest element of each window, and its place in the tensor",
    infer=_infer,
    reference=_reference,
    access=_access,
)

MAX_POOL_INDICES_PORTABLE = Kernel(
    name="portable.max_pool_indices",
    op="MaxPoolIndices",
    match=not_float32_or_bytes,
    parallel=("c", "d", "h", "w"),
    values=_values,
    source=(c_template("${function}", "max_pool_indices.c.mako"),),
    call="""\
${function}((tw_pool){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }, (tw_places){
% for name, value in places.items():
        .${name} = ${value},
% endfor
    }, ${X}, ${Y}, ${I});""",
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (MAX_POOL_INDICES,)
KERNELS = (MAX_POOL_INDICES_PORTABLE,)
