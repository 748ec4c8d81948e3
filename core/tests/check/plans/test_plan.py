"""Plans that are right pass; every fault put into one is seen."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portable_plans import portable_planner
from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.check.plans.plan import plan_faults
from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Allocated, Buffer, Placement, Scheduled, Storage
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.one_step import vocabulary, with_kernel
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
PLANNER = portable_planner()


def _plan(graph: Graph, pins: Decisions | None = None) -> Allocated:
    pins = pins or Decisions()
    bound = bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, pins)
    scheduled = schedule(bound, WORLD.operators, pins)
    tiled = tile(scheduled, WORLD.operators, WholeTiler(), pins)
    return allocate(tiled, pins, BestFit(), Budget(work=500))


def _node(name: str, op: str, inputs: tuple[str, ...], attributes: Mapping[str, Attribute] | None = None) -> Node:
    return Node(name=name, op=op, inputs=inputs, outputs=(f"{name}:0",), attributes=attributes or {})


def _graph(nodes: tuple[Node, ...], shapes: Mapping[str, tuple[int, ...]], outputs: tuple[str, ...]) -> Graph:
    return Graph(
        name="g",
        inputs=("x",),
        outputs=outputs,
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=shape) for name, shape in shapes.items()},
        constants={},
    )


def _chain() -> Graph:
    """x -> a -> b -> c = a + b: two values live across one step, and a last step that reads both."""
    clip = {"min": 0.0, "max": 6.0}
    nodes = (
        _node("a", "Clip", ("x",), clip),
        _node("t", "Transpose", ("a:0",), {"perm": (1, 0)}),
        _node("b", "Clip", ("a:0",), clip),
        _node("c", "Add", ("a:0", "b:0")),
        _node("d", "Concat", ("c:0", "c:0"), {"axis": 1}),
    )
    shapes = dict.fromkeys(("x", "a:0", "b:0", "c:0"), (2, 3)) | {"t:0": (3, 2), "d:0": (2, 6)}
    return _graph(nodes, shapes, ("d:0", "t:0"))


def _with_scheduled(plan: Allocated, scheduled: Scheduled) -> Allocated:
    return replace(plan, tiled=replace(plan.tiled, scheduled=scheduled))


def _moved(plan: Allocated, buffer: str, offset: int, memory: str = "sram") -> Allocated:
    return replace(plan, placements={**plan.placements, buffer: Placement(memory=memory, offset_bytes=offset)})


def _resized(plan: Allocated, name: str, **changes: Any) -> Allocated:
    buffers = tuple(replace(item, **changes) if item.name == name else item for item in plan.tiled.buffers)
    return replace(plan, tiled=replace(plan.tiled, buffers=buffers))


def _seen(plan: Allocated) -> str:
    return "\n".join(plan_faults(plan, WORLD.operators))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["pool", "user"]))
def test_what_the_stages_make_is_right(chance: random.Random, io: Literal["pool", "user"]) -> None:
    graph = random_graph(chance, WORLD.operators)
    ends = dict.fromkeys((*graph.inputs, *graph.outputs), io)
    assert _seen(_plan(graph, Decisions(io=ends))) == ""


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_moving_a_buffer_over_a_live_one_is_seen(chance: random.Random) -> None:
    plan = _plan(random_graph(chance, WORLD.operators))
    mine = [buffer for buffer in plan.tiled.buffers if plan.placements[buffer.name].memory == "sram"]
    pairs = [(a, b) for a in mine for b in mine if a is not b and a.first <= b.last and b.first <= a.last]
    if not pairs:
        return
    one, other = chance.choice(pairs)
    broken = _moved(plan, one.name, plan.placements[other.name].offset_bytes)
    if _matters(one) and _matters(other):
        assert _seen(broken), (one, other)


def _matters(buffer: Buffer) -> bool:
    """One value that a later step reads: bytes of it that are overwritten meanwhile are missed."""
    return len(buffer.values) == 1 and buffer.first < buffer.last


def test_only_moves_that_destroy_something_are_faults() -> None:
    plan = _plan(_chain())
    a, b = plan.placements["a:0"].offset_bytes, plan.placements["b:0"].offset_bytes
    assert _seen(_moved(plan, "a:0", 400)) == ""
    assert "'a:0' are lost" in _seen(_moved(_moved(plan, "a:0", b), "b:0", b))
    assert "'a:0' are lost" in _seen(_moved(plan, "b:0", a + 4))


@pytest.mark.parametrize(
    ("buffer", "offset", "memory", "words"),
    [
        ("a:0", -4, "sram", "starts at -4"),
        ("a:0", 2, "sram", "not aligned"),
        ("a:0", 0, "rodata", "may not be in memory 'rodata'"),
        ("a:0", 0, "nowhere", "may not be in memory 'nowhere'"),
    ],
)
def test_a_place_that_cannot_be_is_seen(buffer: str, offset: int, memory: str, words: str) -> None:
    assert words in _seen(_moved(_plan(_chain()), buffer, offset, memory))


@pytest.mark.parametrize("last", [True, False])
def test_sharing_bytes_with_a_constant_is_seen(last: bool) -> None:
    wider = _with_lasting("constant", last)
    assert _seen(_moved(wider, "kept", 400)) == ""
    assert "'kept'" in _seen(_moved(wider, "kept", wider.placements["d:0"].offset_bytes))


@pytest.mark.parametrize("kind", ["state", "resident"])
def test_what_lasts_is_apart_from_the_pool_and_shares_bytes_with_nothing(kind: Literal["state", "resident"]) -> None:
    one = _moved(_with_lasting(kind, True), "kept", 0)
    assert _seen(one) == ""  # another array than the pool's
    buffer = replace(one.tiled.buffers[-1], name="other")
    two = replace(one, tiled=replace(one.tiled, buffers=(*one.tiled.buffers, buffer)))
    assert _seen(_moved(two, "other", 8)) == ""
    assert "'kept' and 'other' share bytes" in _seen(_moved(two, "other", 4))


def test_bytes_that_last_are_shared_with_nothing_however_far_apart_buffers_begin() -> None:
    one = _moved(_with_lasting("resident", True), "kept", 0)
    buffer = one.tiled.buffers[-1]
    more = [replace(buffer, name=name, size_bytes=size) for name, size in (("wide", 64), ("thin", 4), ("none", 0))]
    several = replace(one, tiled=replace(one.tiled, buffers=(*one.tiled.buffers, *more)))
    for name, offset in (("wide", 16), ("thin", 16), ("none", 40), ("kept", 60)):
        several = _moved(several, name, offset)
    seen = _seen(several)
    assert "'wide' and 'thin' share bytes" in seen
    assert "'kept' and 'wide' share bytes" in seen
    assert "'wide' and 'none' share bytes" in seen
    assert "'kept' and 'thin'" not in seen


def test_arrays_of_one_memory_are_counted_together() -> None:
    wider = _moved(_with_lasting("state", True), "kept", 0)
    used = max(pool.used_bytes for pool in wider.pools)
    scheduled = wider.tiled.scheduled
    for size, words in ((align_up(used, 16) + 8, ""), (used + 7, "has arrays of")):
        memories = (replace(WORLD.platform.memory("sram"), size_bytes=size),)
        bound = replace(scheduled.bound, platform=replace(WORLD.platform, memories=memories))
        seen = _seen(_with_scheduled(wider, replace(scheduled, bound=bound)))
        assert (words in seen) if words else seen == ""


def _with_lasting(kind: Literal["state", "resident", "constant"], last: bool) -> Allocated:
    plan = _plan(_chain())
    final = len(plan.tiled.scheduled.steps) - 1
    lasting = Buffer(name="kept", kind=kind, size_bytes=8, align=4, first=0, last=final, memories=("sram",))
    buffers = (*plan.tiled.buffers, lasting) if last else (lasting, *plan.tiled.buffers)
    return replace(plan, tiled=replace(plan.tiled, buffers=buffers))


def test_a_buffer_without_a_place_is_seen() -> None:
    plan = _plan(_chain())
    rest = {name: place for name, place in plan.placements.items() if name != "a:0"}
    assert "'a:0' has no place" in _seen(replace(plan, placements=rest))


def test_a_plan_larger_than_the_memory_is_seen() -> None:
    plan = _plan(_chain())
    small = replace(WORLD.platform, memories=(replace(WORLD.platform.memory("sram"), size_bytes=32),))
    scheduled = plan.tiled.scheduled
    bound = replace(scheduled.bound, platform=small)
    assert "memory 'sram' at 32" in _seen(_with_scheduled(plan, replace(scheduled, bound=bound)))


def test_a_lifetime_cut_short_is_seen_once_an_allocator_believed_it() -> None:
    pins = Decisions(in_place={"b:0": "", "c:0": ""})
    bound = bind(_chain(), WORLD.platform, WORLD.operators, WORLD.kernels, pins)
    tiled = tile(schedule(bound, WORLD.operators, pins), WORLD.operators, WholeTiler(), pins)
    shorter = tuple(replace(b, last=b.first) if b.name == "a:0" else b for b in tiled.buffers)
    plan = allocate(replace(tiled, buffers=shorter), pins, BestFit())
    assert "'a:0' are lost" in _seen(plan)


def test_a_view_under_another_layout_is_no_view() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    assert scheduled.storage["t:0"] == scheduled.storage["a:0"]
    layouts = {**scheduled.bound.layouts, "t:0": (1, 0)}
    broken = replace(scheduled, bound=replace(scheduled.bound, layouts=layouts))
    assert "'t:0' are lost" in _seen(_with_scheduled(plan, broken))


def test_an_alias_at_a_wrong_offset_is_seen() -> None:
    nodes = (
        _node("s", "Slice", ("x",), {"starts": (1, 0), "steps": (1, 1), "shape": (1, 3)}),
        _node("y", "Clip", ("s:0",)),
    )
    plan = _plan(_graph(nodes, {"x": (2, 3), "s:0": (1, 3), "y:0": (1, 3)}, ("y:0",)))
    scheduled = plan.tiled.scheduled
    assert scheduled.storage["s:0"] == Storage(buffer="x", offset_bytes=12)
    shifted = replace(scheduled, storage={**scheduled.storage, "s:0": Storage(buffer="x", offset_bytes=8)})
    assert "'s:0' are lost" in _seen(_with_scheduled(plan, shifted))


def test_a_kernel_that_takes_another_layout_is_seen() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    other = scheduled.bound.layouts["a:0"][::-1]
    bound = with_kernel(scheduled.bound, "b", requires=lambda site: {"X": other})
    assert "of 'b' takes X only as" in _seen(_with_scheduled(plan, replace(scheduled, bound=bound)))


def test_leaving_out_a_step_that_computes_is_seen() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    without = replace(scheduled, steps=tuple(step for step in scheduled.steps if step.name != "b"))
    assert _seen(_with_scheduled(plan, without))


def test_steps_in_a_wrong_order_are_seen() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    assert "lost" in _seen(_with_scheduled(plan, replace(scheduled, steps=scheduled.steps[::-1])))


def test_overwriting_an_input_in_place_needs_a_kernel_that_may() -> None:
    pins = Decisions()
    plan = _plan(_chain(), pins)
    scheduled = plan.tiled.scheduled
    assert scheduled.in_place
    undeclared = replace(scheduled, in_place={})
    assert "while it is read" in _seen(_with_scheduled(plan, undeclared))
    (target, _), *_ = scheduled.in_place.items()
    step = next(step.name for step in scheduled.steps if f"{step.name}:0" == target)
    bound = with_kernel(scheduled.bound, step, in_place=lambda site: ())
    assert "while it is read" in _seen(_with_scheduled(plan, replace(scheduled, bound=bound)))


def test_overwriting_the_callers_input_is_seen() -> None:
    plan = _plan(_chain(), Decisions(io={"x": "user"}))
    scheduled = plan.tiled.scheduled
    storage = {**scheduled.storage, "a:0": scheduled.storage["x"]}
    broken = replace(scheduled, storage=storage, in_place={**scheduled.in_place, "a:0": "x"})
    assert "caller's memory" in _seen(_with_scheduled(plan, broken))


def test_too_little_scratch_and_scratch_over_a_live_value_are_seen() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    bound = with_kernel(scheduled.bound, "c", scratch_bytes=lambda tile: 8)
    broken = _with_scheduled(plan, replace(scheduled, bound=bound))
    assert "step 'c' needs 8 B of scratch and has 0" in _seen(broken)
    index = [step.name for step in scheduled.steps].index("c")
    scratch = Buffer(
        name="c.scratch", kind="scratch", size_bytes=8, align=4, first=index, last=index, memories=("sram",)
    )
    given_scratch = replace(broken, tiled=replace(broken.tiled, buffers=(*broken.tiled.buffers, scratch)))
    free = max(plan.placements[b.name].offset_bytes + b.size_bytes for b in plan.tiled.buffers)
    assert _seen(_moved(given_scratch, "c.scratch", free)) == ""
    assert "scratch" in _seen(_moved(given_scratch, "c.scratch", plan.placements["a:0"].offset_bytes))


def _with_copy() -> Allocated:
    """A product whose weights are copied to the other memory before it reads them."""
    sketch = Sketch(operators=vocabulary())
    weights = sketch.constant(np.ones((6, 10), np.float32))
    graph = sketch.finish(sketch.node("MatMul", (sketch.input("x", DType.F32, (8, 6)), weights)))
    memories = tuple(Memory(name=name, size_bytes=None) for name in ("ram", "fast"))
    target = Platform(name="p", memories=(*memories, Memory(name="flash", size_bytes=None, kind="const")))
    (name,) = PLANNER.bind(graph, target).constants
    planner = replace(PLANNER, pins=Decisions(staged={name: Staging(memory="fast", when="init")}))
    return planner.plan(planner.bind(graph, target))


def test_a_copy_that_is_not_where_it_was_decided_is_seen() -> None:
    plan = _with_copy()
    (copy,) = (buffer for buffer in plan.tiled.buffers if "@fast" in buffer.name)
    assert list(plan_faults(plan, vocabulary())) == []
    moved = _moved(_resized(plan, copy.name, memories=("ram", "fast")), copy.name, 4096, "ram")
    assert f"copy '{copy.name}' is in 'ram'" in "\n".join(plan_faults(moved, vocabulary()))
    others = tuple(buffer for buffer in plan.tiled.buffers if buffer is not copy)
    rest = {name: place for name, place in plan.placements.items() if name != copy.name}
    without = replace(plan, placements=rest, tiled=replace(plan.tiled, buffers=others))
    assert f"constant '{copy.name}' of 'MatMul_0' is nowhere" in "\n".join(plan_faults(without, vocabulary()))
    shorter = _resized(plan, copy.name, size_bytes=copy.size_bytes - 4)
    assert "is not all there at step 0" in "\n".join(plan_faults(shorter, vocabulary()))


def test_a_step_marked_as_not_copying_leaves_its_output_unwritten() -> None:
    plan = _plan(_chain())
    scheduled = plan.tiled.scheduled
    lazy = tuple(replace(step, copies=False) if step.name == "d" else step for step in scheduled.steps)
    assert "'d:0' are lost" in _seen(_with_scheduled(plan, replace(scheduled, steps=lazy)))
