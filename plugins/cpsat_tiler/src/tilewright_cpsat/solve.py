"""Knows how the joint problem is solved: steps that share nothing apart, the others first without places, then with.
Does not know tilewright.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tilewright_cpsat.model import JointModel, placed
from tilewright_cpsat.problem import Answer, Joint, JointChoice, Key, rectangles

_BYTES_SHARE = 0.25  # of the work goes into moving fewer bytes in the same time


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverWork:
    """Units of the solver's deterministic time for one part of a network; the same on every machine."""

    choose: float = 4.0  # without places
    place: float = 2.0  # what was chosen
    both: float = 6.0  # together, where what was chosen has no places


_DEFAULT_WORK = SolverWork()


def solve(joint: Joint, known: JointChoice | None = None, work: SolverWork = _DEFAULT_WORK) -> Answer | None:
    """The fastest plan, of equals the one that moves least; None where there is none or none was found.

    `known` is a choice that keeps the capacities: the answer takes no longer if it can be placed.
    """
    options: list[int] = [0] * len(joint.options)
    stays: dict[str, str] = {}
    offsets: dict[Key, int] = {}
    bound = 0
    for first, last in parts(joint):
        part = _cut_out(joint, first, last)
        answer = _part(part, _cut_choice(known, part, first, last), work)
        if answer is None:
            return None
        options[first : last + 1] = answer.choice.options
        stays |= answer.choice.stays
        bound += answer.bound_cycles
        for (memory, buffer), offset in answer.offsets.items():
            name = buffer if isinstance(buffer, str) else (buffer[0] + first, buffer[1])
            offsets[memory, name] = offset
    return Answer(choice=JointChoice(options=tuple(options), stays=stays), offsets=offsets, bound_cycles=bound)


def parts(joint: Joint) -> list[tuple[int, int]]:
    """First and last steps of the pieces between which nothing can stay."""
    joined = [False] * len(joint.options)
    for stay in joint.stays:
        for step in range(stay.first, stay.last):
            joined[step] = True
    result, first = [], 0
    for step, on in enumerate(joined):
        if not on:
            result.append((first, step))
            first = step + 1
    return result


def _cut_out(joint: Joint, first: int, last: int) -> Joint:
    inside = [stay for stay in joint.stays if first <= stay.first <= last]
    return replace(
        joint,
        options=joint.options[first : last + 1],
        touched=joint.touched[first : last + 1],
        stays=tuple(replace(stay, first=stay.first - first, last=stay.last - first) for stay in inside),
    )


def _cut_choice(known: JointChoice | None, part: Joint, first: int, last: int) -> JointChoice | None:
    if known is None:
        return None
    names = {stay.name for stay in part.stays}
    stays = {name: memory for name, memory in known.stays.items() if name in names}
    return JointChoice(options=known.options[first : last + 1], stays=stays)


def _part(joint: Joint, known: JointChoice | None, work: SolverWork) -> Answer | None:
    """Without places first: what is fastest then is fastest, if it can be placed."""
    if not joint.stays:
        return _alone(joint)
    free = _fastest(joint, known, work.choose, places=False)
    if free is None:
        return None
    for choice in free.choices[:1]:
        offsets = placed(joint, rectangles(joint, choice), work.place)
        if offsets is not None:
            return Answer(choice=choice, offsets=offsets, bound_cycles=free.bound)
    both = _fastest(joint, known, work.both, places=True)
    if both is None:
        return None
    bound = max(free.bound, both.bound)
    if both.choices:
        return Answer(choice=both.choices[0], offsets=both.offsets, bound_cycles=bound)
    for choice in (*free.choices[1:], *(() if known is None else (known,))):
        offsets = placed(joint, rectangles(joint, choice), work.place)
        if offsets is not None:
            return Answer(choice=choice, offsets=offsets, bound_cycles=bound)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fastest:
    """Choices of equal cycles, the one that moves least first; `offsets` are the first one's."""

    choices: tuple[JointChoice, ...]
    bound: int
    offsets: Mapping[Key, int]


def _fastest(joint: Joint, known: JointChoice | None, work: float, *, places: bool) -> _Fastest | None:
    """Least cycles, then least bytes. None: it is proved that there is no choice."""
    model = JointModel(joint, placed=places)
    first = model.solve("cycles", known, work)
    if first.choice is None:
        return None if first.proved else _Fastest(choices=(), bound=max(first.bound, 0), offsets={})
    frugal = model.solve("moved_bytes", first.choice, work * _BYTES_SHARE, first.choice.cycles(joint))
    if frugal.choice is None:
        return _Fastest(choices=(first.choice,), bound=first.bound, offsets=first.offsets)
    return _Fastest(choices=(frugal.choice, first.choice), bound=first.bound, offsets=frugal.offsets)


def _alone(joint: Joint) -> Answer | None:
    """Every step takes the best of what fits; nothing is shared, so places are nobody's concern."""
    chosen = []
    for options in joint.options:
        fitting = [
            number
            for number, option in enumerate(options)
            if all(option.bytes_in(memory) <= capacity for memory, capacity in joint.capacities.items())
        ]
        if not fitting:
            return None
        _, _, best = min((options[number].cycles, options[number].moved_bytes, number) for number in fitting)
        chosen.append(best)
    choice = JointChoice(options=tuple(chosen), stays={})
    return Answer(choice=choice, offsets={}, bound_cycles=choice.cycles(joint))
