"""Knows what products of matrices by streams need where they come in parts: which products begin the sums and go on,
and where sums and results are. Does not know blocks, nor how weights are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, PartialSums
from tilewright_snitch.kernels.product_sections import PRODUCTS, RESULTS, products_values
from tilewright_snitch.kernels.sources import c_fragment, c_template

NO_PART: Mapping[str, Any] = {"part": False, "results": {}, "kept": ""}
GRAIN = 4  # products of a part are a multiple: two words of float32, so that streams have enough


def accumulates(site: Site) -> PartialSums:
    """Sums are what is computed in."""
    return PartialSums(loops=("k",), dtype=site.output.dtype)


def is_part(call: Call) -> bool:
    """Whether the call computes a part of its products."""
    return "acc" in call.operands


def part_values(call: Call, values: Mapping[str, Any], row: int) -> dict[str, Any]:
    """`values` of whole products, changed for parts; `row` is from row to row of sums. A bias is added where sums
    begin; limits hold when they are done.
    """
    acc, bias, y, fields = call.operands["acc"], "C" in call.operands, call.operands["Y"], values["fields"]
    dense = acc.strides[-1] == 1
    begins = products_values(call.site, bias=bias, dense=dense and (not bias or fields["c_output"] == 1), clip="none")
    goes_on = products_values(call.site, bias=True, dense=dense, clip="none")
    together = dense and y.strides[-1] == 1
    return {
        **values,
        "part": True,
        "begins": begins["name"],
        "goes_on": goes_on["name"],
        "products": (begins, goes_on),
        "together": together,
        "called": f"{begins['name']}_part_{int(dense)}{int(together)}_{values['clip']}",
        "fields": {**fields, "c_row": 0, "c_output": 0, "y_row": row, "y_output": acc.strides[-1]},
        "results": {
            "first": call.first,
            "last": call.last,
            **{name: fields[name] for name in ("c_row", "c_output", "y_row", "y_output")},
        },
        "kept": f"{acc}{values['at']['acc']}, ",
    }


def part_sections(values: Mapping[str, Any]) -> CodeFragments:
    """The products of both kinds, and the calls of them."""
    kinds = {own["name"]: {name: own[name] for name in ("bias", "dense", "clip")} for own in values["products"]}
    products = (PRODUCTS.of(name=name, **kind) for name, kind in kinds.items())
    return (*products, c_template("${called}", "product_part.c.mako", c_fragment("products.h"), RESULTS))
