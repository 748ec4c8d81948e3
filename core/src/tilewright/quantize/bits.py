"""Knows how many bits each value and each weight of a quantised network has, where they are not all alike, and among
which of them can be chosen. Does not know the file that the network is in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["value", "weights"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Something whose bits are chosen: 8 or 16 of a value (with those that share its scale), 4 or 8 of weights."""

    kind: Kind
    name: str  # as the float network calls it
    layer: str  # the node that computes the value, or reads the weights; "" of an input


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """Names of values with 16 bits and of weights with 4. What is in neither has 8."""

    wide: frozenset[str] = frozenset()
    narrow: frozenset[str] = frozenset()

    def of(self, choice: Choice) -> int:
        """How many this one has."""
        if choice.kind == "value":
            return 16 if choice.name in self.wide else 8
        return 4 if choice.name in self.narrow else 8

    def most(self, choice: Choice) -> Bits:
        """The same, this one with as many as it can have."""
        if choice.kind == "value":
            return Bits(wide=self.wide | {choice.name}, narrow=self.narrow)
        return Bits(wide=self.wide, narrow=self.narrow - {choice.name})

    def fewest(self, choice: Choice) -> Bits:
        """The same, this one with as few as it can have."""
        if choice.kind == "value":
            return Bits(wide=self.wide - {choice.name}, narrow=self.narrow)
        return Bits(wide=self.wide, narrow=self.narrow | {choice.name})
