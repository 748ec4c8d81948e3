"""Knows how steps are tiled, in one frozen value: a region of one step or several, over any number of hops or none.
Does not know how a tiling is found, what it costs, or how it becomes code.

A region is decided by its hops, each with a nest of cut loops and copies, and by what is held of the values that pass
between its steps. Which calls it makes, and what arrives, leaves and stays at each of them, is derived, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tilewright.ir.dtypes import DType

Form = Literal["whole", "recomputed", "rolling"]
Order = Literal["once", "tiles"]


class Cut(NamedTuple):
    """A loop of the last step that is cut: every tile has `size` of its trips, the last one of a loop maybe fewer."""

    loop: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """How one operand is copied over one hop. `level` counts the loops of the nest around its transfers.

    Level 0 is resident: copied once, before every loop. `buffers` 2 is double buffering. Of a rolling window, which has
    one buffer, only what the tile before has not brought is copied: the rows that stay are moved to the buffer's start.
    """

    level: int
    buffers: int = 1
    window: Literal["box", "rolling"] = "box"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A region's way from one memory of the hierarchy to the next, from `far` to `near`."""

    far: str
    near: str
    nest: tuple[Cut, ...] = ()  # outermost first; a loop left out is not cut; () crosses whole
    copies: Mapping[str, Copy] = field(default_factory=dict)  # STEP.OPERAND -> how it is copied


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldValue:
    """How a value that passes between the steps of a region is held in a memory.

    `whole` is computed before the first tile that reads it. Of the other forms a tile has what the steps behind need:
    `recomputed` every time, `rolling` only what the tile before has not left. `leaves`: steps outside need it, too, and
    it is copied out as it is computed. `over` is another value that the region holds, whose bytes this one takes while
    that one's are read for the last time; "" has bytes of its own.
    """

    memory: str
    form: Form
    leaves: bool = False
    over: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReduction:
    """A split reduction: its loops, and the type of the sums that are kept from one part of it to the next.

    They are in a buffer of their own, or, where `in_output`, in the tile of the output itself, whose type is theirs.
    """

    loops: tuple[str, ...]
    dtype: DType
    in_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Steps that are tiled together. The last is the sink: the nests cut its loops.

    No hops: every step in one piece, operands where they are. Several hops: each cuts the tiles of the one before it.
    """

    steps: tuple[str, ...]
    hops: tuple[Hop, ...] = ()
    order: Order = "once"  # of the calls: `tiles` goes through those of the innermost hop, all steps of each in turn
    held: Mapping[str, HeldValue] = field(default_factory=dict)  # values that one step writes and a later one reads
    sums: Mapping[str, SplitReduction] = field(default_factory=dict)  # step -> its split reduction
    resident: Mapping[str, str] = field(default_factory=dict)  # value written here -> scratchpad, beyond the region

    @property
    def name(self) -> str:
        """The sink's."""
        return self.steps[-1]

    @property
    def inner(self) -> tuple[str, ...]:
        """The values that never exist whole, nor anywhere but in a scratchpad."""
        return tuple(value for value, held in self.held.items() if not held.leaves)

    @property
    def forms(self) -> dict[str, Form]:
        """How each value that passes between steps is held."""
        return {value: held.form for value, held in self.held.items()}


def key_of(step: str, operand: str) -> str:
    """What an operand is called in `Hop.copies`."""
    return f"{step}.{operand}"
