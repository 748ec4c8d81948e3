"""What code there is for regions, and what is refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tilewright.allocate.best_fit import BestFit
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, Tiles
from tilewright.ir.plans.stages import Allocated, Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

WINDOW = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """One region of everything."""

    region: Region
    name: str = "fixed"
    summary: str = ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        return (Group(region=self.region),)


def planned(graph: Graph, region: Region) -> Allocated:
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=Fixed(region=region),
        allocator=BestFit(),
        pins=Decisions(in_place={node.outputs[0]: "" for node in graph.nodes}),
    )
    return planner.plan(planner.bind(graph, cluster()))


def generated(graph: Graph, region: Region) -> str:
    program = lower(planned(graph, region), vocabulary(), "net")
    return emit(program, EmitOptions(generator="tilewright 0")).files["net.c"].decode()


def clips() -> Graph:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 8))
    for name in "abc":
        x = sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0}, name=name)
    return sketch.finish(x)


def test_only_new_rows_of_a_rolling_window_are_brought() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 8, 6))
    weights = sketch.constant(np.ones((4, 2, 3, 3), np.float32))
    graph = sketch.finish(sketch.node("Conv", (x, weights), {**WINDOW, "group": 1}, name="conv"))
    copies = {"conv.X": Copy(level=1, window="rolling"), "conv.W": Copy(level=0), "conv.Y": Copy(level=1, buffers=2)}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("h", 2),), copies=copies)
    text = generated(graph, Region(steps=("conv",), schedule=Tiles(hops=(hop,))))
    assert "/* Brings what is new of X of tile t from l2. */" in text
    assert "tw_keep(x, " in text and "new rows, for each h" in text


def test_steps_of_a_region_without_hops_are_computed_one_after_the_other() -> None:
    text = generated(clips(), Region(steps=("a", "b", "c")))
    assert all(f"TW_STEP void net_{number}_clip(" in text for number in range(3))
    assert "tw_slot " not in text.split("---- steps ----")[1]


def test_values_of_a_region_are_there_after_its_last_step() -> None:
    """What leaves from inside is written in the last step's function: that is when a trace may look at it."""
    graph = clips()
    graph = replace(graph, outputs=(*graph.outputs, "a:0"))
    copies = {"a.X": Copy(level=0), "a.Y": Copy(level=0), "c.Y": Copy(level=0)}
    held = {
        "a:0": InternalValue(memory="l1", form="rolling", live_out=True),
        "b:0": InternalValue(memory="l1", form="rolling"),
    }
    hop = Hop(outer="l2", inner="l1", copies=copies)
    together = planned(graph, Region(steps=("a", "b", "c"), schedule=Tiles(hops=(hop,)), internal_values=held))
    assert together.tiled.executed == {"a": 2, "b": 2, "c": 2}
    assert planned(graph, Region(steps=("a", "b", "c"))).tiled.executed == {"a": 0, "b": 1, "c": 2}
