"""Knows what copies of constants would cost and save, from the memories' speeds: what `--stage auto` goes by.
Does not know whether a plan with them fits; the planner tries.

A kernel is taken to read a weight as often as it multiplies with it: there is no cache in the model. Reading B bytes
takes B / bytes_per_cycle, and a copy the latency of both memories besides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tilewright.allocate.limits import memory_bytes
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Memory
from tilewright.ir.plans.constant_copies import refusal
from tilewright.ir.plans.constant_homes import homes_of
from tilewright.ir.plans.decisions import Staging
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.rounding import align_up

TRIES = 6  # shorter and shorter lists of copies before each step


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """A constant in memory `source` that would be read faster from `target`. Cycles are estimates of one run."""

    constant: str
    size_bytes: int
    source: str
    target: str
    steps: tuple[int, ...]
    read_cycles: float  # saved by reading the copy
    copy_cycles: float  # of one copy

    @property
    def use_cycles(self) -> float:
        """What is saved when every step makes its own copy."""
        return self.read_cycles - self.copy_cycles * len(self.steps)


def savings(plan: Allocated, operators: Mapping[str, Operator]) -> Iterator[Saving]:
    """For every constant in its memory and every faster one with a limit, what a copy there saves."""
    bound = plan.tiled.scheduled.bound
    platform, settled = bound.platform, {*plan.decisions.staged, *homes_of(bound)}
    for name, array in bound.constants.items():
        reads = _reads(name, plan, operators)
        if not reads or not array.nbytes or name in settled:
            continue
        source = platform.memory(plan.placements[name].memory)
        for target in platform.of_kind("ram"):
            limit = platform.hard_bytes(target.name)
            faster = target.bytes_per_cycle > source.bytes_per_cycle
            if limit is None or not faster or refusal(platform, target, "init"):
                continue
            gain = array.nbytes * (1 / source.bytes_per_cycle - 1 / target.bytes_per_cycle)
            yield Saving(
                constant=name,
                size_bytes=array.nbytes,
                source=source.name,
                target=target.name,
                steps=tuple(reads),
                read_cycles=gain * sum(reads.values()),
                copy_cycles=copy_cycles(array.nbytes, source, target),
            )


def copy_cycles(size_bytes: int, source: Memory, target: Memory) -> float:
    """One copy by the processor: everything is read once and written once."""
    latency = source.latency_cycles + target.latency_cycles
    return latency + size_bytes / source.bytes_per_cycle + size_bytes / target.bytes_per_cycle


def proposals(plan: Allocated, operators: Mapping[str, Operator]) -> Iterator[dict[str, Staging]]:
    """Sets of copies worth trying, best first: what fits beside the plan is copied once; of the rest, lists that become
    shorter and shorter are copied before each use."""
    result = sorted(
        savings(plan, operators), key=lambda saving: (-saving.read_cycles / saving.size_bytes, saving.constant)
    )
    once = _beside(plan, result)
    rest = [saving for saving in result if saving.constant not in once and saving.use_cycles > 0]
    rest = list({saving.constant: saving for saving in reversed(rest)}.values())[::-1]
    if plan.tiled.scheduled.bound.platform.inner:
        rest = []
    rest.sort(key=lambda saving: (-saving.use_cycles, saving.constant))
    count = len(rest)
    for _ in range(TRIES if rest else 0):
        yield {**once, **{saving.constant: Staging(memory=saving.target, when="use") for saving in rest[:count]}}
        if count <= 1:
            break
        count //= 2
    if once:
        yield once


def _beside(plan: Allocated, result: list[Saving]) -> dict[str, Staging]:
    """Copies that the plan leaves room for."""
    platform = plan.tiled.scheduled.bound.platform
    room = {
        memory.name: (platform.hard_bytes(memory.name) or 0) - memory_bytes(plan, memory.name) - 2 * memory.align
        for memory in platform.of_kind("ram")
    }
    chosen: dict[str, Staging] = {}
    for saving in result:
        size = align_up(saving.size_bytes, platform.memory(saving.target).align)
        if saving.constant not in chosen and size <= room[saving.target]:
            room[saving.target] -= size
            chosen[saving.constant] = Staging(memory=saving.target)
    return chosen


def _reads(name: str, plan: Allocated, operators: Mapping[str, Operator]) -> dict[int, float]:
    """By step: how often it reads each element. The largest constant of a step takes part in every multiplication, the
    others in every output; a single number is read once."""
    bound = plan.tiled.scheduled.bound
    nodes = {node.name: node for node in bound.graph.nodes}
    elements = bound.constants[name].size
    result = {}
    for index, step in enumerate(plan.tiled.scheduled.steps):
        constants = tuple(bound.bindings[step.name].constants.values())
        if name not in constants:
            continue
        site = bound.graph.site(nodes[step.name])
        largest = max(bound.constants[constant].size for constant in constants)
        work = operators[site.node.op].macs(site) if elements == largest else site.output.elements
        result[index] = max(1.0, work / elements) if elements > 1 else 1.0
    return result
