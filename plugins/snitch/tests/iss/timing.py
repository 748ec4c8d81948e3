"""Knows what takes how long on a core of Snitch: as the cluster is designed, and as GVSoC models it.
Does not know instructions, nor what they compute.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

FIFO = 4  # elements that a stream has asked for before they are used


@dataclass(frozen=True)
class Timing:
    """Cycles. Of the integer core: until a value is there. Of minima and maxima: until the next instruction."""

    load: int = 2
    multiply: int = 2
    multiply_alone: bool = False  # nothing else is executed until a product is there
    limits: int = 1
    packed_limits: int = 1
    one_port: bool = False  # for all that a core reads: streams, and both halves of the core
    short_quotients: bool = False  # a quotient of few digits takes less
    far: int = 0  # more, of a load from the main memory


CLUSTER = Timing()
GVSOC = Timing(  # commit 209c147
    load=3, multiply=5, multiply_alone=True, limits=2, packed_limits=3, one_port=True, short_quotients=True
)  # fmt: skip
GVSOC_FAR = replace(GVSOC, far=75)  # with constants that functions read from the main memory, as they took there


@dataclass
class Port:
    """Lets one access of eight bytes at most pass in a cycle."""

    busy: set[int] = field(default_factory=set)

    def pass_at(self, cycle: int) -> int:
        """The first cycle from `cycle` on that nothing else has."""
        while cycle in self.busy:
            cycle += 1
        self.busy.add(cycle)
        return cycle
