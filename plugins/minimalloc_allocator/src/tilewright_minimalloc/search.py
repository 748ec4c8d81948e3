"""Knows the complete search for one pool: does a placement within a capacity exist, and which.
Does not know orders of preference or restarts (`portfolio`), nor what follows from a choice (`rules`).

Branching. A *section* is a set of blocks that exclude each other; its *floor* is the lowest offset that any of its
open blocks can still have. Take a section none of whose blocks at the floor meets a lower section. Either one of
these blocks is at the floor (one branch each, and all its neighbours are then above it), or none is, and the floor is
wasted (one last branch). In the solution whose offsets have the least sum, every block that is not at its lowest
offset rests on a neighbour that is in its way there, which says how high the blocks go where the floor is wasted. So
the branches leave no solution out, and few of them are ever needed.

What is not tried. The second of two blocks alike; the other branches of a block that meets no open block, once it was
placed without success; and whatever has failed before: what is left to do is known entirely by the open blocks and
their lowest offsets, in any branch, order or restart. Failed states are remembered as 128 random bits, the exclusive
or of one word for each (block, offset). Two states with the same bits would be confused, and a solution could be
missed; among 4 million states, the most that are kept, the odds are 2**44 / 2**129, or 10**-26. A placement that is
found is never in doubt. What is left falls apart where no open block crosses from one section to the next.

Source: the sections, the canonical solutions and the decomposition are those of Moffitt, "MiniMalloc", ASPLOS 2023;
the niches of two-dimensional packing, the one-machine bound and the memory of failed states are long known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from tilewright_minimalloc.instance import Instance
from tilewright_minimalloc.rules import propagate, resting
from tilewright_minimalloc.state import State

MOST_REMEMBERED = 1 << 22


class Selector(IntEnum):
    """Which section to branch on."""

    FEWEST = 0  # branches
    WEIGHTED = 1  # the same, and rather where much has failed
    LOWEST = 2  # floor, then the best block


class Outcome(IntEnum):
    """How a search ends."""

    SOLVED = 0
    FAILED = 1  # there is no solution
    STOPPED = 2  # by the limit


@dataclass(frozen=True, slots=True)
class Part:
    """What is left to do in some sections: the open blocks there, by their key."""

    begin: int
    end: int
    key: int


@dataclass(slots=True)
class Frame:
    """A choice that is being made."""

    part: Part
    section: int
    options: list[int]  # blocks to put at the floor; after them, waste it
    trail: int
    option: int = 0
    placed: int = -1
    parts: list[Part] = field(default_factory=list)
    current: int = 0


class PythonSearch:
    """An instance and a capacity (in grains), to be searched again and again. What failed is remembered throughout."""

    def __init__(self, instance: Instance, capacity: int) -> None:
        self._state = State(instance, capacity)
        self._failed: set[int] = set()
        state = self._state
        self._possible = all(low + size <= capacity for low, size in zip(state.low, instance.sizes, strict=True))
        if self._possible:
            state.touch(section for span in instance.spans for section in span)
            self._possible = propagate(state, 0, len(instance.sections))
        self._nodes = 0
        self._limit = 0
        self._selector = Selector.FEWEST
        self._rank: Sequence[int] = ()

    def run(self, selector: Selector, rank: Sequence[int], limit: int) -> tuple[Outcome, int, list[int]]:
        """The outcome, the nodes it took (at most `limit`), and where solved the offset of every block, in grains."""
        if not self._possible:
            return Outcome.FAILED, 0, []
        state = self._state
        self._selector, self._rank, self._nodes, self._limit = selector, rank, 0, limit
        state.failures = [0] * len(state.failures)
        state.trail.clear()
        result = [-1] * state.block_count
        for part in reversed(self._parts(0, len(state.rest), range(len(state.rest)))):
            outcome = self._explore(part, result)
            if outcome != Outcome.SOLVED:
                return outcome, self._nodes, []
        return Outcome.SOLVED, self._nodes, result

    def _explore(self, root: Part, result: list[int]) -> Outcome:
        frames: list[Frame] = []
        part = root
        while self._nodes < self._limit:
            self._nodes += 1
            outcome = Outcome.FAILED if part.key in self._failed else None
            if outcome is None:
                frames.append(self._frame(part))
            following = self._next(frames, outcome, result)
            if not isinstance(following, Part):
                return following
            part = following
        while frames:
            self._leave(frames)
        return Outcome.STOPPED

    def _frame(self, part: Part) -> Frame:
        self._state.key = part.key
        section = self._chosen(part)
        return Frame(part=part, section=section, options=self._options(section), trail=len(self._state.trail))

    def _next(self, frames: list[Frame], outcome: Outcome | None, result: list[int]) -> Part | Outcome:
        """What to do now that the current part of the last frame has come out so (None: it has no part yet)."""
        while True:
            if outcome is None:
                alive = self._advance(frames[-1], result)
                if alive and frames[-1].parts:
                    return frames[-1].parts[0]
                if not alive:
                    self._remember(frames[-1].part.key)
                self._leave(frames)
                outcome = Outcome.SOLVED if alive else Outcome.FAILED
            if not frames:
                return outcome
            frame = frames[-1]
            if outcome == Outcome.SOLVED:
                frame.current += 1
                if frame.current < len(frame.parts):
                    return frame.parts[frame.current]
                self._leave(frames)
            elif frame.placed >= 0 and self._is_alone(frame.placed):
                self._remember(frame.part.key)
                self._leave(frames)
            else:
                outcome = None

    def _leave(self, frames: list[Frame]) -> None:
        frame = frames.pop()
        self._state.take_back(frame.trail, frame.placed)

    def _remember(self, key: int) -> None:
        if len(self._failed) < MOST_REMEMBERED:
            self._failed.add(key)

    def _is_alone(self, block: int) -> bool:
        return not any(self._state.rest[section] for section in self._state.instance.spans[block])

    def _chosen(self, part: Part) -> int:
        """The section to branch on. There always is one: the lowest."""
        state = self._state
        rest, floors, lowest = state.rest, state.floor, self._selector == Selector.LOWEST
        best, best_score, best_floor = -1, 0, 0
        for section in range(part.begin, part.end):
            floor = floors[section]
            if not rest[section] or (lowest and best >= 0 and floor > best_floor):
                continue
            if lowest:
                score = min(self._rank[block] for block in state.open[section] if state.low[block] == floor)
                if best >= 0 and floor == best_floor and score >= best_score:
                    continue
            else:
                score = (4 * state.options[section] + 3 * (state.capacity - floor > rest[section])) * 4096
                if self._selector == Selector.WEIGHTED:
                    score //= 1 + state.failures[section]
                if best >= 0 and (score > best_score or (score == best_score and floor >= best_floor)):
                    continue
            if self._is_eligible(section):
                best, best_score, best_floor = section, score, floor
        return best

    def _is_eligible(self, section: int) -> bool:
        """No block at the floor meets a lower section."""
        state = self._state
        floors, level = state.floor, state.floor[section]
        return all(
            floors[other] >= level
            for block in state.open[section]
            if state.low[block] == level
            for other in state.instance.spans[block]
        )

    def _options(self, section: int) -> list[int]:
        state = self._state
        level = state.floor[section]
        kinds: set[int] = set()
        options = []
        for block in sorted(state.open[section]):
            if state.low[block] == level and state.twin[block] not in kinds:
                kinds.add(state.twin[block])
                options.append(block)
        return sorted(options, key=self._rank.__getitem__)

    def _advance(self, frame: Frame, result: list[int]) -> bool:
        """Take the next branch that survives what follows from it."""
        state = self._state
        while frame.option <= len(frame.options):
            state.take_back(frame.trail, frame.placed)
            state.key = frame.part.key
            frame.placed = frame.options[frame.option] if frame.option < len(frame.options) else -1
            frame.option += 1
            if frame.placed >= 0:
                result[frame.placed] = state.floor[frame.section]
                fine = state.place(frame.placed, result[frame.placed])
            else:
                fine = self._waste(frame.section)
            if not fine:
                state.failures[frame.section] += 1
                state.drop_queue()
            elif propagate(state, frame.part.begin, frame.part.end):
                span = state.instance.spans[frame.placed] if frame.placed >= 0 else (0,)
                frame.parts = self._parts(frame.part.begin, frame.part.end, range(span[0], span[-1]))
                frame.current = 0
                return True
        return False

    def _waste(self, section: int) -> bool:
        """No block is at the floor of `section`."""
        state = self._state
        level = state.floor[section]
        if state.capacity - level - state.rest[section] <= 0:
            return False
        members = state.open[section]
        for block in sorted(members):
            if state.low[block] == level:
                to = resting(state, block, members)
                if to is None or not state.lift(block, to):
                    return False
        return True

    def _parts(self, begin: int, end: int, cuts: range) -> list[Part]:
        """What is left, apart where no open block crosses one of `cuts`."""
        state = self._state
        result = [cut + 1 for cut in cuts if not state.cuts[cut]]
        if not result:
            return [Part(begin, end, state.key)] if state.key else []
        parts = []
        for left, right in zip([begin, *result], [*result, end], strict=True):
            blocks = [b for section in range(left, right) for b in state.starting[section] if state.offset[b] < 0]
            key = 0
            for block in blocks:
                key ^= state.term(block)
            if blocks:
                parts.append(Part(left, right, key))
        return parts
