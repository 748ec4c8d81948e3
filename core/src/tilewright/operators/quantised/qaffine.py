"""Knows QAffine: values of 8 or 16 bits times a factor, plus an addend, each for its channel; another factor below
zero makes it PRelu. Does not know which functions it stands for, nor how its numbers are found (`qdq.channels`).

    d = x - x_zero_point
    y = clamp((d * (d < 0 ? G : F) + A) >> shift, low, high)        >> rounds down

F, G and A are constant i32 tensors that broadcast to X; without G, F is for all values. A holds the zero point of the
result and what rounds, which is half of a step. With `ties`, a sum that leaves nothing behind the shift was exactly
half-way, and goes to the even distance from `zero_point`. No sum may leave 32 bits, or 64 where A is i64: such a node
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, CodeFragments, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import ELEMENTWISE, c_fragment
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.integer_sites import centred, input_range, not_values, output_dtype
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

_NAMES = ("X", "F", "A", "G")


def _operands(site: Site) -> dict[str, tuple[int, ...]]:
    """Shapes by name; without G where a node has none."""
    return {name: x.shape for name, x in zip(_NAMES, site.inputs, strict=False) if x is not None}


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    for tensor in site.inputs[1:]:
        types = (DType.I32, DType.I64) if tensor is site.inputs[2] else (DType.I32,)
        if tensor is not None and (tensor.dtype not in types or _broadcast(x.shape, tensor.shape) != x.shape):
            raise shape_error(site, "F, A and G are i32, A may be i64, and broadcast to X")
    dtype = output_dtype(site, site.node.integer("low"), site.node.integer("high"))
    return (Tensor(name=site.node.outputs[0], dtype=dtype, shape=x.shape),)


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return tuple(np.broadcast_shapes(left, right))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineRounding:
    """What happens behind the sum; `even_to` is the zero point where halves go to even, None where they go up."""

    shift: int
    low: int
    high: int
    even_to: int | None = None


def affine(distances: Integers, factors: tuple[Array, Array, Array], rounding: AffineRounding) -> Integers:
    """The formula: of d, and of F, A and G, which broadcast to it."""
    above, addend, below = (factor.astype(np.int64) for factor in factors)
    sums: Integers = distances * np.where(distances < 0, below, above) + addend
    steps = sums >> rounding.shift
    if rounding.even_to is not None:
        halves = (sums & ((1 << rounding.shift) - 1)) == 0
        steps = steps - (halves & ((steps - rounding.even_to) % 2 != 0))
    y: Integers = np.clip(steps, rounding.low, rounding.high)
    return y


def _rounding(node: Node) -> AffineRounding:
    return AffineRounding(
        shift=node.integer("shift"),
        low=node.integer("low"),
        high=node.integer("high"),
        even_to=node.integer("zero_point") if node.integer("ties") else None,
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    node, above, addend = site.node, np.asarray(inputs[1]), np.asarray(inputs[2])
    below = np.asarray(inputs[3]) if site.has_input(3) else above
    distances = centred(inputs[0], node.integer("x_zero_point"))
    y = affine(distances, (above, addend, below), _rounding(node))
    return (y.astype(site.output.dtype.numpy),)


def _access(site: Site) -> Access:
    shapes = _operands(site)
    reads = " ".join(f"{name}[...]" for name in shapes)
    return parse_map(f": {reads} -> Y[...]").bind({**shapes, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    reason = not_values(site, 0)
    constants = [site.constant(index) for index in range(1, len(site.inputs)) if site.has_input(index)]
    if reason or any(array is None for array in constants):
        return reason or "F, A and G must be constants"
    bits = 8 * site.input(2).dtype.size_bytes
    if not 0 <= site.node.integer("shift") < bits - 1:
        return f"the shift must be 0 to {bits - 2}"
    zero, ends = site.node.integer("x_zero_point"), input_range(site)
    farthest = max(abs(end - zero) for end in ends)
    factor, addend, *below = (np.abs(np.asarray(array, np.int64)) for array in constants)
    sums = farthest * (np.maximum(factor, below[0]) if below else factor) + addend  # of each channel on its own
    largest = int(sums.max(initial=0))
    return None if largest < 2 ** (bits - 1) else f"a sum may reach {largest}, which {bits} bits do not hold"


def _values(call: Call) -> Mapping[str, object]:
    node, y = call.site.node, call.operands["Y"].dtype
    below = "((x - p.x_zero_point) < 0) ? g : f" if "G" in call.operands else "f"
    rounding = "even" if node.integer("ties") else "rounded"
    rounding += "_wide" * (call.operands["A"].dtype is DType.I64)
    fields = {name: node.integer(name) for name in _FIELDS}
    return elementwise_values(
        call,
        f"qaffine_{rounding}{'_by_sign' * ('G' in call.operands)}_{call.operands['X'].dtype.value}_{y.value}",
        f"({y.c_type})tw_qaffine_{rounding}(x - p.x_zero_point, {below}, a, p)",
        scalars={"p": ("tw_qaffine", f"(tw_qaffine){c_initialiser(fields)}")},
    )


def _source(values: Mapping[str, Any]) -> CodeFragments:
    return (c_fragment("qaffine_wide.h" if "_wide(" in values["expression"] else "qaffine.h"), ELEMENTWISE)


_FIELDS = ("x_zero_point", "shift", "zero_point", "low", "high")

QAFFINE = Operator(
    name="QAffine",
    inputs=_NAMES,
    outputs=("Y",),
    summary="integers times a factor, plus an addend, each for its channel; another factor below zero",
    infer=_infer,
    reference=_reference,
    access=_access,
)

QAFFINE_PORTABLE = Kernel(
    name="portable.qaffine",
    op="QAffine",
    parallel=("*",),
    match=_match,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=_source,
    call=ELEMENTWISE_CALL,
)

OPERATORS = (QAFFINE,)
KERNELS = (QAFFINE_PORTABLE,)
