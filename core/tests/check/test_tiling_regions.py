"""The checker of tilings against regions made by hand: what is right is taken, and each wrong thing found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.check.tiles.calls import Bounds, rolled
from tilewright.check.tiling import check_tiles
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, SplitReduction, Tiles
from tilewright.ir.plans.stages import Buffer, Group, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

SQUARE = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
ROW = 4 * 16 * 4  # bytes of a row of four channels


def machine() -> Platform:
    """A cluster with a memory behind its backing memory; constants are beside the nearest two."""
    near = cluster(1 << 16)
    copies = (*near.copies, copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("flash", "l2"))
    return replace(near, memories=(Memory(name="l3", size_bytes=None), *near.memories), copies=copies, backing="l3")


def weights(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def chain(out: tuple[str, ...] = ()) -> Graph:
    """Convolution, clip, convolution: 4 x 16 x 16 all the way. `out` are values that are outputs as well."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, 16, 16))
    a = sketch.node("Conv", (x, sketch.constant(weights(4, 4, 3, 3))), {**SQUARE, "group": 1}, "a")
    r = sketch.node("Clip", (a,), {"min": 0.0, "max": 6.0}, "r")
    b = sketch.node("Conv", (r, sketch.constant(weights(4, 4, 3, 3))), {**SQUARE, "group": 1}, "b")
    return sketch.finish(*out, b)


@cache
def plan(platform: str = "near", out: tuple[str, ...] = ()) -> Tiled:
    """Everything in one piece; what regions made by hand are put into."""
    where = cluster(1 << 16) if platform == "near" else machine()
    bound = bind(chain(out), where, vocabulary(), portable_kernels(), Decisions())
    scheduled = schedule(bound, vocabulary(), Decisions(order=("a", "r", "b"), in_place={"r:0": ""}))
    return tile(scheduled, vocabulary(), WholeTiler(), Decisions())


@dataclass(frozen=True, kw_only=True)
class Made:
    """A region, the tile buffers that it needs to the byte (name -> bytes), and the plan that it is put into."""

    region: Region
    sizes: Mapping[str, int]
    around: Tiled

    def tiled(self) -> Tiled:
        inner = {
            buffer for value in self.region.internal_values for buffer in [self.around.scheduled.storage[value].buffer]
        }
        graph = self.around.scheduled.bound.graph
        kept = [one for one in self.around.buffers if one.name not in inner or set(one.values) & set(graph.outputs)]
        at = next(n for n, step in enumerate(self.around.scheduled.steps) if step.name == self.region.name)
        tiles = [
            Buffer(name=name, kind="tile", size_bytes=size, align=4, first=at, last=at,
                   memories=(name.partition("@")[2].partition("#")[0],))
            for name, size in self.sizes.items()
        ]  # fmt: skip
        lasting = [replace(one, last=max(one.last, at)) if one.kind != "scratch" else one for one in kept]
        groups = tuple(one for one in self.around.groups if one.name not in self.region.steps)
        return replace(self.around, groups=(*groups, Group(region=self.region)), buffers=(*lasting, *tiles))

    def faults(self) -> tuple[str, ...]:
        return check_tiles(self.tiled(), vocabulary())

    def less(self, name: str) -> Made:
        """One byte less in a buffer."""
        return replace(self, sizes={**self.sizes, name: self.sizes[name] - 1})

    def without(self, name: str) -> Made:
        return replace(self, sizes={other: size for other, size in self.sizes.items() if other != name})

    def with_region(self, **changes: Any) -> Made:
        return replace(self, region=replace(self.region, **changes))

    def with_hop(self, at: int, **changes: Any) -> Made:
        hops = list(self.region.hops)
        hops[at] = replace(hops[at], **changes)
        return self.with_region(schedule=Tiles(hops=tuple(hops)))

    def with_copy(self, at: int, key: str, **changes: Any) -> Made:
        copies = self.region.hops[at].copies
        return self.with_hop(at, copies={**copies, key: replace(copies.get(key, Copy(level=0)), **changes)})

    def with_held(self, value: str, **changes: Any) -> Made:
        held = self.region.internal_values
        return self.with_region(internal_values={**held, value: replace(held[value], **changes)})


def hop(nest: tuple[tuple[str, int], ...], ends: tuple[str, str] = ("l2", "l1"), **copies: Copy) -> Hop:
    """`a_X` is operand X of step a."""
    named = {key.replace("_", "."): copy for key, copy in copies.items()}
    return Hop(outer=ends[0], inner=ends[1], nest=tuple(Cut(*one) for one in nest), copies=named)


