"""Knows how a test plans with what the core brings: portable kernels, its tiler, its allocator.
Does not know graphs.
"""

from __future__ import annotations

from typing import Any

from tilewright.allocate.best_fit import BestFit
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.tile.strategies import StepTiler


def portable_planner(**asked: Any) -> Planner:
    """`asked`: other fields of the planner, such as `optimize` and `pins`."""
    given: dict[str, Any] = {
        "operators": vocabulary(),
        "kernels": portable_kernels(),
        "tiler": StepTiler(name="auto", summary=""),
        "allocator": BestFit(),
    }
    return Planner(**{**given, **asked})
