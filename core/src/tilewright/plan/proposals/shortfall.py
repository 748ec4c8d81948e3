"""Knows whose scratch is in the way where memory is short, and which kernels of those steps would do with less.
Does not know how plans are found, nor how kernels are bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from tilewright.allocate.overflow import Overflow
from tilewright.allocate.request import LASTING
from tilewright.bind.candidates import engine_of
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layer, Layers, layer_key
from tilewright.ir.plans.stages import Allocated, Bound, Buffer, Candidate, Group, Tiled
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import same_bytes
from tilewright.plan.proposals.crowded_homes import CrowdedMemory
from tilewright.tile.cost.kernel_costs import scratch_bytes

Refused = Mapping[str, frozenset[str]]  # step -> kernels of it that do not fit


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFailure:
    """Why a proposal does not fit: what the user is told, and what overflows where buffers could be listed."""

    error: TilewrightError
    tiled: Tiled | None = None
    overflow: Overflow | None = None
    stuck: tuple[str, ...] = ()  # steps that no tile fits, with any of their kernels

    @property
    def errors(self) -> tuple[TilewrightError, ...]:
        """The reason, and others that were found with it: of all steps that no tile fits."""
        return (self.error, *self.error.others)

    @property
    def memory(self) -> str:
        """The memory that is short; "" where that is not known."""
        if self.overflow is not None:
            return self.overflow.memory
        return self.error.needs[0] if self.error.needs is not None else ""

    @property
    def of_constants(self) -> bool:
        """Whether constants are too many for their memory: then neither order nor kernels' scratch is to blame."""
        return self.overflow is not None and self.overflow.step < 0

    @property
    def excess_bytes(self) -> int:
        """How much too large the best plan found is; 0 where that is not known."""
        return self.overflow.excess_bytes if self.overflow is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelChoice:
    """The kernels that the steps of a binding may have. A step with a pinned kernel has no other, and neither has one
    with pinned tiles, which are those of its kernel: both are `settled`.
    """

    bound: Bound
    operators: Mapping[str, Operator]
    pins: Decisions
    sites: Mapping[str, Site]
    layers: Layers
    settled: frozenset[str] = frozenset()

    def candidates(self, step: str, refused: Refused) -> tuple[Candidate, ...]:
        """Those that are neither refused nor ruled out by a pin, cheapest first."""
        if step not in self.sites or step in self.settled:
            return ()
        engine = self.pins.engines.get(step)
        return tuple(
            candidate
            for candidate in self.bound.bindings[step].candidates
            if candidate.kernel.name not in refused.get(step, ())
            and (engine is None or candidate.kernel.engine in ("", engine))
        )

    def scratch(self, step: str, kernel: Kernel) -> int:
        """Bytes that a kernel takes beside the operands of the whole step, for all cores."""
        layer = self.layer(step, kernel)
        extents = {loop.name: loop.extent for loop in layer.access.loops}
        cores = engine_of(kernel, self.bound.platform).cores
        return scratch_bytes(kernel, layer.site, layer.access, extents, cores)[1]

    def layer(self, step: str, kernel: Kernel) -> Layer:
        """What a candidate makes of a step. ValueError where it refuses it, which no candidate does."""
        result = self.layers.of(kernel, self.sites[step], layer_key(self.sites[step]))
        if isinstance(result, str):
            raise ValueError(f"{kernel.name} refuses {step}: {result}")
        return result

    def used(self, step: str) -> int:
        """The same of the kernel that the step has."""
        return self.scratch(step, self.bound.bindings[step].kernel)

    def keeps_layouts(self, step: str, kernel: Kernel) -> bool:
        """Whether a kernel takes every value of the step in the layout that it has."""
        site, layouts = self.sites[step], self.bound.layouts
        operator = self.operators[site.node.op]
        values = (
            *zip(input_names(operator, site), site.inputs, strict=True),
            *zip(operator.outputs, site.outputs, strict=False),
        )
        required = self.layer(step, kernel).required
        return all(
            same_bytes(tensor.shape, required[operand], layouts[tensor.name])
            for operand, tensor in values
            if operand in required and tensor is not None and tensor.name in layouts
        )


def choice_of(bound: Bound, operators: Mapping[str, Operator], pins: Decisions) -> KernelChoice:
    """The kernels that steps of `bound` may have."""
    sites = {site.node.name: site for site in bound.graph.sites()}
    settled = frozenset((*pins.kernels, *(name for region in pins.tiles.values() for name in region.steps)))
    layers = Layers(operators=operators)
    return KernelChoice(bound=bound, operators=operators, pins=pins, sites=sites, layers=layers, settled=settled)


