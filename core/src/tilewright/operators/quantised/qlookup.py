"""Knows QLookup: each 8-bit value is replaced by the entry of a 256-element table that it selects.
Does not know what the table means; who makes it computes any function of one value in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.integer_sites import centred, not_bytes
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, table = site.input(0), site.input(1)
    if table.shape != (256,):
        raise shape_error(site, "T must have 256 elements")
    return (Tensor(name=site.node.outputs[0], dtype=table.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (np.asarray(inputs[1])[centred(inputs[0], site.input(0).dtype.limits[0])],)


def _access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "T": site.input(1).shape, "Y": site.output.shape}
    return parse_map(": X[...] T[:] -> Y[...]").bind(shapes)


def _match(site: Site) -> str | None:
    return not_bytes(site, 0, 1)


def _values(call: Call) -> Mapping[str, object]:
    x, table = call.operands["X"], call.operands["T"]
    elements = replace(call, operands={name: operand for name, operand in call.operands.items() if name != "T"})
    position = "x + 128" if x.dtype is DType.I8 else "x"
    return elementwise_values(
        elements,
        f"qlookup_{x.dtype.value}_{table.dtype.value}",
        f"t[{position}]",
        scalars={"t": (f"const {table.dtype.c_type} *", str(table))},
    )


QLOOKUP = Operator(
    name="QLookup",
    inputs=("X", "T"),
    outputs=("Y",),
    summary="a function of one 8-bit value, as a table of 256",
    infer=_infer,
    reference=_reference,
    access=_access,
)

QLOOKUP_PORTABLE = Kernel(
    name="portable.qlookup",
    op="QLookup",
    parallel=("*",),
    match=_match,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=(ELEMENTWISE,),
    call=ELEMENTWISE_CALL,
)

OPERATORS = (QLOOKUP,)
KERNELS = (QLOOKUP_PORTABLE,)
