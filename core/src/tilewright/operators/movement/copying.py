"""Knows the portable C of operators that only move elements: one strided copy, or several, into one output; without a
gap, and of a length that is known, it is one of the C library's, a word at a time. Arrival and Departure are such
copies: of rows of an input that are handed over, and of rows of an output that are taken.
Does not know which element goes where; each operator says so in steps. Does not know when rows arrive:
`lower/line_buffers/streamed_io` has the code of it. No ONNX node becomes an Arrival or a Departure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.ir.code_fragments import FragmentTemplate
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import Walk, walk
from tilewright.operators.shared.elementwise import same_as_x, unary_access

COPY_CALL = "${statements}"
COPY_INCLUDES = ("<stdint.h>", "<string.h>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One strided copy. Pointers and extents are C expressions; steps are elements per loop. `overlaps`: the target may
    begin before the source in the same bytes.
    """

    source: str
    target: str
    extents: tuple[str, ...]
    source_steps: tuple[int, ...]
    target_steps: tuple[int, ...]
    overlaps: bool = False

    def loops(self) -> Walk:
        """The loops, joined as far as possible."""
        return walk(self.extents, {"X": self.source_steps, "Y": self.target_steps}, "Y")


def copy_source(values: Mapping[str, Any]) -> tuple[FragmentTemplate, ...]:
    """The function that `copy_values` calls; none where every move is the C library's."""
    return (ELEMENTWISE,) if values["depth"] else ()


def copy_values(dtype: DType, moves: Sequence[Move]) -> Mapping[str, object]:
    """What `copy_source` and `COPY_CALL` need to make all `moves`, those with gaps with one function."""
    walks = [move.loops() for move in moves]
    depth = max((loops.depth for loops in walks if not _is_one_piece(loops)), default=0)
    function = f"tw_copy_{dtype.value}_{depth}"
    calls = (
        _as_one_piece(move, loops, dtype)
        if _is_one_piece(loops)
        else f"{function}({deepened(loops, depth).arguments({'X': move.source, 'Y': move.target})});"
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


def _is_one_piece(loops: Walk) -> bool:
    """Whether neighbours go side by side, and are known to be some: of a tile there may be less than none."""
    return loops.depth == 1 and loops.extents[0].isdigit() and all(steps == (1,) for steps in loops.steps.values())


def _as_one_piece(move: Move, loops: Walk, dtype: DType) -> str:
    size = int(loops.extents[0]) * dtype.size_bytes
    return f"{'memmove' if move.overlaps else 'memcpy'}({move.target}, {move.source}, {size}u);"


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
    return Kernel(
        name=name,
        op=op,
        parallel=("*",),
        values=_values,
        source=copy_source,
        call=COPY_CALL,
        includes=COPY_INCLUDES,
    )


ARRIVAL = _operator("Arrival", "an input that arrives in rows (--io push)")
DEPARTURE = _operator("Departure", "an output that is taken in rows (--io pull)")
OPERATORS = (ARRIVAL, DEPARTURE)
KERNELS = (_copy("Arrival"), _copy("Departure"))
