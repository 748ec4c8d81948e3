"""Knows how steps are computed together, in one frozen value: a region of one step or several, and its schedule.
Does not know how a schedule is found, what it costs, or how it becomes code.

A schedule is one of three: steps in one piece (`Whole`), in tiles that cross hops between memories (`Tiles`), or row by
row in one memory (`LineBuffers`). What is copied, held or resident at each call is derived, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tilewright.ir.tensors.dtypes import DType

Form = Literal["whole", "recomputed", "rolling"]


# --- tiles


class Cut(NamedTuple):
    """A loop of the last step that is cut: a tile has `size` of its iterations, the last one of a loop maybe fewer."""

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
    """The copies of a region between two neighbouring memories: `outer`, towards the backing memory, and `inner`."""

    outer: str
    inner: str
    nest: tuple[Cut, ...] = ()  # outermost first; a loop left out is not cut; () crosses whole
    copies: Mapping[str, Copy] = field(default_factory=dict)  # STEP.OPERAND -> how it is copied


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """The schedule that goes through the tiles of the innermost hop: all steps compute each tile in turn.

    There is at least one hop, the outermost first. Each hop cuts the tiles of the one before it.
    """

    hops: tuple[Hop, ...]


# --- line buffers


class RepeatedCalls(NamedTuple):
    """Calls one after the other, `times` times. A call is the number of a step, by its place in the region."""

    steps: tuple[int, ...]
    times: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stripes:
    """The columns of an image in parts, from left to right; the whole call schedule is run for each part.

    A step's columns are the iterations of a parallel loop that is an axis of its output, and is not the loop of its
    rows. Every column of the last step is in one stripe. Of the other steps a stripe has the columns that it reads.
    The columns at an edge, which two stripes have, are computed in both; or once, where `edges` has room for them: then
    those of every row pass from one stripe to the next, which computes only the columns after them.
    """

    loops: tuple[str, ...]  # by step
    bounds: tuple[tuple[tuple[int, int], ...], ...]  # by stripe, by step: the first column, and one after the last
    edges: tuple[int, ...] = ()  # by step: columns that are kept of every row; 0, and (): none are

    def edge(self, step: int) -> int:
        """The columns that are kept of every row of a step, by its number."""
        return self.edges[step] if self.edges else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBuffer:
    """Where a line-buffered region keeps the rows of a value that one of its steps writes.

    An internal value has a buffer of its own with room for `rows`. Where that is too little for the next rows, those
    that some step still reads are moved to the start of the buffer first.

    The region's output may instead take the bytes of `aliases`, a value that the region reads from outside. The
    output's buffer then begins at least `distance_bytes` before the buffer of that value, so that every row takes only
    bytes that are read no more. Where rows are computed backward, it ends at least so many bytes behind the end of the
    other one.
    """

    rows: int = 0  # iterations of its step's loop, or all positions of the axis that they are
    aliases: str = ""
    distance_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlattenedRows:
    """Which iterations of a reduction are a row of the image that it reads flattened.

    A row is `length` iterations in each of `runs` equal parts of the loop: of [C, H, W] C runs of W, with channels last
    one run of W*C. One run of length 1, where nothing is flattened: every iteration is a row.
    """

    runs: int = 1
    length: int = 1

    def rows(self, extent: int) -> int:
        """How many rows so many iterations of the loop are."""
        return extent // (self.runs * self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBuffers:
    """The schedule of calls that each compute the next rows of a step, as they are needed. Without `stripes` nothing is
    computed twice.

    A step's rows are the iterations of one of its loops, from the first on: of a parallel loop that is an axis of its
    output, or of a reduction, which is then computed in parts (`Region.sums`) and has its output with the last
    iteration; "" computes everything in one call. Where a step reads an image flattened, several iterations are a row
    (`flattened`), and an extent counts rows. How far each step has come is a counter that the program keeps. Rows of an
    internal value that no step reads need not be computed. A step that is alone may go from the last row to the first.
    """

    loops: tuple[str, ...]  # by step
    extents: tuple[int, ...]  # by step: of its loop in one call; the last call may have fewer
    call_schedule: tuple[RepeatedCalls, ...]
    # of each internal value that is not live out, and of the region's output where it takes the bytes of another value
    buffers: Mapping[str, LineBuffer] = field(default_factory=dict)
    flattened: Mapping[str, FlattenedRows] = field(default_factory=dict)  # by step that reads an image flattened
    backward: bool = False  # one step, along a parallel loop
    stripes: Stripes | None = None  # None: all columns at once

    @property
    def calls(self) -> tuple[int, ...]:
        """The call schedule, decoded."""
        return tuple(step for part in self.call_schedule for _ in range(part.times) for step in part.steps)

    def rows_of(self, step: str) -> FlattenedRows:
        """Which iterations of a step's loop are a row."""
        return self.flattened.get(step, FlattenedRows())


# --- regions


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """The schedule in which operands are where they live, and every step is computed in one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalValue:
    """How a value that passes between the steps of a region is held in a memory.

    `whole` is computed before the first tile that reads it. Of the other forms a tile has what later steps need:
    `recomputed` computes all of it again, `rolling` (a line buffer) only the rows that the tile before has not.
    `live_out`: steps outside need it, too, and it is copied out as it is computed.

    In a line-buffered region a value that is live out is `whole`, in its own bytes, and so is the region's output where
    it takes the bytes of another value. All others are `rolling`.
    """

    memory: str
    form: Form
    live_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReduction:
    """A split reduction: its loops, and the type of the partial results that pass from one part of it to the next.

    They are in an accumulator of their own, or, where `in_output`, in the output's tile, whose type is theirs.
    """

    loops: tuple[str, ...]
    dtype: DType
    in_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Steps that are computed together. The last is the sink: the nests of `Tiles` cut its loops."""

    steps: tuple[str, ...]
    schedule: Whole | Tiles | LineBuffers = Whole()
    # what passes between steps; of line buffers also the output, where it takes the bytes of what the steps read
    internal_values: Mapping[str, InternalValue] = field(default_factory=dict)
    sums: Mapping[str, SplitReduction] = field(default_factory=dict)  # step -> its split reduction
    resident: Mapping[str, str] = field(default_factory=dict)  # value written here -> scratchpad, beyond the region

    @property
    def name(self) -> str:
        """The sink's."""
        return self.steps[-1]

    @property
    def hops(self) -> tuple[Hop, ...]:
        """Of the tiles; () where nothing is tiled."""
        return self.schedule.hops if isinstance(self.schedule, Tiles) else ()

    @property
    def line_buffers(self) -> LineBuffers | None:
        """The schedule, where steps are computed row by row."""
        return self.schedule if isinstance(self.schedule, LineBuffers) else None

    @property
    def together(self) -> bool:
        """Whether one function computes all of its steps, where the sink stands."""
        return not isinstance(self.schedule, Whole)

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
