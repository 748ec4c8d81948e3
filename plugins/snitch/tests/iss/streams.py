"""Knows one stream register of Snitch: where its elements are, in which order, and when they are used up.
Does not know instructions, nor what memory is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from timing import FIFO

REPEAT, BOUND, STRIDE, READ, WRITE = 1, 2, 6, 24, 28  # of configuration: the first of four, but for repeat
DIMENSIONS = 4
MASK = 0xFFFFFFFF
NEAR = range(0x1000_0000, 0x1002_0000)  # TCDM: streams reach nothing else


class FaultError(Exception):
    """Something that the machine would not do, or not like this."""


@dataclass
class Stream:
    """Elements of eight bytes. Strides are what is added where that dimension goes on, those inside starting again."""

    number: int
    repeat: int = 0  # times more that each element is given
    bounds: list[int] = field(default_factory=lambda: [0] * DIMENSIONS)  # elements, less one
    strides: list[int] = field(default_factory=lambda: [0] * DIMENSIONS)  # bytes
    at: int = 0
    dimensions: int = 0  # of the elements that are left; 0: none are
    writes: bool = False
    index: list[int] = field(default_factory=lambda: [0] * DIMENSIONS)
    given: int = 0  # times that this element was given
    used: deque[int] = field(default_factory=lambda: deque([0] * FIFO, maxlen=FIFO))  # when the last elements were

    def configure(self, register: int, value: int) -> None:
        """FaultError where elements are left of what was configured before."""
        if self.dimensions:
            raise FaultError(f"stream {self.number} is configured while elements are left")
        if register == REPEAT:
            self.repeat = value
        elif BOUND <= register < BOUND + DIMENSIONS:
            self.bounds[register - BOUND] = value
        elif STRIDE <= register < STRIDE + DIMENSIONS:
            self.strides[register - STRIDE] = value
        elif READ <= register < WRITE + DIMENSIONS:
            self.writes = register >= WRITE
            self.dimensions = (register - READ) % DIMENSIONS + 1
            self.at, self.index, self.given = value, [0] * DIMENSIONS, 0
            if value % 8:
                raise FaultError(f"stream {self.number} begins at {value:#x}, which is no multiple of 8")
        else:
            raise FaultError(f"stream {self.number} has no register {register}")

    def next(self, *, writes: bool) -> int:
        """The address of the next element. FaultError where there is none, or it goes the other way."""
        if not self.dimensions or self.writes != writes:
            raise FaultError(f"stream {self.number} has no element to {'write' if writes else 'read'}")
        address = self.at
        if address not in NEAR:
            raise FaultError(f"stream {self.number} reaches for {address:#x}, which is not in TCDM")
        self.given += 1
        if self.given > (0 if writes else self.repeat):
            self.given = 0
            self._advance()
        return address

    def _advance(self) -> None:
        for dimension in range(self.dimensions):
            if self.index[dimension] < self.bounds[dimension]:
                self.index[dimension] += 1
                self.at = (self.at + self.strides[dimension]) & MASK
                return
            self.index[dimension] = 0
        self.dimensions = 0
