"""Knows which steps that are computed by rows look alike, with all around them that counts: what is found of some holds
for the others, of however many equal layers. Does not know what is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import NamedTuple, TypeVar

from tilewright.ir.plans.stages import Buffer
from tilewright.tile.line_buffers.buffered_step import RowRead
from tilewright.tile.line_buffers.lifetimes import Lifetimes

Found = TypeVar("Found")


class StepRange(NamedTuple):
    """The first and the last of successive steps."""

    first: int
    last: int


class StepSignatures:
    """Of one schedule. Steps and lifetimes are told by how far they are from the step that is asked about."""

    def __init__(self, lives: Lifetimes) -> None:
        self.lifetimes = lives
        self._looks: dict[int, int] = {}

    def range_signature(self, first: int, last: int) -> Hashable:
        """Equal for successive steps of which everything is equal that a segment among them depends on, if its columns
        are computed at once.
        """
        return self.lifetimes.alive(last), *(self._look(step) for step in range(first, last + 1))

    def memoised(self, what: Hashable, ends: StepRange, find: Callable[[], Found]) -> tuple[Found, int]:
        """`what` is asked of some steps: what `find` gives, or has given for steps that look alike; and how far behind
        those these are.
        """
        key, known = (what, self.range_signature(*ends)), self.lifetimes.known.found
        if key not in known:
            known[key] = find(), ends.last
        result, last = known[key]
        return result, ends.last - last

    def _look(self, step: int) -> int:
        """A number; the same for steps that look alike."""
        known = self._looks.get(step)
        if known is None:
            looks = self.lifetimes.known.looks
            known = self._looks[step] = looks.setdefault(self._seen(step), len(looks))
        return known

    def _seen(self, step: int) -> Hashable:
        lives, member = self.lifetimes, self.lifetimes.steps.at(step)
        ended = sum(lives.placed_bytes(buffer) for buffer in lives.dying[step] if buffer.first <= step)
        own = member.extent, member.grain, member.axis, member.rows, member.output.item_bytes, member.departs
        needed = lives.needed[step] - step if lives.needed[step] < lives.beyond else None
        output = self._place(member.output.value, step)
        return (
            lives.steps.calls.signature(member),
            own,
            needed,
            ended,
            output,
            *(self._read(read, step) for read in member.reads),
        )

    def _read(self, read: RowRead, step: int) -> Hashable:
        maker = self._makers.get(read.value)
        return None if maker is None else maker - step, read.low, read.high, self._place(read.value, step)

    def _place(self, value: str, step: int) -> Hashable:
        """A value's buffer, told apart from others by when it is first needed, and the value's rows in it."""
        lives, buffer = self.lifetimes, self.lifetimes.buffer_of(value)
        sizes = buffer.size_bytes, buffer.align, lives.placed_bytes(buffer), len(buffer.values), lives.shown[value]
        free = buffer.name in lives.ours, lives.dead_after(buffer, buffer.last)
        life = buffer.first - step, self._twins[buffer.name], buffer.last - step
        return sizes, free, life, lives.rows_of(value)

    @cached_property
    def _makers(self) -> dict[str, int]:
        return {self.lifetimes.steps.at(step).output.value: step for step in range(self.lifetimes.beyond)}

    @cached_property
    def _twins(self) -> dict[str, int]:
        """By buffer, how many others that are first needed at the same step come before it."""
        before: dict[int, list[Buffer]] = {}
        for buffer in self.lifetimes.buffers.values():
            before.setdefault(buffer.first, []).append(buffer)
        return {candidate.name: number for alike in before.values() for number, candidate in enumerate(alike)}
