"""Knows QAveragePool and QReduceMean: exact sums of 8- or 16-bit values, requantised; the division is in the scale.
Does not know floats; `pool` and `reduce` compute those. The meaning is in the architecture, section 9.

QAveragePool has the normal form of AveragePool. Padding never adds to a sum; with `count_include_pad` it counts.
A window that counts n positions uses `requant.scale[n - 1]`, or the only scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, product_bounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import requantise
from tilewright.operators.c_code.walk import walk
from tilewright.operators.pooling.pool import is_global, window_counts
from tilewright.operators.shared.c_rounding import (
    c_requant,
    c_rounding,
    c_words,
    channel_words,
    described,
    requant_source,
    too_wide,
    words_shape,
)
from tilewright.operators.shared.integer_sites import (
    centred,
    input_range,
    not_values,
    requant_dtype,
)
from tilewright.operators.shared.reducing import either
from tilewright.operators.shared.refusals import shape_error
from tilewright.operators.shared.windows import c_axes, inferred_outputs, prefers_channels_last, tap_views, windows_of

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]


def _too_many(site: Site, terms: int) -> str | None:
    """Why 32 bits do not hold a sum of stored values, and the zero points taken away from them; or None."""
    bits = 8 * site.input(0).dtype.size_bytes
    most = 2**31 // (2 ** (bits + 1) - 1)
    return f"a sum has {terms} terms; 32-bit sums of {bits}-bit values hold {most}" if terms > most else None


# --- QAveragePool


def _infer_pool(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if len(x.shape) < 3:
        raise shape_error(site, "X is [N, C, spatial...]")
    shape = (*x.shape[:2], *inferred_outputs(site))
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=shape),)


def pool_counts(site: Site) -> Integers:
    """How many positions each window of a QAveragePool counts."""
    padding = bool(site.node.integer("count_include_pad"))
    return np.maximum(window_counts(windows_of(site.node), site.input(0).shape[2:], padding=padding), 1)


def _pool_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node, requant = site.node, site.node.requant()
    x = centred(inputs[0], node.integer("x_zero_point"))
    acc = _window_sums(site, x)
    if len(requant.scale) > 1:  # the window's count plays the part of a channel
        counts = np.broadcast_to(pool_counts(site), acc.shape).reshape(-1)
        one_each = requant.of_channels((counts - 1).tolist())
        result = requantise(acc.reshape(-1), one_each, 0).reshape(acc.shape)
    else:
        result = requantise(acc, requant, 0)
    return (result.astype(site.output.dtype.numpy),)


def _window_sums(site: Site, x: Integers) -> Integers:
    """The exact sum of what each window sees; padding is 0."""
    if is_global(site):
        whole: Integers = x.sum(axis=tuple(range(2, x.ndim)), keepdims=True, dtype=np.int64)
        return whole
    acc = np.zeros(site.output.shape, np.int64)
    for seen in tap_views(x, windows_of(site.node), 0):
        acc += seen
    return acc


def _pool_text(site: Site, words: str) -> str:
    windows = windows_of(site.node)
    outs, taps = windows.output_loops, windows.tap_loops
    return (
        f"n c {' '.join(outs)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,c,{','.join(windows.map_indices())}] {words} -> Y[n,c,{','.join(outs)}]"
    )


def _pool_access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    return parse_map(_pool_text(site, "")).bind(shapes, windows_of(site.node).map_values())


def _packed_pool_access(site: Site) -> Access:
    words = words_shape(site.node.requant(), len(site.node.requant().scale))
    shapes = {"X": site.input(0).shape, "R": words, "Y": site.output.shape}
    return parse_map(_pool_text(site, "R[:]" if len(words) == 1 else "R[:,:]")).bind(
        shapes, windows_of(site.node).map_values()
    )


def pool_bounds(site: Site) -> AccumulatorBounds:
    """Range of the sums of each count of positions, from 1: they take the part of channels."""
    scales, zero = len(site.node.requant().scale), site.node.integer("x_zero_point")
    counts = range(1, scales + 1) if scales > 1 else [int(pool_counts(site).max())]
    low, high = input_range(site)
    each = [product_bounds((low - zero, high - zero), (0, 1), terms=count) for count in counts]
    return AccumulatorBounds(
        lowest=tuple(bound.lowest[0] for bound in each),
        highest=tuple(bound.highest[0] for bound in each),
        partial_lowest=tuple(bound.partial_lowest[0] for bound in each),
        partial_highest=tuple(bound.partial_highest[0] for bound in each),
    )


def pool_requant_form(site: Site) -> RequantForm:
    """How each count of positions is requantised; its "channels" are those counts, from 1."""
    return requant_form(site.node.requant(), pool_bounds(site), site.node.name)


def _match_pool(site: Site) -> str | None:
    counts, scales = pool_counts(site), len(site.node.requant().scale)
    if scales == 1 and counts.min() != counts.max():
        return "windows count different numbers of elements, but there is one scale for all"
    if scales > 1 and counts.max() > scales:
        return f"a window counts {counts.max()} elements, but there are {scales} scales"
    reason = not_values(site, 0) or _too_many(site, math.prod(windows_of(site.node).kernel))
    return reason or too_wide(site.node.requant(), pool_bounds(site))


def _part_values(call: Call) -> Mapping[str, object]:
    terms, bounds = math.prod(windows_of(call.site.node).kernel), pool_bounds(call.site)
    axes = range(2, len(call.site.input(0).shape))
    zeros = terms * call.site.node.integer("x_zero_point")
    place = terms - 1 if len(bounds.lowest) > 1 else 0
    return {**_NO_POOL, **_sums(call, axes, True, zeros, bounds, place)}


def _whole_values(call: Call) -> Mapping[str, object]:
    node, x, y = call.site.node, call.operands["X"], call.operands["Y"]
    rounding = c_rounding(node.requant())
    return {
        "rounding": rounding,
        "function": f"tw_qaverage_pool_{x.dtype.value}_{y.dtype.value}{rounding.suffix}",
        "bits": 32,
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "fields": {
            "batches": y.extents[0],
            "channels": y.extents[1],
            "x_batch": x.strides[0],
            "x_channel": x.strides[1],
            "y_batch": y.strides[0],
            "y_channel": y.strides[1],
            **c_axes(windows_of(node), x, y),
        },
        "requant": c_requant(node.requant(), pool_bounds(call.site), node.name),
        "x_zero_point": node.integer("x_zero_point"),
        "words": len(node.requant().scale),
        "padding": int(bool(node.integer("count_include_pad"))),
    }


# --- QReduceMean


def _reduced(site: Site) -> tuple[int, ...]:
    rank = len(site.input(0).shape)
    return tuple(sorted({axis % rank for axis in site.node.integers("axes", tuple(range(rank)))}))


def _infer_mean(site: Site) -> tuple[Tensor, ...]:
    x, rank = site.input(0), len(site.input(0).shape)
    if any(not -rank <= axis < rank for axis in site.node.integers("axes")):
        raise shape_error(site, f"axes {list(site.node.integers('axes'))} are not axes of X")
    axes, keep = _reduced(site), site.node.integer("keepdims", 1)
    kept = ((1 if axis in axes else extent) for axis, extent in enumerate(x.shape) if keep or axis not in axes)
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=tuple(kept)),)


def _mean_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    keep = bool(site.node.integer("keepdims", 1))
    terms: Any = centred(inputs[0], site.node.integer("x_zero_point"))  # numpy's types know keepdims only as a literal
    acc = terms.sum(axis=_reduced(site), keepdims=keep)
    return (requantise(np.asarray(acc), site.node.requant(), -1).astype(site.output.dtype.numpy),)


def _mean_access(site: Site) -> Access:
    axes, rank, keep = _reduced(site), len(site.input(0).shape), site.node.integer("keepdims", 1)
    loops = [*(f"a{axis}" for axis in range(rank) if axis not in axes), *(f"r{axis}" for axis in axes)]
    x = ",".join(f"r{axis}" if axis in axes else f"a{axis}" for axis in range(rank))
    y = ",".join("0" if axis in axes else f"a{axis}" for axis in range(rank) if keep or axis not in axes)
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    return parse_map(f"{' '.join(loops)} : X[{x}] -> Y[{y}]").bind(shapes)


def _terms(site: Site) -> int:
    return math.prod(site.input(0).shape[axis] for axis in _reduced(site))


def mean_bounds(site: Site) -> AccumulatorBounds:
    """Range of the sums of a QReduceMean."""
    (low, high), zero = input_range(site), site.node.integer("x_zero_point")
    return product_bounds((low - zero, high - zero), (1, 1), terms=_terms(site))


def mean_requant_form(site: Site) -> RequantForm:
    """How a QReduceMean is requantised: one channel."""
    return requant_form(site.node.requant(), mean_bounds(site), site.node.name)


def _match_mean(site: Site) -> str | None:
    if len(site.node.requant().scale) > 1:
        return "QReduceMean has one scale for all"
    reason = not_values(site, 0) or _too_many(site, _terms(site))
    return reason or too_wide(site.node.requant(), mean_bounds(site))


def _mean_values(call: Call) -> Mapping[str, object]:
    node = call.site.node
    zeros = _terms(call.site) * node.integer("x_zero_point")
    return _sums(call, _reduced(call.site), bool(node.integer("keepdims", 1)), zeros, mean_bounds(call.site), 0)


def _sums(
    call: Call, axes: Sequence[int], keeps: bool, zeros: int, bounds: AccumulatorBounds, place: int
) -> Mapping[str, object]:
    """What `qmean.c` and `_MEAN_CALL` need; `zeros` is what a whole sum has too much, `place` says whose words."""
    node, requant = call.site.node, call.site.node.requant()
    rounding, words = c_rounding(requant), channel_words(requant, bounds, call.site.node.name)
    x, y, acc = call.operands["X"], call.operands["Y"], call.operands.get("acc")
    kept_axes = [axis for axis in range(len(x.shape)) if axis not in axes]
    places = kept_axes if keeps else range(len(kept_axes))
    steps = {"X": [x.strides[axis] for axis in kept_axes], "Y": [y.strides[place] for place in places]}
    kept = walk(
        [y.extents[place] for place in places],
        {**steps, "ACC": [acc.strides[place] for place in places]} if acc else steps,
        "Y",
    )
    reduced = walk([x.extents[axis] for axis in axes], {"X": [x.strides[axis] for axis in axes]}, "X")
    part = (call.first, call.last, str(acc), *kept.steps["ACC"]) if acc else ()
    arguments = (
        *kept.extents, *reduced.extents, str(x), *kept.steps["X"], *reduced.steps["X"], str(y), *kept.steps["Y"],
        zeros, c_words(words[place]), f"(tw_requant){c_requant(requant, bounds, node.name)}", *part,
    )  # fmt: skip
    types = f"{x.dtype.value}_{y.dtype.value}_{kept.depth}_{reduced.depth}{rounding.suffix}"
    return {
        "rounding": rounding,
        "function": f"tw_qmean{'_part' if acc else ''}_{types}",
        "part": call.is_part,
        "bits": 32,
        "x_type": x.dtype.c_type,
        "y_type": y.dtype.c_type,
        "kept": kept.depth,
        "reduced": reduced.depth,
        "arguments": ", ".join(str(argument) for argument in arguments),
    }


_MEAN = "qmean.c.mako"
_MEAN_CALL = "${function}(${arguments});"
_NO_MEAN = MappingProxyType({"part": False, "arguments": ""})
_NO_POOL = MappingProxyType({"fields": {}, "requant": "", "x_zero_point": 0, "words": 0, "padding": 0})

QAVERAGE_POOL = Operator(
    name="QAveragePool",
    inputs=("X",),
    outputs=("Y",),
    summary="mean of each window of integers, an exact sum requantised",
    infer=_infer_pool,
    reference=_pool_reference,
    access=_pool_access,
)

QREDUCE_MEAN = Operator(
    name="QReduceMean",
    inputs=("X",),
    outputs=("Y",),
    summary="mean of integers over whole axes, an exact sum requantised",
    infer=_infer_mean,
    reference=_mean_reference,
    access=_mean_access,
)

QAVERAGE_POOL_PORTABLE = Kernel(
    name="portable.qaverage_pool",
    op="QAveragePool",
    roundings=("*",),
    match=_match_pool,
    access=_packed_pool_access,
    prefers=prefers_channels_last,
    accumulates=lambda site: (
        PartialSums(loops=windows_of(site.node).tap_loops, dtype=DType.I32) if is_global(site) else None
    ),
    pack=lambda site: {"R": channel_words(site.node.requant(), pool_bounds(site), site.node.name)},
    parallel=("c", "d", "h", "w"),
    describe=lambda site: described(site.node.requant(), pool_bounds(site), site.node.name),
    values=lambda call: _part_values(call) if call.is_part else {**_NO_MEAN, **_whole_values(call)},
    source=requant_source(_MEAN, "qpool.c.mako"),
    call=either(
        _MEAN_CALL + "\n",
        """${function}((tw_pool){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (tw_requant)${requant}, ${x_zero_point}, ${words}, ${padding}, ${X}, ${R}, ${Y});
""",
    ),
)

QREDUCE_MEAN_PORTABLE = Kernel(
    name="portable.qreduce_mean",
    op="QReduceMean",
    roundings=("*",),
    parallel=("*",),
    match=_match_mean,
    accumulates=lambda site: PartialSums(loops=tuple(f"r{axis}" for axis in _reduced(site)), dtype=DType.I32),
    describe=lambda site: described(site.node.requant(), mean_bounds(site), site.node.name),
    values=_mean_values,
    source=requant_source(_MEAN, _MEAN),
    call=_MEAN_CALL,
)

OPERATORS = (QAVERAGE_POOL, QREDUCE_MEAN)
KERNELS = (QAVERAGE_POOL_PORTABLE, QREDUCE_MEAN_PORTABLE)
