"""Knows the joint problem in numbers: for every step one of its tilings, for every value where it stays, for every
buffer a place. Does not know layers, nor how the problem is solved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[str, str | tuple[int, int]]  # (memory, buffer): a value's name, or (step, number) of one of its buffers


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOption:
    """One tiling of a step. It can be taken when the values that the step touches are where `stays` says."""

    cycles: int
    moved_bytes: int
    stays: tuple[tuple[str, str], ...] = ()  # (value, memory), sorted; a value left out is at home
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # memory -> bytes of every buffer there

    def bytes_in(self, memory: str) -> int:
        """Of all its buffers in a memory."""
        return sum(self.sizes.get(memory, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A value that may be in a scratchpad whole, from step `first` to step `last`."""

    name: str
    first: int
    last: int
    sizes: Mapping[str, int]  # memory where it may stay -> bytes it takes there
    pinned: str = ""  # memory where it must be


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The whole problem. Sizes and capacities of a memory are multiples of its grain."""

    options: tuple[tuple[StepOption, ...], ...]  # by step
    stays: tuple[Stay, ...]
    capacities: Mapping[str, int]  # memories with a limit; the others have room for everything
    grains: Mapping[str, int]
    touched: tuple[frozenset[str], ...]  # by step: the values that its options name
    longest: int | None = None  # chain of steps joined by values that stay


@dataclass(frozen=True, slots=True, kw_only=True)
class JointChoice:
    """What is chosen for every step and every value; costs are its own, places are not part of it."""

    options: tuple[int, ...]  # by step
    stays: Mapping[str, str]  # value -> memory; values at home are left out

    def cycles(self, joint: Joint) -> int:
        """Of all steps."""
        return sum(joint.options[step][option].cycles for step, option in enumerate(self.options))

    def moved_bytes(self, joint: Joint) -> int:
        """Of all steps."""
        return sum(joint.options[step][option].moved_bytes for step, option in enumerate(self.options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """Bytes of a memory during some steps. `buffer` is a value, or the number of a buffer of one step."""

    memory: str
    buffer: str | tuple[int, int]
    first: int
    last: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A choice with a place for every rectangle, and what is proved of it."""

    choice: JointChoice
    offsets: Mapping[Key, int]  # (memory, buffer) -> bytes from the start
    bound_cycles: int  # nothing takes less

    def gap(self, joint: Joint) -> float:
        """How much of its cycles may be too many, at most: 0 is optimal."""
        cycles = self.choice.cycles(joint)
        return (cycles - self.bound_cycles) / cycles if cycles > 0 else 0.0


def rectangles(joint: Joint, choice: JointChoice) -> tuple[Rectangle, ...]:
    """Everything that needs a place in a limited memory."""
    result = []
    for stay in joint.stays:
        memory = choice.stays.get(stay.name, "")
        if memory in joint.capacities:
            result.append(
                Rectangle(
                    memory=memory, buffer=stay.name, first=stay.first, last=stay.last, size_bytes=stay.sizes[memory]
                )
            )
    for step, number in enumerate(choice.options):
        for memory, sizes in joint.options[step][number].sizes.items():
            if memory in joint.capacities:
                result.extend(
                    Rectangle(memory=memory, buffer=(step, place), first=step, last=step, size_bytes=size)
                    for place, size in enumerate(sizes)
                    if size
                )
    return tuple(result)
