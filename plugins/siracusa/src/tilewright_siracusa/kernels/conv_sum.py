"""Knows how the cluster adds to the results of a convolution as it stores them: a QConv and the QAdd behind it, with no
value between the two. Does not know how windows are computed (`products`).

Each result is rounded and limited first, as the convolution alone would do it; the sum then has the 32-bit form of
`add`, with its zero point in the offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, SumForm, TileShape
from tilewright.api.operator import Access
from tilewright_siracusa.kernels.add import sum_form
from tilewright_siracusa.kernels.costs import trips
from tilewright_siracusa.kernels.forms import Form
from tilewright_siracusa.kernels.layers import BLOCK, ROUNDINGS
from tilewright_siracusa.kernels.limits import WHOLE
from tilewright_siracusa.kernels.packing import pack
from tilewright_siracusa.kernels.parts import GRAIN
from tilewright_siracusa.kernels.products import conv_cycles, conv_map, conv_values, describe, match_products
from tilewright_siracusa.kernels.sources import DOT, FINISH, c_fragment, c_template
from tilewright_siracusa.kernels.windows import WINDOWS_CALL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

RESULT = "qadd_Y"
CYCLES = 8.0  # of one sum


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvSum:
    """A convolution and what is added to it."""

    conv: Form
    more: str  # the operand that is added
    factors: tuple[int, int]  # of results and of what is added
    form: SumForm


def _match(site: Site) -> ConvSum | str:
    conv, add = site.members()
    form, total = match_products(conv), sum_form(add)
    if isinstance(form, str):
        return form
    if isinstance(total, str):
        return total
    if not form.direct:
        return "windows are copied to columns"
    first = site.has_input(4)  # the convolution is the first addend
    more = site.input(4 if first else 3)
    if more.shape != site.output.shape or more.name in site.constants:
        return "what is added must be computed, and as large as the result"
    if abs(add.node.integer("zero_point")) << total.shift >= 1 << 30:
        return "the zero point of the sum, before its shift, may leave 32 bits"
    factors = (total.a_factor, total.b_factor) if first else (total.b_factor, total.a_factor)
    return ConvSum(conv=form, more="qadd_B" if first else "qadd_A", factors=factors, form=total)


def _conv(site: Matched) -> Matched:
    """The convolution alone."""
    return Matched.of(site.members()[0], site.analysis.conv)


def _pack(site: Matched) -> Mapping[str, Array]:
    return pack(_conv(site))


def _access(site: Matched) -> Access:
    return conv_map(_conv(site), site.analysis.more, RESULT)


def _layouts(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "qadd_B" if site.has_input(4) else "qadd_A": layout, RESULT: layout}


def _in_place(site: Matched) -> tuple[tuple[str, str], ...]:
    return ((site.analysis.more, RESULT),)


def _cycles(tile: TileShape) -> float:
    sums = trips(tile, "n", "h", "w", "o")
    return conv_cycles(replace(tile, site=_conv(tile.site))) + sums * CYCLES


def _values(call: Call) -> Mapping[str, object]:
    found: ConvSum = call.site.analysis
    add, more = call.site.members()[1].node, call.operands[found.more]
    low, high, zero = (add.integer(name) for name in ("low", "high", "zero_point"))
    to, own = WHOLE.get((low, high), "any"), {**call.operands, "Y": call.operands[RESULT]}
    values = conv_values(replace(call, site=_conv(call.site), operands=own))
    signs = (call.site.members()[0].output.dtype is DType.I8, more.dtype is DType.I8)
    letters = "".join("s" if signed else "u" for signed in signs)
    result, added = found.factors
    return {
        **values,
        "function": f"{values['function']}_sum_{letters}_{to}",
        "summed": f"tw_xp_finish_{values['limit']}_sum_{letters}_{to}",
        "signs": signs,
        "to": to,
        "more": {
            "values": f"(const uint8_t *){more}",
            **dict(zip(("batch", "row", "column"), _steps(more.strides), strict=True)),
            "sum": f"{{.a_factor = {result}, .b_factor = {added}, "
            f".offset = {found.form.offset + (zero << found.form.shift)}, .shift = {found.form.shift}, "
            f".to = {{.low = {low}, .high = {high}, .zero_point = 0}}}}",
        },
    }


def _steps(strides: tuple[object, ...]) -> tuple[object, object, object]:
    """Of images, rows and columns."""
    return strides[0], 0 if len(strides) == 3 else strides[2], strides[-1]


_FINISH = c_template("${summed}", "finish_sum.c.mako", FINISH)
_PRODUCTS = c_template("${function}", "products.c.mako", DOT, _FINISH)


def _source(values: Mapping[str, Any]) -> CodeFragments:
    taps = ("taps.h",) if values["edges"] else ()
    return (*(c_fragment(name) for name in ("sum_pixel.h", *taps)), _PRODUCTS)


_CALL = WINDOWS_CALL.format(
    arguments=f"""\\
(tw_xp_more){{
% for name, value in more.items():
    .${{name}} = ${{value}},
% endfor
}}, (const uint8_t *)${{x}}, (const uint8_t *)${{W}}, ${{P}}, (uint8_t *)${{{RESULT}}}, ${{behind}}"""
)

KERNELS = (
    Kernel(
        name="siracusa.qconv_qadd",
        op="QAdd",
        pattern=("QConv", "QAdd"),
        target="siracusa",
        roundings=ROUNDINGS,
        match=_match,
        access=_access,
        requires=_layouts,
        pack=_pack,
        in_place=_in_place,
        multiples={"o": BLOCK, "c": GRAIN},
        parallel=("h", "w", "o", "n"),
        cycles=_cycles,
        describe=lambda site: describe(_conv(site)),
        values=_values,
        source=_source,
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    ),
)
