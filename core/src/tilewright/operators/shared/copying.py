"""Knows the portable C of operators that only move elements: one strided copy, or several, into one output.
Does not know which element goes where; each operator says so in steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import ELEMENTWISE
from tilewright.operators.c_code.walk import Walk, walk

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
    """The same walk with loops of one trip around it, `depth` in all."""
    extra = depth - loops.depth
    return Walk(
        extents=("1",) * extra + loops.extents,
        steps={name: (0,) * extra + steps for name, steps in loops.steps.items()},
    )
