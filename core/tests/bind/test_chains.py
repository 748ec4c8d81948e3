"""Nodes become one where a kernel computes them as one, nobody else sees what is between them, and it pays; the program
computes what they do, and is planned node by node where memory is short.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from chained_product import CHAIN, MATMUL_ADD
from onnx import TensorProto, helper, numpy_helper

from tilewright.bind import bind
from tilewright.check.stages import verify_bound
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.validation.validation import validate, vectors_of

OPERATORS = {**vocabulary(), CHAIN.name: CHAIN}
KERNELS = {**portable_kernels(), MATMUL_ADD.name: MATMUL_ADD}
WEIGHTS = np.ones((8, 8), np.float32)


def graph(*, also: str = "", addend: bool = False) -> Graph:
    """A product and an addition. `also`: who else sees the product. `addend`: the product is the second addend."""
    sketch = Sketch(operators=vocabulary())
    x, y = (sketch.input(name, DType.F32, (4, 8)) for name in "xy")
    product = sketch.node("MatMul", (x, sketch.constant(WEIGHTS)), name="product")
    total = sketch.node("Add", (y, product) if addend else (product, product if also == "twice" else y), name="sum")
    more = [sketch.node("Sigmoid", (product,), name="other")] if also == "step" else []
    more += [product] if also == "output" else []
    return sketch.finish(total, *more)


def bound(network: Graph, *kernels: Kernel, **decided: dict[str, str]) -> Bound:
    offered = {**portable_kernels(), **{kernel.name: kernel for kernel in kernels or (MATMUL_ADD,)}}
    return verify_bound(bind(network, CLUSTER, OPERATORS, offered, Decisions(**decided)))


def refused(found: Bound, kernel: str = MATMUL_ADD.name) -> str:
    assert [node.op for node in found.graph.nodes[:2]] == ["MatMul", "Add"]
    return next(one.reason for one in found.bindings["sum"].refusals if one.candidate == kernel)


def test_two_nodes_are_one_step_by_the_name_of_the_last() -> None:
    found = bound(graph())
    (node,) = found.graph.nodes
    assert (node.name, node.op, node.inputs[0], node.inputs[2:]) == ("sum", "MatMul+Add", "x", ("", "y"))
    assert [link.node.name for link in node.links] == ["product", "sum"]
    assert found.bindings["sum"].kernel is MATMUL_ADD
    assert set(found.graph.tensors) == {*node.inputs, *node.outputs} - {""}


@pytest.mark.parametrize(
    ("also", "reason"),
    [
        ("step", "' inside the chain is read by 2 steps"),
        ("output", "' inside the chain is an output of the network"),
        ("twice", "2 times"),
    ],
)
def test_what_others_see_stays_a_value(also: str, reason: str) -> None:
    assert reason in refused(bound(graph(also=also)))


def test_another_input_is_what_the_chain_computes_where_the_first_is_seen_elsewhere() -> None:
    """As in a residual network: what is added to the product was another product, and is read again."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 8))
    first = sketch.node("MatMul", (x, sketch.constant(WEIGHTS)), name="first")
    second = sketch.node("MatMul", (first, sketch.constant(WEIGHTS)), name="second")
    network = sketch.finish(sketch.node("Add", (first, second), name="sum"))
    either = replace(MATMUL_ADD, match=lambda site: None)
    found = bound(network, either)
    assert [[link.node.name for link in node.links] for node in found.graph.nodes] == [[], ["second", "sum"]]
    assert refused_both(network) == "the product must be the first addend"


def refused_both(network: Graph) -> str:
    """Why neither product is computed with the addition."""
    (refusal,) = (one for one in bound(network).bindings["sum"].refusals if one.candidate == MATMUL_ADD.name)
    shared, _, reason = refusal.reason.partition("; ")
    assert shared.endswith("inside the chain is read by 2 steps")
    return reason


def test_a_kernel_refuses_with_its_own_reason() -> None:
    assert refused(bound(graph(addend=True))) == "the product must be the first addend"


def test_what_the_chain_does_not_begin_with_is_named() -> None:
    found = bound(graph(), replace(MATMUL_ADD, pattern=("Conv", "Add"), name="test.conv_add"))
    assert [node.op for node in found.graph.nodes] == ["MatMul", "Add"], "an operator of a chain that nobody made"
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 8))
    alone = sketch.finish(sketch.node("Add", (x, sketch.constant(WEIGHTS[:4])), name="sum"))
    (refusal,) = (one for one in bound(alone).bindings["sum"].refusals if one.candidate == MATMUL_ADD.name)
    assert refusal.reason == "computes MatMul -> Add; nothing that 'sum' reads is written by MatMul"


def test_it_is_taken_where_it_is_no_slower() -> None:
    slow = replace(MATMUL_ADD, cycles=lambda tile: 1e9)
    assert "one by one its steps take" in refused(bound(graph(), slow))
    assert bound(graph(), slow, kernels={"sum": slow.name}).bindings["sum"].kernel is slow, "pinned"
    assert refused(bound(graph(), kernels={"sum": "portable.add"})) == "'portable.add' is pinned instead"
    inside = refused(bound(graph(), engines={"product": "cluster"}))
    assert inside == "something is decided about 'product', which would be inside the chain"


