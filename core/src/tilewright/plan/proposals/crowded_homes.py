"""Knows which steps take another kernel where constants are too many for a memory that only some engine reads.
Does not know scratch, nor how plans are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.allocate.overflow import Overflow
from tilewright.bind.candidates import engine_of
from tilewright.ir.plans.constant_homes import homes, homes_of
from tilewright.ir.plans.stages import Bound, Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdedMemory:
    """A memory with too many constants, and the kernels that each step may still have, by `left`."""

    overflow: Overflow
    bound: Bound
    left: Callable[[str], Sequence[Candidate]]

    def kernels_that_go(self) -> dict[str, frozenset[str]]:
        """The kernels of steps whose constants leave the memory, until the rest fits: first those that lose least time
        for each byte. {} where too little can leave.
        """
        missing, result = self.overflow.excess_bytes, dict[str, frozenset[str]]()
        for _, size_bytes, steps in sorted(self._leaving()):
            if missing > 0:
                missing -= size_bytes
                result |= {step: frozenset(self._readers_here(step)) for step in steps}
        return {} if missing > 0 else result

    def _leaving(self) -> Iterator[tuple[float, int, tuple[str, ...]]]:
        """For each constant that can leave: what that costs for each byte, its bytes, and the steps that read it."""
        memory = self.overflow.memory
        crowded = {name for name, there in homes_of(self.bound).items() if memory in there}
        readers = self._readers
        for buffer in self.overflow.live if crowded else ():
            name = buffer.name.removesuffix(f"@{memory}")  # where it is copied there
            steps = readers.get(name, ()) if name in crowded else ()
            lost = [self._lost_elsewhere(step) for step in steps]
            known = [cycles for cycles in lost if cycles is not None]
            if steps and len(known) == len(lost):
                yield sum(known) / max(1, buffer.size_bytes), buffer.size_bytes, steps

    @property
    def _readers(self) -> Mapping[str, tuple[str, ...]]:
        """By constant the steps that read it."""
        result: dict[str, tuple[str, ...]] = {}
        for step, binding in self.bound.bindings.items():
            for name in binding.constants.values():
                result[name] = (*result.get(name, ()), step)
        return result

    def _readers_here(self, step: str) -> Iterator[str]:
        """The kernels of a step that read constants in the memory."""
        for candidate in self.left(step):
            kernel = candidate.kernel
            if any(self.overflow.memory in homes(kernel, operand, self.bound.platform) for operand in kernel.memories):
                yield kernel.name

    def _lost_elsewhere(self, step: str) -> float | None:
        """What a step takes longer with its best kernel that reads nothing there; None where it has none."""
        here, own = set(self._readers_here(step)), self.bound.bindings[step].kernel.name
        others = [self._cycles(candidate) for candidate in self.left(step) if candidate.kernel.name not in here]
        mine = [self._cycles(candidate) for candidate in self.left(step) if candidate.kernel.name == own]
        return min(others) - mine[0] if others and mine else None

    def _cycles(self, candidate: Candidate) -> float:
        return candidate.cycles / engine_of(candidate.kernel, self.bound.platform).cores
