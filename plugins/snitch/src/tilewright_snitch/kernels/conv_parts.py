"""Knows what convolutions by streams need where their channels come in parts: which products begin the sums and go
on with them, and where sums are kept. Does not know rows of pixels, nor how weights are stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, PartialSums, Windows
from tilewright_snitch.kernels.product_sections import PRODUCTS, RESULTS, products_values
from tilewright_snitch.kernels.sources import c_fragment, c_template

GRAIN = 4  # channels of a part are a multiple: two words, so that a window of one tap has enough for streams


def accumulates(site: Site) -> PartialSums:
    """Sums are what is computed in."""
    return PartialSums(loops=("c",), dtype=site.output.dtype)


def is_part(call: Call) -> bool:
    """Whether the call computes a part of its channels."""
    return "acc" in call.operands


def part_values(call: Call, windows: Windows, values: Mapping[str, object]) -> dict[str, object]:
    """`values` of a whole convolution, changed for parts. Two axes; channels last, of the sums too."""
    x, w, steps = call.operands["X"], call.operands["W"], call.operands["acc"].strides
    channels, w_tap = call.extents["c"], w.strides[-2]
    joined = windows.kernel[1] == 1 or (channels.isdecimal() and int(channels) == x.strides[-1] == w_tap)
    names = _names(call, deep=not joined)
    return {
        **values,
        **names,
        "part": True,
        "kept": call.operands["acc"],
        "deep": not joined,
        "function": f"{names['begins']}_conv_part_{values['clip']}",
        "fields": {**_fields(values), "channels": channels},
        "sums": {
            "first": call.first,
            "last": call.last,
            "batch": steps[0],
            "row": 0 if len(steps) == 3 else steps[2],
            "column": steps[-1],
            "w_tap": w_tap,
        },
    }


def _fields(values: Mapping[str, object]) -> Mapping[str, object]:
    result = values["fields"]
    if not isinstance(result, Mapping):
        raise TypeError("fields are none of a convolution")
    return result


def _names(call: Call, *, deep: bool) -> dict[str, object]:
    """Of the products in C: a bias is added where sums begin; limits hold when they are done."""
    ways = {"begins": "B" in call.operands, "goes_on": True}
    return {
        way: products_values(call.site, bias=bias, dense=True, deep=deep, clip="none")["name"]
        for way, bias in ways.items()
    }


def part_sections(values: Mapping[str, object]) -> CodeFragments:
    """The products of every kind, and the windows around them."""
    ways = {values["goes_on"]: True, values["begins"]: values["begins"] == values["goes_on"]}
    products = (PRODUCTS.of(name=name, dense=True, clip="none", bias=bias) for name, bias in ways.items())
    return (*products, c_template("${function}", "conv_part.c.mako", c_fragment("windows.h"), RESULTS))
