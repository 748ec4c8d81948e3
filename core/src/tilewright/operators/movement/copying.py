"""Knows the portable C of operators that only move elements: one strided copy, or several, into one output. Arrival and
Departure are such copies: of rows of an input that are handed over, and of rows of an output that are taken.
Does not know which element goes where; each operator says so in steps. Does not know when rows arrive:
`lower/line_buffers/streamed_io` has the code of it. No ONNX node becomes an Arrival or a Departure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import Walk, walk
from tilewright.operators.shared.elementwise import same_as_x, unary_access

COPY_SOURCE = (ELEMENTWISE,)
COPY_CALL = "${statements}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One strided copy. Pointers and extents are C expressions; steps are elements per loop."""

    source: str
    target: str
    extents: tuple[str, ...]
    source_steps: tuple[int, ...]
    target_steps: tuple[int, ...]

    def loops(self) -> Walk:
        """The loops, joined as far as possible."""
        return walk(self.extents, {"X": self.source_steps, "Y": self.target_steps}, "Y")


def copy_values(dtype: DType, moves: Sequence[Move]) -> Mapping[str, object]:
    """What `COPY_SOURCE` and `COPY_CALL` need to make all `moves` with one function."""
    walks = [move.loops() for move in moves]
    depth = max(loops.depth for loops in walks)
    function = f"tw_copy_{dtype.value}_{depth}"
    calls = (
        f"{function}({deepened(loops, depth).arguments({'X': move.source, 'Y': move.target})});"
        for move, loops in zip(moves, walks, strict=True)
    )
    return {
        "function": function,
        "depth": depth,
        "inputs": [("x", dtype.c_type)],
        "read": {"x": (dtype.c_type, str)},  # bits as they are
        "output": ("y", dtype.c_type),
        "scalars": [],
        "expression": "x",
        "statements": "\n".join(calls),
    }


def deepened(loops: Walk, depth: int) -> Walk:
    """The same walk with loops of extent 1 around it, `depth` in all."""
    extra = depth - loops.depth
    return Walk(
        extents=("1",) * extra + loops.extents,
        steps={name: (0,) * extra + steps for name, steps in loops.steps.items()},
    )


Array = npt.NDArray[np.generic]


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    move = Move(source=str(x), target=str(y), extents=y.extents, source_steps=x.strides, target_steps=y.strides)
    return copy_values(y.dtype, [move])


def _operator(name: str, summary: str) -> Operator:
    return Operator(
        name=name,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=same_as_x,
        reference=lambda site, inputs: (np.asarray(inputs[0]).copy(),),
        access=unary_access,
    )


def _copy(op: str) -> Kernel:
    name = f"portable.{op.lower()}"
    return Kernel(name=name, op=op, parallel=("*",), values=_values, source=COPY_SOURCE, call=COPY_CALL)


ARRIVAL = _operator("Arrival", "an input that arrives in rows (--io push)")
DEPARTURE = _operator("Departure", "an output that is taken in rows (--io pull)")
OPERATORS = (ARRIVAL, DEPARTURE)
KERNELS = (_copy("Arrival"), _copy("Departure"))
