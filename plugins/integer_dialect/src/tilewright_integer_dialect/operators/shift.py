"""Knows the RequantShift that stands by itself: whole numbers multiplied, moved, shifted and clipped, with one set of
numbers or one for each channel. Does not know those that are fused behind a product (`fusing`).

Normal form: `requant`, a Requant whose rounding is a MultiplyShift, and `axis`, that of the channels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilewright.api.graph import DType, MultiplyShift, Requant, Site, Tensor, requantise
from tilewright.api.kernel import Call, Kernel, Matched
from tilewright.api.operator import Access, Conversion, OnnxNode, Operator, parse_map
from tilewright_integer_dialect.operators.parts import (
    NEST,
    all_elements,
    c_types,
    element_values,
    not_integers,
    signature,
    source,
)

WORDS = 4  # multiplier, shift, and the addend in two halves


def _import(node: OnnxNode, graph: Conversion) -> None:
    shape, dims = graph.tensor(node.inputs[0]).shape, node.integers("dims")
    multipliers, addends = node.integers("multipliers"), node.integers("addends")
    axis = len(shape) - 1 if len(multipliers) == 1 else _axis(shape, dims)
    if axis is None:
        raise graph.refuse(node, f"mul has the shape {list(dims)}, and x {list(shape)}: no axis of channels is both")
    requant = make_requant(multipliers, addends, node.integer("shift"), floor=bool(node.integer("floor")))
    limited = replace(requant, low=node.integer("low"), high=node.integer("high"))
    graph.emit(node, "integer.Shift", node.inputs, node.outputs, {"requant": limited, "axis": max(axis, 0)})


def _axis(shape: Sequence[int], dims: Sequence[int]) -> int | None:
    """The axis of x along which mul has elements. Channels before two axes of an image mean those of a row of pixels,
    too, where numpy would take them for images.
    """
    places = [place for place, extent in enumerate(dims) if extent != 1]
    if len(places) != 1:
        return None
    (place,) = places
    right = len(shape) - len(dims) + place
    image = 1 if len(shape) == 3 and len(dims) - place >= 3 else right
    result = (axis for axis in (image, right, place) if 0 <= axis < len(shape) and shape[axis] == dims[place])
    return next(result, None)


def make_requant(multipliers: Sequence[int], addends: Sequence[int], shift: int, *, floor: bool) -> Requant:
    """What is computed, in registers that hold everything; without limits as yet."""
    numbers = (multipliers, addends)
    same = all(len(set(each)) == 1 for each in numbers)
    multiplier, addend = (tuple(each[:1]) if same else tuple(each) for each in numbers)
    rounding = MultiplyShift(
        multiplier=multiplier, addend=addend, shift=(shift,), rounding="floor" if floor else "half-up", bits=64
    )
    scale = tuple(number / 2**shift for number in multiplier)
    return Requant(scale=scale, zero_point=0, low=0, high=0, rounding=rounding)


def numbers_of(site: Site) -> MultiplyShift:
    """How the node rounds."""
    rounding = site.node.requant().rounding
    if not isinstance(rounding, MultiplyShift):
        raise TypeError(f"{site.node.name}: rounds as {rounding.name}")
    return rounding


def requantised_dtype(site: Site) -> DType:
    """The smallest type that holds what the node clips to."""
    requant = site.node.requant()
    fitting = (
        kind for kind in (DType.I8, DType.U8) if kind.limits[0] <= requant.low and requant.high <= kind.limits[1]
    )
    return next(fitting, DType.I32)


def _infer(site: Site) -> tuple[Tensor, ...]:
    return (Tensor(name=site.node.outputs[0], dtype=requantised_dtype(site), shape=site.input(0).shape),)


def _reference(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x = np.asarray(inputs[0], np.int64)
    return (requantise(x, site.node.requant(), site.node.integer("axis")).astype(site.output.dtype.numpy),)


def _channels(site: Site) -> int:
    return len(site.node.requant().scale)


def words(site: Site) -> Any:
    """What the C reads for each channel: [channels, WORDS]."""
    import numpy as np

    rounding, count = numbers_of(site), _channels(site)
    shift = rounding.shift[0]
    half = 1 << (shift - 1) if shift and rounding.rounding == "half-up" else 0
    made = np.zeros((count, WORDS), np.int32)
    for channel in range(count):
        added = rounding.addend[channel % len(rounding.addend)] + half
        lower = added & 0xFFFFFFFF
        multiplier = rounding.multiplier[channel % len(rounding.multiplier)]
        made[channel] = (multiplier, shift, lower - ((lower >> 31) << 32), added >> 32)
    return made


def _packed(site: Matched) -> Access:
    if _channels(site) == 1:
        return all_elements(site)
    axis = site.node.integer("axis")
    loops = [f"i{index}" for index in range(len(site.input(0).shape))]
    place = ",".join(loops)
    shapes = {"X": site.input(0).shape, "R": (_channels(site), WORDS), "Y": site.output.shape}
    return parse_map(f"{' '.join(loops)} : X[{place}] R[i{axis},:] -> Y[{place}]").bind(shapes)


def _values(call: Call) -> Mapping[str, object]:
    x, y, site = call.operands["X"], call.operands["Y"], call.site
    requant, kinds = site.node.requant(), c_types(call)
    table = call.operands.get("R")
    along = [0] * len(y.shape)
    if table is not None:
        along[site.node.integer("axis")] = table.strides[0]
    result = element_values(call, {"X": x.strides, "words": along, "Y": y.strides})
    literal = ", ".join(str(number) if number > -(2**31) else "INT32_MIN" for number in words(site)[0].tolist())
    return {
        **result,
        **kinds,
        "function": f"tw_integer_shift_{kinds['types']}",
        "words": table if table is not None else f"(const int32_t[]){{{literal}}}",
        "limits": f"{requant.low}, {requant.high}",
    }


SHIFT = Operator(
    name="integer.Shift",
    inputs=("X",),
    outputs=("Y",),
    summary="RequantShift: whole numbers multiplied, moved, shifted and clipped",
    infer=_infer,
    reference=_reference,
    access=all_elements,
    imports=(signature("RequantShift", "shift low high floor", _import, lists="multipliers addends dims"),),
)

SHIFT_PORTABLE = Kernel(
    name="integer.shift",
    op="integer.Shift",
    roundings=("multiply-shift",),
    match=not_integers,
    access=_packed,
    pack=lambda site: {"R": words(site)} if _channels(site) > 1 else {},
    parallel=("*",),
    in_place=lambda site: (("X", "Y"),) if site.input(0).dtype is site.output.dtype else (),
    values=_values,
    source=source("integer_shift.c.mako"),
    call=NEST
    + '${function}(${count}, ${X}${at["X"]}, ${x_step}, ${words}${at["words"]}, ${words_step}, ${Y}${at["Y"]}, '
    "${y_step}, ${limits});",
)
