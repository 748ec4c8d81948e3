"""Knows which steps take another kernel where constants are too many for a memory that only some engine reads.
Does not know scratch, nor how plans are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tilewright.allocate.overflow import Overflow
from tilewright.bind.candidates import engine_of
from tilewright.ir.plans.constant_homes import homes, homes_of

if TYPE_CHECKING:
    from tilewright.plan.proposals.shortfall import KernelChoice, Refused


def let_go(overflow: Overflow, choice: KernelChoice, refused: Refused) -> Refused:
    """The kernels of steps whose constants leave the memory, until the rest fits: first those that lose least time for
    each byte. {} where too little can leave.
    """
    crowded = {name for name, there in homes_of(choice.bound).items() if overflow.memory in there}
    readers = _readers(choice)
    leaving: list[tuple[float, int, dict[str, frozenset[str]]]] = []
    for buffer in overflow.live:
        name = buffer.name.removesuffix(f"@{overflow.memory}")  # where it is copied there
        if name in crowded:
            others = {step: _elsewhere(step, overflow.memory, choice, refused) for step in readers[name]}
            if all(lost is not None for lost in others.values()):
                lost = sum(cycles or 0.0 for cycles in others.values())
                kernels = {step: frozenset(_here(step, overflow.memory, choice, refused)) for step in others}
                leaving.append((lost / max(1, buffer.size_bytes), buffer.size_bytes, kernels))
    missing, result = overflow.excess_bytes, dict[str, frozenset[str]]()
    for _, size_bytes, kernels in sorted(leaving, key=lambda item: item[:2]):
        if missing > 0:
            missing -= size_bytes
            result |= kernels
    return {} if missing > 0 else result


def _readers(choice: KernelChoice) -> Mapping[str, tuple[str, ...]]:
    """By constant the steps that read it."""
    result: dict[str, tuple[str, ...]] = {}
    for step, binding in choice.bound.bindings.items():
        for name in binding.constants.values():
            result[name] = (*result.get(name, ()), step)
    return result


def _here(step: str, memory: str, choice: KernelChoice, refused: Refused) -> Iterator[str]:
    """The kernels of a step that read constants in the memory."""
    for candidate in choice.candidates(step, refused):
        kernel = candidate.kernel
        if any(memory in homes(kernel, operand, choice.bound.platform) for operand in kernel.memories):
            yield kernel.name


def _elsewhere(step: str, memory: str, choice: KernelChoice, refused: Refused) -> float | None:
    """What a step takes longer with its best kernel that reads nothing there; None where it has none."""
    here, platform = set(_here(step, memory, choice, refused)), choice.bound.platform
    cycles = [
        candidate.cycles / engine_of(candidate.kernel, platform).cores
        for candidate in choice.candidates(step, refused)
        if candidate.kernel.name not in here
    ]
    own = choice.bound.bindings[step].kernel.name
    mine = next((one for one in choice.bound.bindings[step].candidates if one.kernel.name == own), None)
    if not cycles or mine is None:
        return None
    return min(cycles) - mine.cycles / engine_of(mine.kernel, platform).cores
