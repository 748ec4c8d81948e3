# %% before all examples
from dataclasses import dataclass

import numpy as np

from tilewright.api.graph import DType
from tilewright.api.stages import Decisions
from tilewright.api.testing import cluster, one_step, vocabulary
from tilewright.api.tiler import (
    Copy,
    Cut,
    FlattenedRows,
    Group,
    Hop,
    InternalValue,
    LineBuffer,
    LineBuffers,
    Needs,
    Region,
    RepeatedCalls,
    SplitReduction,
    Stripes,
    TileChoices,
    Tiler,
    Tiles,
    Tiling,
    TilingRequest,
    Whole,
)

# %% TilingRequest
# What a tiler is asked: here about one Add of two images, on a made-up cluster with 4 KiB of scratchpad.
image = np.zeros((64, 64), np.float32)
add = one_step("Add", [image, image], cluster(4 << 10))
request = TilingRequest(scheduled=add, operators=vocabulary(), decisions=Decisions())


# %% Tiler, TileChoices
# `TileChoices` lists good tilings of every step; this tiler takes the ones that move the fewest bytes.
@dataclass(frozen=True, slots=True, kw_only=True)
class Frugal:
    name: str = "acme-frugal"
    summary: str = "as few bytes as possible"

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        choices = TileChoices(request)
        return tuple(
            min(choices.tilings(step), key=lambda tiling: (tiling.moved_bytes, tiling.cycles)).group
            for step in range(len(request.scheduled.steps))
        )


tiler: Tiler = Frugal()
(group,) = tiler.plan(request)
assert group.steps == (add.steps[0].name,)

# %% Tiling
# What one choice takes: the bytes that it moves, its estimate, and the buffers that the plan will have of it.
tilings: tuple[Tiling, ...] = TileChoices(request).tilings(0)
assert all(tiling.moved_bytes >= 3 * image.nbytes for tiling in tilings)
assert all(sum(buffer.size_bytes for buffer in tiling.buffers) <= 4 << 10 for tiling in tilings)

# %% Needs
# Why a step has no tiling: a softmax takes its rows whole, and a row of 4,000 floats is more than there is.
softmax = one_step("Softmax", [np.zeros((2, 4000), np.float32)], cluster(4 << 10), {"axis": 1})
rows = TilingRequest(scheduled=softmax, operators=vocabulary(), decisions=Decisions())
needs: Needs | None = TileChoices(rows).needs(0)
assert needs is not None
assert needs.smallest[0]["X"] > needs.available_bytes

# %% Group, Region, Whole
# The answer: steps that are computed together, how, and an estimate. Unless it says else, a step is computed in one
# piece, where values live.
untiled = Group(region=Region(steps=(add.steps[0].name,)), cycles=4096.0)
assert untiled.name == add.steps[0].name
assert untiled.region.schedule == Whole()

# %% Tiles, Hop, Cut, Copy
# From one memory to the next: which loops of the last step are cut, and at which level each operand is copied.
by_rows = Hop(
    outer="l2",
    inner="l1",
    nest=(Cut("row", 8),),
    copies={"add.A": Copy(level=1, buffers=2), "add.B": Copy(level=0)},
)
assert Region(steps=("add",), schedule=Tiles(hops=(by_rows,))).name == "add"

# %% InternalValue
# How a value between two steps is held: here tiles of it exist in the scratchpad only, and are computed once.
together = Region(
    steps=("conv", "add"),
    schedule=Tiles(hops=(by_rows,)),
    internal_values={"conv_out": InternalValue(memory="l1", form="rolling")},
)
assert together.unmaterialised == ("conv_out",)

# %% LineBuffers, LineBuffer, RepeatedCalls
# The schedule of a region on one memory: step 0 computes two of its rows, then step 1 one of its own, seven times. What
# passes between them has room for two rows.
rows = LineBuffers(
    loops=("h", "h"),
    extents=(1, 1),
    call_schedule=(RepeatedCalls(steps=(0, 0, 1), times=7),),
    buffers={"conv_out": LineBuffer(rows=2)},
)
assert rows.calls[:4] == (0, 0, 1, 0)
held = {"conv_out": InternalValue(memory="ram", form="rolling")}
assert Region(steps=("conv", "pool"), schedule=rows, internal_values=held).line_buffers == rows

# %% FlattenedRows
# A product over an image [4, 3, 5] that it reads flattened: a row is five iterations of its reduction in each of four
# runs, so that the 60 iterations are three rows.
assert FlattenedRows(runs=4, length=5).rows(60) == 3

# %% Stripes
# The columns in two parts: all calls are made for each of them. Column 4 of the convolution is computed in both.
stripes = Stripes(loops=("w", "w"), bounds=(((0, 5), (0, 4)), ((4, 8), (4, 8))))
assert len(LineBuffers(loops=("h", "h"), extents=(1, 1), call_schedule=rows.call_schedule, stripes=stripes).calls) == 21
# The same with column 4 computed once: it is kept, of every row, from the first stripe to the second.
kept = Stripes(loops=stripes.loops, bounds=stripes.bounds, edges=(1, 0))
assert (kept.edge(0), kept.edge(1), stripes.edge(0)) == (1, 0, 0)

# %% SplitReduction
# A reduction that is cut, and the type of the sums that are kept from one part of it to the next.
split = Region(
    steps=("dense",), schedule=Tiles(hops=(by_rows,)), sums={"dense": SplitReduction(loops=("k",), dtype=DType.I32)}
)
assert split.sums["dense"].loops == ("k",)
