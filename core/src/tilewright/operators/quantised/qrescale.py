"""Knows QRescale: one value of 8 or 16 bits at another scale. Does not know other functions of one value (`qlookup`).

`y = requant(x - x_zero_point)`: Relu and Clip are its limits. With the attribute `negative`, another requantisation,
that is of what is below the zero point: LeakyRelu.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.arithmetic.bounds import AccumulatorBounds, product_bounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.c_rounding import c_requant, c_rounding, c_words, channel_words, described, too_wide
from tilewright.operators.shared.integer_sites import centred, input_range, not_values, requant_dtype

Array = npt.NDArray[np.generic]


def negative(site: Site) -> Requant | None:
    """The requantisation of what is below the zero point, where it is another."""
    result = site.node.attributes.get("negative")
    return result if isinstance(result, Requant) else None


def _infer(site: Site) -> tuple[Tensor, ...]:
    return (Tensor(name=site.node.outputs[0], dtype=requant_dtype(site), shape=site.input(0).shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, below = centred(inputs[0], site.node.integer("x_zero_point")), negative(site)
    y = requantise(x, site.node.requant(), -1)
    if below is not None:
        y = np.where(x < 0, requantise(x, below, -1), y)
    return (np.asarray(y).astype(site.output.dtype.numpy),)


def _access(site: Site) -> Access:
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def rescale_bounds(site: Site) -> AccumulatorBounds:
    """Range of what a QRescale multiplies."""
    (low, high), zero = input_range(site), site.node.integer("x_zero_point")
    return product_bounds((low - zero, high - zero), (1, 1))


def rescale_requant_form(site: Site) -> RequantForm:
    """How a QRescale is requantised: one channel."""
    return requant_form(site.node.requant(), rescale_bounds(site), site.node.name)


def _match(site: Site) -> str | None:
    requants, bounds = [site.node.requant(), *([below] if (below := negative(site)) else [])], rescale_bounds(site)
    if any(len(requant.scale) > 1 for requant in requants):
        return "QRescale has one scale for all"
    if len({c_rounding(requant).function for requant in requants}) > 1:
        return "both sides of the zero point must round alike"
    reasons = (too_wide(requant, bounds) for requant in requants)
    return not_values(site, 0) or next((reason for reason in reasons if reason), None)


def _values(call: Call) -> Mapping[str, object]:
    site, x, y_type = call.site, call.operands["X"], call.operands["Y"].dtype
    requant, below, bounds = site.node.requant(), negative(site), rescale_bounds(site)
    rounding = c_rounding(requant)
    scalars = {"zero_point": ("int32_t", str(site.node.integer("x_zero_point")))}
    for name, each in (("", requant), ("_below", below)):
        if each is not None:
            words = channel_words(each, bounds, site.node.name)[0]
            scalars[f"word{name}"] = (rounding.word_type.rstrip(), c_words(words))
            scalars[f"p{name}"] = ("tw_requant", f"(tw_requant){c_requant(each, bounds, site.node.name)}")
    value = rounding.handed("x - zero_point", "word", "p")
    if below is not None:
        value = f"((x < zero_point) ? {rounding.handed('x - zero_point', 'word_below', 'p_below')} : {value})"
    name = f"qrescale{'_apart' * (below is not None)}_{x.dtype.value}_{y_type.value}{rounding.suffix}"
    return {
        **elementwise_values(call, name, f"({y_type.c_type}){value}", scalars=scalars),
        "bits": 32,
        "rounding": rounding,
    }


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    same = site.input(0).dtype.size_bytes == site.output.dtype.size_bytes
    return (("X", "Y"),) if same else ()


QRESCALE = Operator(
    name="QRescale",
    inputs=("X",),
    outputs=("Y",),
    summary="an integer at another scale, requantised; what is below the zero point may have a scale of its own",
    infer=_infer,
    reference=_reference,
    access=_access,
)

QRESCALE_PORTABLE = Kernel(
    name="portable.qrescale",
    op="QRescale",
    roundings=("*",),
    parallel=("*",),
    match=_match,
    in_place=_in_place,
    describe=lambda site: described(site.node.requant(), rescale_bounds(site), site.node.name),
    values=_values,
    source=lambda values: (values["rounding"].section, ELEMENTWISE),
    call=ELEMENTWISE_CALL,
)

OPERATORS = (QRESCALE,)
KERNELS = (QRESCALE_PORTABLE,)
