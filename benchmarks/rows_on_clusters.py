"""What computing row by row could save on clusters, at most.

    python benchmarks/rows_on_clusters.py [--sizes 64,16,8] [--targets siracusa,snitch] [MODEL ...]

A line for each network, target and size of the scratchpad in KiB. *Plan* is the estimate of today's plan, in tiles.
*Pairs* are steps with rows, the second of which reads rows of the first. Rows that are handed on in the scratchpad
need a pair that fits there beside the stacks: the rows that windows hold, scratch of the kernel that runs, and of each
step either all weights, or the part that it is computing with. *Stay* says of how many pairs both have all of their
weights there. *By rows* is what steps of pairs take at least with these kernels, where that is less than in the
plan: in each call any number of rows, and all channels or any part of them, whichever is the fastest of what fits.
Weights that stay are never waited for, nor any value, nor is sharing of room by more than the two steps counted. Those
that do not stay are copied again for every call: one part after the other, or into two buffers, of which one is filled
while the other is read. Other steps take what they take in the plan. *At most* is what that saves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import inf, prod
from pathlib import Path

from tilewright.bind.candidates import operations
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.access.index import mentions
from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.plans.stages import Group
from tilewright.ir.rounding import align_up, ceil_div
from tilewright.tile.cost.kernel_costs import kernel_cycles, scratch_bytes
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.machine import ScheduledMachine

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="64,16,8")
    parser.add_argument("--targets", default="siracusa,snitch")
    parser.add_argument("models", nargs="*", type=Path)
    arguments = parser.parse_args()
    print("| network | target | KiB | stay | plan | by rows | at most |\n|---|---|---:|---:|---:|---:|---:|")
    for model in arguments.models or sorted(MODELS.glob("*.onnx")):
        for target in arguments.targets.split(","):
            for size in map(int, arguments.sizes.split(",")):
                print(f"| {model.stem} | {target} | {size} | {line(model, target, size)} |", flush=True)
    return 0


def line(model: Path, target: str, size: int) -> str:
    """The figures of one plan, or why there is none."""
    near = Deployment(model, target).platform.inner
    deployment = Deployment(model, target, Options(memory={near: 1024 * size}))
    try:
        plan = deployment.allocated
    except TilewrightError as error:
        return f"{error.code} | | | "
    platform = plan.tiled.scheduled.bound.platform
    steps = LineBufferAnalysis(ScheduledMachine(plan.tiled.scheduled, deployment.registry.operators, plan.decisions))
    result = [fits(steps, pair, 1024 * size - platform.runtime_bytes.get(near, 0)) for pair in pairs_of(steps)]
    least: dict[str, float] = {}
    for each in result:
        least |= {name: min(cycles, least.get(name, inf)) for name, cycles in each.cycles.items()}
    estimate = sum(group.cycles for group in plan.tiled.groups)
    rows = sum(least_cycles(steps, group, least) for group in plan.tiled.groups)
    stay = sum(each.stay for each in result)
    return f"{stay} of {len(result)} | {estimate:,.0f} | {rows:,.0f} | {1 - rows / estimate:.1%}"


def pairs_of(steps: LineBufferAnalysis) -> Iterator[tuple[BufferedStep, BufferedStep]]:
    """Steps with rows, the second of which reads rows of the first."""
    every = map(steps.at, range(len(steps.machine.scheduled.steps)))
    able = [step for step in every if can_have_rows(steps, step)]
    for left, right in combinations(able, 2):
        if left.axis is not None and left.output.value in {read.value for read in right.reads}:
            yield left, right


def can_have_rows(steps: LineBufferAnalysis, step: BufferedStep) -> bool:
    """Whether a step has rows, wherever its kernel wants its operands: everything is in the scratchpad here."""
    kernel = steps.machine.bound.bindings[step.step.name].kernel
    return bool(step.loop) and (not step.cannot or (bool(kernel.memories) and not kernel.wait))


@dataclass(frozen=True)
class Pair:
    """What two steps take at least, by name, where rows pass between them in the scratchpad; none: they do not fit."""

    cycles: dict[str, float]
    stay: bool


def fits(steps: LineBufferAnalysis, pair: tuple[BufferedStep, BufferedStep], room: int) -> Pair:
    """Two steps in so many bytes."""
    cycles = {}
    for step, other in (pair, pair[::-1]):
        beside = windows_bytes(steps, other, 1) + (0 if step is pair[1] else pair[1].row_bytes)
        ways = ways_of(steps, step, room - beside, least_part(steps, other), own_output=step is pair[1])
        cycles[step.step.name] = min(ways, default=inf)
    whole = sum(weights_bytes(steps, step) + windows_bytes(steps, step, 1) for step in pair) + pair[1].row_bytes
    return Pair({} if inf in cycles.values() else cycles, whole <= room)


def weights_bytes(steps: LineBufferAnalysis, step: BufferedStep) -> int:
    """All constants of a step."""
    own = (operand for operand in steps.operands[step.index] if operand.constant)
    return sum(prod(operand.shape) * operand.item_bytes for operand in own)


def windows_bytes(steps: LineBufferAnalysis, step: BufferedStep, trips: int) -> int:
    """Of each value that a step reads the most rows that any call of so many trips reads."""
    operands = {operand.name: operand for operand in steps.operands[step.index]}
    held = 0
    for read in step.reads:
        rows = max(high - low for low, high in zip(read.low, read.high[trips - 1 :], strict=False))
        whole = prod(operands[read.operand].shape) * operands[read.operand].item_bytes
        held += rows * whole // max(read.high)
    return held


def cuts_of(steps: LineBufferAnalysis, step: BufferedStep) -> Iterator[dict[str, int]]:
    """Trips of the loops that weights are cut along, the rows aside, as the kernel takes them."""
    access, kernel = steps.machine.access(step.step), steps.machine.bound.bindings[step.step.name].kernel
    form = steps.machine.bound.layers[step.step.name].sums
    names = [operand.name for operand in steps.operands[step.index] if operand.constant]
    ways = []
    for loop in access.loops:
        moves = any(moves_with(access, name, loop.name) for name in names)
        can = loop.kind == "parallel" or (form is not None and loop.name in form.loops)
        if moves and can and loop.name != step.loop:
            grain = kernel.multiples.get(loop.name, 1)
            ways.append([(loop.name, trips) for trips in parts_of(loop.extent, grain)])
    yield from map(dict, product(*ways))


def parts_of(extent: int, grain: int = 1) -> list[int]:
    """Of every number of parts how large they are at least, the last one aside; multiples of `grain`, or all."""
    return sorted({min(extent, align_up(ceil_div(extent, parts), grain)) for parts in range(1, extent + 1)})


def moves_with(access: Access, operand: str, loop: str) -> bool:
    """Whether what a trip of a loop reads of an operand depends on which one it is."""
    return isinstance(access, MapAccess) and any(mentions(axis.index, loop) for axis in access.axes[operand])


def part_bytes(steps: LineBufferAnalysis, step: BufferedStep, cut: Mapping[str, int]) -> float:
    """Of the weights that a part reads."""
    access, total = steps.machine.access(step.step), 0.0
    for operand in steps.operands[step.index]:
        if operand.constant:
            moved = [loop for loop in access.loops if loop.name in cut and moves_with(access, operand.name, loop.name)]
            share = prod(cut[loop.name] / loop.extent for loop in moved)
            total += share * prod(operand.shape) * operand.item_bytes
    return total


def least_part(steps: LineBufferAnalysis, step: BufferedStep) -> float:
    """Bytes of the smallest part of the weights."""
    return min(part_bytes(steps, step, cut) for cut in cuts_of(steps, step))


def ways_of(
    steps: LineBufferAnalysis, step: BufferedStep, room: int, least: float, *, own_output: bool
) -> Iterator[float]:
    """Cycles of all calls of a step, each way that fits beside `least` bytes where its weights stay."""
    machine, kernel = steps.machine, steps.machine.bound.bindings[step.step.name].kernel
    site, access = machine.site(step.step), machine.access(step.step)
    cores = machine.engine(machine.bound.bindings[step.step.name].engine).cores
    for trips, cut in product(parts_of(step.extent), cuts_of(steps, step)):
        scratch = scratch_bytes(kernel, site, access, extents_of(steps, step, {**cut, step.loop: trips}), cores)[1]
        output = trips * step.row_bytes if own_output else 0
        free = room - windows_bytes(steps, step, trips) - scratch - output
        part = part_bytes(steps, step, cut)
        if part > free:
            continue
        computed = copied = 0.0
        for count, call in calls_of(steps, step, {**cut, step.loop: trips}):
            computed += count * computed_cycles(steps, step, call)
            copied += count * copy_cycles(steps, step, part_bytes(steps, step, call))
        yield max(computed, copied) if 2 * part <= free else computed + copied
        if weights_bytes(steps, step) + least <= free:
            yield computed


def calls_of(
    steps: LineBufferAnalysis, step: BufferedStep, cut: Mapping[str, int]
) -> Iterator[tuple[int, dict[str, int]]]:
    """How many calls have so many trips of each loop that is cut; those at its end have what is left."""
    extents = {loop.name: loop.extent for loop in steps.machine.access(step.step).loops} | {step.loop: step.extent}
    ends = []
    for name, trips in cut.items():
        full, rest = divmod(extents[name], trips)
        ends.append([(full, name, trips), *([(1, name, rest)] if rest else [])])
    for some in product(*ends):
        yield prod(count for count, _, _ in some), {name: trips for _, name, trips in some}


def extents_of(steps: LineBufferAnalysis, step: BufferedStep, call: Mapping[str, int]) -> dict[str, int]:
    """Trips of every loop in a call; those of the rows as the kernel counts them."""
    extents = {loop.name: call.get(loop.name, loop.extent) for loop in steps.machine.access(step.step).loops}
    return extents | {step.loop: call[step.loop] * step.flattened.length}


def computed_cycles(steps: LineBufferAnalysis, step: BufferedStep, call: Mapping[str, int]) -> float:
    """Of a call."""
    machine, binding = steps.machine, steps.machine.bound.bindings[step.step.name]
    site, engine = machine.site(step.step), machine.engine(binding.engine)
    work = operations(binding.kernel, machine.operators[site.node.op], site, machine.platform, engine)
    extents = extents_of(steps, step, call)
    return step.flattened.runs * kernel_cycles(binding.kernel, site, machine.access(step.step), work, extents, engine)


def copy_cycles(steps: LineBufferAnalysis, step: BufferedStep, size_bytes: float) -> float:
    """Of so many bytes of weights, in one piece."""
    hop, kernel = steps.machine.hops[-1], steps.machine.bound.bindings[step.step.name].kernel
    weights = (operand for operand in steps.operands[step.index] if operand.constant)
    paths = [path for path in (steps.machine.path(each, kernel, hop.inner) for each in weights) if path]
    return min((path.cycles(round(size_bytes), 1) for path in paths), default=0.0)


def least_cycles(steps: LineBufferAnalysis, group: Group, least: Mapping[str, float]) -> float:
    """What steps that the plan tiles together take at least, by rows or as they are."""
    if least.keys().isdisjoint(group.steps):
        return group.cycles
    own = [steps.at(steps.machine.numbers[name]) for name in group.steps]
    alone = (step for step in own if step.step.name not in least and can_have_rows(steps, step))
    known = sum(least[name] for name in group.steps if name in least)
    begun = sum(begin_cycles(steps, step) for step in own)
    return min(group.cycles, begun + known + sum(calls_cycles(steps, step) for step in alone))


def begin_cycles(steps: LineBufferAnalysis, step: BufferedStep) -> float:
    """What a step takes once, whatever its order: its code comes into caches, that of one copy at least."""
    binding = steps.machine.bound.bindings[step.step.name]
    engine, kernel = steps.machine.engine(binding.engine), binding.kernel
    code = engine.code_cycles(kernel, 1, 1) if engine.code_cycles else 0.0
    return engine.step_cycles + kernel.step_cycles + code


def calls_cycles(steps: LineBufferAnalysis, step: BufferedStep) -> float:
    """All calls of a step with the best number of rows in each, and all channels."""
    ways = (calls_of(steps, step, {step.loop: trips}) for trips in parts_of(step.extent))
    return min(sum(count * computed_cycles(steps, step, call) for count, call in way) for way in ways)


if __name__ == "__main__":
    sys.exit(main())