def refusals(failure: PlanFailure, choice: KernelChoice, refused: Refused) -> Refused:
    """Kernels that have to go for the plan to fit; {} where no other kernels help, as far as can be told."""
    if failure.overflow is not None and (going := _of_constants(failure.overflow, choice, refused)):
        return going
    if failure.overflow is not None and failure.tiled is not None:
        return _of_overflow(failure.tiled, failure.overflow, choice, refused)
    return {} if stuck_steps(failure, choice, refused) else _used(failure, choice)


def stuck_steps(failure: PlanFailure, choice: KernelChoice, refused: Refused) -> tuple[str, ...]:
    """Of the steps that no tile fits those that have no other kernel."""
    used = _used(failure, choice)
    return tuple(step for step in used if not choice.candidates(step, joined(refused, used)))


def _used(failure: PlanFailure, choice: KernelChoice) -> dict[str, frozenset[str]]:
    """The kernels that the steps have that no tile fits."""
    bindings, steps = choice.bound.bindings, [error.subject for error in failure.errors]
    return {step: frozenset((bindings[step].kernel.name,)) for step in steps if step in bindings}


def least_scratch(failure: PlanFailure, choice: KernelChoice, refused: Refused) -> dict[str, str]:
    """Step -> kernel: those of least scratch, for every step whose scratch may be in the memory that is short."""
    if failure.overflow is None or failure.tiled is None:
        return {}
    result: dict[str, str] = {}
    for _, group in _scratches(failure.tiled, failure.overflow):
        for step in group.steps:
            left = [
                (choice.scratch(step, candidate.kernel), candidate.kernel.name)
                for candidate in choice.candidates(step, refused)
            ]
            least = min(left, key=lambda item: item[0], default=None)  # the cheapest of equals
            if least is not None and least[0] < choice.used(step):
                result[step] = least[1]
    return result


def regained(plan: Allocated, failure: PlanFailure, choice: KernelChoice) -> dict[str, str]:
    """Step -> kernel: faster ones whose scratch has room after all, beside what the plan has alive in that step.

    Scratch lives in one step only, so that all of them have room together. `failure` is of the fastest kernels.
    """
    if failure.overflow is None or failure.tiled is None:
        return {}
    scratches = {group.name: buffer for buffer, group in _scratches(failure.tiled, failure.overflow)}
    result: dict[str, str] = {}
    for group in plan.tiled.groups:
        if group.name not in scratches or group.region.hops or len(group.steps) > 1:
            continue
        used = choice.bound.bindings[group.name].kernel.name
        for candidate in choice.candidates(group.name, {}):
            if candidate.kernel.name == used:
                break
            size_bytes = choice.scratch(group.name, candidate.kernel)
            if choice.keeps_layouts(group.name, candidate.kernel) and _has_room(
                plan, scratches[group.name], group.name, size_bytes
            ):
                result[group.name] = candidate.kernel.name
                break
    return result


def joined(refused: Refused, more: Refused) -> Refused:
    """Everything that is refused."""
    return {step: refused.get(step, frozenset()) | more.get(step, frozenset()) for step in {**refused, **more}}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """What the memories have that scratch may be in, and what is alive there, step by step."""

    loads: tuple[int, ...]
    capacity: float  # of all of them together
    largest: float  # of one of them
    missing: int  # of the best placement that was found

    @property
    def ceiling(self) -> float:
        """What no step may have alive. Where all have room and only no placement was found, the fullest are to be less
        full by what was missing."""
        fullest = max(self.loads)
        return self.capacity if fullest > self.capacity else fullest - self.missing


def _room(tiled: Tiled, overflow: Overflow, scratches: Iterable[Buffer]) -> _Room:
    memories = {name for buffer in scratches for name in _places(buffer, overflow)}
    limits = [tiled.scheduled.bound.platform.hard_bytes(name) for name in memories]
    known = [limit for limit in limits if limit is not None]
    boundless = len(known) < len(limits)
    return _Room(
        loads=_loads(tiled, overflow, memories),
        capacity=inf if boundless else sum(known),
        largest=inf if boundless else max(known),
        missing=overflow.excess_bytes,
    )


