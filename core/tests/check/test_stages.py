"""Stage values that are sound pass; every broken promise is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chained_product import CHAIN, MATMUL_ADD
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.check.stages import verify_allocated, verify_bound, verify_graph, verify_scheduled, verify_tiled
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Link, Tensor
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled, Storage, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import vocabulary
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
CLIP = {"min": 0.0, "max": 1.0}


def _plan(seed: int) -> Allocated:
    return _planned(random_graph(random.Random(seed), WORLD.operators))


def _planned(graph: Graph) -> Allocated:
    bound = bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())
    tiled = tile(schedule(bound, WORLD.operators, Decisions()), WORLD.operators, WholeTiler(), Decisions())
    return allocate(tiled, Decisions(), BestFit(), Budget(work=500))


def _has_a_chain(plan: Allocated) -> bool:
    scheduled = plan.tiled.scheduled
    executed = {f"{step.name}:0" for step in scheduled.steps}
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    return any(executed.intersection(nodes[step.name].inputs) for step in scheduled.steps)


PLAN = next(plan for seed in range(99) if _has_a_chain(plan := _plan(seed)))
TILED, SCHEDULED = PLAN.tiled, PLAN.tiled.scheduled
BOUND, GRAPH = SCHEDULED.bound, SCHEDULED.bound.graph
LAST = SCHEDULED.steps[-1].name
VALUE = GRAPH.inputs[0]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_the_stages_make_is_sound(chance: random.Random) -> None:
    plan = _planned(random_graph(chance, WORLD.operators))
    verify_graph(plan.tiled.scheduled.bound.graph)
    verify_bound(plan.tiled.scheduled.bound)
    verify_scheduled(plan.tiled.scheduled)
    verify_tiled(plan.tiled)
    assert verify_allocated(plan, WORLD.operators) is plan


def _refused(code: str, words: str, check: Callable[[], object]) -> None:
    with pytest.raises(TilewrightError) as caught:
        check()
    assert caught.value.code == code
    assert caught.value.exit_code is Exit.INTERNAL
    assert words in " ".join(str(caught.value).split())


@pytest.mark.parametrize("absent", ["x", "y", "c0"])
def test_a_graph_that_names_what_has_no_type(absent: str) -> None:
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(2,)) for name in ("x", "y", "c0") if name != absent}
    constants = {"c0": np.zeros(2, np.float32)}
    graph = Graph(name="g", inputs=("x",), outputs=("y",), nodes=(), tensors=tensors, constants=constants)
    _refused("TW9010", f"'{absent}' has no type", lambda: verify_graph(graph))


def test_a_graph_that_reads_before_it_writes() -> None:
    _refused("TW9010", "before it is written", lambda: verify_graph(replace(GRAPH, nodes=GRAPH.nodes[::-1])))


def _binding(**changes: Any) -> Bound:
    changed = replace(BOUND.bindings[LAST], **changes)
    return replace(BOUND, bindings={**BOUND.bindings, LAST: changed})


KERNEL = BOUND.bindings[LAST].kernel


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (replace(BOUND, bindings={k: v for k, v in BOUND.bindings.items() if k != LAST}), "has no kernel"),
        (_binding(node="stranger"), "which the graph does not have"),
        (_binding(engine="warp"), "runs on 'warp'"),
        (_binding(kernel=replace(KERNEL, op="Other")), "computes Other"),
        (_binding(kernel=replace(KERNEL, target="elsewhere")), "is for target 'elsewhere'"),
        (_binding(kernel=replace(KERNEL, name="unheard.of")), "not among the candidates"),
        (_binding(kernel=replace(KERNEL, match=lambda site: "too hot")), "too hot"),
        (_binding(constants={"W": "nothing"}), "not stored"),
        (replace(BOUND, layouts={k: v for k, v in BOUND.layouts.items() if k != VALUE}), "has no layout"),
        (replace(BOUND, layouts={**BOUND.layouts, VALUE: (0, 0, 7)}), "is no order"),
    ],
)
def test_broken_bindings(bound: Bound, words: str) -> None:
    _refused("TW9011", words, lambda: verify_bound(bound))


def _bound_chain() -> Bound:
    """A product and an addition that are one step."""
    sketch = Sketch(operators=vocabulary())
    x, weights = sketch.input("x", DType.F32, (4, 8)), sketch.constant(np.ones((8, 8), np.float32))
    total = sketch.node("Add", (sketch.node("MatMul", (x, weights), name="product"), x), name="sum")
    operators = {**vocabulary(), CHAIN.name: CHAIN}
    return bind(sketch.finish(total), CLUSTER, operators, {MATMUL_ADD.name: MATMUL_ADD}, Decisions())


CHAINED = _bound_chain()


def _linked(**changes: Any) -> Bound:
    (node,) = CHAINED.graph.nodes
    return replace(CHAINED, graph=replace(CHAINED.graph, nodes=(replace(node, **changes),)))


def _between(**changes: Any) -> tuple[Link, ...]:
    first, last = CHAINED.graph.nodes[0].links
    return first, replace(last, node=replace(last.node, **changes))


INNER = CHAINED.graph.nodes[0].links[0].output


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (_linked(links=CHAINED.graph.nodes[0].links[1:]), "is not of the nodes that it links"),
        (_linked(links=_between(inputs=("x", "x"))), "'sum' does not read once what 'product' writes"),
        (_linked(links=_between(inputs=(INNER.name, INNER.name))), "does not read once"),
        (_linked(inputs=("x", "x", "", "x")), "does not read what its nodes read"),
        (
            replace(CHAINED, graph=replace(CHAINED.graph, tensors={**CHAINED.graph.tensors, INNER.name: INNER})),
            "is inside, and a value of the graph",
        ),
    ],
)
def test_broken_chains(bound: Bound, words: str) -> None:
    verify_bound(CHAINED)
    _refused("TW9011", words, lambda: verify_bound(bound))


def _stored(**changes: Storage) -> Scheduled:
    return replace(SCHEDULED, storage={**SCHEDULED.storage, **changes})


def _living(buffer: str, **changes: Any) -> Scheduled:
    buffers = tuple(replace(item, **changes) if item.name == buffer else item for item in SCHEDULED.buffers)
    return replace(SCHEDULED, buffers=buffers)


LONG = next(buffer for buffer in SCHEDULED.buffers if buffer.first < buffer.last)


@pytest.mark.parametrize(
    ("scheduled", "words"),
    [
        (replace(SCHEDULED, steps=(*SCHEDULED.steps, SCHEDULED.steps[0])), "in two steps"),
        (replace(SCHEDULED, steps=SCHEDULED.steps[::-1]), "before it is written"),
        (replace(SCHEDULED, steps=(replace(SCHEDULED.steps[0], name="x"), *SCHEDULED.steps[1:])), "not named after"),
        (_stored(**{VALUE: Storage(buffer="nowhere")}), "which is no buffer"),
        (_stored(**{VALUE: Storage(buffer=VALUE, offset_bytes=4096)}), "does not fit at 4096"),
        (_stored(**{VALUE: Storage(buffer=VALUE, offset_bytes=-4)}), "does not fit at -4"),
        (_living(VALUE, values=()), "does not name"),
        (_living(LONG.name, last=LONG.first), "needs it"),
        (replace(SCHEDULED, buffers=(*SCHEDULED.buffers, SCHEDULED.buffers[0])), "two buffers"),
        (replace(SCHEDULED, storage={}), "stored nowhere"),
        (replace(SCHEDULED, in_place={"ghost": VALUE}), "in-place"),
    ],
)
def test_broken_schedules(scheduled: Scheduled, words: str) -> None:
    _refused("TW9012", words, lambda: verify_scheduled(scheduled))


def _buffers(**changes: Any) -> Tiled:
    first, *rest = TILED.buffers
    return replace(TILED, buffers=(replace(first, **changes), *rest))


@pytest.mark.parametrize(
    ("tiled", "words"),
    [
        (replace(TILED, groups=TILED.groups[1:]), "do not cover"),
        (replace(TILED, groups=TILED.groups[::-1]), "do not cover"),
        (replace(TILED, buffers=TILED.buffers[1:]), "is gone"),
        (_buffers(size_bytes=TILED.buffers[0].size_bytes - 1), "smaller"),
        (_buffers(memories=("nowhere",)), "does not have"),
        (_buffers(memories=("rodata",)), "cannot be in 'rodata'"),
        (_buffers(align=0), "alignment 0"),
        (replace(TILED, buffers=(*TILED.buffers, TILED.buffers[0])), "two buffers"),
    ],
)
def test_broken_tilings(tiled: Tiled, words: str) -> None:
    _refused("TW9013", words, lambda: verify_tiled(tiled))


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (replace(PLAN, plan_id=PLAN.plan_id ^ 1), "plan id"),
        (replace(PLAN, pools=PLAN.pools[1:]), "not the target's memories"),
        (replace(PLAN, pools=tuple(replace(p, used_bytes=p.used_bytes + 4) for p in PLAN.pools)), "is said to use"),
        (replace(PLAN, pools=tuple(replace(p, limit_bytes=5) for p in PLAN.pools)), "a limit of 5 B"),
        (replace(PLAN, pools=tuple(replace(p, lower_bound_bytes=99999) for p in PLAN.pools)), "lower bound"),
        (replace(PLAN, placements={}), "has no place"),
        (replace(PLAN, placements={**PLAN.placements, "ghost": PLAN.placements[VALUE]}), "is no buffer"),
    ],
)
def test_broken_plans(plan: Allocated, words: str) -> None:
    _refused("TW9014", words, lambda: verify_allocated(plan, WORLD.operators))


def test_what_the_application_sees_is_row_major_and_both_ends_of_a_state_have_one_order() -> None:
    sketch = Sketch(operators=WORLD.operators)
    y, h2 = (sketch.node("Clip", [sketch.input(name, DType.F32, (2, 3))], CLIP) for name in ("x", "h"))
    plan = _planned(sketch.finish(y, h2))
    scheduled, kept = plan.tiled.scheduled, replace(plan.decisions, state={"h": h2})

    def turned(*names: str) -> Allocated:
        bound = replace(scheduled.bound, layouts={**scheduled.bound.layouts, **dict.fromkeys(names, (1, 0))})
        tiled = replace(plan.tiled, scheduled=replace(scheduled, bound=bound))
        return replace(plan, tiled=tiled, decisions=kept)

    verify_allocated(turned("h", h2), WORLD.operators)
    for name in ("x", y):
        words = f"'{name}' is an input or output of the graph, but not row-major"
        _refused("TW9014", words, lambda name=name: verify_allocated(turned(name), WORLD.operators))
    for name in ("h", h2):
        words = f"state 'h' is stored in another order than '{h2}', which it becomes"
        _refused("TW9014", words, lambda name=name: verify_allocated(turned(name), WORLD.operators))
