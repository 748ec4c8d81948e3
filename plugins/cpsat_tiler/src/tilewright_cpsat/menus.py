"""Knows how tilings and values become the numbers of the joint problem, and how its answer becomes groups.
Does not know how the problem is solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import ceil

from tilewright.api.tiler import Group, TileChoices, Tiling
from tilewright_cpsat.model import placed
from tilewright_cpsat.problem import Answer, Joint, JointChoice, Rectangle, Stay, StepOption

_MOST_STAYS = 4  # values that may stay, of those that one step touches: the largest

Stays = tuple[tuple[str, str], ...]  # (value, memory), sorted
Item = tuple[Stays, Tiling]


class Menus:
    """The joint problem of a request, and the tilings behind its numbers.

    `quick` is another tiler's answer; it becomes a known solution where it is one of this problem.
    """

    def __init__(self, choices: TileChoices, quick: Sequence[Group]) -> None:
        self.choices = choices
        self.steps = choices.request.scheduled.steps
        platform = choices.request.scheduled.bound.platform
        self.capacities = {name: platform.plan_bytes(name) for name in choices.memories}
        self.touched = [choices.touched(step) for step in range(len(self.steps))]
        self.stays = {stay.name: stay for stay in (*self._free(), *self._pinned())}
        self.items = [list(self._items(step)) for step in range(len(self.steps))]
        self.known = self._known(quick)

    @cached_property
    def joint(self) -> Joint:
        """In numbers."""
        return Joint(
            options=tuple(tuple(self._option(item) for item in items) for items in self.items),
            stays=tuple(self.stays.values()),
            capacities={name: size for name, size in self.capacities.items() if size is not None},
            grains={name: self.choices.grain(name) for name in self.choices.memories},
            touched=tuple(frozenset(self._movable(step)) for step in range(len(self.steps))),
            longest=self.choices.request.longest,
        )

    def groups(self, answer: Answer) -> tuple[Group, ...]:
        """The answer for a planner."""
        offsets = self._offsets(answer)
        result = []
        for step, number in enumerate(answer.choice.options):
            _, tiling = self.items[step][number]
            result.append(replace(tiling.group, offsets=offsets[step], claim=_claim(answer.gap(self.joint))))
        return tuple(result)

    def placed(self, groups: Sequence[Group], work: float) -> tuple[Group, ...] | None:
        """A plan whose tiles are settled, with places; None where none were found."""
        boxes = []
        for buffer in self.choices.scratchpad_buffers(groups):
            (memory,) = buffer.memories
            if memory in self.joint.capacities:
                size = self.choices.taken_bytes(buffer, memory)
                boxes.append(
                    Rectangle(memory=memory, buffer=buffer.name, first=buffer.first, last=buffer.last, size_bytes=size)
                )
        places = placed(self.joint, tuple(boxes), work)
        if places is None:
            return None
        if self.choices.request.decisions.offsets:
            return tuple(groups)
        index = {step.name: number for number, step in enumerate(self.steps)}
        result = []
        for group in groups:
            born = range(index[group.steps[0]], index[group.steps[-1]] + 1)
            offsets = {str(box.buffer): places[box.memory, box.buffer] for box in boxes if box.first in born}
            result.append(replace(group, offsets=offsets))
        return tuple(result)

    def _free(self) -> Iterator[Stay]:
        """Values that may stay, in no more than so many memories and steps as a step's menu can hold."""
        if self.choices.request.longest == 1:
            return
        result: dict[str, Stay] = {}
        for memory, capacity in self.capacities.items():
            for buffer in self.choices.may_be_resident(memory):
                size = self.choices.taken_bytes(buffer, memory)
                if capacity is None or size <= capacity:
                    known = result.get(buffer.name)
                    sizes = {**(known.sizes if known else {}), memory: size}
                    result[buffer.name] = Stay(name=buffer.name, first=buffer.first, last=buffer.last, sizes=sizes)
        for touched in self.touched:
            inside = sorted((name for name in touched if name in result), key=lambda name: _largest(result[name]))
            for name in inside[:-_MOST_STAYS]:
                del result[name]
        yield from result.values()

    def _pinned(self) -> Iterator[Stay]:
        for memory in self.capacities:
            for buffer in self.choices.pinned(memory):
                sizes = {memory: self.choices.taken_bytes(buffer, memory)}
                yield Stay(name=buffer.name, first=buffer.first, last=buffer.last, sizes=sizes, pinned=memory)

    def _movable(self, step: int) -> list[str]:
        """Values of a step that may stay or not."""
        return [name for name in self.touched[step] if name in self.stays and not self.stays[name].pinned]

    def _items(self, step: int) -> Iterator[Item]:
        names = self._movable(step)
        for where in product(*(("", *self.stays[name].sizes) for name in names)):
            stays = tuple(sorted((name, memory) for name, memory in zip(names, where, strict=True) if memory))
            taken = dict.fromkeys(self.capacities, 0)
            for name, memory in stays:
                taken[memory] += self.stays[name].sizes[memory]
            if all(capacity is None or taken[name] < capacity for name, capacity in self.capacities.items()):
                yield from ((stays, tiling) for tiling in self._useful(step, dict(stays), taken))

    def _useful(self, step: int, resident: Mapping[str, str], taken: Mapping[str, int]) -> Iterator[Tiling]:
        """Those that fit beside what the step keeps and are better than all others that take no more."""
        fitting = [
            tiling
            for tiling in self.choices.tilings(step, resident)
            if all(
                capacity is None or taken[memory] + self._bytes_in(tiling, memory) <= capacity
                for memory, capacity in self.capacities.items()
            )
        ]
        fitting.sort(key=lambda tiling: (tiling.cycles, tiling.moved_bytes))
        better: list[tuple[int, ...]] = []
        for tiling in fitting:
            bytes_in = tuple(self._bytes_in(tiling, memory) for memory in self.capacities)
            if not any(all(mine >= other for mine, other in zip(bytes_in, row, strict=True)) for row in better):
                better.append(bytes_in)
                yield tiling

    def _option(self, item: Item) -> StepOption:
        stays, tiling = item
        sizes = {
            memory: tuple(self._buffers(tiling, memory).values())
            for memory, capacity in self.capacities.items()
            if capacity is not None
        }
        return StepOption(cycles=ceil(tiling.cycles), moved_bytes=tiling.moved_bytes, stays=stays, sizes=sizes)

    def _known(self, quick: Sequence[Group]) -> JointChoice | None:
        """The other tiler's answer, its tilings put on the menus. None where it is no answer to this problem."""
        storage = self.choices.request.scheduled.storage
        resident = {storage[value].buffer: memory for group in quick for value, memory in group.region.resident.items()}
        if any(len(group.steps) > 1 for group in quick) or any(name not in self.stays for name in resident):
            return None
        chosen = []
        for step, group in enumerate(quick):
            stays = tuple(sorted((name, resident[name]) for name in self._movable(step) if name in resident))
            tiling = self.choices.tiling(step, group.region.hops, dict(stays))
            self.items[step].append((stays, tiling))
            chosen.append(len(self.items[step]) - 1)
        stays_all = {name: memory for name, memory in resident.items() if not self.stays[name].pinned}
        pinned = {name: stay.pinned for name, stay in self.stays.items() if stay.pinned}
        return JointChoice(options=tuple(chosen), stays={**stays_all, **pinned})

    def _offsets(self, answer: Answer) -> list[dict[str, int]]:
        """By step, the places of its buffers and of what begins to stay. Where offsets are pinned, none: they may
        contradict.
        """
        result: list[dict[str, int]] = [{} for _ in self.steps]
        if self.choices.request.decisions.offsets:
            return result
        for step, number in enumerate(answer.choice.options):
            _, tiling = self.items[step][number]
            for memory in self.capacities:
                for place, name in enumerate(self._buffers(tiling, memory)):
                    if (memory, (step, place)) in answer.offsets:
                        result[step][name] = answer.offsets[memory, (step, place)]
        for name, memory in answer.choice.stays.items():
            if (memory, name) in answer.offsets:
                result[self.stays[name].first][name] = answer.offsets[memory, name]
        return result

    def _buffers(self, tiling: Tiling, memory: str) -> dict[str, int]:
        """Name and bytes of every buffer of a tiling in one memory."""
        here = (buffer for buffer in tiling.buffers if memory in buffer.memories)
        return {buffer.name: self.choices.taken_bytes(buffer, memory) for buffer in here}

    def _bytes_in(self, tiling: Tiling, memory: str) -> int:
        return sum(self._buffers(tiling, memory).values())


def _largest(stay: Stay) -> tuple[int, str]:
    return max(stay.sizes.values()), stay.name


def _claim(gap: float) -> str:
    return "optimal" if gap <= 0 else f"within {gap:.2%} of the optimum"