def held(form: Any, *values: str) -> dict[str, InternalValue]:
    return {f"{value}:0": InternalValue(memory="l1", form=form) for value in values}


def two_cut_hops() -> Made:
    """Three steps over two hops that both cut rows: eight at a time, then two of these."""
    far = hop((("h", 8),), ("l3", "l2"), a_X=Copy(level=1), b_Y=Copy(level=1, buffers=2))
    near = hop((("h", 2),), a_X=Copy(level=1, buffers=2), a_W=Copy(level=0), b_W=Copy(level=0), b_Y=Copy(level=1))
    return Made(
        region=Region(
            steps=("a", "r", "b"), schedule=Tiles(hops=(far, near)), internal_values=held("recomputed", "a", "r")
        ),
        sizes={
            "a.X@l2#0": 10 * ROW, "b.Y@l2#0": 8 * ROW, "b.Y@l2#1": 8 * ROW,
            "a.X@l1#0": 6 * ROW, "a.X@l1#1": 6 * ROW, "a.Y@l1#0": 4 * ROW, "r.Y@l1#0": 4 * ROW, "b.Y@l1#0": 2 * ROW,
            "a.W@l1#0": 576, "b.W@l1#0": 576,
        },
        around=constants_near(plan("far")),
    )  # fmt: skip


def constants_near(tiled: Tiled) -> Tiled:
    """Constants in the memory beside the near one alone."""
    buffers = (replace(one, memories=("flash",)) if one.kind == "constant" else one for one in tiled.buffers)
    return replace(tiled, buffers=tuple(buffers))


def rolling() -> Made:
    """Two rows at a time, every value and the input by what is new."""
    near = hop(
        (("h", 2),), a_X=Copy(level=1, window="rolling"), a_W=Copy(level=0), b_W=Copy(level=0), b_Y=Copy(level=1)
    )
    return Made(
        region=Region(steps=("a", "r", "b"), schedule=Tiles(hops=(near,)), internal_values=held("rolling", "a", "r")),
        sizes={
            "a.X@l1#0": 4 * ROW, "a.Y@l1#0": 3 * ROW, "r.Y@l1#0": 4 * ROW, "b.Y@l1#0": 2 * ROW,
            "a.W@l1#0": 576, "b.W@l1#0": 576,
        },
        around=plan(),
    )  # fmt: skip


