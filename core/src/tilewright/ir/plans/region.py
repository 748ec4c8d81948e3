"""Knows how steps are tiled, in one frozen value: a region of one step or several, over any number of hops or none.
Does not know how a tiling is found, what it costs, or how it becomes code.

A region is decided by its hops, each with a nest of cut loops and copies, by the order of its calls, and by what is
held of the values that pass between its steps. What is copied, held or resident at each call is derived, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tilewright.ir.tensors.dtypes import DType

Form = Literal["whole", "recomputed", "rolling"]


class RepeatedCalls(NamedTuple):
    """Calls one after the other, `times` times. A call is the number of a step, by its place in the region."""

    steps: tuple[int, ...]
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripes:
    """The columns of an image in parts, from left to right; all calls of the order are made for each of them anew.

    A step's columns are the trips of a parallel loop that is an axis of its output, and not that of its rows. Those of
    the last step are in one stripe each. Of the others a stripe has what it reads. The columns at an edge, that two
    stripes have, are computed in both; or once, where `edges` has room for them: those of every row pass from one
    stripe to the next, which computes what comes after them.
    """

    loops: tuple[str, ...]  # by step
    bounds: tuple[tuple[tuple[int, int], ...], ...]  # by stripe, by step: the first column, and one after the last
    edges: tuple[int, ...] = ()  # by step: columns that are kept of every row; 0, and (): none are

    def edge(self, step: int) -> int:
        """The columns that are kept of every row of a step, by its number."""
        return self.edges[step] if self.edges else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBuffers:
    """The order of calls that each compute the next rows of a step, as they are needed. Without `stripes` nothing is
    computed twice.

    A step's rows are the trips of one of its loops, from the first on: of a parallel loop that is an axis of its
    output, or of a reduction, which is then computed in parts (`Region.sums`) and has its output with the last trip;
    "" computes everything in one call. Where an image is read flattened, several trips of the reduction are a row, and
    counted as one. How far each step has come is a counter that the program keeps. Rows of an inner value that nobody
    reads need not be computed. A step that is alone may go from the last row to the first.
    """

    loops: tuple[str, ...]  # by step
    extents: tuple[int, ...]  # by step: of its loop in one call; the last call may have fewer
    call_schedule: tuple[RepeatedCalls, ...]
    backward: bool = False  # one step, along a parallel loop
    stripes: Stripes | None = None  # all columns at once

    @property
    def calls(self) -> tuple[int, ...]:
        """The word, unfolded."""
        return tuple(step for part in self.call_schedule for _ in range(part.times) for step in part.steps)


Order = Literal["once", "tiles"] | LineBuffers


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
    """The copies of a region between two neighbouring memories: `far`, towards the backing memory, and `near`."""

    outer: str
    inner: str
    nest: tuple[Cut, ...] = ()  # outermost first; a loop left out is not cut; () crosses whole
    copies: Mapping[str, Copy] = field(default_factory=dict)  # STEP.OPERAND -> how it is copied


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalValue:
    """How a value that passes between the steps of a region is held in a memory.

    `whole` is computed before the first tile that reads it. Of the other forms a tile has what later steps need:
    `recomputed` computes all of it again, `rolling` (a line buffer) only the rows that the tile before has not.
    `leaves`: steps outside need it, too, and it is copied out as it is computed. `over` is another value that the
    region holds, whose bytes this one takes while that one's are read for the last time; "" has bytes of its own.

    In `LineBuffers`, what leaves is `whole`, in its own bytes. All else is `rolling`, with room for `rows`:
    where that is too little for rows that come, those that some step still reads are moved to the start of it first.
    The last step's output, too, is held where it is `over` something that the region reads from outside: its buffer
    begins at least `distance_bytes` before the other one, so that its rows take only the bytes of what is read no more;
    where rows are computed backward, it ends at least so many bytes behind the end of the other one.
    """

    memory: str
    form: Form
    live_out: bool = False
    aliases: str = ""
    rows: int = 0  # in the order `LineBuffers`: trips of its step's loop, or all of the axis that they are
    distance_bytes: int = 0  # in the order `LineBuffers`, with `over`


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReduction:
    """A split reduction: its loops, and the type of the partial results that pass from one part of it to the next.

    They are in an accumulator of their own, or, where `in_output`, in the output's tile, whose type is theirs.

    In the schedule `LineBuffers` the loop may go through an image that is read flattened. A row of it is `length`
    iterations in each of `runs` equal parts of the loop: of [C, H, W] C runs of W, or one of W*C with channels last.
    """

    loops: tuple[str, ...]
    dtype: DType
    in_output: bool = False
    runs: int = 1
    length: int = 1

    def rows(self, trips: int) -> int:
        """That so many trips of the loop are."""
        return trips // (self.runs * self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Steps that are tiled together. The last is the sink: the nests cut its loops.

    No hops: operands are where they live, and every step is computed in one piece, or row by row (`LineBuffers`).
    Several hops: each cuts the tiles of the one before it.
    """

    steps: tuple[str, ...]
    hops: tuple[Hop, ...] = ()
    schedule: Order = "once"  # of the calls: `tiles` goes through those of the innermost hop, all steps of each in turn
    internal_values: Mapping[str, InternalValue] = field(
        default_factory=dict
    )  # what passes between steps, or is over what they read
    sums: Mapping[str, SplitReduction] = field(default_factory=dict)  # step -> its split reduction
    resident: Mapping[str, str] = field(default_factory=dict)  # value written here -> scratchpad, beyond the region

    @property
    def name(self) -> str:
        """The sink's."""
        return self.steps[-1]

    @property
    def line_buffers(self) -> LineBuffers | None:
        """The order, where steps are computed row by row."""
        return self.schedule if isinstance(self.schedule, LineBuffers) else None

    @property
    def together(self) -> bool:
        """Whether one function computes all of its steps, where the sink stands."""
        return bool(self.hops) or self.line_buffers is not None

    @property
    def unmaterialised(self) -> tuple[str, ...]:
        """The values that never exist whole, nor anywhere but where the region holds them."""
        return tuple(value for value, held in self.internal_values.items() if not held.live_out)

    @property
    def forms(self) -> dict[str, Form]:
        """How each value that passes between steps is held."""
        return {value: held.form for value, held in self.internal_values.items()}


def key_of(step: str, operand: str) -> str:
    """What an operand is called in `Hop.copies`."""
    return f"{step}.{operand}"