def _of_constants(overflow: Overflow, choice: KernelChoice, refused: Refused) -> Refused:
    """Kernels that read constants where they are too many; {} where that is not the reason, or does not help."""
    crowded = CrowdedMemory(overflow=overflow, bound=choice.bound, left=lambda step: choice.candidates(step, refused))
    return crowded.kernels_that_go()


def _of_overflow(tiled: Tiled, overflow: Overflow, choice: KernelChoice, refused: Refused) -> Refused:
    """What takes too much scratch in the steps where too much is alive; {} where no kernel of one of them fits."""
    scratches = {buffer.first: (buffer.size_bytes, group) for buffer, group in _scratches(tiled, overflow)}
    if not scratches:
        return {}
    room = _room(tiled, overflow, (buffer for buffer, _ in _scratches(tiled, overflow)))
    result: dict[str, frozenset[str]] = {}
    for index, load in enumerate(room.loads):
        size, group = scratches.get(index, (0, None))
        wanted, needed = (max(load - limit, size - room.largest) for limit in (room.ceiling, room.capacity))
        if wanted <= 0:
            continue
        other = {} if group is None else _of_group(group, size - wanted, size - needed, choice, refused)
        if needed > 0 and not other:
            return {}
        result.update(other)
    return result


def _of_group(group: Group, wanted: float, most: float, choice: KernelChoice, refused: Refused) -> Refused:
    """Kernels that need more scratch than is wanted; where all do, more than the least of them does. {} where that is
    more than `most`, or no less than now.

    Scratch of tiles depends on the tiles, which depend on the kernel: of steps that are tiled, the one with most of it
    is to have less, however much that is.
    """
    step = max(group.steps, key=choice.used)
    used = choice.used(step)
    if group.region.hops or len(group.steps) > 1:
        wanted = most = used - 1
    needs = {
        candidate.kernel.name: choice.scratch(step, candidate.kernel) for candidate in choice.candidates(step, refused)
    }
    least = min(needs.values(), default=used)
    if least >= used or least > most:
        return {}
    return {step: frozenset(name for name, size in needs.items() if size > max(wanted, least))}


def _scratches(tiled: Tiled, overflow: Overflow) -> Iterator[tuple[Buffer, Group]]:
    """The scratch that may be where memory is short, with the group of steps that it is for."""
    groups = {f"{group.name}.scratch": group for group in tiled.groups}
    for buffer in tiled.buffers:
        if buffer.kind == "scratch" and overflow.memory in _places(buffer, overflow):
            yield buffer, groups[buffer.name]


def _loads(tiled: Tiled, overflow: Overflow, memories: set[str]) -> tuple[int, ...]:
    """For each step, the bytes of all buffers that are alive then and have no place but in these memories."""
    changes = [0] * (len(tiled.scheduled.steps) + 1)
    for buffer in tiled.buffers:
        places = _places(buffer, overflow)
        if places and memories.issuperset(places):
            changes[buffer.first] += buffer.size_bytes
            changes[buffer.last + 1] -= buffer.size_bytes
    return tuple(accumulate(changes))[:-1]


def _places(buffer: Buffer, overflow: Overflow) -> tuple[str, ...]:
    return (overflow.memory,) if buffer.name in overflow.pinned else buffer.memories


def _has_room(plan: Allocated, scratch: Buffer, step: str, size_bytes: int) -> bool:
    """Whether a memory has so many bytes in a row while a step runs, beside everything but its scratch."""
    index = [member.name for member in plan.tiled.scheduled.steps].index(step)
    platform = plan.tiled.scheduled.bound.platform
    alive = [b for b in plan.tiled.buffers if b.first <= index <= b.last and b.kind not in LASTING]
    for memory in scratch.memories:
        limit = platform.hard_bytes(memory)
        if limit is None:
            return True
        limit -= sum(pool.used_bytes for pool in plan.pools if pool.memory == memory and pool.kind in LASTING)
        taken = [
            (plan.placements[b.name].offset_bytes, b.size_bytes) for b in alive if _is_in(b, memory, plan, scratch)
        ]
        end = 0
        for low, size in (*sorted(taken), (limit, 0)):
            if low - align_up(end, scratch.align) >= size_bytes:
                return True
            end = max(end, low + size)
    return False


def _is_in(buffer: Buffer, memory: str, plan: Allocated, scratch: Buffer) -> bool:
    place = plan.placements.get(buffer.name)
    return place is not None and place.memory == memory and buffer.name != scratch.name
