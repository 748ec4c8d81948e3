"""Knows how the cluster adds two tensors of bytes: two elements per step, in the 32-bit form that is proved equal.
Does not know sums that need 64 bits or fall on halves; portable C has those.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, SumForm, TileShape, elementwise_walk, nest, scaled_sum_form
from tilewright_siracusa.kernels.costs import leading_trips
from tilewright_siracusa.kernels.layers import BYTES
from tilewright_siracusa.kernels.limits import WHOLE
from tilewright_siracusa.kernels.sources import c_template

LEADING = ("_lead1", "_lead0", "_lead2", "_lead3", "_lead4", "_lead5")  # rows of an image first, then columns


def sum_form(site: Site) -> SumForm | str:
    """The form of a sum of bytes in 32 bits, or why it has none."""
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i8 or u8"
    form = scaled_sum_form(site)
    if form is None or form.bits > 32 or form.ties:
        return "the sum has no 32-bit form without ties"
    return "has no elements" if 0 in site.output.shape else form


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    pairs = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)


def _values(call: Call) -> Mapping[str, object]:
    node = call.site.node
    low, high = node.integer("low"), node.integer("high")
    limit = WHOLE.get((low, high), "any")
    walk = elementwise_walk(call.operands, "Y", ("A", "B"))
    outer = nest(walk, 1)
    signs = {name.lower(): call.operands[name].dtype is DType.I8 for name in ("A", "B")}
    letters = "".join("s" if signed else "u" for signed in signs.values())
    return {
        "function": f"tw_xp_add_{letters}_{limit}",
        "signs": signs,
        "limit": limit,
        "nest": outer.headers,
        "at": outer.offsets,
        "count": walk.extents[-1],
        "steps": {name: steps[-1] for name, steps in walk.steps.items()},
        "form": call.site.analysis,
        "to": f"{{.low = {low}, .high = {high}, .zero_point = {node.integer('zero_point')}}}",
    }


def _cycles(tile: TileShape) -> float:
    """Two elements in eighteen instructions; runs of neighbours are taken to be whole rows."""
    limited = (tile.site.node.integer("low"), tile.site.node.integer("high")) in WHOLE
    return leading_trips(tile) * (9.0 if limited else 10.0) + 40


QADD = Kernel(
    name="siracusa.qadd",
    op="QAdd",
    target="siracusa",
    roundings=("onnx", "tflm", "multiply-shift"),  # whose one shift is proved equal
    match=sum_form,
    in_place=_in_place,
    parallel=LEADING,
    cycles=_cycles,
    values=_values,
    source=(c_template("${function}", "add.c.mako"),),
    call="""\
% for line in nest:
${line}
% endfor
${function}(${count}, (const uint8_t *)${A}${at["A"]}, ${steps["A"]}, (const uint8_t *)${B}${at["B"]}, ${steps["B"]},
    (uint8_t *)${Y}${at["Y"]}, ${steps["Y"]}, (tw_xp_sum){.a_factor = ${form.a_factor}, .b_factor = ${form.b_factor},
    .offset = ${form.offset}, .shift = ${form.shift}, .to = ${to}});""",
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (QADD,)
