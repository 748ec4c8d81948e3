"""Knows QAdd and QMul in one form for all instruction sets: loops over operands that broadcast, and the numbers.
Does not know instructions.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Nest, SumForm, elementwise_walk, nest, scaled_sum_form
from tilewright_cortexm.kernels.products import BYTES

INPUTS = ("A", "B")
NEST = """\
% for line in nest.headers:
${line}
% endfor
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The innermost loop: `count` elements, how far each operand moves from one to the next; `outer` is the rest."""

    count: str
    steps: dict[str, int]  # of A, B and Y
    outer: Nest

    def pointer(self, call: Call, name: str, cast: str) -> str:
        """C for where a row of this operand begins."""
        return f"({cast}){call.operands[name]}{self.outer.offsets[name]}"


def rows_of(call: Call) -> Rows:
    """How both inputs are walked together with Y, in the layouts that they have."""
    walk = elementwise_walk(call.operands, "Y", INPUTS)
    return Rows(
        count=walk.extents[-1],
        steps={name: steps[-1] for name, steps in walk.steps.items()},
        outer=nest(walk, 1),
    )


SUM_ROUNDINGS = ("onnx", "tflm", "multiply-shift")  # a sum whose one shift is proved equal rounds as any of them


def refused(site: Site) -> str | None:
    """Why this is no element by element operation on bytes, or None."""
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i8 or u8"
    return None


def sum_of(site: Site) -> SumForm | str:
    """The form of a QAdd with a sum of 32 bits, or why it has none."""
    reason = refused(site)
    if reason:
        return reason
    form = scaled_sum_form(site)
    return form if form and form.bits <= 32 else "the exact sum needs more than 32 bits"


def limits(site: Site) -> tuple[int, int]:
    """The lowest and the highest result."""
    if site.node.op == "QMul":
        requant = site.node.requant()
        return requant.low, requant.high
    return site.node.integer("low"), site.node.integer("high")


def in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Either input, where it is as large as the output: elements are read before their place is written."""
    pairs = zip(INPUTS, (site.input(0), site.input(1)), strict=True)
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)
