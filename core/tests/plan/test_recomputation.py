"""Which values are computed again, worked out by hand; what becomes of the bytes alive, for random graphs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from row_networks import ONE_MEMORY
from tilewright.bind import bind
from tilewright.bind.recompute import recomputed
from tilewright.check.stages import verify_bound
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions, Recomputation
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.step_orders import StepOrders
from tilewright.plan.recomputation import recomputations
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch

SMALL, LARGE = (4,), (64, 4)
PLENTY = 1e9  # cycles
FEW, MASK = 4 * 4, 64 * 4 * 4  # bytes


def bound_of(graph: Graph) -> Bound:
    return bind(graph, ONE_MEMORY, vocabulary(), portable_kernels(), Decisions())


def peak(bound: Bound) -> int:
    task = orders().task(bound)
    return task.peak(range(len(task.nodes)))


def orders() -> StepOrders:
    return StepOrders(operators=vocabulary(), pins=Decisions(), work=1000, known={})


def masked(blocks: int, *, view: bool = False) -> Bound:
    """A few numbers, spread over a mask; blocks of two products add it to what passes, which is as large."""
    s = Sketch(operators=vocabulary())
    few = s.input("few", DType.F32, SMALL)
    value = s.input("x", DType.F32, LARGE)
    mask = s.node("Add", (s.constant(np.zeros(LARGE, np.float32)), few), name="mask")
    shown = s.node("Reshape", (mask,), {"shape": LARGE}, name="shown") if view else mask
    for block in range(blocks):
        wide, narrow = (s.constant(np.ones(shape, np.float32)) for shape in ((4, 32), (32, 4)))
        value = s.node("Add", (value, mask if block % 2 else shown), name=f"masked{block}")
        value = s.node("MatMul", (s.node("MatMul", (value, wide), name=f"wide{block}"), narrow), name=f"narrow{block}")
    return bound_of(s.finish(value))


def chosen(bound: Bound, most_cycles: float = PLENTY, never: tuple[str, ...] = ()) -> tuple[list[Recomputation], int]:
    found, saved = recomputations(bound, orders(), vocabulary(), most_cycles, never)
    assert saved == peak(bound) - peak(recomputed(bound, found))
    return list(found), saved


def test_a_mask_is_spread_again_for_every_later_block() -> None:
    found, saved = chosen(masked(3))
    assert found == [
        Recomputation(value="mask:0", readers=("masked1", "masked2")),
        Recomputation(value="mask:0:again", readers=("masked2",)),
    ]
    assert saved == MASK - FEW, "the numbers it is made of live on"


def test_views_of_it_are_made_again_with_it() -> None:
    bound = masked(3, view=True)
    found, saved = chosen(bound)
    assert saved == MASK - FEW
    after = verify_bound(recomputed(bound, found)).graph
    read = {node.name: node.inputs for node in after.nodes}
    masks = {name: read[f"masked{name}"][1] for name in range(3)}
    assert len(set(masks.values())) == 3, "each block has one of its own"


def test_what_is_read_once_or_is_a_product_is_kept() -> None:
    assert chosen(masked(1)) == ([], 0)
    s = Sketch(operators=vocabulary())
    x = s.input("x", DType.F32, (4, 4))
    wide, first = s.constant(np.ones((4, 64), np.float32)), s.constant(np.ones((64, 4), np.float32))
    product = s.node("MatMul", (x, wide), name="product")
    value = s.node("MatMul", (product, first), name="small")
    for step in range(2):
        value = s.node("MatMul", (s.node("MatMul", (value, wide), name=f"up{step}"), first), name=f"down{step}")
    assert chosen(bound_of(s.finish(s.node("Add", (product, s.node("MatMul", (value, wide))))))) == ([], 0)


def test_a_value_that_is_never_computed_again() -> None:
    assert chosen(masked(3), never=("mask:0",)) == ([], 0)


def test_no_more_cycles_than_may_be() -> None:
    bound = masked(4)
    binding = bound.bindings["mask"]
    once = binding.candidates[0].cycles
    assert len(chosen(bound)[0]) == 3
    assert chosen(bound, 2.5 * once) == ([], 0), "two do not help: the third block still keeps it"
    assert chosen(bound, 0.5 * once) == ([], 0)


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_never_more_bytes_alive_and_a_sound_graph(seed: int) -> None:
    world = small_world()
    graph = random_graph(random.Random(seed), world.operators, most_nodes=16)
    bound = bind(graph, world.platform, world.operators, world.kernels, Decisions())
    found, saved = chosen(bound)
    assert saved >= 0 and bool(saved) == bool(found)
    verify_bound(recomputed(bound, found))