def strided() -> Made:
    """A convolution that reads every second row and column, one step."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, 16, 16))
    single = {**SQUARE, "kernel_shape": (1, 1), "strides": (2, 2), "pads": (0, 0, 0, 0), "group": 1}
    a = sketch.node("Conv", (x, sketch.constant(weights(4, 4, 1, 1))), single, "a")
    bound = bind(sketch.finish(a), cluster(1 << 16), vocabulary(), portable_kernels(), Decisions())
    near = hop((("h", 2),), a_X=Copy(level=1), a_W=Copy(level=0), a_Y=Copy(level=1))
    return Made(
        region=Region(steps=("a",), schedule=Tiles(hops=(near,))),
        sizes={"a.X@l1#0": 3 * 15 * 16, "a.W@l1#0": 64, "a.Y@l1#0": 2 * 8 * 16},
        around=tile(schedule(bound, vocabulary(), Decisions()), vocabulary(), WholeTiler(), Decisions()),
    )


def split(in_output: bool = False) -> Made:
    """A clip and the convolution that reads it, four rows and two input channels at a time."""
    near = hop((("h", 4), ("c", 2)), r_X=Copy(level=2), b_W=Copy(level=2), b_Y=Copy(level=1))
    sizes = {
        "r.X@l1#0": 3 * ROW, "r.Y@l1#0": 3 * ROW, "b.W@l1#0": 288, "b.Y@l1#0": 4 * ROW, "b.acc@l1#0": 4 * ROW,
    }  # fmt: skip
    made = Made(
        region=Region(
            steps=("r", "b"), schedule=Tiles(hops=(near,)), internal_values=held("recomputed", "r"),
            sums={"b": SplitReduction(loops=("c",), dtype=DType.F32, in_output=in_output)},
        ),
        sizes=sizes,
        around=plan(),
    )  # fmt: skip
    return made.without("b.acc@l1#0") if in_output else made


def leaving() -> Made:
    """A clip whose value others need, too, and the convolution that reads it."""
    near = hop((("h", 2),), r_X=Copy(level=1), r_Y=Copy(level=1), b_W=Copy(level=0), b_Y=Copy(level=1))
    return Made(
        region=Region(steps=("r", "b"), schedule=Tiles(hops=(near,)), internal_values=held("rolling", "r")),
        sizes={"r.X@l1#0": 3 * ROW, "r.Y@l1#0": 4 * ROW, "b.W@l1#0": 576, "b.Y@l1#0": 2 * ROW},
        around=plan(out=("r:0",)),
    )


def in_groups() -> Made:
    """The same for a convolution of two groups, one output channel at a time: two of them read the same channels."""
    sketch = Sketch(operators=vocabulary())
    r = sketch.node("Clip", (sketch.input("x", DType.F32, (1, 4, 16, 16)),), {"min": 0.0, "max": 6.0}, "r")
    b = sketch.node("Conv", (r, sketch.constant(weights(4, 2, 3, 3))), {**SQUARE, "group": 2}, "b")
    bound = bind(sketch.finish(r, b), cluster(1 << 16), vocabulary(), portable_kernels(), Decisions())
    cuts = (("o", 1), ("h", 2))
    near = hop(cuts, r_X=Copy(level=2), r_Y=Copy(level=2), b_W=Copy(level=1), b_Y=Copy(level=2))
    return Made(
        region=Region(steps=("r", "b"), schedule=Tiles(hops=(near,)), internal_values=held("rolling", "r")),
        sizes={"r.X@l1#0": 3 * ROW // 2, "r.Y@l1#0": 4 * ROW // 2, "b.W@l1#0": 72, "b.Y@l1#0": 2 * ROW // 4},
        around=tile(schedule(bound, vocabulary(), Decisions()), vocabulary(), WholeTiler(), Decisions()),
    )


def product() -> Made:
    """The same for a product of matrices, whose columns do not move what it reads."""
    sketch = Sketch(operators=vocabulary())
    r = sketch.node("Clip", (sketch.input("x", DType.F32, (16, 8)),), {"min": 0.0, "max": 6.0}, "r")
    b = sketch.node("MatMul", (r, sketch.constant(weights(8, 8))), name="b")
    bound = bind(sketch.finish(r, b), cluster(1 << 16), vocabulary(), portable_kernels(), Decisions())
    near = hop((("m", 4),), r_X=Copy(level=1), r_Y=Copy(level=1), b_B=Copy(level=0), b_Y=Copy(level=1))
    return Made(
        region=Region(steps=("r", "b"), schedule=Tiles(hops=(near,)), internal_values=held("rolling", "r")),
        sizes={"r.X@l1#0": 128, "r.Y@l1#0": 128, "b.B@l1#0": 256, "b.Y@l1#0": 128},
        around=tile(schedule(bound, vocabulary(), Decisions()), vocabulary(), WholeTiler(), Decisions()),
    )


def shared() -> Made:
    """A convolution and its sum with what it reads, which crosses once and is copied near twice."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, 16, 16))
    a = sketch.node("Conv", (x, sketch.constant(weights(4, 4, 3, 3))), {**SQUARE, "group": 1}, "a")
    bound = bind(
        sketch.finish(sketch.node("Add", (a, x), name="d")), machine(), vocabulary(), portable_kernels(), Decisions()
    )
    scheduled = schedule(bound, vocabulary(), Decisions(in_place={"d:0": ""}))
    far = hop((), ("l3", "l2"), a_X=Copy(level=0), d_Y=Copy(level=0))
    near = hop((("_lead1", 4),), a_X=Copy(level=1), a_W=Copy(level=0), d_B=Copy(level=1), d_Y=Copy(level=1))
    return Made(
        region=Region(steps=("a", "d"), schedule=Tiles(hops=(far, near)), internal_values=held("recomputed", "a")),
        sizes={
            "a.X@l2#0": 16 * ROW, "d.Y@l2#0": 16 * ROW, "a.X@l1#0": 6 * ROW, "a.W@l1#0": 576, "a.Y@l1#0": 4 * ROW,
            "d.B@l1#0": 4 * ROW, "d.Y@l1#0": 4 * ROW,
        },
        around=constants_near(tile(scheduled, vocabulary(), WholeTiler(), Decisions())),
    )  # fmt: skip


