"""Knows operators of one tensor, or of two that broadcast, element by element: shape rules, access, kernels.
Does not know what any of them computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Import
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """C over `a` and `b`; `name` tells apart what one operator computes on different types."""

    name: str
    text: str


def broadcast_output(site: Site) -> tuple[Tensor, ...]:
    """One output of A's type, with the shape that A and B broadcast to."""
    a, b = site.input(0), site.input(1)
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise shape_error(site, "the shapes of A and B do not broadcast") from None
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=shape),)


def one_type(site: Site) -> tuple[Tensor, ...]:
    """The same, for operators that take two tensors of one type."""
    if site.input(0).dtype is not site.input(1).dtype:
        raise shape_error(site, "A and B must have one type")
    return broadcast_output(site)


def same_as_x(site: Site) -> tuple[Tensor, ...]:
    """One output of X's type and shape."""
    return (Tensor(name=site.node.outputs[0], dtype=site.input(0).dtype, shape=site.input(0).shape),)


def same_as_x_along_axis(site: Site) -> tuple[Tensor, ...]:
    """The same, for operators along the axis that the attribute `axis` says, counted from the front."""
    if not 0 <= site.node.integer("axis") < len(site.input(0).shape):
        raise shape_error(site, f"there is no axis {site.node.integer('axis')}")
    return same_as_x(site)


def unary_access(site: Site) -> Access:
    """Each element of Y reads the element of X in its place."""
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def pair_access(site: Site) -> Access:
    """Each element of Y reads one of A and one of B, broadcast."""
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return parse_map(": A[...] B[...] -> Y[...]").bind(shapes)


def pair_in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Either input, where it is as large as the output: elements are read before their place is written."""
    y = site.output
    operands = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, x in operands if (x.dtype, x.shape) == (y.dtype, y.shape))


def pair_operator(
    name: str,
    summary: str,
    reference: Callable[[Site, Sequence[Array | None]], tuple[Array, ...]],
    imports: tuple[Import, ...],
    *,
    infer: Callable[[Site], tuple[Tensor, ...]] = one_type,
    tolerance: Callable[[Site, Sequence[Array | None]], tuple[Array | None, ...]] | None = None,
) -> Operator:
    """An operator of A and B."""
    return Operator(
        name=name,
        inputs=("A", "B"),
        outputs=("Y",),
        summary=summary,
        infer=infer,
        reference=reference,
        access=pair_access,
        tolerance=tolerance,
        imports=imports,
    )


def pair_kernel(op: str, match: Callable[[Site], str | None], expression: Callable[[Site], Expression]) -> Kernel:
    """The portable kernel of such an operator."""

    def values(call: Call) -> Mapping[str, object]:
        computed = expression(call.site)
        return elementwise_values(call, computed.name, computed.text)

    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=match,
        in_place=pair_in_place,
        values=values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
        includes=("<stdint.h>", "<math.h>"),  # NAN; no function of it is called
    )