def test_chains_of_three_come_before_those_of_two() -> None:
    three = replace(MATMUL_ADD, name="test.three", op="Sigmoid", pattern=("MatMul", "Add", "Sigmoid"))
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 8))
    total = sketch.node("Add", (sketch.node("MatMul", (x, sketch.constant(WEIGHTS))), x), name="sum")
    network = sketch.finish(sketch.node("Sigmoid", (total,), name="last"))
    from tilewright.ir.graphs.chains import chain_operator

    operator = chain_operator([vocabulary()[name] for name in three.pattern])
    offered = {**KERNELS, three.name: three}
    found = bind(network, CLUSTER, {**OPERATORS, operator.name: operator}, offered, Decisions())
    assert [node.op for node in found.graph.nodes] == ["MatMul+Add+Sigmoid"]


def test_floats_of_which_nothing_is_proved_are_computed_one_by_one() -> None:
    chain = replace(MATMUL_ADD, name="test.neg", op="Neg", pattern=("MatMul", "Neg"))
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 8))
    network = sketch.finish(sketch.node("Neg", (sketch.node("MatMul", (x, sketch.constant(WEIGHTS))),), name="sum"))
    from tilewright.ir.graphs.chains import chain_operator

    operator = chain_operator([vocabulary()[name] for name in chain.pattern])
    found = bind(network, CLUSTER, {**OPERATORS, operator.name: operator}, {**KERNELS, chain.name: chain}, Decisions())
    (refusal,) = (one for one in found.bindings["sum"].refusals if one.candidate == chain.name)
    assert refusal.reason == "nothing is proved of Neg where what it reads is rounded otherwise"


def deployment(options: Options | None = None, kernel: Kernel = MATMUL_ADD) -> Deployment:
    """Two products with additions behind them, of 64 rows."""
    rng = np.random.default_rng(0)
    held = [numpy_helper.from_array(rng.standard_normal((48, 48)).astype(np.float32), name) for name in ("w", "v")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 48]) for name in "xyz"]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"], "first"),
        helper.make_node("Add", ["a", "y"], ["b"], "one"),
        helper.make_node("MatMul", ["b", "v"], ["c"], "second"),
        helper.make_node("Add", ["c", "x"], ["z"], "two"),
    ]
    proto = helper.make_graph(nodes, "g", ends[:2], ends[2:], held)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    registry = registry_for(CLUSTER)
    registry = replace(
        registry,
        kernels={**registry.kernels, kernel.name: kernel},
        operators={**registry.operators, CHAIN.name: CHAIN},
    )
    return Deployment(model.SerializeToString(), CLUSTER.name, options, registry)


@pytest.mark.parametrize("fast", [1 << 16, 20 << 10])
def test_the_program_computes_what_the_nodes_do(fast: int) -> None:
    made = deployment(Options(memory={"l1": fast}))
    assert [node.op for node in made.bound.graph.nodes] == ["MatMul+Add"] * 2
    found = validate(made, TwinRunner(), vectors_of(made, None, 2))
    assert found.passed, found.verdict


@pytest.mark.parametrize("name", ["a", "first"])
def test_a_value_that_is_pinned_by_name_is_one(name: str) -> None:
    made = deployment(Options(memory_pins=((name, "l2"),)))
    assert [node.op for node in made.bound.graph.nodes] == ["MatMul", "Add", "MatMul+Add"]
    assert made.planning.decisions.memories == {"a": "l2"}
    reason = next(one.reason for one in made.bound.bindings["one"].refusals if one.candidate == MATMUL_ADD.name)
    assert reason == "something is decided about 'a', which would be inside the chain"
    assert made.allocated


def test_a_pattern_of_names_takes_no_chain_apart() -> None:
    made = deployment(Options(memory_pins=(("*", "l2"),)))
    assert [node.op for node in made.bound.graph.nodes] == ["MatMul+Add"] * 2
    assert {"a", "c"}.isdisjoint(made.planning.decisions.memories)


def test_a_saved_state_has_its_chains(tmp_path: Path) -> None:
    made = deployment()
    assert made.bound.graph.nodes
    made.export_state(tmp_path)
    again = deployment().import_state(tmp_path)
    assert again.bound.graph == made.bound.graph
    assert again.compile().files == made.compile().files


def test_where_memory_is_short_nodes_are_steps_of_their_own() -> None:
    greedy = replace(MATMUL_ADD, scratch_bytes=lambda tile: 1 << 20)
    made = deployment(Options(memory={"l1": 1 << 15}), greedy)
    steps = [step.nodes for step in made.allocated.tiled.scheduled.steps]
    assert steps == [("first",), ("one",), ("second",), ("two",)]
    (note,) = (one for one in made.allocated.tiled.scheduled.bound.diagnostics if one.code == "TW5041")
    assert note.details == ("'one': MatMul+Add", "'two': MatMul+Add")
    refusals = made.allocated.tiled.scheduled.bound.bindings["two"].refusals
    assert any(one.candidate == greedy.name and one.reason.startswith("memory is short") for one in refusals)


def test_a_kernel_of_a_chain_that_is_pinned_stays_where_memory_is_short() -> None:
    greedy = replace(MATMUL_ADD, scratch_bytes=lambda tile: 1 << 20)
    pins = Decisions(kernels={"two": greedy.name})
    with pytest.raises(TilewrightError) as caught:
        deployment(Options(memory={"l1": 1 << 15}, pins=pins), greedy).compile()
    assert caught.value.exit_code is Exit.DOES_NOT_FIT


def test_what_fits_in_no_way_is_an_error_without_chains() -> None:
    with pytest.raises(TilewrightError) as caught:
        deployment(Options(memory={"l1": 64})).compile()
    assert "MatMul+Add" not in str(caught.value)