RIGHT: Mapping[str, Callable[[], Made]] = {
    "two hops that cut": two_cut_hops,
    "rows of an input stay": rolling,
    "every second row": strided,
    "a split reduction": split,
    "sums in the output": lambda: split(in_output=True),
    "a value that leaves": leaving,
    "a value that leaves whole": lambda: replace(
        leaving().with_held("r:0", form="whole").with_copy(0, "r.Y", level=0),
        sizes={**leaving().sizes, "r.X@l1#0": 16 * ROW, "r.Y@l1#0": 16 * ROW},
    ),
    "a value that leaves a product": product,
    "a value that crosses once": shared,
    "no hops": lambda: Made(region=Region(steps=("a", "r", "b")), sizes={}, around=plan()),
    "what is needed again where it is kept": lambda: rolling().with_hop(
        0, copies={key: copy for key, copy in rolling().region.hops[0].copies.items() if key != "a.X"}
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_taken(name: str) -> None:
    assert RIGHT[name]().faults() == ()


@pytest.mark.parametrize("name", RIGHT)
def test_every_buffer_is_needed_to_the_byte(name: str) -> None:
    made = RIGHT[name]()
    for buffer in made.sizes:
        used = buffer != "a.X@l1#0" or name != "what is needed again where it is kept"
        assert any(f"'{buffer}' has" in fault for fault in made.less(buffer).faults()) is used
        assert any(f"'{buffer}' is not there" in fault for fault in made.without(buffer).faults()) is used


def strict(made: Made, **changes: Any) -> Made:
    """The same with another kernel for the clip."""
    scheduled = made.around.scheduled
    binding = scheduled.bound.bindings["r"]
    changed = replace(binding, kernel=replace(binding.kernel, **changes))
    bound = replace(scheduled.bound, bindings={**scheduled.bound.bindings, "r": changed})
    return replace(made, around=replace(made.around, scheduled=replace(scheduled, bound=bound)))


def kept_home(made: Made, value: str, memories: tuple[str, ...]) -> Made:
    name = made.around.scheduled.storage[value].buffer
    buffers = (replace(one, memories=memories) if one.name == name else one for one in made.around.buffers)
    return replace(made, around=replace(made.around, buffers=tuple(buffers)))


WRONG: Mapping[str, tuple[str, Callable[[], Made]]] = {
    "an outer hop without a way": ("and on from 'l2'", lambda: two_cut_hops().with_hop(0, inner="l1")),
    "an outer window fetched too seldom": ("'a.X@l2#0' has", lambda: two_cut_hops().with_copy(0, "a.X", level=0)),
    "an inner window fetched too seldom": ("'a.X@l1#0' has", lambda: two_cut_hops().with_copy(1, "a.X", level=0)),
    "an input that does not come near": ("nothing copies X", lambda: two_cut_hops().with_hop(0, copies={})),
    "larger outer tiles": ("'b.Y@l2#0' has", lambda: two_cut_hops().with_hop(0, nest=(Cut("h", 9),))),
    "a value that crosses twice": ("'x' goes to 'l2' twice", lambda: shared().with_copy(0, "d.B", level=0)),
    "a value that does not cross": (
        "nothing copies B between 'l3' and 'l1'", lambda: shared().with_hop(0, copies={"d.Y": Copy(level=0)}),
    ),
    "what needs every position": (
        "not every position is copied",
        lambda: strided().with_copy(0, "a.X", window="rolling"),
    ),
    "a sequence that is none": ("do not follow", lambda: rolling().with_region(steps=("r", "a", "b"))),
    "tiles over no hop": ("its tiles go over no hop", lambda: rolling().with_region(schedule=Tiles(hops=()))),
    "rows of two buffers": ("keeps rows", lambda: rolling().with_copy(0, "a.X", buffers=2)),
    "rows outside of all loops": ("keeps rows", lambda: rolling().with_copy(0, "a.X", level=0)),
    "rows of an output": ("keeps rows", lambda: rolling().with_copy(0, "b.Y", window="rolling")),
    "an input that is inside": ("no operand 'r.X'", lambda: rolling().with_copy(0, "r.X", level=1)),
    "held nowhere": ("no memory 'l9'", lambda: rolling().with_held("a:0", memory="l9")),
    "held elsewhere": ("'a.Y@l2#0' is not there", lambda: rolling().with_held("a:0", memory="l2")),
    "held where cores cannot": ("cannot use 'a:0'", lambda: rolling().with_held("a:0", memory="flash")),
    "parts outside of tiles": (
        "do not follow one another", lambda: split().with_hop(0, nest=(Cut("c", 2), Cut("h", 4))),
    ),
    "parts on another hop": (
        "another hop",
        lambda: split().with_region(schedule=Tiles(hops=(hop((("c", 2),), ("l3", "l2")), *split().region.hops))),
    ),
    "stored before": ("before its sums are complete", lambda: split().with_copy(0, "b.Y", level=2)),
    "sums of another type": (
        "partial results are", lambda: split().with_region(sums={"b": SplitReduction(loops=("c",), dtype=DType.I32)}),
    ),
    "a reduction that is not split": ("is a reduce loop", lambda: split().with_region(sums={})),
    "a reduction that is not the last step's": (
        "reduction of 'r' is split",
        lambda: split().with_region(sums={**split().region.sums, "r": SplitReduction(loops=("c",), dtype=DType.F32)}),
    ),
    "a loop that is no reduction": (
        "not accumulate", lambda: split().with_region(sums={"b": SplitReduction(loops=("c", "h"), dtype=DType.F32)}),
    ),
    "sums in no tile": (
        "sums of Y are to be in its tile",
        lambda: split(in_output=True).with_hop(
            0, copies={key: one for key, one in split().region.hops[0].copies.items() if key != "b.Y"}
        ),
    ),
    "it must leave": (
        "needed outside",
        lambda: leaving().with_hop(
            0, copies={key: one for key, one in leaving().region.hops[0].copies.items() if key != "r.Y"}
        ),
    ),
    "it leaves and is computed again": ("computed again", lambda: leaving().with_held("r:0", form="recomputed")),
    "it leaves from two buffers": ("leaves from 2 buffers", lambda: leaving().with_copy(0, "r.Y", buffers=2)),
    "it leaves too seldom": ("and loops inside move it", lambda: leaving().with_copy(0, "r.Y", level=0)),
    "it is computed, and leaves, again": ("of Y is stored from 'l1' 2 times", in_groups),
    "it leaves several times": (
        "of Y are stored from 'l1' several times",
        lambda: product().with_hop(0, nest=(Cut("n", 4), Cut("m", 4))).with_copy(0, "r.Y", level=2),
    ),
    "what is held without hops": (
        "holds 'a:0'", lambda: Made(region=Region(steps=("a", "r", "b"), internal_values=held("whole", "a")), sizes={},
                                    around=plan()),
    ),
    "a resident that it does not write": (
        "does not write 'x'", lambda: rolling().with_region(resident={"x": "l1"}),
    ),
    "a resident that may be elsewhere": (
        "may be placed elsewhere", lambda: rolling().with_region(resident={"b:0": "l1"}),
    ),
    "multiples that rows do not keep": (
        "no multiple of 3", lambda: strict(rolling(), multiples={"_lead1": 3}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    words, made = WRONG[name]
    found = made().faults()
    assert any(words in fault for fault in found), found


def test_a_resident_has_one_place() -> None:
    made = kept_home(rolling().with_region(resident={"b:0": "l2"}), "b:0", ("l2",))
    assert made.faults() == ()


def test_scratch_is_where_the_region_runs() -> None:
    made = rolling()
    scratch = Buffer(name="b.scratch", kind="scratch", size_bytes=8, align=8, first=2, last=2, memories=("l1",))
    changes: tuple[tuple[dict[str, Any], bool], ...]
    changes = (({}, False), ({"memories": ("l2",)}, True), ({"first": 0, "last": 0}, True))
    for change, fault in changes:
        around = replace(made.around, buffers=(*made.around.buffers, replace(scratch, **change)))
        assert any("scratch" in one for one in replace(made, around=around).faults()) is fault


def test_an_output_over_the_input_needs_rows_that_stay() -> None:
    """Computed row by row, every input row is there before its bytes are taken; halos are fetched again too late."""

    def over_input(made: Made) -> Made:
        scheduled = made.around.scheduled
        storage = {**scheduled.storage, "b:0": scheduled.storage["x"]}
        return replace(made, around=replace(made.around, scheduled=replace(scheduled, storage=storage)))

    assert over_input(rolling()).faults() == ()
    again = over_input(
        rolling().with_copy(0, "a.X", window="box").with_region(internal_values=held("recomputed", "a", "r"))
    )
    assert any("X is read where Y has been stored" in fault for fault in again.faults())


def test_rows_stay_where_one_axis_moves_and_never_falls() -> None:
    still, rising = Bounds(np.array(0), np.array(4)), np.arange(0, 6, 2)
    moving, falling = Bounds(rising, rising + 3), Bounds(rising[::-1], rising[::-1] + 3)
    assert rolled((still, moving), 0) == (1, "")
    assert moving.later(0).low.tolist() == [0, 3, 5]
    assert "begins before" in rolled((still, falling), 0)[1]
    assert "move at once" in rolled((moving, moving), 0)[1]
