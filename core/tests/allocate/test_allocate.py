"""The allocate stage: pins, pools, constants, application memories, and what does not fit."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tilewright.allocate import allocate
from tilewright.allocate.allocate import attempt
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.overflow import Overflow, _origin, does_not_fit
from tilewright.bind import bind
from tilewright.check.stages import verify_allocated, verify_tiled
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget, Place, Problem, Solution
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Placement, Tiled
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
SRAM = Memory(name="sram", size_bytes=None)
CONSTANTS = {"k0": np.arange(5, dtype=np.int8), "k1": np.arange(8, dtype=np.int32), "k2": np.ones(3, np.int8)}


def _graph() -> Graph:
    """x and y of 24 B: s = x + y, c = clip(x), z = s + c."""
    names = ("x", "y", "s", "c", "z")
    nodes = (
        Node(name="/sum", op="Add", inputs=("x", "y"), outputs=("s",), origin=("/block/Add",)),
        Node(name="/clip", op="Clip", inputs=("x",), outputs=("c",)),
        Node(name="/last", op="Add", inputs=("s", "c"), outputs=("z",)),
    )
    return Graph(
        name="g",
        inputs=("x", "y"),
        outputs=("z",),
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=(2, 3)) for name in names},
        constants={},
    )


def _tiled(*memories: Memory, decisions: Decisions | None = None) -> Tiled:
    pins = decisions or Decisions()
    platform = Platform(name="small", memories=memories or (SRAM,))
    bound = bind(_graph(), platform, WORLD.operators, WORLD.kernels, pins)
    bound = replace(bound, constants=CONSTANTS)  # as if kernels had packed them
    return verify_tiled(tile(schedule(bound, WORLD.operators, pins), WORLD.operators, WholeTiler(), pins))


def _plan(*memories: Memory, decisions: Decisions | None = None) -> Allocated:
    tiled = _tiled(*memories, decisions=decisions)
    return verify_allocated(allocate(tiled, decisions or Decisions(), BestFit()), WORLD.operators)


def _code(*memories: Memory, decisions: Decisions | None = None) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        _plan(*memories, decisions=decisions)
    return caught.value


def test_pools_are_reported_with_their_proof() -> None:
    ram, const = _plan(replace(SRAM, size_bytes=4096)).pools
    assert (ram.memory, ram.kind, ram.limit_bytes) == ("sram", "ram", 4096)
    assert ram.used_bytes == ram.lower_bound_bytes == 72
    assert ram.optimal
    assert (const.memory, const.kind, const.used_bytes, const.optimal) == ("rodata", "const", 16 + 32 + 4 + 5, True)


def test_constants_follow_the_header_in_order_aligned() -> None:
    places = _plan().placements
    assert {places[name].memory for name in CONSTANTS} == {"rodata"}
    # k0 would leave the largest gap behind it, so it comes last
    assert {name: places[name].offset_bytes for name in CONSTANTS} == {"k1": 16, "k2": 48, "k0": 52}


def test_constants_go_on_in_the_next_memory() -> None:
    flash = Memory(name="flash", size_bytes=64, kind="const")
    slow = Memory(name="slow", size_bytes=None, kind="const")
    places = _plan(SRAM, replace(flash, size_bytes=50), slow).placements
    assert {places[name].memory for name in CONSTANTS} == {"flash", "slow"}


def test_constants_that_do_not_fit() -> None:
    error = _code(SRAM, Memory(name="flash", size_bytes=40, kind="const"))
    assert (error.code, error.exit_code, error.where) == ("TW5001", Exit.DOES_NOT_FIT, "constants")
    assert "memory 'flash' needs 57 B, has 40 B (17 B too many)" in error.message
    assert "constant   k1  32 B" in error.details


def test_what_does_not_fit_names_step_and_live_buffers() -> None:
    error = _code(replace(SRAM, size_bytes=64))
    assert (error.code, error.exit_code) == ("TW5001", Exit.DOES_NOT_FIT)
    assert error.message == "does not fit: memory 'sram' needs 72 B, has 64 B (8 B too many)"
    assert error.where == "step 0 'sum' (Add, onnx Add)"
    assert "input      x  2x3 f32  24 B  (live 0..1)" in error.details
    assert len(error.details) == 3
    tiled = _tiled(replace(SRAM, size_bytes=64))
    overflow = attempt(tiled, Decisions(), BestFit())
    assert isinstance(overflow, Overflow)
    assert (overflow.excess_bytes, overflow.lower_bound_bytes, overflow.step) == (8, 72, 0)
    assert does_not_fit(tiled, overflow, ("buy more",)).fix == ("buy more",)


def test_a_better_placement_is_mentioned_where_it_might_help() -> None:
    tiled = _tiled(replace(SRAM, size_bytes=80))
    overflow = attempt(tiled, Decisions(), _Sloppy())
    assert isinstance(overflow, Overflow)
    assert overflow.needed_bytes == 24 * len([b for b in tiled.buffers if b.kind != "constant"])
    assert any("at least 72 B" in detail for detail in does_not_fit(tiled, overflow).details)


def test_what_does_not_fit_near_goes_far() -> None:
    near, far = Memory(name="near", size_bytes=48), Memory(name="far", size_bytes=None)
    plan = _plan(near, far)
    used = {pool.memory: pool.used_bytes for pool in plan.pools}
    assert used["near"] == 48
    assert used["far"] == 24


def _away(plan: Allocated) -> list[tuple[str, int, int]]:
    return [(one.kind, one.used_bytes, one.lower_bound_bytes) for one in plan.away]


def test_what_is_not_where_it_is_preferred_is_counted_beside_what_has_to_be() -> None:
    far, third = Memory(name="far", size_bytes=None), Memory(name="third", size_bytes=None)
    assert _away(_plan(Memory(name="near", size_bytes=None))) == []
    assert _away(_plan(Memory(name="near", size_bytes=100), far, third)) == [("ram", 0, 0)]
    near = Memory(name="near", size_bytes=48)
    assert _away(_plan(near, far, third)) == [("ram", 24, 24)]
    assert _away(_plan(near, replace(far, size_bytes=8), third)) == [("ram", 48, 48)]


def test_a_pin_is_no_wish_for_another_memory() -> None:
    near, far = Memory(name="near", size_bytes=100), Memory(name="far", size_bytes=None)
    assert _away(_plan(near, far, decisions=Decisions(memories={"x": "far"}))) == [("ram", 0, 0)]


def test_pins_are_kept() -> None:
    pins = Decisions(memories={"s": "far"}, offsets={"x": 128})
    plan = _plan(SRAM, Memory(name="far", size_bytes=None), decisions=pins)
    assert plan.placements["s"].memory == "far"
    assert plan.placements["x"].offset_bytes == 128


def test_a_complete_plan_pinned_gives_itself() -> None:
    plan = _plan(SRAM, Memory(name="far", size_bytes=None))
    again = _plan(SRAM, Memory(name="far", size_bytes=None), decisions=plan.decisions)
    assert again.placements == plan.placements
    assert again.plan_id == plan.plan_id


@pytest.mark.parametrize(
    ("pins", "code", "words"),
    [
        (Decisions(offsets={"ghost": 0}), "TW5003", "'ghost'"),
        (Decisions(offsets={"x": 0, "y": 8}), "TW5004", "overlap"),
        (Decisions(offsets={"x": 3}), "TW5004", "multiple"),
        (Decisions(offsets={"k0": 4}), "TW5004", "reserved"),
        (Decisions(memories={"/sum.scratch": "sram"}), "", ""),
    ],
)
def test_pins_that_cannot_be_kept(pins: Decisions, code: str, words: str) -> None:
    if not code:
        _plan(decisions=pins)  # names nothing of this plan: another order may have it
        return
    error = _code(decisions=pins)
    assert error.code == code
    assert words in str(error)


def test_a_pin_against_the_candidates_is_refused() -> None:
    tiled = _tiled(SRAM, Memory(name="far", size_bytes=None))
    confined = replace(tiled, buffers=tuple(replace(b, memories=b.memories[:1]) for b in tiled.buffers))
    for memory, words in (("far", "only in sram"), ("moon", "no memory of target")):
        with pytest.raises(TilewrightError) as caught:
            allocate(confined, Decisions(memories={"x": memory}), BestFit())
        assert caught.value.code == "TW5002"
        assert words in str(caught.value)


def test_an_application_managed_memory_is_never_allocated() -> None:
    heap = Memory(name="heap", size_bytes=None, managed_by="application")
    plan = _plan(heap)
    ours = [buffer.name for buffer in plan.tiled.buffers if buffer.kind != "constant"]
    assert all(plan.placements[name] == Placement(memory="heap", offset_bytes=0) for name in ours)
    assert plan.pools[0].used_bytes == plan.pools[0].lower_bound_bytes == 72
    assert not set(ours) & set(plan.decisions.offsets)


def test_what_stays_with_the_caller_has_no_place() -> None:
    plan = _plan(decisions=Decisions(io={"x": "user", "y": "user", "z": "user"}))
    assert "x" not in plan.placements
    assert plan.pools[0].used_bytes < 72


def test_the_plan_id_depends_on_what_the_constants_blob_holds() -> None:
    def plan_id(constants: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]], first: int = 16) -> int:
        tiled = _tiled()
        bound = replace(tiled.scheduled.bound, constants=constants)
        changed = replace(tiled, scheduled=replace(tiled.scheduled, bound=bound))
        return allocate(changed, Decisions(offsets={"k1": first}), BestFit()).plan_id

    same = plan_id(CONSTANTS)
    assert same == plan_id(dict(reversed(CONSTANTS.items())))
    assert same != plan_id({**CONSTANTS, "k0": CONSTANTS["k0"] + np.int8(1)})
    assert same != plan_id({**CONSTANTS, "k0": CONSTANTS["k0"].view(np.uint8)})
    assert same != plan_id(CONSTANTS, first=64)
    assert 0 < same < 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sloppy:
    """One after the other, nothing shared."""

    name: str = "sloppy"
    summary: str = ""
    move: int = 0  # moves the last block down by this many of its sizes: a lie

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        places, end = {}, 0
        for block in problem.blocks:
            end = align_up(end, block.align)
            places[block.name] = Place(pool=block.pools[0], offset_bytes=end)
            end += block.size_bytes
        limit = problem.pools[0].capacity_bytes
        if limit is not None and end > limit:
            return Solution(status="unknown", reason="too large")
        last = problem.blocks[-1]
        low = places[last.name].offset_bytes - self.move * last.size_bytes
        places[last.name] = Place(pool=places[last.name].pool, offset_bytes=low)
        return Solution(status="feasible", places=places)


def test_an_allocator_that_lies_is_named() -> None:
    with pytest.raises(TilewrightError) as caught:
        allocate(_tiled(), Decisions(), _Sloppy(move=3))
    assert caught.value.code == "TW8050"
    assert caught.value.exit_code is Exit.PLUGIN
    assert "allocator 'sloppy'" in caught.value.message
    assert "share bytes" in caught.value.message


def test_every_random_graph_gets_a_sound_plan_at_its_own_peak_and_none_below_the_bound() -> None:
    for seed in range(40):
        graph = random_graph(random.Random(seed), WORLD.operators)
        plan = _of(graph, None)
        used, bound = plan.pools[0].used_bytes, plan.pools[0].lower_bound_bytes
        assert _of(graph, used).pools[0].used_bytes == used
        if bound:
            with pytest.raises(TilewrightError):
                _of(graph, bound - 1)


def _of(graph: Graph, size_bytes: int | None) -> Allocated:
    world = small_world(size_bytes)
    scheduled = schedule(
        bind(graph, world.platform, world.operators, world.kernels, Decisions()), world.operators, Decisions()
    )
    return allocate(tile(scheduled, world.operators, WholeTiler(), Decisions()), Decisions(), BestFit())


def test_a_step_of_many_onnx_nodes_names_the_first_and_counts_the_rest() -> None:
    def node(name: str, *origin: str) -> Node:
        return Node(name=name, op="QConv", inputs=(), outputs=(), origin=origin)

    shorts = {"/conv": "conv"}
    assert _origin(node("/conv", "/conv"), shorts) == ", onnx conv"
    assert _origin(node("/conv", "/conv", "/relu", "/q"), shorts) == ", and 2 more onnx nodes"
    assert _origin(node("/q", "/conv", "/relu"), shorts) == ", onnx conv and 1 more"
