"""Knows how bits are found that fit and lose least: what those of each layer are worth is measured once, what they take
is asked of whoever plans the network, and what is worth most for what it takes gets them first, as long as all fits.
Does not know how a network is written, run or planned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tilewright.ir.log_span import INFO, with_log_span
from tilewright.quantize.bits import Bits, Choice, Kind

_LITTLE = 1e-9  # of the room that is left: as good as nothing
_MOST = 1e300  # of noise
_MOST_BITS: Mapping[Kind, int] = MappingProxyType({"value": 16, "weights": 8})


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a network takes where it runs: bytes as planned, milliseconds as estimated. `reason`: there is no plan."""

    ram: int = 0
    flash: int = 0
    ms: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a network may take; None is as much as it likes."""

    ram: int | None = None
    flash: int | None = None
    ms: float | None = None

    def fits(self, taken: Taken) -> bool:
        """Whether all of it is inside."""
        return not taken.reason and all(used <= limit for limit, used in self._pairs(taken))

    def excess(self, taken: Taken) -> float:
        """How many times as much as there is of what is shortest; 1 or less fits."""
        if taken.reason:
            return math.inf
        return max((used / max(limit, _LITTLE) for limit, used in self._pairs(taken)), default=0.0)

    def price(self, before: Taken, after: Taken) -> float:
        """The largest share of what is left of anything that the difference takes; of what is used, without limits."""
        if after.reason:
            return math.inf
        limits = (self.ram, self.flash, self.ms)
        pairs = zip(limits, _amounts(before), _amounts(after), strict=True)
        limited = any(limit is not None for limit in limits)
        shares = [
            (more - used) / max(used if limit is None else limit - used, _LITTLE)
            for limit, used, more in pairs
            if limit is not None or not limited
        ]
        return max(_LITTLE, *shares)

    def _pairs(self, taken: Taken) -> list[tuple[float, float]]:
        limits = (self.ram, self.flash, self.ms)
        return [(limit, used) for limit, used in zip(limits, _amounts(taken), strict=True) if limit is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A network that was planned and run: what it takes, and its noise as a share of the signal."""

    name: str  # for people
    bits: Bits
    taken: Taken
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What more bits of one thing are worth: the noise that they take away, and their price."""

    choice: Choice
    noise: float
    price: float

    @property
    def free(self) -> bool:
        """Whether they cost nothing."""
        return self.price <= _LITTLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who answers: what a network with these bits takes, its noise on the samples, and who is told how far it is."""

    taken: Callable[[Bits], Taken]
    noise: Callable[[Bits], float]
    heard: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """Bits from the fewest on, each with one choice more than the one before. `worths`: of all, in that order."""

    steps: tuple[Bits, ...]
    worths: tuple[Worth, ...]

    @property
    def end(self) -> Bits:
        """The most that fit."""
        return self.steps[-1]


@with_log_span(INFO, "search: what bits of each layer are worth, and what fits")
def search(choices: Sequence[Choice], fewest: Bits, most: Bits, room: Room, request: Asked) -> Path:
    """From `fewest`, which fits, towards `most`: in the order of worth by price, what still fits. What costs nothing is
    in the first step already. Where something is left out, the order of worth alone is tried, too: something large may
    be worth more than all that is cheap.
    """
    worths = _worths(choices, fewest, most, room, request)
    path = _filled(worths, fewest, room, request)
    if _left(path) == 0:
        return path
    largest = sorted(worths, key=lambda worth: (not worth.free, -worth.noise, worth.choice.name))
    return min(path, _filled(largest, fewest, room, request), key=_left)


def _filled(worths: Sequence[Worth], fewest: Bits, room: Room, request: Asked) -> Path:
    """In this order, what still fits."""
    steps = [fewest]
    for number, worth in enumerate(worths, 1):
        request.heard(f"choosing: {number} of {len(worths)}")
        wider = steps[-1].most(worth.choice)
        if room.fits(request.taken(wider)):
            steps[len(steps) - worth.free :] = [wider]
    return Path(steps=tuple(steps), worths=tuple(worths))


def _left(path: Path) -> float:
    """The noise of everything that has fewer bits than it could."""
    return sum(worth.noise for worth in path.worths if path.end.of(worth.choice) < _MOST_BITS[worth.choice.kind])


def _worths(choices: Sequence[Choice], fewest: Bits, most: Bits, room: Room, request: Asked) -> list[Worth]:
    """Of every choice: the noise of the best network without it, and the price beside the smallest."""
    open_choices = [choice for choice in choices if fewest.of(choice) != most.of(choice)]
    least_noise, smallest = request.noise(most), request.taken(fewest)
    worths = []
    for number, choice in enumerate(open_choices, 1):
        request.heard(f"measuring: {number} of {len(open_choices)}, {choice.name}")
        noise = min(max(request.noise(most.fewest(choice)) - least_noise, 0.0), _MOST)
        price = room.price(smallest, request.taken(fewest.most(choice)))
        worths.append(Worth(choice=choice, noise=noise, price=price))
    return sorted(worths, key=lambda worth: (not worth.free, -worth.noise / worth.price, worth.choice.name))


def shortest(path: Path, good: Callable[[Bits], bool]) -> Bits | None:
    """The first step of the path that is good, if its end is: by halving, as later steps are no worse."""
    if not good(path.end):
        return None
    low, high = 0, len(path.steps) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(path.steps[middle]) else (middle + 1, high)
    return path.steps[high]


def _amounts(taken: Taken) -> tuple[float, float, float]:
    return taken.ram, taken.flash, taken.ms
