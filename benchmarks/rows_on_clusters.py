"""What computing row by row could save on clusters, at most, where the weights of two steps stay in the scratchpad.

    python benchmarks/rows_on_clusters.py [--sizes 64,16,8] [--targets siracusa,snitch] [MODEL ...]

A line for each network, target and size of the scratchpad in KiB. *Plan* is the estimate of today's plan, in tiles.
*Pairs* are steps with rows, the second of which reads rows of the first, and how many of them fit the scratchpad
beside the stacks: with their weights, the rows that windows hold and one more of each value, and no scratch. Rows
that are handed on in the scratchpad need a pair that fits, or weights that are copied again for every call, of which
this says nothing. *By rows* is what steps of pairs that fit take at least with these kernels, where that is less than
in the plan: one, two or four rows in each call, whichever is the fastest, while nothing is ever copied or waited for.
Other steps take what they take in the plan. *At most* is what that saves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import combinations
from math import prod
from pathlib import Path

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.stages import Group
from tilewright.tile.row_steps import RowStep, RowSteps
from tilewright.tile.step_spaces import ScheduledMachine

ROWS = (1, 2, 4)  # of one call
MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="64,16,8")
    parser.add_argument("--targets", default="siracusa,snitch")
    parser.add_argument("models", nargs="*", type=Path)
    asked = parser.parse_args()
    print("| network | target | KiB | pairs | plan | by rows | at most |\n|---|---|---:|---:|---:|---:|---:|")
    for model in asked.models or sorted(MODELS.glob("*.onnx")):
        for target in asked.targets.split(","):
            for size in map(int, asked.sizes.split(",")):
                print(f"| {model.stem} | {target} | {size} | {line(model, target, size)} |", flush=True)
    return 0


def line(model: Path, target: str, size: int) -> str:
    """The figures of one plan, or why there is none."""
    near = Deployment(model, target).platform.near
    deployment = Deployment(model, target, Options(memory={near: 1024 * size}))
    try:
        plan = deployment.allocated
    except TilewrightError as error:
        return f"{error.code} | | | "
    platform = plan.tiled.scheduled.bound.platform
    steps = RowSteps(ScheduledMachine(plan.tiled.scheduled, deployment.registry.operators, plan.decisions))
    pairs = dict(pairs_of(steps))
    room = 1024 * size - platform.runtime_bytes.get(near, 0)
    fitting = {name for pair, needed in pairs.items() if needed <= room for name in pair}
    estimate = sum(group.cycles for group in plan.tiled.groups)
    rows = sum(least_cycles(steps, group, fitting) for group in plan.tiled.groups)
    count = sum(needed <= room for needed in pairs.values())
    return f"{count} of {len(pairs)} | {estimate:,.0f} | {rows:,.0f} | {1 - rows / estimate:.1%}"


def pairs_of(steps: RowSteps) -> Iterator[tuple[tuple[str, str], int]]:
    """Names of two steps, and the bytes that they need in the scratchpad."""
    every = map(steps.at, range(len(steps.machine.scheduled.steps)))
    able = [step for step in every if step.loop and not step.cannot]
    for one, other in combinations(able, 2):
        if one.axis is not None and one.output.value in {read.value for read in other.reads}:
            held = sum(weights_bytes(steps, step) + windows_bytes(steps, step) for step in (one, other))
            yield (one.step.name, other.step.name), held + other.row_bytes


def weights_bytes(steps: RowSteps, one: RowStep) -> int:
    """All constants of a step."""
    own = (operand for operand in steps.operands[one.index] if operand.constant)
    return sum(prod(operand.shape) * operand.item_bytes for operand in own)


def windows_bytes(steps: RowSteps, one: RowStep) -> int:
    """Of each value that a step reads the most rows of any trip, and one more."""
    operands = {operand.name: operand for operand in steps.operands[one.index]}
    held = 0
    for read in one.reads:
        rows = 1 + max(high - low for low, high in zip(read.low, read.high, strict=False))
        whole = prod(operands[read.operand].shape) * operands[read.operand].item_bytes
        held += min(whole, rows * whole // max(read.high))
    return held


def least_cycles(steps: RowSteps, group: Group, fitting: set[str]) -> float:
    """What steps that the plan tiles together take at least, by rows or as they are."""
    if fitting.isdisjoint(group.steps):
        return group.cycles
    own = (steps.at(steps.machine.numbers[name]) for name in group.steps)
    return min(group.cycles, sum(calls_cycles(steps, one) for one in own if one.loop and not one.cannot))


def calls_cycles(steps: RowSteps, one: RowStep) -> float:
    """All calls of a step with the best number of rows in each, the last one with what is left."""
    found = []
    for trips in (min(rows, one.extent) for rows in ROWS):
        full, rest = divmod(one.extent, trips)
        found.append(full * steps.call(one, trips)[0] + (steps.call(one, rest)[0] if rest else 0.0))
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
