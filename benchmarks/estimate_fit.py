"""Knows how counts become a table: least squares with no negative figure, on relative errors.
Does not know how layers were drawn or counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright_cortexm.instructions import CoreTable, table_of
from tilewright_cortexm.work import work_of

ROUNDS = 4000
CALL = 150.0  # instructions of a call at most: a few layers of one size would have all in it
FEW = 3  # layers of a kind, that are fitted by a single figure
LARGER = 0.25  # the power of its instructions by which a layer's error counts
SMALL = 1e-4  # of a layer, that a figure must at least be


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """A layer, the kernel that computed it, and what that took."""

    name: str
    kernel: Kernel
    tile: TileShape
    instructions: int
    cycles: float
    stack_bytes: int

    @property
    def kind(self) -> str:
        """Of portable C the code that runs; else the kernel."""
        return work_of(self.kernel.op, self.tile).kind if self.kernel.target == "*" else self.kernel.name

    @property
    def trips(self) -> Mapping[str, float]:
        """What it goes through, and what its kernel says."""
        stated = {} if self.kernel.instructions is None else {"stated": self.kernel.instructions(self.tile)}
        return {**work_of(self.kernel.op, self.tile).trips, **stated}


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreFit:
    """A table, to be judged."""

    table: CoreTable

    @classmethod
    def installed(cls, core: str) -> CoreFit:
        """Of the package."""
        return cls(table=table_of(core))

    def error(self, row: Counted) -> float:
        """Relative, of the estimate; -1.0 where there is none."""
        said = self.table.executed_by(row.kernel, row.tile)
        return (said or 0.0) / row.instructions - 1


def core_table(rows: Sequence[Counted]) -> dict[str, Any]:
    """The figures of one core."""
    kinds: dict[str, list[Counted]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
        if row.kernel.target == "*":
            kinds[row.kernel.op].append(row)  # for types of elements that were not counted
    executed = {kind: figures(result) for kind, result in sorted(kinds.items())}
    by_kernel: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_kernel[row.kernel.name].append(row.cycles / row.instructions)
    each = {name: _rounded(float(np.mean(result))) for name, result in sorted(by_kernel.items())}
    stack: dict[str, int] = defaultdict(int)
    for row in rows:
        stack[row.kernel.name] = max(stack[row.kernel.name], row.stack_bytes)
    usual = _rounded(float(np.mean(list(each.values()))))
    return {"executed": executed, "cycles_each": each, "usual_cycles_each": usual, "stack": stack}


def figures(rows: Sequence[Counted]) -> dict[str, float]:
    """Instructions for each thing that layers go through, none negative; errors are relative."""
    trips = [row.trips for row in rows]
    names = sorted({name for entry in trips for name, count in entry.items() if count and name != "call"})
    if "stated" in names and len(rows) < FEW:
        names = ["stated"]
    elif len(rows) < FEW:
        names = [_most(names, trips)]
    counts = np.array([row.instructions for row in rows], float)
    weights = (counts / counts.mean()) ** LARGER
    fixed = min(CALL, 0.5 * counts.min()) if "stated" not in names else 0.0
    best: tuple[float, dict[str, float]] | None = None
    for call in sorted({0.0, 0.3 * fixed, fixed}):
        matrix = np.array([[entry.get(name, 0.0) for name in names] for entry in trips]) / counts[:, None]
        solved = _least_squares(matrix * weights[:, None], (1 - call / counts) * weights)
        error = float(np.abs(matrix @ solved + call / counts - 1).mean())
        result = {name: _rounded(float(value)) for name, value in zip(names, solved, strict=True) if value > 0}
        if best is None or error < best[0] - SMALL:
            best = error, {**result, **({"call": _rounded(call)} if call else {})}
    return best[1] if best else {}


def _most(names: Sequence[str], trips: Sequence[Mapping[str, float]]) -> str:
    """What such layers go through most often."""
    return max(names, key=lambda name: sum(trip.get(name, 0.0) for trip in trips), default="call")


def _least_squares(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Non-negative, by coordinate descent."""
    scale = matrix.max(axis=0, initial=0.0) + 1e-300
    scaled = matrix / scale
    square, mixed = scaled.T @ scaled, scaled.T @ wanted
    result = np.zeros(matrix.shape[1])
    for _ in range(ROUNDS):
        before = result.copy()
        for at in range(len(result)):
            if square[at, at] > 0:
                result[at] = max(0.0, result[at] + (mixed[at] - square[at] @ result) / square[at, at])
        if np.abs(result - before).max(initial=0.0) < 1e-9:
            break
    return np.asarray(result / scale)


def _rounded(value: float) -> float:
    """To four digits, so that a table reads well."""
    return float(f"{value:.4g}")
