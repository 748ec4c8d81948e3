"""Knows QLookup: a function of one value, as a table. Does not know what a table means: who makes it computes any
function in float64.

A value of 8 bits has its own of 256 elements. One of 16 bits lies between two of 513, and the result between theirs:

    place = x - lowest value of X's type
    y     = T[place / 128] + floor(((T[place / 128 + 1] - T[place / 128]) * (place % 128) + 64) / 128)
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
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.integer_sites import BYTE_TYPES, centred, not_values
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

STEP = 128  # between the elements of a table for 16 bits
TABLE_OF_BYTES, TABLE_OF_WORDS = 256, 2**16 // STEP + 1


def interpolated(table: Array, places: Integers) -> Integers:
    """The results of 16-bit values, counted from the lowest one."""
    elements, part = table.astype(np.int64), places % STEP
    below, above = elements[places // STEP], elements[places // STEP + 1]
    return below + ((above - below) * part + STEP // 2) // STEP


def _entries(site: Site) -> int:
    return TABLE_OF_BYTES if site.input(0).dtype in BYTE_TYPES else TABLE_OF_WORDS


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, table = site.input(0), site.input(1)
    if table.shape != (_entries(site),):
        raise shape_error(site, f"T must have {_entries(site)} elements")
    return (Tensor(name=site.node.outputs[0], dtype=table.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    places, table = centred(inputs[0], site.input(0).dtype.limits[0]), np.asarray(inputs[1])
    if site.input(0).dtype in BYTE_TYPES:
        return (table[places],)
    return (interpolated(table, places).astype(table.dtype),)


def _access(site: Site) -> Access:
    shapes = {"X": site.input(0).shape, "T": site.input(1).shape, "Y": site.output.shape}
    return parse_map(": X[...] T[:] -> Y[...]").bind(shapes)


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    same = site.input(0).dtype.size_bytes == site.output.dtype.size_bytes
    return (("X", "Y"),) if same else ()


def _values(call: Call) -> Mapping[str, object]:
    x, table = call.operands["X"], call.operands["T"]
    elements = replace(call, operands={name: operand for name, operand in call.operands.items() if name != "T"})
    lowest = x.dtype.limits[0]
    place = f"x + {-lowest}" if lowest else "x"
    if x.dtype in BYTE_TYPES:
        expression = f"t[{place}]"
    else:
        at = f"({place}) / {STEP}"
        expression = f"({table.dtype.c_type})tw_between(t[{at}], t[({at}) + 1], ({place}) % {STEP})"
    return elementwise_values(
        elements,
        f"qlookup_{x.dtype.value}_{table.dtype.value}",
        expression,
        scalars={"t": (f"const {table.dtype.c_type} *", str(table))},
    )


QLOOKUP = Operator(
    name="QLookup",
    inputs=("X", "T"),
    outputs=("Y",),
    summary="a function of one integer: a table of 256 for 8 bits, between elements of 513 for 16",
    infer=_infer,
    reference=_reference,
    access=_access,
)

QLOOKUP_PORTABLE = Kernel(
    name="portable.qlookup",
    op="QLookup",
    parallel=("*",),
    match=lambda site: not_values(site, 0, 1),
    in_place=_in_place,
    values=_values,
    source=elementwise_source,
    call=ELEMENTWISE_CALL,
)

OPERATORS = (QLOOKUP,)
KERNELS = (QLOOKUP_PORTABLE,)
