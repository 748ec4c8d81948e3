"""Dumps: one line per thing in text, everything in JSON, the same every time, nothing of this process."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import Refusal
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, LineBuffers, Region, RepeatedCalls, Stripes, Tiles
from tilewright.ir.plans.stages import Allocated, Group
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.schedule import schedule
from tilewright.snapshot.dump import dump_json, dump_text
from tilewright.snapshot.saved_stage import SavedStage
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()


def _graph() -> Graph:
    nodes = (
        Node(name="/clip", op="Clip", inputs=("x",), outputs=("c",), attributes={"max": 6.0}, origin=("Relu6_3",)),
        Node(name="/turn", op="Transpose", inputs=("c",), outputs=("t",), attributes={"perm": (1, 0)}),
        Node(name="/add", op="Add", inputs=("t", "t"), outputs=("z",)),
    )
    shapes = {"x": (2, 3), "c": (2, 3), "t": (3, 2), "z": (3, 2)}
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=shape) for name, shape in shapes.items()}
    return Graph(name="g", inputs=("x",), outputs=("z",), nodes=nodes, tensors=tensors, constants={})


def _plan(graph: Graph, pins: Decisions | None = None) -> Allocated:
    pins = pins or Decisions()
    bound = bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, pins)
    tiled = tile(schedule(bound, WORLD.operators, pins), WORLD.operators, WholeTiler(), pins)
    return allocate(tiled, pins, BestFit())


def _stages(plan: Allocated) -> Iterator[SavedStage]:
    scheduled = plan.tiled.scheduled
    yield from (scheduled.bound.graph, scheduled.bound, scheduled, plan.tiled, plan, plan.decisions)


@pytest.mark.parametrize("index", range(6))
def test_dumps_are_stable_and_hold_nothing_of_this_process(index: int) -> None:
    for seed in range(5):
        texts = []
        for _ in range(2):
            value = list(_stages(_plan(random_graph(random.Random(seed), WORLD.operators))))[index]
            texts.append((dump_text(value), dump_json(value)))
        assert texts[0] == texts[1]
        for text in texts[0]:
            assert not re.search(r"0x[0-9a-f]{9,}|<function|object at", text)
        assert list(json.loads(texts[0][1])) == ["stage", "value"]


def test_a_graph_is_readable() -> None:
    text = dump_text(_graph())
    assert "graph g: 3 nodes, 0 constants of 0 B" in text
    assert "input   x f32[2,3]" in text
    assert "node    /clip: Clip(x) -> c f32[2,3]\n        max=6.0\n        onnx Relu6_3" in text
    assert "perm=[1,0]" in text


def test_long_attributes_are_cut_and_requantisation_is_summed_up() -> None:
    attributes = {"pads": tuple(range(20)), "requant": Requant(scale=(0.5,) * 64, zero_point=3, low=-128, high=127)}
    node = replace(_graph().nodes[0], attributes=attributes)
    text = dump_text(replace(_graph(), nodes=(node,)))
    assert "pads=[0,1,2,3,4,5,6,7,... 20 in all]" in text
    assert "requant=requant(64 scales, zero_point 3, -128..127)" in text


def test_a_binding_shows_its_kernel_candidates_and_refusals() -> None:
    bound = _plan(_graph()).tiled.scheduled.bound
    refused = replace(bound.bindings["/clip"], refusals=(Refusal(candidate="acme.clip", reason="X must be i8"),))
    text = dump_text(replace(bound, bindings={**bound.bindings, "/clip": refused}))
    assert "node    /clip: Clip by portable.clip on cpu -> c f32[2,3]" in text
    assert "can     portable.clip, " in text
    assert "refused acme.clip: X must be i8" in text
    assert "stored [1,0]" in text


def test_a_schedule_shows_steps_views_and_lifetimes() -> None:
    text = dump_text(_plan(_graph()).tiled.scheduled)
    assert "step      0 /clip: Clip(x) -> c" in text
    assert "view    /turn: Transpose(c) -> t" in text
    assert "buffer  x: input, 24 B aligned 4, live 0..0" in text


def test_tiles_are_shown() -> None:
    copies = {"/clip.X": Copy(level=1, buffers=2, window="rolling")}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("h", 8),), copies=copies)
    tiled = _plan(_graph()).tiled
    held = {"c": InternalValue(memory="l1", form="rolling")}
    group = Group(
        region=Region(steps=("/clip",), schedule=Tiles(hops=(hop,)), internal_values=held, resident={"t": "l1"})
    )
    text = dump_text(replace(tiled, groups=(group,)))
    assert "l2 -> l1: h by 8" in text
    assert "/clip.X: level 1, 2 buffers, rolling" in text
    assert "c is internal, in l1: rolling" in text
    assert "t stays whole in l1" in text


def test_rows_and_stripes_are_shown() -> None:
    stripes = Stripes(loops=("w",), bounds=(((0, 2),), ((2, 3),)))
    rows = LineBuffers(loops=("h",), extents=(1,), call_schedule=(RepeatedCalls((0,), 2),), stripes=stripes)
    text = dump_text(replace(_plan(_graph()).tiled, groups=(Group(region=Region(steps=("/clip",), schedule=rows)),)))
    assert "/clip: rows of h by 1" in text
    assert "2 calls: 2x(0)" in text
    assert "/clip: columns of w in stripes: 0..2 2..3\n" in text


def test_columns_that_are_kept_are_shown() -> None:
    stripes = Stripes(loops=("w",), bounds=(((0, 2),), ((1, 3),)), edges=(1,))
    rows = LineBuffers(loops=("h",), extents=(1,), call_schedule=(RepeatedCalls((0,), 2),), stripes=stripes)
    text = dump_text(replace(_plan(_graph()).tiled, groups=(Group(region=Region(steps=("/clip",), schedule=rows)),)))
    assert "/clip: columns of w in stripes: 0..2 1..3, 1 kept" in text


def test_a_plan_shows_pools_and_a_memory_map() -> None:
    plan = _plan(_graph(), Decisions(io={"x": "user"}))
    text = dump_text(plan)
    assert f"plan id 0x{plan.plan_id:08x}" in text
    assert "pool    sram (ram): 48 B of no limit, optimal" in text
    assert re.search(r"place   sram +0\.\.24 +activation +c \(live 0\.\.1\)", text)
    assert "place   caller's memory, 24 B input x" in text


def test_decisions_are_listed() -> None:
    text = dump_text(_plan(_graph()).decisions)
    assert "allocator best-fit" in text
    assert re.search(r"^memories +c = sram$", text, re.MULTILINE)


def test_json_names_kernels_and_sums_up_arrays() -> None:
    plan = _plan(_graph())
    bound = replace(plan.tiled.scheduled.bound, constants={"k": np.arange(3, dtype=np.int16)})
    value = json.loads(dump_json(bound))["value"]
    assert value["bindings"]["/clip"]["kernel"] == "portable.clip"
    assert value["platform"]["name"] == "small"
    assert value["constants"]["k"]["dtype"] == "int16"
    assert len(value["constants"]["k"]["sha256"]) == 64
    assert sorted(value) == list(value)
