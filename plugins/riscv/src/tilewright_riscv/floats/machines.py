"""Knows what a machine says of itself so that it gets kernels for functions of floats, and what those share.
Does not know the functions, nor how kernels use them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import TileShape
from tilewright_riscv.floats.functions import UNARY
from tilewright_riscv.floats.lanes import Dialect, Program

INCLUDES = ("<stdint.h>", "<string.h>", "<math.h>")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machine:
    """A target whose cores have a float unit. Cycles are those of one core."""

    target: str
    dialect: Dialect
    run_cycles: Callable[[Program, int], float]  # of a call over so many neighbours
    row_cycles: float  # of a normalised row beside its runs: quotients and a root
    logarithm_cycles: float
    two_inputs: bool = False  # no fast run reads more
    inner: tuple[str, ...] = ()  # memories whose operands runs are fast on, where others would slow them down
    functions: Mapping[str, Program] = field(default_factory=lambda: UNARY)  # of one float, by operator
    step_cycles: Callable[[tuple[Program, ...]], float] = lambda programs: 0.0  # of a step, once

    def name(self, short: str) -> str:
        """A kernel's."""
        return f"{self.target}.{short}_f32"

    def memories(self, *operands: str) -> Mapping[str, tuple[str, ...]]:
        """Where a kernel wants its operands."""
        return dict.fromkeys(operands, self.inner) if self.inner else {}


def not_floats(site: Site) -> str | None:
    """Why these are not all f32, or None."""
    for tensor in (*site.inputs, *site.outputs):
        if tensor is not None and tensor.dtype is not DType.F32:
            return f"values must be f32, found {tensor.dtype.value}"
    if any(tensor is not None and 0 in tensor.shape for tensor in (*site.inputs, *site.outputs)):
        return "has no elements"
    return None


def trips(tile: TileShape) -> int:
    """How often the innermost of all loops is executed."""
    return math.prod(high - low for low, high in tile.box.values())
